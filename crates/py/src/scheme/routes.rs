//! Decisions in advance: for each origin of data a place, or a table of places, which the engine uses without calling
//! Python.

use crate::error::{UserError, wrong};
use crate::scheme::answers::Decision;
use crate::scheme::compiled::Compiled;
use crate::scheme::geometry::Named;
use crate::scheme::hook_input::bytes_of;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use wordline_ftl::{Origin, Parcel, Place};

/// The origins in the order of a table, as Python calls them.
const ORIGINS: [&str; 4] = ["host", "sealed", "collected", "moved"];

/// How data of one origin are placed.
enum Rule {
    /// All alike.
    Always(Place),
    /// Up to this many bytes each, the least first; and above all of them.
    BySize(Vec<(u64, Place)>, Place),
    /// By the class of their first logical page.
    ByPage(Vec<u8>, Vec<Place>),
    /// As decided by compiled code.
    Compiled(Compiled),
}

/// Decisions of a scheme in advance. Shared by forks, until one of them renews it.
#[derive(Clone, Default)]
pub(crate) struct Routes {
    rules: Arc<[Option<Rule>; ORIGINS.len()]>,
}

impl Routes {
    /// The return value of `routes` of an object.
    pub(crate) fn read(answer: &Bound<'_, PyAny>, named: &Named, logical_pages: u32) -> PyResult<Routes> {
        let answer = answer.cast::<PyDict>().map_err(|_| {
            wrong(
                "routes() did not return a dictionary\n  allowed: places by origin, as in {\"host\": \
                   wl.to(\"slc\")}",
            )
        })?;
        let mut rules = [const { None }; ORIGINS.len()];
        for (origin, rule) in answer.iter() {
            let origin: String = origin.extract()?;
            let Some(at) = ORIGINS.iter().position(|known| *known == origin) else {
                let all = ORIGINS.join(", ");
                return Err(UserError::new_err(format!(
                    "routes() has unknown origin {origin:?}\n  allowed: {all}"
                )));
            };
            rules[at] = Some(Rule::read(&rule, named, logical_pages)?);
        }
        Ok(Routes { rules: Arc::new(rules) })
    }

    /// Whether any of it is compiled, and learns.
    pub(crate) fn learn(&self) -> bool {
        self.rules.iter().flatten().any(|rule| matches!(rule, Rule::Compiled(_)))
    }

    /// Where data go, if that is decided.
    ///
    /// # Errors
    /// What compiled code decides wrongly.
    #[inline]
    pub(crate) fn place(&self, parcel: &Parcel<'_>, sector: u32, now: u64) -> PyResult<Option<Place>> {
        let at = match parcel.origin {
            Origin::Host(_) => 0,
            Origin::Sealed => 1,
            Origin::Collected(_) => 2,
            Origin::Moved(_) => 3,
        };
        Ok(match &self.rules[at] {
            None => None,
            Some(Rule::Always(place)) => Some(*place),
            Some(Rule::BySize(steps, above)) => {
                let bytes = u64::from(bytes_of(parcel, sector));
                Some(steps.iter().find(|(most, _)| bytes <= *most).map_or(*above, |(_, place)| *place))
            }
            // The drive's own tables lie behind the host's pages; their place is not asked for.
            Some(Rule::ByPage(classes, places)) => {
                let class = parcel.spans.first().and_then(|span| classes.get(span.lpn.0 as usize));
                class.and_then(|class| places.get(*class as usize)).copied()
            }
            Some(Rule::Compiled(compiled)) => Some(compiled.place(parcel, sector, now)?),
        })
    }
}

impl Rule {
    fn read(rule: &Bound<'_, PyAny>, named: &Named, logical_pages: u32) -> PyResult<Rule> {
        let place = |given: &Bound<'_, PyAny>| -> PyResult<Place> {
            let decision = given.cast::<Decision>().map_err(|_| {
                wrong(
                    "routes() has an invalid rule\n  allowed: wl.to(...), wl.BySize, wl.ByPage, \
                       wl.Compiled",
                )
            })?;
            decision.get().place(named)
        };
        if rule.hasattr("steps")? {
            let steps: Vec<(u64, Bound<'_, PyAny>)> = rule.getattr("steps")?.extract()?;
            let steps: Vec<(u64, Place)> =
                steps.iter().map(|(most, to)| Ok((*most, place(to)?))).collect::<PyResult<_>>()?;
            if !steps.is_sorted_by(|a, b| a.0 < b.0) {
                return Err(wrong("the sizes of wl.BySize must ascend"));
            }
            return Ok(Rule::BySize(steps, place(&rule.getattr("above")?)?));
        }
        let places = || -> PyResult<Vec<Place>> {
            let places: Vec<Bound<'_, PyAny>> = rule.getattr("places")?.extract()?;
            places.iter().map(place).collect()
        };
        if rule.hasattr("decide")? {
            return Compiled::read(rule, places()?).map(Rule::Compiled);
        }
        if rule.hasattr("classes")? {
            let classes: Vec<u8> = rule.getattr("classes")?.call_method0("tobytes")?.extract()?;
            let places = places()?;
            if classes.len() != logical_pages as usize {
                return Err(UserError::new_err(format!(
                    "the classes of wl.ByPage are {}\n  allowed: one byte for each of the {logical_pages} \
                     logical pages",
                    classes.len()
                )));
            }
            if let Some(class) = classes.iter().find(|class| **class as usize >= places.len()) {
                return Err(UserError::new_err(format!(
                    "wl.ByPage has class {class}\n  allowed: 0 to {}, one per place",
                    places.len().saturating_sub(1)
                )));
            }
            return Ok(Rule::ByPage(classes, places));
        }
        place(rule).map(Rule::Always)
    }
}
