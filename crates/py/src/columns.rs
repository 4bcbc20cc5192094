//! Columns as a table of Arrow, which data frames take without copying.

use crate::error::wrong;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use std::sync::Arc;

/// Rows by column. It does not change.
#[pyclass(frozen, module = "wordline._wordline", name = "Columns")]
pub(crate) struct Columns {
    batch: RecordBatch,
}

/// One column on its way into a table.
pub(crate) enum Column {
    Whole(Vec<i64>),
    Broken(Vec<f64>),
    Words(Vec<String>),
}

impl Columns {
    /// Columns of one length by their names.
    pub(crate) fn new(columns: impl IntoIterator<Item = (String, Column)>) -> PyResult<Columns> {
        let arrays = columns.into_iter().map(|(name, column)| {
            let array: ArrayRef = match column {
                Column::Whole(values) => Arc::new(Int64Array::from(values)),
                Column::Broken(values) => Arc::new(Float64Array::from(values)),
                Column::Words(values) => Arc::new(StringArray::from(values)),
            };
            (name, array)
        });
        Ok(Columns { batch: RecordBatch::try_from_iter(arrays).map_err(wrong)? })
    }
}

#[pymethods]
impl Columns {
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|f| f.name().clone()).collect()
    }

    /// The values of a column of words as a list; of one of numbers their bytes, and how NumPy calls them.
    fn values<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Bound<'py, PyAny>, Option<&'static str>)> {
        let Some(column) = self.batch.column_by_name(name) else {
            return Err(wrong(format!("there is no column {name:?}; there are {}", self.names().join(", "))));
        };
        let bytes = |all: &[u8]| PyBytes::new(py, all).into_any();
        if let Some(words) = column.as_any().downcast_ref::<StringArray>() {
            return Ok((PyList::new(py, words.iter().flatten())?.into_any(), None));
        }
        let kind = if column.as_any().is::<Float64Array>() { "<f8" } else { "<i8" };
        let data = column.to_data();
        let (from, all) = (data.offset() * 8, data.buffers()[0].as_slice());
        Ok((bytes(&all[from..from + data.len() * 8]), Some(kind)))
    }

    /// A capsule with the stream that Arrow's interface for Python wants.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let rows = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(rows)), c"arrow_array_stream")
    }
}
