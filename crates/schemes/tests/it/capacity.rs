//! Does every layout hold its drive's capacity, and is every trigger within reach of the data? Over every built-in drive and
//! scheme.

use std::collections::{BTreeMap, BTreeSet};
use wordline_device::{DeviceSpec, builtin};
use wordline_flash::Geometry;
use wordline_ftl::{DriveInfo, FlashUse, Ftl, Layout};
use wordline_schemes::{all, build};
use wordline_units::CellMode;

/// What becomes of a scheme on a drive: its layout, or why there is none.
fn laid_out(spec: &DeviceSpec, geometry: &Geometry, scheme: &str) -> Result<Layout, String> {
    let logical_pages = (spec.logical_bytes() / spec.unit.0) as u32;
    let drive = DriveInfo { spec, geometry, logical_pages };
    let ftl = Ftl::new(&drive, build(scheme).unwrap()).map_err(|e| e.to_string())?;
    Ok(ftl.layout().clone())
}

#[test]
fn every_layout_on_a_shipped_drive_holds_its_capacity() {
    for device in builtin() {
        let spec = device.spec(&[]).unwrap();
        let geometry = spec.geometry().unwrap();
        for entry in all() {
            let Ok(layout) = laid_out(&spec, &geometry, &entry.name) else { continue };
            let (holds, capacity) = (FlashUse::new(&layout, &geometry).resting_bytes(), spec.logical_bytes());
            assert!(holds > capacity, "{} on {}: {holds} bytes for {capacity}", entry.name, device.name);
            // No scheme leaves a denser mode unused unless a parameter says so.
            let densest = geometry.media.iter().map(|m| m.densest()).max_by_key(|m| m.bits()).unwrap();
            assert!(
                FlashUse::new(&layout, &geometry).flash_bytes()[densest.index()] > 0,
                "{} on {}",
                entry.name,
                device.name
            );
        }
    }
}

#[test]
fn layout_below_capacity_is_refused_with_figures() {
    let spec = wordline_device::find("fair-qlc").unwrap().spec(&[]).unwrap();
    let geometry = spec.geometry().unwrap();
    let qlc = laid_out(&spec, &geometry, "ips").unwrap();
    assert_eq!(FlashUse::new(&qlc, &geometry).flash_bytes()[CellMode::Qlc.index()], 1344 << 20);
    for (scheme, mode) in
        [("ips:mode=tlc", "TLC"), ("pa-ssd:mode=tlc", "TLC"), ("conventional:mode=slc", "SLC")]
    {
        let e = laid_out(&spec, &geometry, scheme).unwrap_err();
        assert!(e.contains(&format!("in {mode} mode, less than the capacity of 1GiB")), "{e}");
        // What it proposes is taken.
        let set = e.split("set ").nth(1).unwrap().split([',', ' ']).next().unwrap();
        let (key, value) = set.split_once('=').unwrap();
        let smaller = wordline_device::find("fair-qlc").unwrap().spec(&[(key.into(), value.into())]).unwrap();
        laid_out(&smaller, &geometry, scheme).unwrap();
    }
    // A cache that leaves too little for the data is one, too.
    let e = laid_out(&spec, &geometry, "slc-cache:static_blocks=40").unwrap_err();
    assert!(e.contains("less than the capacity"), "{e}");
}

// They are out of reach.
#[test]
fn full_drive_misses_the_triggers_of_two_papers() {
    let mut missed: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for device in builtin() {
        let spec = device.spec(&[]).unwrap();
        let geometry = spec.geometry().unwrap();
        for entry in all() {
            let Ok(layout) = laid_out(&spec, &geometry, &entry.name) else { continue };
            for limit in FlashUse::new(&layout, &geometry).triggers_out_of_reach(spec.logical_bytes()) {
                assert!(limit.reachable < 0.5, "{limit:?}");
                missed.entry(device.name).or_default().insert(limit.trigger.to_string());
            }
            assert_eq!(
                FlashUse::new(&layout, &geometry).triggers_out_of_reach(0),
                [],
                "{} on {}",
                entry.name,
                device.name
            );
        }
    }
    let told: Vec<(&str, Vec<String>)> =
        missed.into_iter().map(|(d, t)| (d, t.into_iter().collect())).collect();
    // Their papers run footprints that leave the drive half empty.
    let papers = [("hierarchy-44gb", "free_blocks < 50%"), ("pa-ssd-288gb", "free_slots < 30%")];
    assert_eq!(told, papers.map(|(d, t)| (d, vec![t.to_string()])));
}
