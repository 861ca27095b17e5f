//! The native part of the Python module `heddle`: runs, studies, ladders, measurements and tables.
//!
//! A run takes place in a thread of its own. The interpreter's lock is free meanwhile, and the
//! calling thread looks after signals and progress ([`task`]). Nothing is kept in the process
//! between calls. Errors have the texts of the command.

#![allow(clippy::needless_pass_by_value, reason = "arguments from Python are made for the call")]

mod arrow;
mod figures;
mod request;
mod run;
mod study;
mod table;
mod task;

use pyo3::{create_exception, exceptions::PyException, prelude::*};

create_exception!(heddle, Error, PyException, "An error, with the text that the command prints.");

/// An error of any crate as an exception.
fn error(text: impl ToString) -> PyErr {
    Error::new_err(text.to_string().trim_end().to_owned())
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("__version__", experiment::VERSION)?;
    module.add_class::<table::Table>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<study::Study>()?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::ladder, module)?)?;
    module.add_function(wrap_pyfunction!(table::read_table, module)?)?;
    module.add_function(wrap_pyfunction!(figures::fit, module)?)?;
    module.add_function(wrap_pyfunction!(figures::topology, module)?)?;
    module.add_function(wrap_pyfunction!(figures::draw_topology, module)?)?;
    module.add_function(wrap_pyfunction!(figures::patterns, module)?)?;
    Ok(())
}
