//! Find the report that a page or folder refers to.

use crate::error::RunError;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use wordline_report::data_of;
use wordline_units::io_reason;

/// The report files that runs and comparisons write into a folder, and the page next to them.
const FILES: [&str; 2] = ["report.json", "comparison.json"];
const ALLOWED: &str = "a report.json, comparison.json or report.html, or a folder with one of them";

/// The text of a report's data, and its place: the data of a page, or the JSON in or next to the named path.
///
/// # Errors
/// If it cannot be read, or if there is none or more than one.
pub fn report_text(named: &Path) -> Result<(PathBuf, String), RunError> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| unread(path, &e));
    if !named.is_dir() && is_page(named)? {
        let text = read(named)?;
        if let Some(data) = data_of(&text) {
            return Ok((named.to_path_buf(), data.to_string()));
        }
    }
    let file = report_file(named)?;
    let text = read(&file)?;
    if !text.trim_start().starts_with('{') {
        return Err(RunError::Input(format!("{}: not a report\n  allowed: {ALLOWED}", file.display())));
    }
    Ok((file, text))
}

fn unread(path: &Path, e: &std::io::Error) -> RunError {
    let why = io_reason(e);
    RunError::Input(format!("{}: cannot be read: {why}\n  allowed: {ALLOWED}", path.display()))
}

/// Whether a file begins like a page.
fn is_page(named: &Path) -> Result<bool, RunError> {
    let mut begins = [0; 512];
    let read = File::open(named).and_then(|mut file| file.read(&mut begins));
    let read = read.map_err(|e| unread(named, &e))?;
    Ok(begins[..read].trim_ascii_start().first() == Some(&b'<'))
}

/// The file with a report's data: a JSON file itself; for a folder or a page, the JSON in or next to it.
///
/// # Errors
/// When it cannot be read, or there is none or more than one.
pub fn report_file(named: &Path) -> Result<PathBuf, RunError> {
    let wrong = |what: String| RunError::Input(format!("{}: {what}", named.display()));
    if named.is_dir() {
        return in_folder(named, "in this folder").map_err(wrong);
    }
    if !is_page(named)? {
        return Ok(named.to_path_buf());
    }
    let folder = named.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    in_folder(folder, "beside this page").map_err(wrong)
}

fn in_folder(folder: &Path, place: &str) -> Result<PathBuf, String> {
    let there: Vec<PathBuf> = FILES.into_iter().map(|f| folder.join(f)).filter(|f| f.is_file()).collect();
    match there.as_slice() {
        [only] => Ok(only.clone()),
        [] => {
            let runs = folder.join("runs").is_dir();
            let instead = if runs { "; its folder runs/ has the report of each run" } else { "" };
            Err(format!(
                "no {} found {place}{instead}\n  hint: --out DIR of run and compare writes one; --json \
                 FILE writes only the JSON",
                FILES.join(" or ")
            ))
        }
        _ => Err(format!("both {} are {place}; name one of them", FILES.join(" and "))),
    }
}
