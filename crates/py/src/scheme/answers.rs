//! What Python answers: a place, moves, collections, commands and layouts, read into the engine's own.

use crate::error::UserError;
use crate::scheme::lent::region_of;
use pyo3::prelude::*;
use std::fmt::Display;
use std::str::FromStr;
use wordline_device::{DeviceSpec, ProgramBuffer};
use wordline_flash::{ProgramRule, SlotClass, Window};
use wordline_ftl::{
    Collect, Command, EarlierBits, FreeOrder, Gather, Grain, Hooks, IdleWork, Layout, MapKind, Move, Place,
    PlanePick, Pool, PoolId, Region, RegionId, Route,
};
use wordline_units::{BlockId, CellMode, Lpn, Ppn, SimDuration};

/// A word of a few, or an error that has them all.
fn word<T: Copy>(what: &str, given: &str, words: &[(&str, T)]) -> PyResult<T> {
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
const PLANES: [(&str, PlanePick); 3] =
    [("home", PlanePick::Home), ("any", PlanePick::Any), ("most-free", PlanePick::MostFree)];
const MODES: [(&str, CellMode); 4] =
    [("slc", CellMode::Slc), ("mlc", CellMode::Mlc), ("tlc", CellMode::Tlc), ("qlc", CellMode::Qlc)];

/// Where data go: up to four regions, tried in order. Made once and given back often, so it is read once.
#[pyclass(frozen, module = "wordline", name = "Place")]
pub(crate) struct Decision {
    targets: Vec<(String, SlotClass)>,
    gather: Gather,
    plane: PlanePick,
}

#[pymethods]
impl Decision {
    fn __repr__(&self) -> String {
        let regions: Vec<&str> = self.targets.iter().map(|(region, _)| region.as_str()).collect();
        format!("<Place: {}>", regions.join(", else "))
    }
}

/// Where data go: the first of the regions that has room, when the plane is ready for the program.
#[pyfunction]
pub(crate) fn to(regions: Vec<String>, slot: &str, gather: &str, plane: &str) -> PyResult<Decision> {
    if !(1..=4).contains(&regions.len()) {
        let given = regions.len();
        return Err(UserError::new_err(format!("to() has {given} regions\n  allowed: 1 to 4")));
    }
    let class = word("slot", slot, &SLOTS)?;
    let target = |region: String| match region.split_once('/') {
        Some((name, own)) => Ok((name.to_string(), word("slot", own, &SLOTS)?)),
        None => Ok((region, class)),
    };
    let targets = regions.into_iter().map(target).collect::<PyResult<_>>()?;
    Ok(Decision { targets, gather: word("gather", gather, &GATHERS)?, plane: word("plane", plane, &PLANES)? })
}

impl Decision {
    /// The same with the regions of a layout.
    pub(crate) fn place(&self, regions: &[String]) -> PyResult<Place> {
        let mut route: Option<Route> = None;
        for (name, class) in &self.targets {
            let region = region_of(regions, name)?;
            route = Some(route.map_or(Route::to(region, *class), |r| r.or(region, *class)));
        }
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
    pub(crate) fn read(&self, regions: &[String]) -> PyResult<Move> {
        let Place { plane, route, .. } = self.to.get().place(regions)?;
        Ok(Move { lpn: Lpn(self.lpn), seen: Ppn(self.seen), plane, route })
    }
}

/// `wordline.Collect`.
#[derive(FromPyObject)]
pub(crate) struct AskedCollect {
    region: String,
    block: Option<u32>,
    grain: String,
}

impl AskedCollect {
    pub(crate) fn read(&self, regions: &[String]) -> PyResult<Collect> {
        Ok(Collect { region: region_of(regions, &self.region)?, block: self.block.map(BlockId) })
    }
}

/// A move or a collection, for an idle die.
#[derive(FromPyObject)]
pub(crate) enum AskedIdle<'py> {
    Move(AskedMove<'py>),
    Collect(AskedCollect),
}

impl AskedIdle<'_> {
    pub(crate) fn read(&self, regions: &[String]) -> PyResult<IdleWork> {
        Ok(match self {
            AskedIdle::Move(m) => IdleWork::Move(m.read(regions)?),
            AskedIdle::Collect(c) => {
                let grain = word("grain", &c.grain, &[("page", Grain::Page), ("block", Grain::Block)])?;
                IdleWork::Collect(c.read(regions)?, grain)
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
    pub(crate) fn read(&self, regions: &[String], out: &mut Vec<Command>) -> PyResult<()> {
        match self {
            AskedCommand::Enqueue(m) => out.push(Command::Enqueue(m.read(regions)?)),
            AskedCommand::Quota { region, blocks, slots } => {
                let region = region_of(regions, region)?;
                out.extend(blocks.map(|n| Command::SetQuota(region, n)));
                out.extend(slots.map(|n| Command::SetSlotQuota(region, n)));
            }
        }
        Ok(())
    }
}

/// `wordline.Region`.
#[derive(FromPyObject)]
struct AskedRegion {
    name: String,
    mode: String,
    pool: u8,
    rule: String,
    blocks: Option<u32>,
    trigger: Option<String>,
    victim: Option<String>,
    evicts_to_other_pool: bool,
    window: Option<(u8, u8)>,
    reread_ns: Option<u64>,
    partial_victims: bool,
}

/// `wordline.Pool`.
#[derive(FromPyObject)]
struct AskedPool {
    medium: usize,
    blocks: u32,
    least_erased_first: bool,
}

/// `wordline.Layout`.
#[derive(FromPyObject)]
pub(crate) struct AskedLayout {
    regions: Vec<AskedRegion>,
    pools: Vec<AskedPool>,
    home: String,
    tick_every_writes: u32,
    idle_after_ns: u64,
}

fn parsed<T: FromStr<Err: Display>>(what: &str, text: &str) -> PyResult<T> {
    text.parse().map_err(|e| UserError::new_err(format!("{what}={text:?}: {e}")))
}

impl AskedRegion {
    fn read(self, spec: &DeviceSpec, pools: &[AskedPool]) -> PyResult<Region> {
        let mode = word("mode", &self.mode, &MODES)?;
        let Some(pool) = pools.get(self.pool as usize) else {
            let (name, own) = (&self.name, self.pool);
            return Err(UserError::new_err(format!(
                "region {name:?} is in pool {own}\n  allowed: 0 to {}",
                pools.len().saturating_sub(1)
            )));
        };
        let medium = spec.media.get(pool.medium).ok_or_else(|| {
            UserError::new_err(format!(
                "a pool is on medium {}; the drive has {}",
                pool.medium,
                spec.media.len()
            ))
        })?;
        let one_shot = medium.mode(mode).is_some_and(|t| t.pages_per_program > 1);
        let rules = [
            (
                "device",
                if one_shot { ProgramRule::OneShot(mode.bits() as u8) } else { ProgramRule::Sequential },
            ),
            ("sequential", ProgramRule::Sequential),
            ("one-shot", ProgramRule::OneShot(mode.bits() as u8)),
            ("strict-diagonal", ProgramRule::StrictDiagonal),
            ("relaxed", ProgramRule::Relaxed),
        ];
        let window = self.window.map(|(wordlines, layers)| Window { wordlines, layers });
        let windowed = window.map(|window| ("reprogram-window", ProgramRule::ReprogramWindow(window)));
        let rules: Vec<(&str, ProgramRule)> = rules.into_iter().chain(windowed).collect();
        let rule = word("rule", &self.rule, &rules)?;
        let trigger = self.trigger.as_deref().map(|t| parsed("trigger", t)).transpose()?;
        let victim = self.victim.as_deref().map(|v| parsed("victim", v)).transpose()?;
        let plain = Region::new(self.name, PoolId(self.pool), mode, rule);
        let reread = self.reread_ns.map(|ns| EarlierBits::RereadIn(SimDuration(ns)));
        Ok(Region {
            earlier_bits: reread.unwrap_or(plain.earlier_bits),
            partial_victims: self.partial_victims,
            quota: self.blocks.unwrap_or(u32::MAX),
            trigger: trigger.unwrap_or(spec.gc.trigger),
            victim: victim.unwrap_or(spec.gc.victim),
            pad_after: spec.pad_after,
            pad_host_after: spec.pad_host_after,
            protected: spec.program_buffer == ProgramBuffer::Protected,
            evicts_to_other_pool: self.evicts_to_other_pool,
            ..plain
        })
    }
}

impl AskedLayout {
    /// The names of the regions, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.regions.iter().map(|r| r.name.clone()).collect()
    }

    pub(crate) fn read(self, spec: &DeviceSpec) -> PyResult<Layout> {
        let names = self.names();
        if let Some(name) = names.iter().enumerate().find_map(|(i, n)| names[..i].contains(n).then_some(n)) {
            return Err(UserError::new_err(format!(
                "two regions are called {name:?}\n  allowed: each name once"
            )));
        }
        if !(1..=15).contains(&names.len()) {
            return Err(UserError::new_err(format!("{} regions\n  allowed: 1 to 15", names.len())));
        }
        let home: RegionId = region_of(&names, &self.home)?;
        let regions = self.regions.into_iter().map(|r| r.read(spec, &self.pools));
        Ok(Layout {
            regions: regions.collect::<PyResult<_>>()?,
            home,
            second_home: None,
            map: MapKind::Page,
            merges: None,
            enabled_hooks: Hooks::ALL,
            tick_every_writes: self.tick_every_writes,
            idle_after: SimDuration(self.idle_after_ns),
            pools: self
                .pools
                .into_iter()
                .map(|p| Pool {
                    medium: p.medium,
                    blocks_per_plane: p.blocks,
                    free: if p.least_erased_first { FreeOrder::LeastErased } else { FreeOrder::Fifo },
                })
                .collect(),
        })
    }
}
