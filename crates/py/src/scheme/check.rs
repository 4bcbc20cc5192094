//! A class of Python under the random drives of the swarm.

use crate::error::{Fault, wrong};
use crate::scheme::entry::alone;
use crate::signal::apart;
use pyo3::prelude::*;
use wordline_swarm::Swarm;

/// Run a class on random drives, each held to a plain array and to a ledger of the flash. Returns how many drives were
/// drawn that it refused.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, scheme: Bound<'_, PyAny>, seed: u64, cases: u64) -> PyResult<u64> {
    let (registry, failed) = alone(&scheme)?;
    let swarm = Swarm::over(&registry);
    let mut refused = 0;
    for case in (0..cases).map(|i| seed.wrapping_add(i)) {
        py.check_signals()?;
        let outcome = apart(py, || swarm.case(case, Swarm::length(case)))?;
        let note = format!("on the random drive of seed {case}: wordline.check(..., seed={case}, cases=1)");
        if let Some(e) = failed.take() {
            let _ = e.value(py).call_method1("add_note", (note,));
            return Err(e);
        }
        match outcome {
            Ok(outcome) => refused += u64::from(outcome.refused),
            Err(failure) if failure.scheme.is_empty() => return Err(wrong(failure.message)),
            Err(failure) => {
                let message = failure.message;
                return Err(Fault::new_err(format!("{message}\n  {note}\n  device:\n{}", failure.device)));
            }
        }
    }
    Ok(refused)
}
