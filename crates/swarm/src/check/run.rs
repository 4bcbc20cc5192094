//! Runs a case on an observed drive, and twice on a drive without observers. All runs must give the same
//! result.

use crate::case::Case;
use crate::check::host_requests::{Asked, InQueues};
use crate::check::ledger::{self, Ledger};
use crate::rng::Rng;
use std::convert::Infallible;
use wordline_ftl::{BoxedMedia, Bytes, Initial};
use wordline_sim::{Arrivals, Device, NoProbe, Probe, drive_host};
use wordline_units::{HostOp, HostRequest, SimTime};

/// Run a case with all checks. Returns the result hash.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn run(case: &Case) -> Result<String, String> {
    let mut run = Run::new(case)?;
    run.perform()?;
    let watched = run.finish()?;
    for looks in [Looks::Never, Looks::AtRandom] {
        let alone = plain(case, looks)?;
        if watched != alone {
            return Err(format!(
                "the result hash is {watched} with observers but {alone} without ({looks:?})"
            ));
        }
    }
    Ok(watched)
}

/// A running drive with its model.
struct Run<'a> {
    device: Device<Ledger>,
    host: Asked<'a>,
}

impl<'a> Run<'a> {
    fn new(case: &'a Case) -> Result<Run<'a>, String> {
        let (mut device, initial) =
            prepared(case, || Bytes::default().into(), |holds_data| Ledger::of(watched(case, holds_data)))?;
        device.ftl_mut().tables().check().map_err(|e| format!("before the first request: {e}"))?;
        Ok(Run { device, host: Asked::new(case, &initial) })
    }

    /// Submit a request, and process all completions up to its arrival.
    fn step(&mut self, r: HostRequest) -> Result<(), String> {
        let number = self.host.taken();
        let data = self.host.ask(&r);
        let given = self.device.submit_with(r, r.arrival, &data).map_err(|e| e.to_string())?;
        if given != number {
            return Err(format!("request {number} was given the number {given}"));
        }
        self.collect(r.arrival)
    }

    /// Process all completions up to a time. On some of the smallest drives, all counters are recomputed
    /// after each event.
    fn collect(&mut self, until: SimTime) -> Result<(), String> {
        let case = self.host.case();
        if case.seed.is_multiple_of(8) && case.drive.geometry.blocks <= 64 {
            while let Some(next) = self.device.next_event().filter(|next| *next <= until) {
                self.collect_all(next)?;
                self.device.ftl_mut().tables().check().map_err(|e| format!("at {} ns: {e}", next.0))?;
            }
        }
        self.collect_all(until)
    }

    fn collect_all(&mut self, until: SimTime) -> Result<(), String> {
        while let Some(c) = self.device.next_completion(until).map_err(|e| e.to_string())? {
            self.host.ended(&c).map_err(|why| {
                let ignored = self.device.ftl().counters().without_effect.in_words();
                match self.device.ftl().inspect().first_full() {
                    Some(full) => format!("{why}; the drive was first full {full}{ignored}"),
                    None => why + &ignored,
                }
            })?;
        }
        Ok(())
    }

    /// Submit all requests of the case, and wait for their completion.
    fn perform(&mut self) -> Result<(), String> {
        let case = self.host.case();
        if let Some(queues) = case.drive.queues() {
            let next = Arrivals::new(case.requests.iter().map(|r| Ok(*r)), false);
            let mut host = InQueues::new(next, &mut self.host);
            drive_host(&mut self.device, &mut host, Some(queues), |_| {}).map_err(|e| e.to_string())?;
            self.device.drain().map_err(|e| e.to_string())?;
            host.finish()?;
            let (all, taken) = (case.requests.len() as u64, self.host.taken());
            return if all == taken { Ok(()) } else { Err(format!("of {all} requests {taken} were taken")) };
        }
        // Recomputing counters during a run is slow, so only some cases do it.
        let recounts = case.seed.is_multiple_of(4);
        for (i, r) in case.requests.iter().enumerate() {
            self.step(*r)?;
            if recounts && i % 32 == 0 {
                self.device.ftl_mut().tables().check().map_err(|e| format!("after request {i}: {e}"))?;
            }
        }
        self.collect(SimTime::NEVER)?;
        self.device.drain().map_err(|e| e.to_string())?;
        self.collect(SimTime::NEVER)
    }

    /// Compare everything after the last completion. Returns the result hash.
    fn finish(mut self) -> Result<String, String> {
        self.nothing_is_left()?;
        self.device.ftl_mut().tables().check().map_err(|e| e.to_string())?;
        let hash = hash(&self.device);
        self.counts_add_up()?;
        let all = self.host.model().blocks();
        self.step(HostRequest::new(HostOp::Read, 0, all as u32).at(self.device.now()))?;
        self.collect(SimTime::NEVER)?;
        self.host.judge()?;
        self.device.ftl_mut().tables().check().map_err(|e| e.to_string())?;
        Ok(hash)
    }

    fn nothing_is_left(&self) -> Result<(), String> {
        let (submitted, ended) = (self.device.submitted(), self.host.completed());
        if ended != submitted {
            return Err(format!("{submitted} requests were submitted but {ended} completed"));
        }
        // On a full drive, garbage collection may wait for space that never comes.
        let waits = !self.host.case().drive.roomy && self.device.outstanding() == 0;
        if !waits && (self.device.outstanding() > 0 || !self.device.ftl().inspect().is_quiet()) {
            return Err(format!("{} are left", self.device.ftl().inspect().leftovers()));
        }
        Ok(())
    }

    fn counts_add_up(&self) -> Result<(), String> {
        let counters = self.device.ftl().counters();
        if let Some(wrong) = self.device.probe().wrong() {
            return Err(wrong.to_string());
        }
        self.device.probe().agrees(counters)?;
        self.host.agrees(counters)?;
        let (counted, written) = (counters.host.write_page_bytes, self.host.page_bytes());
        // Requests that a worn-out drive refuses immediately are not counted.
        let refused = self.device.metrics().worn_out > 0 && counted < written;
        if counted != written && !refused {
            return Err(format!(
                "the count of bytes of written units is {counted}, but {written} bytes were written"
            ));
        }
        let held = self.host.model().mapped(self.device.ftl().layout().map.is_by_page());
        let settled = !self.host.model().has_failures() && self.device.ftl().inspect().is_quiet();
        if settled && self.device.ftl().inspect().mapped() != held {
            return Err(format!(
                "{} logical pages are mapped, but the host wrote {held}",
                self.device.ftl().inspect().mapped()
            ));
        }
        Ok(())
    }
}

/// A drive in its initial state. If the state does not fit, it is rejected and the drive is fresh.
fn prepared<P: Probe>(
    case: &Case,
    media: fn() -> BoxedMedia,
    probe: impl Fn(bool) -> P,
) -> Result<(Device<P>, Initial), String> {
    let drive = &case.drive;
    let new = |holds| {
        Device::over(&drive.spec, &drive.geometry, drive.scheme(), probe(holds), media())
            .map_err(|e| e.to_string())
    };
    let mut device = new(true)?;
    match device.ftl_mut().setup().precondition(&case.initial, case.seed) {
        Ok(()) => Ok((device, case.initial.clone())),
        Err(_) => Ok((new(false)?, Initial::fresh())),
    }
}

fn watched(case: &Case, holds_data: bool) -> ledger::Drive {
    let drive = &case.drive;
    ledger::Drive {
        geometry: drive.geometry.clone(),
        parallel_unit: drive.spec.parallel_unit,
        multiplane: drive.spec.multiplane,
        multiplane_pages: drive.spec.multiplane_pages,
        in_order: drive.in_order(),
        windows: drive.windows(),
        holds_data,
    }
}

fn hash<P: Probe>(device: &Device<P>) -> String {
    device.metrics().result_hash(&device.ftl().counters().integers())
}

/// When a drive is looked at, apart from each arrival.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Looks {
    Never,
    AtRandom,
}

/// Run the same case on a drive without observers that stores no data, as in a simulation. When completions
/// are taken makes no difference.
fn plain(case: &Case, looks: Looks) -> Result<String, String> {
    let (mut device, _) = prepared(case, BoxedMedia::none, |_| NoProbe)?;
    if let Some(queues) = case.drive.queues() {
        let mut host = Arrivals::new(case.requests.iter().map(|r| Ok::<_, Infallible>(*r)), false);
        drive_host(&mut device, &mut host, Some(queues), |_| {}).map_err(|e| e.to_string())?;
        device.drain().map_err(|e| e.to_string())?;
        return Ok(hash(&device));
    }
    let mut random = Rng::new(case.seed);
    for r in &case.requests {
        if looks == Looks::AtRandom {
            look_until(&mut device, r.arrival, &mut random)?;
        }
        device.submit(*r, r.arrival).map_err(|e| e.to_string())?;
    }
    while device.next_completion(SimTime::NEVER).map_err(|e| e.to_string())?.is_some() {}
    device.drain().map_err(|e| e.to_string())?;
    Ok(hash(&device))
}

fn look_until(device: &mut Device<NoProbe>, end: SimTime, random: &mut Rng) -> Result<(), String> {
    while device.now() < end && random.below(3) > 0 {
        let until = SimTime(device.now().0 + 1 + random.below(end.0 - device.now().0));
        if random.below(2) == 0 {
            device.advance_to(until).map_err(|e| e.to_string())?;
        } else if device.next_completion(until).map_err(|e| e.to_string())?.is_none() {
            break;
        }
    }
    Ok(())
}

/// A swarm that cannot fail would find nothing.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::draw::spelling::Spellings;
    use crate::stress;

    #[test]
    fn a_read_of_old_data_is_noticed() {
        let spellings = Spellings::of(&stress::registry());
        let draw = |seed| Case::draw(&spellings, seed, 300).unwrap();
        let case = (1..).map(draw).find(|c| c.drive.roomy).unwrap();
        let mut run = Run::new(&case).unwrap();
        run.perform().unwrap();
        let forged = run.host.forge();
        let error = run.finish().unwrap_err();
        assert!(error.contains(&format!("instead of {forged}")), "{error}");
    }
}
