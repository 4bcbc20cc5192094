//! Files of states: damaged, of another drive, of another build.

use crate::snapshot::metadata;
use crate::snapshot::plan::{Plan, requests, serve};
use crate::support::number;
use std::fs::File;
use std::io::{Read, Seek, Write};
use wordline_ftl::{About, Checked, Label, Saver, StateError, StateFile};
use wordline_sim::{Device, NoProbe, RestoreError};
use wordline_swarm::Rng;
use wordline_units::SimTime;

/// A drive in the middle of its work, and its state.
fn busy(seed: u64) -> (Plan, Vec<u8>) {
    let mut rng = Rng::new(seed);
    let plan = Plan::new(seed, &mut rng, metadata);
    let asked = requests(plan.spec(), &mut rng, 120, SimTime(0));
    let mut device = plan.build();
    serve(&mut device, &asked, &mut vec![]);
    let mut bytes = vec![];
    let mut file = plan.save(&device).0;
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    (plan, bytes)
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Open and restore whatever the bytes are.
fn attempt(plan: &Plan, bytes: &[u8]) -> Result<String, RestoreError> {
    let state = StateFile::open(file_of(bytes), Checked::Whole)?;
    let device: Device<NoProbe> = plan.restore(&state)?;
    Ok(plan.save(&device).1)
}

// Any byte changed or cut off.
#[test]
fn damaged_state_file_is_refused_or_harmless() {
    let cases = number("WORDLINE_CASES", 300);
    for seed in [3, 14] {
        let (plan, bytes) = busy(seed);
        let good = attempt(&plan, &bytes).unwrap_or_else(|e| panic!("{e}"));
        let mut rng = Rng::new(seed ^ 0x0066_6c69);
        let interesting: Vec<usize> = (0..bytes.len()).filter(|i| *i < 64 || bytes[*i] != 0).collect();
        for i in 0..cases {
            // Where something is written, more often than in what lies between.
            let at = match i % 4 {
                0 => rng.below(bytes.len() as u64) as usize,
                1 => rng.below(64) as usize,
                _ => interesting[rng.below(interesting.len() as u64) as usize],
            };
            let mut changed = bytes.clone();
            changed[at] ^= 1 << rng.below(8);
            match attempt(&plan, &changed) {
                Ok(checksum) => {
                    let outside = at >= 64 && bytes[at] == 0;
                    assert!(outside && checksum == good, "byte {at} of {} may change", bytes.len());
                }
                Err(RestoreError::State(StateError::Damaged { .. } | StateError::NotAState)) => {}
                Err(e) => panic!("byte {at}: {e}"),
            }
            let cut = rng.below(bytes.len() as u64) as usize;
            let e = attempt(&plan, &bytes[..cut]).unwrap_err();
            assert!(
                matches!(e, RestoreError::State(StateError::Damaged { .. } | StateError::NotAState)),
                "cut at {cut}: {e}"
            );
        }
        let e = attempt(&plan, &[&bytes[..], &[0]].concat()).unwrap_err().to_string();
        assert!(e.contains("damaged: checksum of its length"), "{e}");
    }
    let (plan, _) = busy(3);
    let other = attempt(
        &plan,
        b"a report, or whatever else of more than sixty-four bytes people have in their folders",
    );
    assert!(matches!(other, Err(RestoreError::State(StateError::NotAState))));
}

#[test]
fn damage_is_told_by_the_part_that_it_is_in() {
    let (plan, bytes) = busy(3);
    let say = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        attempt(&plan, &changed).unwrap_err().to_string()
    };
    let table = (65_536..bytes.len()).find(|i| bytes[*i] != 0).unwrap();
    for (at, part) in [(30, "its header"), (bytes.len() - 1, "its body"), (table, "chunk 0 of table")] {
        let e = say(at);
        assert!(e.contains("damaged") && e.contains(part) && e.contains("save it again"), "{e}");
    }
}

// With the first difference.
#[test]
fn state_of_another_device_or_scheme_is_refused_by_name() {
    let (plan, bytes) = busy(3);
    let state = StateFile::open(file_of(&bytes), Checked::Whole).unwrap();
    let mut spec = plan.spec().clone();
    spec.name = "small".into();
    spec.gc.hard_reserve += 1;
    let e = state.is_of(Label { device: &spec, scheme: &plan.name }).unwrap_err().to_string();
    assert!(
        e.contains("device tiny") && e.contains("not small") && e.contains("device.name is \"tiny\""),
        "{e}"
    );
    spec.name = plan.spec().name.clone();
    let e = state.is_of(Label { device: &spec, scheme: &plan.name }).unwrap_err().to_string();
    let (was, is) = (plan.spec().gc.hard_reserve, spec.gc.hard_reserve);
    assert!(e.contains(&format!("gc.hard_reserve is {was} in the state file, but {is} in this run")), "{e}");
    let e = state.is_of(Label { device: plan.spec(), scheme: "fast" }).unwrap_err().to_string();
    assert!(e.contains(&plan.name) && e.contains("fast"), "{e}");
}

#[test]
fn state_with_other_fields_is_named_as_another_build() {
    let (plan, bytes) = busy(3);
    let about = StateFile::open(file_of(&bytes), Checked::Whole).unwrap().about().clone();
    let write = |about: &About| {
        let mut file = tempfile::tempfile().unwrap();
        let mut to = Saver::new(&mut file);
        to.shape("Device with fields of old").unwrap();
        to.finish(about).unwrap();
        StateFile::open(file, Checked::Whole).unwrap()
    };
    let e = plan.restore(&write(&about)).err().unwrap().to_string();
    assert!(e.contains("different build") && e.contains("Device"), "{e}");
    let e = plan.restore(&write(&About { layout: !about.layout, ..about })).err().unwrap().to_string();
    assert!(e.contains("different build") && e.contains("layout"), "{e}");
}
