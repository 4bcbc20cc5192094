//! Is a scheme as its entry says? For tests of schemes, in this or another crate.

use crate::parameters::Parameter;
use crate::registry::Entry;
use crate::spelling::Registry;
use wordline_device::DeviceSpec;
use wordline_ftl::{DriveInfo, Hooks, Layout, Scheme};

/// Keys of scheme parameters, apart from their descriptions.
const NUMBERS: [&str; 5] = ["1", "2", "8", "10%", "1us"];

/// Problems of a scheme, one per line: invalid names, a parameter that it does not read or whose default is invalid,
/// invalid parameters for small drives, or a hook that no drive ever calls under any of its parameters, because its
/// layout leaves the hook out or an `answers
///
/// # Errors
/// All problems that were found.
pub fn check(entry: &Entry, drives: &[DeviceSpec]) -> Result<(), Vec<String>> {
    let registry = Registry::empty().with(entry.clone()).map_err(|e| vec![e.to_string()])?;
    let scheme = registry.build(&entry.name).map_err(|e| vec![e.to_string()])?;
    let mut problems = vec![];
    if scheme.name() != entry.name {
        problems.push(format!("the entry is named {:?} but its scheme {:?}", entry.name, scheme.name()));
    }
    for Parameter { key, .. } in &entry.parameters {
        let answer = registry.build(&format!("{}:{key}=no-such-thing", entry.name));
        if answer.is_err_and(|e| e.to_string().contains("unknown key")) {
            problems.push(format!("parameter {key:?} is listed but the scheme does not read it"));
        }
    }
    for small in &entry.small {
        if let Err(e) = registry.build(&format!("{}:{small}", entry.name)) {
            problems.push(format!("invalid parameters for small drives, {small:?}: {e}"));
        }
    }
    let (has, called) = hooks(&registry, entry, drives);
    if has != called {
        let names: Vec<&str> = has.without(called).names().collect();
        problems.push(format!(
            "some of its hooks are never called, or it supports no drive: {}",
            names.join(", ")
        ));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The hooks that a scheme has under any of its parameters, and those of them that are called on any of the drives.
fn hooks(registry: &Registry, entry: &Entry, drives: &[DeviceSpec]) -> (Hooks, Hooks) {
    let (mut has, mut called) = (Hooks::NONE, Hooks::NONE);
    for scheme in variants(entry).iter().filter_map(|spelling| registry.build(spelling).ok()) {
        has = has.union(scheme.answers().hooks());
        for layout in layouts(&*scheme, drives) {
            let ticks = if layout.tick_every_writes > 0 { Hooks::TICK } else { Hooks::NONE };
            called = called.union(layout.enabled_hooks).union(ticks);
        }
    }
    (has, called)
}

/// A scheme as it is, and with each of its parameters at values that its description lists.
fn variants(entry: &Entry) -> Vec<String> {
    let values = |p: &Parameter| {
        let words = p.what.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
        words.chain(NUMBERS).map(|value| format!("{}:{}={value}", entry.name, p.key)).collect::<Vec<_>>()
    };
    let changed = entry.parameters.iter().flat_map(values);
    std::iter::once(entry.name.to_string()).chain(changed).collect()
}

/// Its layouts on those of the drives that it suits.
fn layouts(scheme: &dyn Scheme, drives: &[DeviceSpec]) -> Vec<Layout> {
    let on = |spec: &DeviceSpec| {
        let geometry = spec.geometry().ok()?;
        let logical_pages = (spec.logical_bytes() / spec.unit.0) as u32;
        scheme.clone_box().laid_out(&DriveInfo { spec, geometry: &geometry, logical_pages }).ok()
    };
    drives.iter().filter_map(on).collect()
}
