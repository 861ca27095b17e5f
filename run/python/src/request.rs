//! Requests: what a call of Python says, as what the command line would say.

use experiment::{Request, keys::KEYS};
use pyo3::{exceptions::PyTypeError, prelude::*};

/// Makes a request. `flags` are keyword arguments: the names of flags, with `_` for `-`.
pub fn request(
    subject: String,
    machine: Option<String>,
    set: Vec<String>,
    flags: Vec<(String, String)>,
) -> PyResult<Request> {
    let flags = flags.into_iter().map(|(name, value)| Ok((key(&name)?, value)));
    let flags = flags.collect::<PyResult<_>>()?;
    Ok(Request { subject: Some(subject), machine, set, flags, ..Request::default() })
}

/// The key that the flag of this name sets.
fn key(name: &str) -> PyResult<&'static str> {
    let long = name.replace('_', "-");
    let flags = || KEYS.iter().filter_map(|key| Some((key.flag?.long, key.name)));
    if let Some((_, key)) = flags().find(|(flag, _)| *flag == long) {
        return Ok(key);
    }
    let known: Vec<_> = flags().map(|(flag, _)| flag).collect();
    let nearest = units::nearest(&long, &known);
    let help = nearest.map(|near| format!("; did you mean `{}`?", near.replace('-', "_")));
    let message = format!("unexpected keyword argument `{name}`{}", help.unwrap_or_default());
    Err(PyTypeError::new_err(message))
}
