//! The pictures, each an SVG that stands alone and the data that it shows as CSV.
//! They are drawn here, not in the browser: the page shows them without a script, and a paper gets
//! the very same picture. A picture without data is left out.

pub(crate) mod against;
pub(crate) mod bars;
pub(crate) mod cast;
pub(crate) mod cdf;
pub(crate) mod drive;
pub(crate) mod figure;
pub(crate) mod lifetime;
pub(crate) mod metrics;
pub mod palette;
pub(crate) mod panels;
pub(crate) mod sections;
pub(crate) mod svg;
pub(crate) mod time;
pub(crate) mod trace;
pub(crate) mod trace_plot;
pub(crate) mod tradeoff;
pub(crate) mod twins;
