//! A layer that is saved and loaded goes on as if it had run through.

use crate::bench::{Bench, Rng};
use crate::orders::{CASES, do_something, live_through};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use wordline_ftl::{About, Checked, Loader, Saved, Saver, StateError, StateFile};

/// An empty file that goes with the last who has it open.
fn file() -> File {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let name = format!("wordline-ftl-{}-{}", std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

fn saved(b: &Bench) -> File {
    let mut file = file();
    let mut to = Saver::new(&mut file);
    b.ftl.save(&mut to).unwrap();
    let about = About {
        version: "1".into(),
        device: b.drive.spec.name.clone(),
        toml: String::new(),
        scheme: "told".into(),
        layout: b.ftl.layout().fingerprint(),
        seed: 0,
        now: b.now,
        requests: 0,
    };
    to.finish(&about).unwrap();
    file
}

/// The same drive, of which the layer has been saved and loaded.
fn back(b: &Bench, file: File, checked: Checked) -> Result<wordline_ftl::Ftl, StateError> {
    let state = StateFile::open(file, checked)?;
    assert_eq!((state.about().now, state.about().scheme.as_str()), (b.now, "told"));
    let mut ftl = b.fresh();
    let mut from = Loader::of(&state);
    from.divided_as(ftl.layout().fingerprint())?;
    ftl.load(&mut from)?;
    from.finish()?;
    ftl.at(b.now);
    Ok(ftl)
}

#[test]
fn state_saved_midway_continues_as_if_uninterrupted() {
    for which in 0..CASES {
        let [mut through, mut loaded] = [(); 2].map(|()| live_through(which, 6, 90));
        loaded.ftl = back(&loaded, saved(&loaded), Checked::Whole).unwrap();
        for b in [&mut through, &mut loaded] {
            let mut rng = Rng(which as u64);
            (0..60).for_each(|_| do_something(b, &mut rng));
            b.verify();
        }
        assert_eq!(through.ftl.counters().integers(), loaded.ftl.counters().integers(), "case {which}");
        assert_eq!(through.now, loaded.now, "case {which}");
    }
}

#[test]
fn a_file_that_is_not_what_was_saved_is_refused() {
    let b = live_through(0, 6, 40);
    for from in [SeekFrom::Start(2), SeekFrom::Start(30), SeekFrom::End(-9)] {
        let mut file = saved(&b);
        file.seek(from).unwrap();
        file.write_all(&[0xa5; 3]).unwrap();
        assert!(back(&b, file, Checked::Whole).is_err(), "{from:?}");
    }
    let file = saved(&b);
    file.set_len(10).unwrap();
    assert!(matches!(back(&b, file, Checked::Whole), Err(StateError::NotAState)));
    let mut other = live_through(3, 6, 40);
    other.now = b.now;
    assert!(back(&b, saved(&other), Checked::Body).is_err());
}
