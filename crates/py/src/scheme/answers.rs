//! Return values of Python hooks: a place, moves, collections and commands, converted for the engine.

use crate::error::UserError;
use crate::scheme::geometry::{Named, below};
use pyo3::prelude::*;
use wordline_flash::SlotClass;
use wordline_ftl::{ChannelSet, Collect, Command, Gather, Grain, IdleWork, Move, Place, PlanePick, Route};
use wordline_units::{BlockId, CellMode, ChannelId, Lpn, Ppn};

/// A word of a few, or an error that has them all.
pub(crate) fn word<T: Copy>(what: &str, given: &str, words: &[(&str, T)]) -> PyResult<T> {
    let found = words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        UserError::new_err(format!("{what}={given:?} is not known\n  allowed: {}", all.join(", ")))
    })
}

const SLOTS: [(&str, SlotClass); 7] = [
    ("next", SlotClass::Next),
    ("lsb", SlotClass::Lsb),
    ("csb", SlotClass::Csb),
    ("msb", SlotClass::Msb),
    ("tsb", SlotClass::Tsb),
    ("slc", SlotClass::Slc),
    ("reprogram", SlotClass::Reprogram),
];
const GATHERS: [(&str, Gather); 3] =
    [("as-is", Gather::AsIs), ("fill", Gather::Fill), ("whole", Gather::Whole)];
const PLANES: [(&str, PlanePick); 4] = [
    ("home", PlanePick::Home),
    ("any", PlanePick::Any),
    ("next-channel", PlanePick::NextChannel(ChannelSet::NONE)),
    ("most-free", PlanePick::MostFree),
];
pub(crate) const MODES: [(&str, CellMode); 4] =
    [("slc", CellMode::Slc), ("mlc", CellMode::Mlc), ("tlc", CellMode::Tlc), ("qlc", CellMode::Qlc)];

/// A class of slots by its name.
pub(crate) fn slot_class(name: &str) -> PyResult<SlotClass> {
    word("slot", name, &SLOTS)
}

/// The target of a place.
enum Way {
    /// Up to four regions, tried in order, each with a slot class.
    Regions(Vec<(String, SlotClass)>),
    /// Into the merge buffer, with a key.
    Buffer(u8),
}

/// Where data go. Created once and returned often, so it is converted once.
#[pyclass(frozen, module = "wordline", name = "Place")]
pub(crate) struct Decision {
    way: Way,
    gather: Gather,
    plane: PlanePick,
    /// Channels to keep away from.
    avoid: Vec<u32>,
}

#[pymethods]
impl Decision {
    fn __repr__(&self) -> String {
        match &self.way {
            Way::Regions(targets) => {
                let regions: Vec<&str> = targets.iter().map(|(region, _)| region.as_str()).collect();
                format!("<Place: {}>", regions.join(", else "))
            }
            Way::Buffer(key) => format!("<Place: into the merge buffer with key {key}>"),
        }
    }
}

/// Where data go: the first of the regions that has room, when the plane is ready for the program.
#[pyfunction]
pub(crate) fn to(
    regions: Vec<String>,
    slot: &str,
    gather: &str,
    plane: &str,
    avoid: Vec<u32>,
) -> PyResult<Decision> {
    if !(1..=4).contains(&regions.len()) {
        let given = regions.len();
        return Err(UserError::new_err(format!("to() has {given} regions\n  allowed: 1 to 4")));
    }
    let class = slot_class(slot)?;
    let target = |region: String| match region.split_once('/') {
        Some((name, own)) => Ok((name.to_string(), slot_class(own)?)),
        None => Ok((region, class)),
    };
    let way = Way::Regions(regions.into_iter().map(target).collect::<PyResult<_>>()?);
    let mut plane = word("plane", plane, &PLANES)?;
    if !avoid.is_empty() {
        let channels = avoid.iter().fold(ChannelSet::NONE, |set, channel| set.and(ChannelId(*channel)));
        plane = match plane {
            PlanePick::Any => PlanePick::Avoid(channels),
            PlanePick::NextChannel(_) => PlanePick::NextChannel(channels),
            _ => {
                let allowed = "only with plane=\"any\" or plane=\"next-channel\"";
                return Err(UserError::new_err(format!("to() avoids channels\n  allowed: {allowed}")));
            }
        };
    }
    Ok(Decision { way, gather: word("gather", gather, &GATHERS)?, plane, avoid })
}

/// Into the merge buffer, where parts of pages with one key find company.
#[pyfunction]
pub(crate) fn into_buffer(key: u8, gather: &str, plane: &str) -> PyResult<Decision> {
    let (gather, plane) = (word("gather", gather, &GATHERS)?, word("plane", plane, &PLANES)?);
    Ok(Decision { way: Way::Buffer(key), gather, plane, avoid: vec![] })
}

impl Decision {
    /// The same with the numbers of a drive.
    pub(crate) fn place(&self, named: &Named) -> PyResult<Place> {
        for channel in &self.avoid {
            below("channel", *channel, named.channels())?;
        }
        let route = match &self.way {
            Way::Buffer(key) => Some(Route::into_buffer(*key)),
            Way::Regions(targets) => {
                targets.iter().try_fold(None, |route: Option<Route>, (name, class)| {
                    let region = named.region_of(name)?;
                    PyResult::Ok(Some(route.map_or(Route::to(region, *class), |r| r.or(region, *class))))
                })?
            }
        };
        let route = route.ok_or_else(|| UserError::new_err("a place needs a region"))?;
        Ok(Place { gather: self.gather, plane: self.plane, route })
    }
}

/// `wordline.Move`.
#[derive(FromPyObject)]
pub(crate) struct AskedMove<'py> {
    lpn: u32,
    seen: u32,
    to: Bound<'py, Decision>,
}

impl AskedMove<'_> {
    pub(crate) fn read(&self, named: &Named) -> PyResult<Move> {
        let Place { plane, route, .. } = self.to.get().place(named)?;
        Ok(Move { lpn: Lpn(self.lpn), seen: Ppn(self.seen), plane, route })
    }
}

/// `wordline.Collect`.
#[derive(FromPyObject)]
pub(crate) struct AskedCollect<'py> {
    region: Bound<'py, PyAny>,
    block: Option<u32>,
    grain: String,
}

impl AskedCollect<'_> {
    pub(crate) fn read(&self, named: &Named) -> PyResult<Collect> {
        // Anything else than a name is no region either, and the error lists those.
        let region = self.region.str()?;
        Ok(Collect { region: named.region_of(region.to_str()?)?, block: self.block.map(BlockId) })
    }
}

/// A move or a collection, for an idle die.
#[derive(FromPyObject)]
pub(crate) enum AskedIdle<'py> {
    Move(AskedMove<'py>),
    Collect(AskedCollect<'py>),
}

impl AskedIdle<'_> {
    pub(crate) fn read(&self, named: &Named) -> PyResult<IdleWork> {
        Ok(match self {
            AskedIdle::Move(m) => IdleWork::Move(m.read(named)?),
            AskedIdle::Collect(c) => {
                let grain = word("grain", &c.grain, &[("page", Grain::Page), ("block", Grain::Block)])?;
                IdleWork::Collect(c.read(named)?, grain)
            }
        })
    }
}

/// `wordline.SetQuota`, or a move for the background.
#[derive(FromPyObject)]
pub(crate) enum AskedCommand<'py> {
    Enqueue(AskedMove<'py>),
    Quota { region: String, blocks: Option<u32>, slots: Option<u64> },
}

impl AskedCommand<'_> {
    pub(crate) fn read(&self, named: &Named, out: &mut Vec<Command>) -> PyResult<()> {
        match self {
            AskedCommand::Enqueue(m) => out.push(Command::Enqueue(m.read(named)?)),
            AskedCommand::Quota { region, blocks, slots } => {
                let region = named.region_of(region)?;
                out.extend(blocks.map(|n| Command::SetQuota(region, n)));
                out.extend(slots.map(|n| Command::SetSlotQuota(region, n)));
            }
        }
        Ok(())
    }
}
