//! `scheme`: one to begin with.

use crate::args::scheme::SchemeNewArgs;
use crate::console::Console;
use crate::error::Failure;
use crate::output::Sink;
use wordline_schemes::{Registry, SAMPLE};

/// A class of Python, and its test.
const CLASS: &str = include_str!("../samples/my_scheme.py");
const TEST: &str = include_str!("../samples/test_my_scheme.py");

/// Refuse a name that a scheme cannot have.
fn allowed(name: &str) -> Result<(), Failure> {
    let is_word = |w: &str| {
        w.starts_with(|c: char| c.is_ascii_lowercase())
            && w.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    if !name.split('-').all(is_word) {
        let what = "lower-case letters, digits and hyphens, such as small-first";
        return Err(Failure::Input(format!("{name:?} is not a valid scheme name\n  allowed: {what}")));
    }
    if Registry::standard().all().iter().any(|entry| *entry.name == *name) {
        return Err(Failure::Input(format!("{name}: a scheme of this name exists; choose another")));
    }
    Ok(())
}

pub(crate) fn new(args: &SchemeNewArgs, console: &Console) -> Result<(), Failure> {
    let name = &args.name;
    allowed(name)?;
    let (file, class) = (name.replace('-', "_"), camel(name));
    let said = |text: &str| {
        let plain = name.replace('-', " ");
        let title = plain[..1].to_uppercase() + &plain[1..];
        text.replace("My scheme", &title)
            .replace("my-scheme", name)
            .replace("my_scheme", &file)
            .replace("MyScheme", &class)
    };
    let files = if args.rust {
        vec![(format!("{file}.rs"), said(SAMPLE))]
    } else {
        vec![(format!("{file}.py"), said(CLASS)), (format!("test_{file}.py"), said(TEST))]
    };
    let at = |file: String| match args.out.as_os_str() == "." {
        true => file,
        false => args.out.join(file).display().to_string(),
    };
    std::fs::create_dir_all(&args.out).map_err(|e| {
        Failure::Input(format!("--out {}: {}", args.out.display(), wordline_units::io_reason(&e)))
    })?;
    let mut open = vec![];
    for (file, text) in files {
        open.push((Sink::open_new(&at(file), args.force)?, text));
    }
    for (sink, text) in open {
        sink.write(&text, console)?;
    }
    let next = if args.rust {
        format!(
            "in crates/schemes/src, add two entries to lib.rs: mod {file}; and {file}::entry in SCHEMES\n\
             CONTRIBUTING.md describes the next steps\n"
        )
    } else {
        let path = at(format!("{file}.py"));
        format!(
            "run it   wordline run --device fair-tlc --workload twin:hm_0 --fit wrap --scheme 'py:{path}#{class}'\n\
             test it  python -m pytest {} (needs pytest)\n",
            at(format!("test_{file}.py"))
        )
    };
    console.say(&next)
}

/// A name with hyphens as a class has it.
fn camel(name: &str) -> String {
    name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
