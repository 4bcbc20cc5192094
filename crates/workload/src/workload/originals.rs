//! Replaces a twin by its original: a file in a folder whose name matches the twin's description. The file is
//! added to the workload's text as `original=FILE`, so that a report names it and a rerun uses it.

use crate::generators::twin::by_name::{Named, is_twin, named};
use crate::generators::twin::catalogue::{TwinBody, twin_named};
use crate::workload::spelling::parts;
use std::path::Path;
use wordline_trace::options::unquoted_parts;
use wordline_trace::{ErrorKind, Parts, Problem, WorkloadError};
use wordline_units::{Message, Opt};

/// Whether `name` matches `pattern`: `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The workload's text, with `original=FILE` if it is a twin whose original is in `folder`. Any other text is
/// returned unchanged.
///
/// # Errors
/// A folder that cannot be read; several files that match the twin's pattern.
pub fn with_original(text: &str, folder: &Path) -> Result<String, WorkloadError> {
    let Parts { head, options } = parts(text);
    if !is_twin(head) || options.contains("original=") {
        return Ok(text.to_string());
    }
    if let Some(TwinBody::Workload(_)) =
        head.strip_prefix(crate::generators::twin::by_name::PREFIX).and_then(twin_named).map(|t| t.body)
    {
        return Ok(text.to_string());
    }
    let Named::Twin(description, _) = named(head)? else { return Ok(text.to_string()) };
    let shown = folder.display().to_string();
    let failed = |e: std::io::Error| {
        Problem::new(ErrorKind::Io, &*shown, format!("the folder of traces cannot be read: {e}"))
            .allowed("a folder with originals of twins")
            .hint(Opt::Traces.name() + " or WORDLINE_TRACES sets it")
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for pattern in &description.original {
        let found: Vec<&String> = names.iter().filter(|n| matches(pattern, n)).collect();
        match found.as_slice() {
            [] => {}
            [only] => {
                let file = folder.join(only).display().to_string();
                if file.contains('"') {
                    return Err(Problem::new(
                        ErrorKind::Io,
                        file,
                        "a name with a double quote cannot be used as an option",
                    )
                    .allowed("a name without")
                    .into());
                }
                let separator = if options.is_empty() { ':' } else { ',' };
                return Ok(format!("{text}{separator}original=\"{file}\""));
            }
            several => {
                let list: Vec<&str> = several.iter().map(|s| s.as_str()).collect();
                let what = format!("several files may be the original of {head}: {}", list.join(", "));
                return Err(Problem::new(ErrorKind::Ambiguous, &*shown, what)
                    .allowed(format!("one file named as {pattern}"))
                    .hint(format!("{head}:original=FILE selects one"))
                    .into());
            }
        }
    }
    Ok(text.to_string())
}

/// The original named in a twin's options, and the other options, which are those of a trace.
///
/// # Errors
/// Options that only a twin has.
pub(crate) fn original_of(head: &str, options: &str) -> Result<Option<(String, String)>, WorkloadError> {
    let all: Vec<&str> = unquoted_parts(options).collect();
    let Some(file) = all.iter().find_map(|pair| pair.trim().strip_prefix("original=")) else {
        return Ok(None);
    };
    for pair in &all {
        let key = pair.split('=').next().unwrap_or_default().trim();
        if ["scale", "mode", "locality"].contains(&key) {
            let what = format!("{key} changes a twin, but the original is used instead");
            return Err(Problem::new(ErrorKind::Option, format!("{head}:{pair}"), what)
                .allowed("the options of a trace")
                .hint(
                    Message::from("leave original, ")
                        + Opt::Traces.name()
                        + " and WORDLINE_TRACES to run the twin",
                )
                .into());
        }
    }
    let rest: Vec<&str> = all.iter().filter(|pair| !pair.trim().starts_with("original=")).copied().collect();
    Ok(Some((file.trim().replace('"', ""), rest.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_matches_names_by_prefix_and_suffix() {
        for (pattern, name, is) in [
            ("hm_0.csv*", "hm_0.csv", true),
            ("hm_0.csv*", "hm_0.csv.gz", true),
            ("hm_0.csv*", "hm_1.csv", false),
            ("*LUN1.csv*", "2016021616-LUN1.csv.gz", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxc", false),
            ("hm_0.csv", "hm_0.csv.gz", false),
        ] {
            assert_eq!(matches(pattern, name), is, "{pattern} {name}");
        }
    }
}
