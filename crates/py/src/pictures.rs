//! Pictures as Python has them.

use wordline_report::Figure;

/// Name, title, caption, SVG and CSV of a picture.
pub(crate) type Picture = (String, String, String, String, String);

/// Pictures as Python has them.
pub(crate) fn pictures(all: Vec<Figure>) -> Vec<Picture> {
    all.into_iter().map(|f| (f.name.to_string(), f.title, f.caption, f.svg, f.csv)).collect()
}
