//! Crash states and their names.

use crate::broken::Fault;
use crate::cache::{Cache, Lost};
use crate::image::Image;
use crate::replay::Interval;
use std::collections::BTreeSet;
use thiserror::Error;

/// A crash state: when the power was cut, and what was lost.
///
/// Its name is `AT:LOST`, as in `57:12,13.0-3`: after 57 events of the log, with all of request 12 lost and
/// sectors 0 to 3 of request 13. `57:` loses nothing. An ignored FLUSH or FUA follows `!`, as in `57!11:12`.
/// Other misbehavior of a broken drive follows `+`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// Number of events of the log before the cut.
    pub at: usize,
    /// The FLUSH or request with FUA that the drive ignored.
    pub dropped: Option<u64>,
    /// What was lost.
    pub lost: Lost,
    /// Other misbehavior of a broken drive.
    pub fault: Option<Fault>,
}

/// Why a name is not that of a state.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum StateError {
    /// Its syntax is invalid.
    #[error("{0:?} is not the name of a state\n  allowed: AT:REQUEST[.FIRST-LAST][,...], as in 57:12,13.0-3")]
    Spelling(String),
    /// The log has no such cut or request.
    #[error("{0}\n  allowed: a name that was printed for this log, with the same atomic write unit")]
    NotThere(String),
}

/// First sector of a request, as names count them.
fn first(cache: &Cache, id: u64) -> Option<u64> {
    let write = cache.writes().find(|write| write.request().id == id)?;
    Some(write.request().offset / cache.rules().sector)
}

impl State {
    /// The contents of the drive in this state.
    pub fn image(&self, interval: &Interval) -> Image {
        let mut image = interval.image(&self.lost);
        if let Some(fault) = &self.fault {
            fault.apply(interval, &mut image);
        }
        image
    }

    /// Its name.
    pub fn name(&self, interval: &Interval) -> String {
        let cache = interval.cache();
        let mut parts = vec![];
        for (id, lost) in &self.lost {
            let Some(write) = cache.writes().find(|write| write.request().id == *id) else { continue };
            if lost == write.sectors() {
                parts.push(id.to_string());
                continue;
            }
            let begin = write.request().offset / cache.rules().sector;
            parts.extend(runs(lost).map(|(from, to)| format!("{id}.{}-{}", from - begin, to - begin)));
        }
        let dropped = self.dropped.map_or(String::new(), |id| format!("!{id}"));
        let fault = self.fault.as_ref().map_or(String::new(), |fault| format!("+{fault}"));
        format!("{}{dropped}:{}{fault}", self.at, parts.join(","))
    }

    /// The cut of a name, and the ignored FLUSH or FUA.
    ///
    /// # Errors
    /// If the syntax of the name is invalid.
    pub fn cut_of(name: &str) -> Result<(usize, Option<u64>), StateError> {
        let wrong = || StateError::Spelling(name.to_string());
        let (cut, _) = name.split_once(':').ok_or_else(wrong)?;
        let (at, dropped) = cut.split_once('!').map_or((cut, None), |(at, id)| (at, Some(id)));
        let dropped = dropped.map(str::parse).transpose().map_err(|_| wrong())?;
        Ok((at.parse().map_err(|_| wrong())?, dropped))
    }

    /// The state of a name, in the interval of its cut.
    ///
    /// # Errors
    /// If the syntax of the name is invalid, or the log has no such request.
    pub fn of_name(name: &str, interval: &Interval) -> Result<State, StateError> {
        let wrong = || StateError::Spelling(name.to_string());
        let (at, dropped) = State::cut_of(name)?;
        let (_, rest) = name.split_once(':').ok_or_else(wrong)?;
        let (lost, fault) = rest.split_once('+').map_or((rest, None), |(lost, fault)| (lost, Some(fault)));
        let fault = fault.map(|text| text.parse().map_err(|_| wrong())).transpose()?;
        let mut state = State { at, dropped, lost: Lost::new(), fault };
        for part in lost.split(',').filter(|part| !part.is_empty()) {
            let (id, sectors) = part.split_once('.').map_or((part, None), |(id, s)| (id, Some(s)));
            let id: u64 = id.parse().map_err(|_| wrong())?;
            let there = interval.cache().writes().find(|write| write.request().id == id);
            let there = there.ok_or_else(|| {
                StateError::NotThere(format!(
                    "{name}: request {id} cannot be lost by a cut after {at} events"
                ))
            })?;
            let begin = first(interval.cache(), id).unwrap_or(0);
            let wanted = match sectors {
                None => there.sectors().clone(),
                Some(text) => {
                    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
                    let (from, to): (u64, u64) =
                        (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
                    there
                        .sectors()
                        .iter()
                        .copied()
                        .filter(|s| (begin + from..=begin + to).contains(s))
                        .collect()
                }
            };
            state.lost.entry(id).or_default().extend(wanted);
        }
        Ok(state)
    }
}

/// Sectors as runs, each with its first and last sector.
pub(crate) fn runs(sectors: &BTreeSet<u64>) -> impl Iterator<Item = (u64, u64)> + '_ {
    let sectors: Vec<u64> = sectors.iter().copied().collect();
    let runs: Vec<(u64, u64)> =
        sectors.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run[run.len() - 1])).collect();
    runs.into_iter()
}
