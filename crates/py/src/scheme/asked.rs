//! What Python is asked about: data that need a home, reads that have ended, planes that run short.

use pyo3::prelude::*;
use std::sync::Arc;
use wordline_ftl::{Origin, Parcel as Asked};

/// Data that need a home: up to a page.
#[pyclass(frozen, module = "wordline", get_all)]
pub(crate) struct Parcel {
    /// ``host``, ``sealed``, ``collected`` or ``moved``.
    origin: &'static str,
    /// Whether they come from the host.
    is_host: bool,
    /// Whether they come from a block that is collected.
    is_collected: bool,
    /// What `admit` has marked their request with; 0 for data that are not the host's.
    tag: u8,
    /// The region that they leave, if they are collected or moved.
    region: Option<String>,
    /// How many bytes they are.
    bytes: u32,
    /// The logical page, of the first of them.
    lpn: u32,
    /// All logical pages.
    lpns: Vec<u32>,
    /// The plane of static allocation, or the source's.
    home: u32,
}

impl Parcel {
    pub(crate) fn of(asked: &Asked, regions: &Arc<[String]>, sector: u32) -> Parcel {
        let (origin, tag, region) = match asked.origin {
            Origin::Host(tag) => ("host", tag.0, None),
            Origin::Sealed => ("sealed", 0, None),
            Origin::Collected(region) => ("collected", 0, Some(region)),
            Origin::Moved(region) => ("moved", 0, Some(region)),
        };
        Parcel {
            origin,
            is_host: origin == "host",
            is_collected: origin == "collected",
            tag,
            region: region.and_then(|r| regions.get(r.0 as usize).cloned()),
            bytes: bytes_of(asked, sector),
            lpn: asked.spans.first().map_or(0, |s| s.lpn.0),
            lpns: asked.spans.iter().map(|s| s.lpn.0).collect(),
            home: asked.home.0,
        }
    }
}

/// How many bytes the data are.
#[inline]
pub(crate) fn bytes_of(asked: &Asked, sector: u32) -> u32 {
    asked.spans.iter().map(|s| s.mask.count() * sector).sum()
}

#[pymethods]
impl Parcel {
    fn __repr__(&self) -> String {
        let from = self.region.as_ref().map_or(String::new(), |r| format!(" from {r}"));
        format!("<Parcel: {} B of page {}, {}{from}>", self.bytes, self.lpn, self.origin)
    }
}
