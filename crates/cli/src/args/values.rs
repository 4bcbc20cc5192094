//! Values that are spelled in their own way.

use wordline_units::CellMode;

/// A kind of cells by its word.
pub(crate) fn cell(text: &str) -> Result<CellMode, String> {
    let found = CellMode::ALL.into_iter().find(|mode| mode.key() == text.to_lowercase());
    found.ok_or_else(|| format!("{text:?} is not one of slc, mlc, tlc, qlc"))
}

/// `KEY=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("this is not KEY=VALUE, as in gc.victim=fifo".to_string()),
    }
}
