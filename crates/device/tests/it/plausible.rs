//! Values that no real part has are read, and named.

use wordline_device::*;

/// The lines for a built-in drive with some of its keys set.
fn doubts(name: &str, sets: &[(&str, &str)]) -> Vec<String> {
    let sets: Vec<_> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    implausible(&find(name).unwrap().spec(&sets).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn no_builtin_device_has_implausible_values() {
    for device in builtin() {
        assert_eq!(doubts(device.name, &[]), [""; 0], "{}", device.name);
    }
}

#[test]
fn implausible_value_is_named_with_what_parts_have() {
    for (key, value, said) in [
        ("medium.flash.slc.read", "0us", "3us (Samsung Z-NAND"),
        ("medium.flash.qlc.read", "1ms", "to 140us (QLC"),
        ("medium.flash.qlc.program", "10s", "to 6.55ms (a wordline of QLC"),
        ("medium.flash.slc.erase", "1us", "1.5ms (SLC"),
        ("medium.flash.qlc.erase", "1s", "to 15ms"),
        ("medium.flash.bus.rate", "2kB/s", "50MT/s (asynchronous"),
        ("medium.flash.qlc.endurance", "0", "not known"),
        ("medium.flash.qlc.endurance", "1", "150 (early QLC)"),
        ("host.rate", "1MB/s", "150MB/s (SATA 1)"),
    ] {
        let found = doubts("consumer-qlc", &[(key, value)]);
        let line =
            found.iter().find(|line| line.contains(said)).unwrap_or_else(|| panic!("{key}: {found:?}"));
        assert!(line.starts_with(&format!("{key} = ")), "{line}");
    }
}

#[test]
fn values_that_contradict_each_other_are_named() {
    for (key, value, said) in [
        ("medium.flash.slc.read", "90us", "slower than 85us in QLC mode"),
        ("medium.flash.slc.program", "7ms", "slower than 6.55ms in QLC mode"),
        ("medium.flash.slc.endurance", "900", "below 1000 in QLC mode"),
        ("medium.flash.qlc.program", "80us", "shorter than a read, 85us"),
    ] {
        let found = doubts("consumer-qlc", &[(key, value)]);
        let line =
            found.iter().find(|line| line.contains(said)).unwrap_or_else(|| panic!("{key}: {found:?}"));
        assert!(line.starts_with(&format!("{key} = ")), "{line}");
    }
    let erase = doubts("consumer-qlc", &[("medium.flash.qlc.erase", "0ns")]);
    assert!(erase.iter().any(|line| line.contains("shorter than a read")), "{erase:?}");
}

#[test]
fn resource_that_is_off_is_not_doubted() {
    assert_eq!(doubts("consumer-qlc", &[("medium.flash.bus.rate", "off"), ("host.rate", "off")]), [""; 0]);
}

#[test]
fn description_of_a_drive_lists_implausible_values() {
    let text = |sets: &[(String, String)]| describe(&find("fair-tlc").unwrap().spec(sets).unwrap());
    assert!(!text(&[]).contains("implausible"));
    let found = text(&[("medium.flash.slc.read".into(), "0us".into())]);
    assert!(
        found.contains("\nimplausible values\n  medium.flash.slc.read = 0ns is implausible: "),
        "{found}"
    );
}
