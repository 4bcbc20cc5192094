//! Import of drives from other simulators as device files. Settings without counterpart are listed with the
//! reason.

use crate::make::source_file::{LeftOut, SourceFile};
use crate::make::{mqsim, ssdsim};
use wordline_config::{ConfigErrors, Problems};

/// A device file made of another simulator's.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// The device file, with the original key next to each value.
    pub text: String,
    /// What was not carried over.
    pub left_out: Vec<LeftOut>,
}

/// Make a device file called `name` from a file of MQSim (`ssdconfig.xml`) or SSDSim (`page.parameters`),
/// recognized by content. `origin` is the file's name in messages.
///
/// # Errors
/// With every problem found, each with its line.
pub fn import(bytes: &[u8], origin: &str, name: &str) -> Result<Imported, ConfigErrors> {
    let problems = Problems::default();
    // Comments of SSDSim's are in many encodings; keys and values are ASCII.
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let is_xml = text.trim_start().starts_with('<');
    let entries = if is_xml {
        mqsim::entries(text, origin, &problems)
    } else {
        ssdsim::entries(text, origin, &problems)
    };
    let Some(entries) = entries else { return problems.finish(None) };
    let mut given = SourceFile::new(origin, entries, &problems);
    given.refuse_repeated();
    let text = if is_xml { mqsim::sheet(&mut given, name) } else { ssdsim::sheet(&mut given, name) };
    let left_out = given.finish();
    let text = problems.finish(text)?;
    // What one simulator takes another may not: fewer than four blocks per plane, for instance.
    crate::file::read::from_toml(&text, &format!("{origin}, as a device file"), &[])?;
    Ok(Imported { text, left_out })
}
