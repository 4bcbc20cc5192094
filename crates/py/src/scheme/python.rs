//! An instance of a class of Python as a scheme.

use crate::error::UserError;
use crate::scheme::answers::{AskedCollect, AskedCommand, AskedIdle, AskedMove, Decision};
use crate::scheme::failure::Failed;
use crate::scheme::geometry::{Named, Numbering};
use crate::scheme::hook_input::{Parcel, named_tuple, request, span};
use crate::scheme::layout::AskedLayout;
use crate::scheme::routes::Routes;
use crate::scheme::thread::attached;
use crate::scheme::view_handle::{Spare, ViewHandle, with_view};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::cell::{Cell, RefCell};
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::sync::Arc;
use wordline_ftl::{
    Answers, Collect, Command, DriveInfo, IdleWork, Layout, Memory, Metrics, Move, Need, Place, ReadSeen,
    Refusal, Scheme, Span, Tag, View,
};
use wordline_units::{CellMode, HostRequest, Lpn, PlaneId, SectorMask};

/// A scheme whose hooks are methods of an object of Python.
pub(crate) struct PyScheme {
    name: String,
    object: Py<PyAny>,
    place: Py<PyAny>,
    answers: Answers,
    /// Its names, after `layout`.
    named: Arc<Named>,
    sector: u32,
    logical_pages: u32,
    /// Its decisions in advance, if it has any.
    routes: Routes,
    decides_beforehand: bool,
    spare: Spare,
    /// Number of hook calls with a view.
    asked: Cell<u64>,
    /// Converted decisions, kept alive so that each is identified by its address.
    read: RefCell<Vec<(Py<Decision>, Place)>>,
    failed: Arc<Failed>,
}

/// The classes of hook arguments.
const FACE: &str = "wordline";
static READ_SEEN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Number of cached decisions; a scheme that creates a new one for each page gains nothing from more.
const KEPT: usize = 16;

impl PyScheme {
    pub(crate) fn new(
        name: &str,
        object: Bound<'_, PyAny>,
        answers: Answers,
        failed: Arc<Failed>,
    ) -> PyResult<PyScheme> {
        let place = object.getattr("place")?.unbind();
        let decides_beforehand = object.hasattr("routes")?;
        let name = name.to_string();
        Ok(PyScheme {
            name,
            object: object.unbind(),
            place,
            answers,
            named: Arc::default(),
            sector: 0,
            logical_pages: 0,
            routes: Routes::default(),
            decides_beforehand,
            spare: Spare::default(),
            asked: Cell::new(0),
            read: RefCell::default(),
            failed,
        })
    }

    /// Call a hook with a view; an exception is stored, and the run ends.
    fn ask<T: wordline_ftl::Answer>(
        &self,
        hook: &'static str,
        view: &View<'_>,
        call: impl FnOnce(Python<'_>, &Bound<'_, ViewHandle>) -> PyResult<T>,
    ) -> T {
        self.failed.note(hook);
        let asked = self.asked.get() + 1;
        self.asked.set(asked);
        view.answer(attached(|py| {
            let answered = with_view(py, view, (&self.named, &self.spare), |handle| call(py, handle));
            // What a list or a dictionary of a State takes is looked at when hooks were asked once, 16 times, 256 times ...
            let is_looked_at = asked.is_power_of_two() && asked.trailing_zeros().is_multiple_of(4);
            let kept = || if is_looked_at { self.check_learnt(py) } else { Ok(()) };
            let answered = answered.and_then(|answer| kept().map(|()| answer));
            answered.map_err(|e| self.failed.keep(py, e, [&self.name, hook], Some(view.now)))
        }))
    }

    /// Check the learned state of the scheme, which a saved or forked drive must not lose.
    fn check_learnt(&self, py: Python<'_>) -> PyResult<()> {
        self.object.bind(py).call_method0(intern!(py, "_check_learnt")).map(drop)
    }

    /// Ask what is decided beforehand, again.
    fn renew(&self, py: Python<'_>) -> PyResult<Routes> {
        let answer = self.object.bind(py).call_method0("routes")?;
        Routes::read(&answer, &self.named, self.logical_pages)
    }

    /// The target of a Python decision, converted once.
    fn placed(&self, answer: &Bound<'_, PyAny>) -> PyResult<Place> {
        let mut read = self.read.borrow_mut();
        if let Some((_, place)) = read.iter().find(|(known, _)| known.as_ptr() == answer.as_ptr()) {
            return Ok(*place);
        }
        let decision = answer.cast::<Decision>().map_err(|_| {
            let given = answer.repr().map_or_else(|_| "something else".to_string(), |r| r.to_string());
            UserError::new_err(format!("place() returned {given}\n  allowed: what wordline.to(...) returns"))
        })?;
        let place = decision.get().place(&self.named)?;
        if read.len() == KEPT {
            read.remove(0);
        }
        read.push((decision.clone().unbind(), place));
        Ok(place)
    }

    /// The properties of a drive passed to `layout`.
    fn drive<'py>(py: Python<'py>, drive: &DriveInfo) -> PyResult<Bound<'py, PyAny>> {
        let spec = serde_json::to_string(drive.spec).map_err(crate::error::wrong)?;
        let facts = PyDict::new(py);
        facts.set_item("spec", py.import("json")?.call_method1("loads", (spec,))?)?;
        facts.set_item("logical_pages", drive.logical_pages)?;
        facts.set_item("planes", drive.geometry.planes)?;
        facts.set_item("page_bytes", drive.geometry.unit)?;
        facts.set_item("geometry", Numbering(Arc::new(drive.geometry.clone())))?;
        let modes: Vec<Vec<&str>> = drive
            .geometry
            .media
            .iter()
            .map(|m| {
                CellMode::ALL.into_iter().filter(|mode| m.mode(*mode).is_some()).map(CellMode::key).collect()
            })
            .collect();
        facts.set_item("modes", modes)?;
        let blocks: Vec<u32> = drive.geometry.media.iter().map(|m| m.blocks_per_plane).collect();
        facts.set_item("blocks_per_plane", blocks)?;
        let sector = drive.geometry.sector;
        let sectors: Vec<u64> = drive.geometry.media.iter().map(|m| m.page.0 / sector).collect();
        facts.set_item("sectors_per_page", sectors)?;
        let trigger = drive.spec.slc_cache.map(|c| c.trigger.to_string());
        facts.set_item("slc_cache_trigger", trigger)?;
        py.import(FACE)?.call_method("DriveInfo", (), Some(&facts))
    }
}

impl Clone for PyScheme {
    fn clone(&self) -> PyScheme {
        attached(|py| {
            // A copy that fails is told by the next hook that is asked.
            let copy = self.object.bind(py).call_method0("_copy").and_then(|object| {
                let place = object.getattr("place")?.unbind();
                Ok((object.unbind(), place))
            });
            let (object, place) = copy.unwrap_or_else(|e| {
                self.failed.keep(py, e, [&self.name, "a copy of its state"], None);
                (self.object.clone_ref(py), self.place.clone_ref(py))
            });
            let mut copy = PyScheme {
                name: self.name.clone(),
                object,
                place,
                answers: self.answers,
                named: Arc::clone(&self.named),
                sector: self.sector,
                logical_pages: self.logical_pages,
                routes: self.routes.clone(),
                decides_beforehand: self.decides_beforehand,
                spare: Spare::default(),
                asked: Cell::new(0),
                read: RefCell::new(self.read.borrow().iter().map(|(d, p)| (d.clone_ref(py), *p)).collect()),
                failed: Arc::clone(&self.failed),
            };
            if copy.routes.learn() {
                // What it learns is the copy's own from now on.
                copy.routes = copy.renew(py).unwrap_or_else(|e| {
                    self.failed.keep(py, e, [&self.name, "routes"], None);
                    Routes::default()
                });
            }
            copy
        })
    }
}

impl Debug for PyScheme {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "PyScheme {{ {:?}, regions: {:?} }}", self.name, self.named.regions)
    }
}

/// Whether a return value is one of the tuples that begin with a region, so that no other is tried first.
fn names_a_region(answer: &Bound<'_, PyAny>) -> bool {
    let first = answer.cast::<PyTuple>().ok().and_then(|tuple| tuple.get_item(0).ok());
    first.is_some_and(|first| first.is_instance_of::<PyString>())
}

/// The return value of a hook, if valid.
fn answered<'py, T: FromPyObjectOwned<'py>>(
    hook: &str,
    allowed: &str,
    answer: &Bound<'py, PyAny>,
) -> PyResult<T> {
    answer.extract().map_err(|_| {
        let given = answer.repr().map_or_else(|_| "something".to_string(), |text| text.to_string());
        UserError::new_err(format!("{hook}() returned {given}\n  allowed: {allowed}"))
    })
}

/// The message for an invalid return value of `split_write`.
fn not_a_mask(answer: &Bound<'_, PyAny>, whole: &Span) -> PyErr {
    UserError::new_err(format!(
        "split_write() returned {answer}\n  allowed: a subset of the written sectors, {:#b}",
        whole.mask.0
    ))
}

impl Scheme for PyScheme {
    fn name(&self) -> &str {
        &self.name
    }

    fn answers(&self) -> Answers {
        self.answers
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let laid_out = attached(|py| {
            let given = PyScheme::drive(py, drive)?;
            let answer = self.object.bind(py).call_method1("_lay_out", (given,))?;
            let asked = AskedLayout::of(&answer)?;
            let geometry = Arc::new(drive.geometry.clone());
            self.named = Arc::new(Named::new(py, asked.names(), geometry));
            self.spare.take();
            let layout = asked.read(drive, &self.named)?;
            self.sector = drive.geometry.sector as u32;
            self.logical_pages = drive.logical_pages;
            if self.decides_beforehand {
                self.routes = self.renew(py)?;
            }
            Ok(layout)
        });
        laid_out.map_err(|e: PyErr| {
            let (reason, has_failed) = attached(|py| self.failed.refusal(py, e, &self.name));
            Refusal { scheme: self.name.clone(), device: drive.spec.name.clone(), reason, has_failed }
        })
    }

    fn place(&mut self, parcel: &wordline_ftl::Parcel, view: &View) -> Place {
        match self.routes.place(parcel, self.sector, view.now.0) {
            Ok(None) => {}
            Ok(Some(place)) => return place,
            Err(e) => return self.ask("routes", view, |_, _| Err(e)),
        }
        self.ask("place", view, |py, handle| {
            let asked = Parcel::of(py, parcel, &self.named, self.sector);
            self.placed(self.place.call1(py, (asked, handle))?.bind(py))
        })
    }

    fn admit(&mut self, request: &HostRequest, view: &View) -> Tag {
        self.ask("admit", view, |py, handle| {
            let asked = self::request(py, request)?;
            let answer = self.object.bind(py).call_method1(intern!(py, "admit"), (asked, handle))?;
            answered("admit", "a whole number from 0 to 255", &answer).map(Tag)
        })
    }

    fn make_room(&mut self, parcel: &wordline_ftl::Parcel, view: &View, out: &mut Vec<Move>) {
        self.ask("make_room", view, |py, handle| {
            let asked = Parcel::of(py, parcel, &self.named, self.sector);
            let answer = self.object.bind(py).call_method1(intern!(py, "make_room"), (asked, handle))?;
            let moves: Vec<AskedMove> = answered("make_room", "a list of wordline.Move", &answer)?;
            for m in moves {
                out.push(m.read(&self.named)?);
            }
            Ok(())
        });
    }

    fn split_write(&mut self, whole: &Span, view: &View) -> SectorMask {
        self.ask("split_write", view, |py, handle| {
            let answer =
                self.object.bind(py).call_method1(intern!(py, "split_write"), (span(py, whole)?, handle))?;
            let mask: u32 = answer.extract().map_err(|_| not_a_mask(&answer, whole))?;
            let within = mask != 0 && whole.mask.covers(SectorMask(mask));
            if within { Ok(SectorMask(mask)) } else { Err(not_a_mask(&answer, whole)) }
        })
    }

    fn read(&mut self, seen: &ReadSeen, view: &View) -> Option<Move> {
        self.ask("read", view, |py, handle| {
            let facts = (seen.lpn.0, seen.ppn.0, PyString::intern(py, seen.mode.key()), seen.retries);
            let asked = named_tuple(READ_SEEN.import(py, FACE, "ReadSeen")?, facts)?;
            let answer = self.object.bind(py).call_method1(intern!(py, "read"), (asked, handle))?;
            let moved: Option<AskedMove> =
                answered("read", "a wordline.Move(lpn, seen, to), or None", &answer)?;
            moved.map(|m| m.read(&self.named)).transpose()
        })
    }

    fn collect(&mut self, need: Need, view: &View) -> Option<Collect> {
        self.ask("collect", view, |py, handle| {
            let region = self.named.name_in(py, need.region);
            let answer =
                self.object.bind(py).call_method1(intern!(py, "collect"), (region, need.plane.0, handle))?;
            let collect: Option<AskedCollect<'_>> =
                answered("collect", "a wordline.Collect, or None", &answer)?;
            collect.map(|c| c.read(&self.named)).transpose()
        })
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        self.ask("idle", view, |py, handle| {
            let answer = self.object.bind(py).call_method1(intern!(py, "idle"), (plane.0, handle))?;
            let allowed = "a wordline.Move, a wordline.Collect, or None";
            let work: Option<AskedIdle> = match names_a_region(&answer) {
                true => Some(AskedIdle::Collect(answered("idle", allowed, &answer)?)),
                false => answered("idle", allowed, &answer)?,
            };
            work.map(|w| w.read(&self.named)).transpose()
        })
    }

    fn tick(&mut self, view: &View, out: &mut Vec<Command>) {
        let renewed: Option<Routes> = self.ask("tick", view, |py, handle| {
            let object = self.object.bind(py);
            // A ready-made layout may ask for ticks that the class has no use for.
            if object.hasattr("tick")? {
                let answer = object.call_method1(intern!(py, "tick"), (handle,))?;
                let allowed = "a list of wordline.SetQuota and wordline.Move, which may be empty";
                let commands: Vec<AskedCommand> = answered("tick", allowed, &answer)?;
                commands.iter().try_for_each(|c| c.read(&self.named, out))?;
            }
            self.decides_beforehand.then(|| self.renew(py)).transpose()
        });
        if let Some(routes) = renewed {
            self.routes = routes;
        }
    }

    fn seed(&mut self, seed: u64) {
        attached(|py| {
            if let Err(e) = self.object.bind(py).call_method1("_seed", (seed,)) {
                self.failed.keep(py, e, [&self.name, "seed"], None);
            }
        });
    }

    fn on_trim(&mut self, lpn: Lpn) {
        attached(|py| {
            if let Err(e) = self.object.bind(py).call_method1(intern!(py, "on_trim"), (lpn.0,)) {
                self.failed.keep(py, e, [&self.name, "on_trim"], None);
            }
        });
    }

    fn metrics(&self) -> Metrics<'_> {
        type Series = Vec<(String, Vec<[f64; 2]>)>;
        let followed = attached(|py| {
            if let Err(e) = self.check_learnt(py) {
                self.failed.keep(py, e, [&self.name, "its State, at the end"], None);
                return Ok(Series::new());
            }
            let answer = self.object.bind(py).call_method0("_metrics");
            let series = answer.and_then(|series| series.extract::<Series>());
            series.map_err(|e| self.failed.keep(py, e, [&self.name, "metrics"], None))
        });
        followed.unwrap_or_default().into_iter().map(|(name, series)| (name.into(), series.into())).collect()
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(self)
    }
}

impl Memory for PyScheme {
    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let text = attached(|py| self.object.bind(py).call_method0("_saved")?.extract::<String>());
        text.map(String::into_bytes).map_err(|e| io::Error::other(e.to_string()))
    }

    fn set(&mut self, bytes: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(bytes) else { return false };
        attached(|py| {
            let restored = self.object.bind(py).call_method1("_restore", (text,));
            let is_restored = restored.is_ok_and(|r| r.is_truthy().unwrap_or(false));
            is_restored
                && (!self.decides_beforehand || self.renew(py).map(|routes| self.routes = routes).is_ok())
        })
    }
}
