//! Inputs of Python hooks: data to be placed, completed reads, planes that run short.

use crate::scheme::geometry::Named;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString, PyTuple};
use wordline_ftl::{Origin, Parcel as Asked, Span};
use wordline_units::{HostOp, HostRequest};

/// Data that need a home: up to a page.
#[pyclass(frozen, module = "wordline")]
pub(crate) struct Parcel {
    /// Their origin in `ORIGINS`.
    origin: u8,
    /// Whether they come from the host.
    #[pyo3(get)]
    is_host: bool,
    /// Whether GC copies them.
    #[pyo3(get)]
    is_collected: bool,
    /// The tag of their request from `admit`; 0 for data that are not the host's.
    #[pyo3(get)]
    tag: u8,
    /// The region that they leave, if they are collected or moved.
    #[pyo3(get)]
    region: Option<Py<PyString>>,
    /// How many bytes they are.
    #[pyo3(get)]
    bytes: u32,
    /// The logical page, of the first of them.
    #[pyo3(get)]
    lpn: u32,
    /// What they are.
    spans: Spans,
    /// The plane of static allocation, or the source's.
    #[pyo3(get)]
    home: u32,
}

const ORIGINS: [&str; 4] = ["host", "sealed", "collected", "moved"];

/// Spans, of which there is mostly one.
enum Spans {
    One([Span; 1]),
    Several(Vec<Span>),
}

impl Spans {
    fn all(&self) -> &[Span] {
        match self {
            Spans::One(one) => one,
            Spans::Several(all) => all,
        }
    }
}

impl Parcel {
    #[inline]
    pub(crate) fn of(py: Python<'_>, asked: &Asked, named: &Named, sector: u32) -> Parcel {
        let (origin, tag, region) = match asked.origin {
            Origin::Host(tag) => (0, tag.0, None),
            Origin::Sealed => (1, 0, None),
            Origin::Collected(region) => (2, 0, Some(region)),
            Origin::Moved(region) => (3, 0, Some(region)),
        };
        Parcel {
            origin,
            is_host: origin == 0,
            is_collected: origin == 2,
            tag,
            region: region.and_then(|r| named.name_in(py, r)),
            bytes: bytes_of(asked, sector),
            lpn: asked.spans.first().map_or(0, |s| s.lpn.0),
            spans: match asked.spans {
                [one] => Spans::One([*one]),
                several => Spans::Several(several.to_vec()),
            },
            home: asked.home.0,
        }
    }
}

/// Fast constructor of a named tuple: the class's own is a Python function.
static MAKES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A named tuple of the package with its values.
pub(crate) fn named_tuple<'py>(
    class: &Bound<'py, PyAny>,
    values: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let makes =
        MAKES.get_or_try_init(py, || PyResult::Ok(py.get_type::<PyTuple>().getattr("__new__")?.unbind()))?;
    makes.bind(py).call1((class, values.into_pyobject(py)?))
}

static REQUEST: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
const HINTS: [&str; 4] = ["none", "short", "medium", "long"];

/// A `wordline.Request`.
pub(crate) fn request<'py>(py: Python<'py>, asked: &HostRequest) -> PyResult<Bound<'py, PyAny>> {
    let (op, told) = (asked.op, asked.attributes);
    let facts = (
        PyString::intern(py, op.key()),
        op == HostOp::Write,
        asked.lba.0,
        asked.bytes(),
        asked.arrival.0,
        PyString::intern(py, HINTS[told.hint() as usize]),
        told.is_fua(),
        told.stream(),
        asked.volume,
    );
    named_tuple(REQUEST.import(py, "wordline", "Request")?, facts)
}

/// How many bytes the data are.
#[inline]
pub(crate) fn bytes_of(asked: &Asked, sector: u32) -> u32 {
    asked.spans.iter().map(|s| s.mask.count() * sector).sum()
}

static SPAN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A `wordline.Span`.
pub(crate) fn span<'py>(py: Python<'py>, span: &Span) -> PyResult<Bound<'py, PyAny>> {
    named_tuple(SPAN.import(py, "wordline", "Span")?, (span.lpn.0, span.mask.0, span.offset))
}

#[pymethods]
impl Parcel {
    /// ``host``, ``sealed``, ``collected`` or ``moved``.
    #[getter]
    fn origin<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.origin {
            0 => intern!(py, "host"),
            1 => intern!(py, "sealed"),
            2 => intern!(py, "collected"),
            _ => intern!(py, "moved"),
        }
    }

    /// All logical pages.
    #[getter]
    fn lpns(&self) -> Vec<u32> {
        self.spans.all().iter().map(|s| s.lpn.0).collect()
    }

    /// Their contents: for each logical page its sectors.
    #[getter]
    fn spans<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.spans.all().iter().map(|s| span(py, s)).collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        let from = self.region.as_ref().map_or(String::new(), |r| format!(" from {r}"));
        let origin = ORIGINS[self.origin as usize];
        format!("<Parcel: {} B of page {}, {origin}{from}>", self.bytes, self.lpn)
    }
}
