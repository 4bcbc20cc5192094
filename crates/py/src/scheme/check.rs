//! A class of Python under the random drives of the swarm.

use crate::error::{Fault, wrong};
use crate::scheme::Failed;
use crate::scheme::entry::alone;
use crate::signal::apart;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use wordline_explore::{Limits, Shape};
use wordline_schemes::Registry;
use wordline_swarm::{Failure, Swarm, power, promised_pages};

/// Run a class on random drives, each compared with a plain array and a ledger of the flash, and on further ones with
/// power cuts; then explore this many states of a drive with a few blocks, whatever may happen next. Returns the number
/// of refused drives, of power cuts, of explored states, and of calls of each hook. `progress` receives the kind of
/// check, the number done, and the total.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    scheme: Bound<'_, PyAny>,
    seed: u64,
    cases: u64,
    power_cuts: u64,
    states: usize,
    progress: &Bound<'_, PyAny>,
) -> PyResult<(u64, u64, usize, BTreeMap<&'static str, u64>)> {
    let (registry, failed) = alone(&scheme)?;
    failed.count();
    let swarm = Swarm::over(&registry);
    let seeds = |count: u64| (0..count).map(|i| seed.wrapping_add(i));
    let (mut refused, mut cuts) = (0, 0);
    for (done, case) in seeds(cases).enumerate() {
        progress.call1(("random drives", done, cases))?;
        py.check_signals()?;
        let outcome = apart(py, || swarm.case(case, Swarm::length(case)))?;
        let replay = format!(
            "on the random drive of seed {case}: wordline.check(..., seed={case}, cases=1, power_cuts=0, states=0)"
        );
        refused += u64::from(judged(py, &failed, outcome, replay)?.refused);
    }
    for (done, case) in seeds(power_cuts).enumerate() {
        progress.call1(("drives with power cuts", done, power_cuts))?;
        py.check_signals()?;
        let tally = apart(py, || power::power_cuts(&swarm, case, power::length_of_cuts(case)))?;
        let replay = format!(
            "on the drive with power cuts of seed {case}: wordline.check(..., seed={case}, cases=0, \
             power_cuts=1, states=0)"
        );
        cuts += judged(py, &failed, tally, replay)?.cuts;
    }
    progress.call1(("states of the smallest drive", 0, states))?;
    let gone_through = if states > 0 { every_order(py, &registry, &failed, states)? } else { 0 };
    Ok((refused, cuts, gone_through, failed.asked()))
}

/// Go through states of the smallest drive that a class takes, and of which it can promise the host all; of a class that
/// takes none through none.
fn every_order(py: Python<'_>, registry: &Registry, failed: &Failed, states: usize) -> PyResult<usize> {
    let name = &registry.all()[0].name;
    let limits = Limits { states, time: Duration::MAX, faults: 1 };
    let found = apart(py, || {
        let shape = Shape::small(name).find(|shape| is_promised(shape, name, registry))?;
        Some((shape.drive().unwrap_or_default(), shape.explore(registry, limits)))
    })?;
    if let Some(e) = failed.take() {
        return Err(e);
    }
    let Some((drive, found)) = found else { return Ok(0) };
    let found = found.map_err(wrong)?;
    let Some(fault) = found.faults.first() else { return Ok(found.states) };
    let path: Vec<String> = fault.path.iter().enumerate().map(|(i, e)| format!("{:4} {e}", i + 1)).collect();
    Err(Fault::new_err(format!(
        "{}\n  on a drive of planes x blocks x pages = {drive}, after\n{}\n{}",
        fault.what,
        path.join("\n"),
        fault.state
    )))
}

/// Whether a scheme supports a drive, and can guarantee its capacity.
fn is_promised(shape: &Shape, name: &str, registry: &Registry) -> bool {
    let promised = shape.spec().and_then(|spec| {
        let scheme = registry.build(name).map_err(|e| e.to_string())?;
        Ok(promised_pages(&spec, name, &*scheme)? >= spec.logical_bytes() / spec.unit.0)
    });
    promised == Ok(true) && shape.world(registry).is_ok()
}

/// Result of a case; an exception of the class precedes it.
fn judged<T>(py: Python<'_>, failed: &Failed, outcome: Result<T, Failure>, replay: String) -> PyResult<T> {
    if let Some(e) = failed.take() {
        let _ = e.value(py).call_method1("add_note", (replay,));
        return Err(e);
    }
    outcome.map_err(|failure| match failure.scheme.is_empty() {
        true => wrong(failure.message),
        false => Fault::new_err(format!("{}\n  {replay}\n  device:\n{}", failure.message, failure.device)),
    })
}
