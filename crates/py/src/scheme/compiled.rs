//! A decision that numba has compiled, with the numbers that it learns. Without numba, Python decides.

use crate::error::{UserError, wrong};
use crate::scheme::hook_input::bytes_of;
use pyo3::prelude::*;
use wordline_ftl::{Origin, Parcel, Place};

/// The compiled form of a function: from memory, its length, page, bytes, region and time to the number of a place, or
/// the smallest integer for an exception.
type Entry = extern "C" fn(*mut i64, i64, i64, i64, i64, i64) -> i64;

/// A decision, and what it reads and writes.
pub(crate) struct Compiled {
    entry: Option<Entry>,
    decide: Py<PyAny>,
    memory: Py<PyAny>,
    numbers: *mut i64,
    length: i64,
    /// While it is there, numpy leaves the memory where it is.
    _export: Py<PyAny>,
    places: Vec<Place>,
}

// SAFETY: the pointer is into an array that this owns a reference to and that stays where it is. Only the drive that it
// decides for calls it, one call after the other: a copy of a scheme asks for routes of its own.
unsafe impl Send for Compiled {}
// SAFETY: as above; no two drives share one.
unsafe impl Sync for Compiled {}

impl Compiled {
    /// Contents of a `wl.Compiled`.
    pub(crate) fn read(rule: &Bound<'_, PyAny>, places: Vec<Place>) -> PyResult<Compiled> {
        let (memory, export, address, length, entry): (Py<PyAny>, Py<PyAny>, usize, i64, Option<usize>) =
            rule.call_method0("_parts")?.extract()?;
        if places.is_empty() {
            return Err(wrong("a wl.Compiled needs at least one place"));
        }
        // SAFETY: the address is that of a function which numba has compiled with this signature, and which its module
        // keeps for as long as the process lives.
        let entry = entry.map(|at| unsafe { std::mem::transmute::<usize, Entry>(at) });
        let decide = rule.getattr("decide")?.unbind();
        let numbers = address as *mut i64;
        Ok(Compiled { entry, decide, memory, numbers, length, _export: export, places })
    }

    /// Where data go.
    #[inline]
    pub(crate) fn place(&self, parcel: &Parcel<'_>, sector: u32, now: u64) -> PyResult<Place> {
        let region = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => -1,
            Origin::Collected(region) | Origin::Moved(region) => i64::from(region.0),
        };
        let lpn = parcel.spans.first().map_or(0, |span| i64::from(span.lpn.0));
        let (bytes, now) = (i64::from(bytes_of(parcel, sector)), now as i64);
        let number = match self.entry {
            Some(entry) => entry(self.numbers, self.length, lpn, bytes, region, now),
            None => Python::attach(|py| {
                let decided = self.decide.call1(py, (&self.memory, lpn, bytes, region, now))?;
                decided.bind(py).call_method0("__index__")?.extract::<i64>()
            })?,
        };
        let place = usize::try_from(number).ok().and_then(|number| self.places.get(number));
        place.copied().ok_or_else(|| {
            let most = self.places.len() - 1;
            UserError::new_err(match number {
                i64::MIN => format!(
                    "the compiled decision about page {lpn} raised an exception\n  hint: wordline.check \
                     runs it in Python and shows the exception"
                ),
                _ => format!(
                    "the decision for page {lpn} is {number}\n  allowed: 0 to {most}, one for each of its \
                     places"
                ),
            })
        })
    }
}
