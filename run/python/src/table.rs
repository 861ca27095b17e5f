//! Tables as Python sees them.

use std::{path::PathBuf, sync::Arc};

use pyo3::{
    exceptions::PyKeyError,
    prelude::*,
    types::{PyCapsule, PyList},
};
use results::{Columns, NamedColumn, Values};

use crate::{
    arrow::{Arrow, Schema, SchemaCapsule, Stream, StreamCapsule},
    error,
};

/// A table in memory. It hands out its columns by the PyCapsule interface of Arrow, without copying
/// numbers.
#[pyclass(frozen, module = "heddle")]
pub struct Table {
    names: Vec<(String, &'static str)>,
    rows: usize,
    arrow: Arc<Arrow>,
}

impl From<Columns> for Table {
    fn from(table: Columns) -> Self {
        let names = table.columns.iter().map(|column| (column.name.clone(), column.unit));
        let (names, rows) = (names.collect(), table.rows);
        Self { names, rows, arrow: Arc::new(table.into()) }
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.names.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The units of the columns; empty where there is none.
    #[getter]
    fn units(&self) -> Vec<&str> {
        self.names.iter().map(|(_, unit)| *unit).collect()
    }

    /// The number of rows.
    const fn __len__(&self) -> usize {
        self.rows
    }

    /// The values of a column as a list, with None where a cell is empty.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.names.iter().position(|(known, _)| known == name).ok_or_else(|| {
            let known: Vec<_> = self.names.iter().map(|(name, _)| name.as_str()).collect();
            PyKeyError::new_err(format!("no column `{name}`; there are {}", known.join(", ")))
        })?;
        self.arrow.list(py, column)
    }

    /// The type of the table, as Arrow's PyCapsule interface asks for it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = SchemaCapsule(Schema::of(&self.arrow));
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows, as Arrow's PyCapsule interface asks for them. Another type than the table's own is
    /// left to whoever asks, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let stream = StreamCapsule(Stream::of(Arc::clone(&self.arrow)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Reads a table of a run or of a study.
#[pyfunction]
pub fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| Columns::read(&path)).map(Table::from).map_err(error)
}

/// A table of these columns, none of which has missing values.
pub fn of(columns: Vec<(&str, &'static str, Values)>, rows: usize) -> Table {
    let column = |(name, unit, values)| NamedColumn::new(name, unit, values);
    Columns { columns: columns.into_iter().map(column).collect(), rows }.into()
}
