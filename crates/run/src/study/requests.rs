//! Every request of a report's run, obtained by a rerun.

use crate::error::RunError;
use crate::execute::{Progress, perform, ready};
use crate::record::completions::{WORDS, columns, numbers};
use crate::study::rerun::{came_out_otherwise, setup_of};
use std::ops::{ControlFlow, Range};
use std::time::Instant;
use wordline_report::Report;
use wordline_schemes::Registry;
use wordline_sim::{Completion, Event, Probe};

/// Integers in as few bytes as they need: none while all are 0, four, or eight each.
#[derive(Clone, Debug)]
pub enum Numbers {
    /// This many times 0.
    Zeros(usize),
    /// Below 2^32.
    Narrow(Vec<u32>),
    /// Any.
    Wide(Vec<i64>),
}

impl Numbers {
    /// One more.
    #[inline]
    pub fn push(&mut self, number: u64) {
        match self {
            Numbers::Zeros(count) if number == 0 => *count += 1,
            Numbers::Zeros(count) => {
                *self = Numbers::Narrow(vec![0; *count]);
                self.push(number);
            }
            Numbers::Narrow(all) => match u32::try_from(number) {
                Ok(number) => all.push(number),
                Err(_) => {
                    *self = Numbers::Wide(all.iter().map(|n| i64::from(*n)).collect());
                    self.push(number);
                }
            },
            Numbers::Wide(all) => all.push(number as i64),
        }
    }

    /// Those of some rows, eight bytes each.
    pub fn rows(&self, rows: Range<usize>) -> Vec<i64> {
        match self {
            Numbers::Zeros(_) => vec![0; rows.len()],
            Numbers::Narrow(all) => all[rows].iter().map(|n| i64::from(*n)).collect(),
            Numbers::Wide(all) => all[rows].to_vec(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Numbers::Zeros(count) => *count,
            Numbers::Narrow(all) => all.len(),
            Numbers::Wide(all) => all.len(),
        }
    }
}

/// Words of a small set: a byte each, and their meaning.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// For each row a place among the words.
    keys: Vec<u8>,
    /// The words, each once.
    words: Vec<&'static str>,
}

impl Words {
    /// For each row a place among the words, and the words, each once.
    pub fn into_parts(self) -> (Vec<u8>, Vec<&'static str>) {
        (self.keys, self.words)
    }

    fn push(&mut self, word: &'static str) {
        let place = self.words.iter().position(|known| *known == word).unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        });
        self.keys.push(place as u8);
    }
}

/// A column of the requests.
#[derive(Clone, Debug)]
pub enum OfRequests {
    /// Number, address and length in units of 512 bytes, times of arrival and completion in nanoseconds, or a latency
    /// part in nanoseconds; selects a number of a row.
    Numbers(usize, Numbers),
    /// Operation or outcome, as in reports; selects a word of a row.
    Words(usize, Words),
}

/// The requests of a run in order of completion, by column: all or some columns of the completions file.
#[derive(Clone, Debug)]
pub struct Requests {
    /// The columns by name.
    columns: Vec<(String, OfRequests)>,
}

impl Requests {
    /// The names of all columns: numbers, then words.
    pub fn names() -> Vec<String> {
        let of_numbers = columns().filter(|name| !WORDS.contains(&name.as_str()));
        of_numbers.chain(WORDS.map(str::to_string)).collect()
    }

    /// An empty table for the named columns, or for all.
    ///
    /// # Errors
    /// If a column does not exist, or is named twice.
    pub fn keeping(wanted: &[String]) -> Result<Requests, RunError> {
        let all = Requests::names();
        let words = all.len() - WORDS.len();
        let wanted = if wanted.is_empty() { &all } else { wanted };
        let mut columns: Vec<(String, OfRequests)> = vec![];
        for name in wanted {
            let place = all.iter().position(|known| known == name);
            let Some(place) = place.filter(|_| columns.iter().all(|(known, _)| known != name)) else {
                let wrong =
                    if place.is_some() { "is named twice" } else { "is not a column of the requests" };
                return Err(RunError::Input(format!("{name:?} {wrong}\n  allowed: {}", all.join(", "))));
            };
            let column = match place.checked_sub(words) {
                None => OfRequests::Numbers(place, Numbers::Zeros(0)),
                Some(word) => OfRequests::Words(word, Words::default()),
            };
            columns.push((name.clone(), column));
        }
        Ok(Requests { columns })
    }

    /// The columns by name.
    pub fn into_columns(self) -> Vec<(String, OfRequests)> {
        self.columns
    }

    /// One more.
    pub fn add(&mut self, c: &Completion) {
        let (numbers, words) = (numbers(c), [c.request.op.key(), c.outcome.key()]);
        for (_, column) in &mut self.columns {
            match column {
                OfRequests::Numbers(place, column) => column.push(numbers[*place]),
                OfRequests::Words(place, column) => column.push(words[*place]),
            }
        }
    }
}

impl Probe for Requests {
    const WATCHES: bool = true;

    fn event(&mut self, _: Event) {}

    fn completion(&mut self, c: &Completion) {
        self.add(c);
    }
}

/// Rerun a report, and keep all or some columns of its requests. `workload` stands in for the recorded path where the
/// file has moved. Of replicas, the first is rerun.
///
/// # Errors
/// As for [`crate::rerun`], if a column does not exist, or if the result differs from the report.
pub fn requests(
    report: &Report,
    wanted: &[String],
    workload: Option<&str>,
    registry: &Registry,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Requests, RunError> {
    let kept = Requests::keeping(wanted)?;
    let setup = setup_of(report, workload, registry)?;
    let spelling = setup.scheme(&setup.spec.scheme)?;
    let (mut device, start) = ready(&setup, &spelling, kept)?;
    let again = perform(&setup, &spelling, 0, (&mut device, start), Instant::now(), progress)?;
    if again.result_hash != report.result_hash {
        return Err(came_out_otherwise(report, &again));
    }
    Ok(device.into_probe())
}
