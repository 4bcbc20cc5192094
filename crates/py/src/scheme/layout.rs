//! How a scheme of Python divides a drive, read into the engine's own layout.

use crate::error::UserError;
use crate::scheme::answers::{MODES, word};
use crate::scheme::geometry::Named;
use pyo3::prelude::*;
use wordline_device::{DeviceSpec, ProgramBuffer, Trigger, Victim};
use wordline_flash::{ProgramRule, Window};
use wordline_ftl::{
    Answers, DriveInfo, EarlierBits, FreeOrder, Hooks, IdleHold, Join, Layout, MapKind, MovedIn, Pool,
    PoolId, Region, RegionSet,
};
use wordline_units::{Rate, SimDuration};

/// A number, or a word in place of one.
#[derive(FromPyObject)]
enum Either {
    Number(u64),
    Word(String),
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
    slots: Option<u64>,
    pad_after_ns: Option<Either>,
    pad_host_after_ns: Option<u64>,
    protected: Option<bool>,
    earlier_bits: String,
    moved_in: Either,
    kept: u32,
}

/// `wordline.Pool`.
#[derive(FromPyObject)]
struct AskedPool {
    medium: usize,
    blocks: u32,
    least_erased_first: bool,
}

/// The map of a layout.
#[derive(FromPyObject)]
enum AskedMap {
    Overlay { regions: Vec<String>, slots: u32 },
    Kind(String),
}

const MAPS: [(&str, MapKind); 3] =
    [("page", MapKind::Page), ("sector", MapKind::Sector), ("extent", MapKind::Extent)];
const JOINS: [(&str, Join); 3] =
    [("first", Join::First), ("same-key", Join::SameKey), ("fewest-channels", Join::FewestChannels)];
const EARLIER: [(&str, EarlierBits); 2] =
    [("buffered", EarlierBits::Buffered), ("reread", EarlierBits::Reread)];
const MOVED: [(&str, MovedIn); 3] =
    [("packed", MovedIn::Packed), ("alone", MovedIn::Alone), ("rewritten", MovedIn::Rewritten)];

/// `wordline.Layout`.
#[derive(FromPyObject)]
pub(crate) struct AskedLayout {
    regions: Vec<AskedRegion>,
    pools: Vec<AskedPool>,
    home: String,
    tick_every_writes: u32,
    idle_after_ns: u64,
    map: AskedMap,
    merges: Option<String>,
    second_home: Option<(String, u32)>,
    enabled_hooks: Option<Vec<String>>,
}

fn victim(text: &str) -> PyResult<Victim> {
    text.parse().map_err(|e| UserError::new_err(format!("victim={text:?}: {e}")))
}

/// A threshold as in a device file, or the one that is for schemes alone.
fn trigger(text: &str) -> PyResult<Trigger> {
    if text == "last-block" {
        return Ok(Trigger::LastBlock);
    }
    text.parse()
        .map_err(|e| UserError::new_err(format!("trigger={text:?}: {e}\n  allowed: \"last-block\", too")))
}

impl AskedRegion {
    fn read(self, drive: &DriveInfo, pools: &[AskedPool]) -> PyResult<Region> {
        let spec: &DeviceSpec = drive.spec;
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
                "a pool is on medium {}; wordline.Pool takes its blocks, then its medium\n  allowed: 0 to {}",
                pool.medium,
                spec.media.len().saturating_sub(1)
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
        let trigger = self.trigger.as_deref().map(trigger).transpose()?;
        let victim = self.victim.as_deref().map(victim).transpose()?;
        let earlier = word("earlier_bits", &self.earlier_bits, &EARLIER)?;
        let reread = self.reread_ns.map(|ns| EarlierBits::RereadIn(SimDuration(ns)));
        let moved_in = match &self.moved_in {
            Either::Number(units) => MovedIn::Through(u32::try_from(*units).unwrap_or(u32::MAX)),
            Either::Word(given) => word("moved_in", given, &MOVED)?,
        };
        let units = drive.geometry.units_per_page(pool.medium);
        if moved_in == MovedIn::Rewritten && units != 2 {
            return Err(UserError::new_err(format!(
                "region {:?} has moved_in=\"rewritten\", but its pages hold {units} mapping units\n  \
                 allowed: flash with 2 mapping units per page",
                self.name
            )));
        }
        let pad_after = match &self.pad_after_ns {
            None => spec.pad_after,
            Some(Either::Number(ns)) => Some(SimDuration(*ns)),
            Some(Either::Word(given)) => word("pad_after_ns", given, &[("never", None)])?,
        };
        let plain = Region::new(self.name, PoolId(self.pool), mode, rule);
        Ok(Region {
            earlier_bits: reread.unwrap_or(earlier),
            partial_victims: self.partial_victims,
            quota: self.blocks.unwrap_or(u32::MAX),
            kept: self.kept,
            trigger: trigger.unwrap_or(spec.gc.trigger),
            victim: victim.unwrap_or(spec.gc.victim),
            pad_after,
            pad_host_after: self.pad_host_after_ns.map_or(spec.pad_host_after, SimDuration),
            protected: self.protected.unwrap_or(spec.program_buffer == ProgramBuffer::Protected),
            evicts_to_other_pool: self.evicts_to_other_pool,
            moved_in,
            slot_quota: self.slots.unwrap_or(u64::MAX),
            ..plain
        })
    }
}

impl AskedLayout {
    /// What a scheme's `layout` has returned; the error names the field that has another type or range.
    pub(crate) fn of(answer: &Bound<'_, PyAny>) -> PyResult<AskedLayout> {
        answer.extract().map_err(|e: PyErr| {
            let py = answer.py();
            let (mut fields, mut last) = (Vec::new(), e);
            while let Some(deeper) = last.cause(py) {
                let text = last.value(py).to_string();
                fields.extend(text.rsplit_once('.').map(|(_, field)| field.to_string()));
                last = deeper;
            }
            let why = last.value(py);
            UserError::new_err(format!("layout() returned a Layout whose {}: {why}", fields.join(".")))
        })
    }

    /// The names of the regions, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.regions.iter().map(|r| r.name.clone()).collect()
    }

    pub(crate) fn read(self, drive: &DriveInfo, named: &Named) -> PyResult<Layout> {
        let names = &named.regions;
        if let Some(name) = names.iter().enumerate().find_map(|(i, n)| names[..i].contains(n).then_some(n)) {
            return Err(UserError::new_err(format!(
                "duplicate region name {name:?}\n  allowed: unique names"
            )));
        }
        if !(1..=15).contains(&names.len()) {
            return Err(UserError::new_err(format!("{} regions\n  allowed: 1 to 15", names.len())));
        }
        let map = match &self.map {
            AskedMap::Kind(given) => word("map", given, &MAPS)?,
            AskedMap::Overlay { regions, slots } => {
                let regions = regions.iter().try_fold(RegionSet::default(), |set, name| {
                    PyResult::Ok(set.and(named.region_of(name)?))
                })?;
                MapKind::Overlay(regions, *slots)
            }
        };
        let merges = self.merges.as_deref().map(|given| word("merges", given, &JOINS)).transpose()?;
        let home = named.region_of(&self.home)?;
        let second_home = match &self.second_home {
            Some((name, pages)) if named.region_of(name)? == home => {
                return Err(UserError::new_err(format!(
                    "second_home=({name:?}, {pages})\n  allowed: a region other than {name:?}, the home \
                     region"
                )));
            }
            Some((name, pages)) => Some((named.region_of(name)?, *pages)),
            None => None,
        };
        let enabled_hooks = self.enabled_hooks.as_deref().map(hooks).transpose()?;
        let regions = self.regions.into_iter().map(|r| r.read(drive, &self.pools));
        Ok(Layout {
            regions: regions.collect::<PyResult<_>>()?,
            home,
            second_home,
            map,
            merges,
            enabled_hooks: enabled_hooks.unwrap_or(Hooks::ALL),
            tick_every_writes: self.tick_every_writes,
            idle_after: SimDuration(self.idle_after_ns),
            idle_hold: IdleHold::Grain,
            idle_rate: Rate::OFF,
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

/// Hooks by their names.
fn hooks(given: &[String]) -> PyResult<Hooks> {
    let all: Vec<&str> = Hooks::ALL.names().collect();
    if let Some(unknown) = given.iter().find(|hook| !all.contains(&hook.as_str())) {
        let all = all.join(", ");
        return Err(UserError::new_err(format!("enabled_hooks has {unknown:?}\n  allowed: {all}")));
    }
    Ok(Answers::of_impl(&given.iter().map(String::as_str).collect::<Vec<_>>()).hooks())
}
