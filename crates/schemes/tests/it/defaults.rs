//! Is the default of a parameter, as listings show it, the one that its scheme takes?

use crate::support::{drives, layouts};
use wordline_schemes::{all, build};

/// A default that is no value: what the device file says.
const FROM_DEVICE: &str = "device";

#[test]
fn a_parameter_left_out_is_as_if_its_default_were_given() {
    let specs = drives();
    for entry in all() {
        let plain = build(&entry.name).unwrap();
        for p in entry.parameters.iter().filter(|p| p.default != FROM_DEVICE) {
            let spelling = format!("{}:{}={}", entry.name, p.key, p.default);
            let given = build(&spelling).unwrap();
            let alike = format!("{plain:?}") == format!("{given:?}");
            // Some settings are found on the device when nothing is given, and come to the same.
            let (left_out, given) = (layouts(&*plain, &specs), layouts(&*given, &specs));
            assert!(alike || !given.is_empty() && given.iter().all(|l| left_out.contains(l)), "{spelling}");
        }
    }
}
