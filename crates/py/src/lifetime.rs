//! Lives of drives: all at once, or one here and one there and put together.

use crate::arguments::{RunArguments, Watcher, told};
use crate::error::{unfit, wrong};
use crate::pictures::{Picture, pictures};
use crate::scheme::{Failed, attached};
use crate::signal::apart;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use wordline_report::{Life, Lifetimes, TerminalStyle};
use wordline_run::{EndOfLife, LifetimeSpec, Lives};
use wordline_units::{Opt, SimDuration};

/// How a drive lives, as the Python side spells it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AskedLife {
    acceleration: Option<u32>,
    checks_acceleration: bool,
    shelf: Option<String>,
    end: String,
}

/// The specification of lifetime runs, and the exceptions of Python classes among the schemes.
fn spec(
    py: Python<'_>,
    asked: RunArguments,
    schemes: Vec<String>,
    life: AskedLife,
    threads: usize,
) -> PyResult<(LifetimeSpec, Arc<Failed>)> {
    let Some(first) = schemes.first() else {
        return Err(wrong("schemes is empty; pass at least one scheme"));
    };
    let AskedLife { acceleration, checks_acceleration, shelf, end } = life;
    let shelf = shelf.map(|s| s.parse::<SimDuration>().map_err(|e| unfit(Opt::Shelf, &s, e))).transpose()?;
    let shelf = shelf.unwrap_or_default();
    let (run, failed) = asked.spec(py, first)?;
    let end = end.parse::<EndOfLife>().map_err(|e| unfit(Opt::End, &end, e))?;
    Ok((LifetimeSpec { run, schemes, acceleration, checks_acceleration, shelf, end, threads }, failed))
}

/// Run a drive to wear-out under each scheme; returns lifetimes as JSON. `progress` gets the scheme's position, the
/// seed, the drive writes until then.
#[pyfunction]
pub(crate) fn lifetime(
    py: Python<'_>,
    asked: RunArguments,
    schemes: Vec<String>,
    life: AskedLife,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (spec, failed) = spec(py, asked, schemes, life, threads)?;
    let watcher = Mutex::new(Watcher::new(progress, failed));
    let result = apart(py, || {
        wordline_run::lifetime(&spec, &|p| {
            let mut watcher = watcher.lock().unwrap_or_else(PoisonError::into_inner);
            watcher.call((p.scheme as u64, p.seed, p.drive_writes))
        })
    })?;
    let found = watcher.into_inner().unwrap_or_else(PoisonError::into_inner).judge(result)?;
    found.to_json().map_err(wrong)
}

/// Live one life of one scheme; lifetimes as JSON, with the results so far if it is stopped. `progress` gets the
/// passes that have ended, the drive writes in them and the share of their lives that the blocks have used up, and
/// returns whether to stop.
#[pyfunction]
pub(crate) fn one_life(
    py: Python<'_>,
    asked: RunArguments,
    scheme: String,
    life: AskedLife,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let (spec, failed) = spec(py, asked, vec![scheme], life, 1)?;
    let result = apart(py, || {
        wordline_run::lifetime(&spec, &|p| {
            let far = (p.passes, p.drive_writes, p.life_used);
            let stops = attached(|py| progress.call1(py, far)?.extract::<bool>(py));
            if stops.unwrap_or(true) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    })?;
    told(&failed, result)?.to_json().map_err(wrong)
}

/// The lives of which lifetimes consist: the scheme's position, the seed, and the cycles to an erase of each.
#[pyfunction]
pub(crate) fn lives(
    py: Python<'_>,
    asked: RunArguments,
    schemes: Vec<String>,
    life: AskedLife,
) -> PyResult<Vec<(usize, u64, u32)>> {
    let (spec, failed) = spec(py, asked, schemes, life, 1)?;
    let found = told(&failed, apart(py, || Lives::new(&spec))?)?;
    Ok(found.all().into_iter().map(|which| (which.scheme, which.seed, which.acceleration)).collect())
}

/// Lifetimes as JSON, of lives that were each lived alone: the only one of each JSON, in the order of [`lives`].
#[pyfunction]
pub(crate) fn lives_together(
    py: Python<'_>,
    asked: RunArguments,
    schemes: Vec<String>,
    life: AskedLife,
    alone: Vec<String>,
) -> PyResult<String> {
    let (spec, failed) = spec(py, asked, schemes, life, 1)?;
    let only = |text: &String| -> PyResult<Option<Life>> {
        let lifetimes = Lifetimes::from_json(text).map_err(wrong)?;
        Ok(lifetimes.schemes.into_iter().next().and_then(|scheme| scheme.lives.into_iter().next()))
    };
    let alone = alone.iter().map(only).collect::<PyResult<Vec<_>>>()?;
    let found = apart(py, || Lives::new(&spec).and_then(|lives| lives.together(alone)))?;
    told(&failed, found)?.to_json().map_err(wrong)
}

/// Lifetimes as the terminal shows them.
#[pyfunction]
pub(crate) fn lifetime_table(lifetimes: &str, width: usize) -> PyResult<String> {
    let style = TerminalStyle { colour: false, width };
    Ok(wordline_report::lifetime_table(&Lifetimes::from_json(lifetimes).map_err(wrong)?, style))
}

/// Lifetimes as one page for a browser.
#[pyfunction]
pub(crate) fn lifetime_html(lifetimes: &str) -> PyResult<String> {
    Ok(wordline_report::lifetime_html(&Lifetimes::from_json(lifetimes).map_err(wrong)?))
}

/// Every phase of every life as CSV.
#[pyfunction]
pub(crate) fn lifetime_csv(lifetimes: &str) -> PyResult<String> {
    Ok(Lifetimes::from_json(lifetimes).map_err(wrong)?.to_csv())
}

/// Every picture of lifetimes.
#[pyfunction]
pub(crate) fn lifetime_figures(lifetimes: &str) -> PyResult<Vec<Picture>> {
    Ok(pictures(wordline_report::lifetime_figures(&Lifetimes::from_json(lifetimes).map_err(wrong)?)))
}
