//! Columns as an Arrow table, which data frames use directly.

use crate::error::wrong;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use std::ops::Range;
use std::sync::Arc;
use wordline_run::Numbers;

/// Rows that a data frame is handed together.
const BATCH: usize = 65_536;

/// Rows by column. It does not change.
#[pyclass(frozen, module = "wordline._wordline", name = "Columns")]
pub(crate) struct Columns(Arc<Vec<(String, Column)>>);

/// One column.
pub(crate) enum Column {
    Whole(Numbers),
    Broken(Vec<f64>),
    Words(Vec<String>),
    /// For each row a place among few words.
    Keys(Vec<u8>, Vec<String>),
}

impl Column {
    fn rows(&self) -> usize {
        match self {
            Column::Whole(all) => all.count(),
            Column::Broken(all) => all.len(),
            Column::Words(all) => all.len(),
            Column::Keys(all, _) => all.len(),
        }
    }

    fn array(&self, rows: Range<usize>) -> ArrayRef {
        match self {
            Column::Whole(all) => Arc::new(Int64Array::from(all.rows(rows))),
            Column::Broken(all) => Arc::new(Float64Array::from(all[rows].to_vec())),
            Column::Words(all) => Arc::new(StringArray::from_iter_values(&all[rows])),
            Column::Keys(keys, words) => {
                let words = keys[rows].iter().map(|key| &words[*key as usize]);
                Arc::new(StringArray::from_iter_values(words))
            }
        }
    }

    /// Its storage: kind, bytes, words.
    fn written(&self) -> (&'static str, usize, Vec<u8>, Vec<String>) {
        let rows = self.rows();
        match self {
            Column::Whole(Numbers::Zeros(_)) => ("zeros", rows, vec![], vec![]),
            Column::Whole(Numbers::Narrow(all)) => {
                ("narrow", rows, all.iter().flat_map(|n| n.to_le_bytes()).collect(), vec![])
            }
            Column::Whole(Numbers::Wide(all)) => {
                ("wide", rows, all.iter().flat_map(|n| n.to_le_bytes()).collect(), vec![])
            }
            Column::Broken(all) => {
                ("broken", rows, all.iter().flat_map(|n| n.to_le_bytes()).collect(), vec![])
            }
            Column::Words(all) => ("words", rows, vec![], all.clone()),
            Column::Keys(keys, words) => ("keys", rows, keys.clone(), words.clone()),
        }
    }

    fn read(kind: &str, rows: usize, bytes: Vec<u8>, words: Vec<String>) -> Option<Column> {
        let fours = || bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        let column = match kind {
            "zeros" => Column::Whole(Numbers::Zeros(rows)),
            "narrow" => Column::Whole(Numbers::Narrow(fours())),
            "wide" => Column::Whole(Numbers::Wide(
                bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect(),
            )),
            "broken" => Column::Broken(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect()),
            "words" => Column::Words(words),
            "keys" if bytes.iter().all(|key| (*key as usize) < words.len()) => Column::Keys(bytes, words),
            _ => return None,
        };
        (column.rows() == rows).then_some(column)
    }
}

/// A column on its way into a pickle: name, kind, rows, bytes, words.
type OnItsWay<'py> = (String, &'static str, usize, Bound<'py, PyBytes>, Vec<String>);

/// A column on its way out of a pickle.
type Written = (String, String, usize, Vec<u8>, Vec<String>);

impl Columns {
    /// Columns of one length by their names.
    pub(crate) fn new(columns: impl IntoIterator<Item = (String, Column)>) -> PyResult<Columns> {
        let columns: Vec<(String, Column)> = columns.into_iter().collect();
        let rows = columns.first().map_or(0, |(_, column)| column.rows());
        match columns.iter().find(|(_, column)| column.rows() != rows) {
            Some((name, column)) => {
                Err(wrong(format!("column {name:?} has {} rows, the others {rows}", column.rows())))
            }
            None => Ok(Columns(Arc::new(columns))),
        }
    }
}

#[pymethods]
impl Columns {
    /// Columns from what `written` has written.
    #[new]
    fn restored(written: Vec<Written>) -> PyResult<Columns> {
        let column = |(name, kind, rows, bytes, words): Written| {
            let column = Column::read(&kind, rows, bytes, words);
            let fault = || wrong(format!("column {name:?} of a pickled table is damaged"));
            column.ok_or_else(fault).map(|column| (name.clone(), column))
        };
        Columns::new(written.into_iter().map(column).collect::<PyResult<Vec<_>>>()?)
    }

    /// All of it as plain values, of which columns are made again.
    fn written<'py>(&self, py: Python<'py>) -> Vec<OnItsWay<'py>> {
        let written = |(name, column): &(String, Column)| {
            let (kind, rows, bytes, words) = column.written();
            (name.clone(), kind, rows, PyBytes::new(py, &bytes), words)
        };
        self.0.iter().map(written).collect()
    }

    fn __len__(&self) -> usize {
        self.0.first().map_or(0, |(_, column)| column.rows())
    }

    /// Bytes that the rows take here.
    #[getter]
    fn nbytes(&self) -> usize {
        let bytes = |column: &Column| match column {
            Column::Whole(Numbers::Zeros(_)) => 0,
            Column::Whole(Numbers::Narrow(all)) => 4 * all.capacity(),
            Column::Whole(Numbers::Wide(all)) => 8 * all.capacity(),
            Column::Broken(all) => 8 * all.capacity(),
            Column::Words(all) => all.iter().map(|word| size_of::<String>() + word.capacity()).sum(),
            Column::Keys(keys, _) => keys.capacity(),
        };
        self.0.iter().map(|(_, column)| bytes(column)).sum()
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The values of a column of words as a list; of one of numbers their bytes, and how NumPy calls them.
    fn values<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Bound<'py, PyAny>, Option<&'static str>)> {
        let Some((_, column)) = self.0.iter().find(|(known, _)| known == name) else {
            return Err(wrong(format!("unknown column {name:?}; allowed: {}", self.names().join(", "))));
        };
        let numbers = |bytes: Vec<u8>, kind| Ok((PyBytes::new(py, &bytes).into_any(), Some(kind)));
        match column {
            Column::Whole(all) => {
                numbers(all.rows(0..all.count()).iter().flat_map(|n| n.to_le_bytes()).collect(), "<i8")
            }
            Column::Broken(all) => numbers(all.iter().flat_map(|n| n.to_le_bytes()).collect(), "<f8"),
            Column::Words(all) => Ok((PyList::new(py, all)?.into_any(), None)),
            Column::Keys(keys, words) => {
                let words: Vec<Bound<'_, PyAny>> = words
                    .iter()
                    .map(|word| Ok(word.into_pyobject(py)?.into_any()))
                    .collect::<PyResult<_>>()?;
                let all = keys.iter().map(|key| words[*key as usize].clone()).collect::<Vec<_>>();
                Ok((PyList::new(py, all)?.into_any(), None))
            }
        }
    }

    /// A capsule with the stream of Arrow's Python interface: rows are generated on demand.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let (columns, rows) = (Arc::clone(&self.0), self.__len__());
        let batch = move |rows: Range<usize>| {
            let arrays = columns.iter().map(|(name, column)| (name, column.array(rows.clone()), false));
            RecordBatch::try_from_iter_with_nullable(arrays)
        };
        let schema = batch(0..0).map_err(wrong)?.schema();
        let batches = (0..rows).step_by(BATCH).map(move |from| batch(from..rows.min(from + BATCH)));
        let rows = RecordBatchIterator::new(batches, schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(rows)), c"arrow_array_stream")
    }
}
