//! What Python is asked about: data that need a home, reads that have ended, planes that run short.

use crate::scheme::geometry::Named;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use wordline_ftl::{Origin, Parcel as Asked, Span};
use wordline_units::{HostOp, HostRequest};

/// Data that need a home: up to a page.
#[pyclass(frozen, module = "wordline")]
pub(crate) struct Parcel {
    /// ``host``, ``sealed``, ``collected`` or ``moved``.
    #[pyo3(get)]
    origin: &'static str,
    /// Whether they come from the host.
    #[pyo3(get)]
    is_host: bool,
    /// Whether they come from a block that is collected.
    #[pyo3(get)]
    is_collected: bool,
    /// What `admit` has marked their request with; 0 for data that are not the host's.
    #[pyo3(get)]
    tag: u8,
    /// The region that they leave, if they are collected or moved.
    #[pyo3(get)]
    region: Option<String>,
    /// How many bytes they are.
    #[pyo3(get)]
    bytes: u32,
    /// The logical page, of the first of them.
    #[pyo3(get)]
    lpn: u32,
    /// What they are.
    spans: Vec<Span>,
    /// The plane of static allocation, or the source's.
    #[pyo3(get)]
    home: u32,
}

impl Parcel {
    pub(crate) fn of(asked: &Asked, named: &Named, sector: u32) -> Parcel {
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
            region: region.and_then(|r| named.name_of(r).cloned()),
            bytes: bytes_of(asked, sector),
            lpn: asked.spans.first().map_or(0, |s| s.lpn.0),
            spans: asked.spans.to_vec(),
            home: asked.home.0,
        }
    }
}

static REQUEST: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
const HINTS: [&str; 4] = ["none", "short", "medium", "long"];

/// A `wordline.Request`.
pub(crate) fn request<'py>(py: Python<'py>, asked: &HostRequest) -> PyResult<Bound<'py, PyAny>> {
    let (op, told) = (asked.op, asked.attributes);
    let facts = (
        op.key(),
        op == HostOp::Write,
        asked.lba.0,
        asked.bytes(),
        asked.arrival.0,
        HINTS[told.hint() as usize],
        told.is_fua(),
        told.stream(),
        asked.volume,
    );
    REQUEST.import(py, "wordline", "Request")?.call1(facts)
}

/// How many bytes the data are.
#[inline]
pub(crate) fn bytes_of(asked: &Asked, sector: u32) -> u32 {
    asked.spans.iter().map(|s| s.mask.count() * sector).sum()
}

static SPAN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A `wordline.Span`.
pub(crate) fn span<'py>(py: Python<'py>, span: &Span) -> PyResult<Bound<'py, PyAny>> {
    SPAN.import(py, "wordline", "Span")?.call1((span.lpn.0, span.mask.0, span.offset))
}

#[pymethods]
impl Parcel {
    /// All logical pages.
    #[getter]
    fn lpns(&self) -> Vec<u32> {
        self.spans.iter().map(|s| s.lpn.0).collect()
    }

    /// What they are: of each logical page its sectors.
    #[getter]
    fn spans<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.spans.iter().map(|s| span(py, s)).collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        let from = self.region.as_ref().map_or(String::new(), |r| format!(" from {r}"));
        format!("<Parcel: {} B of page {}, {}{from}>", self.bytes, self.lpn, self.origin)
    }
}
