//! Rules that hold for the whole tree: who may use whom, how long files and functions are, and what
//! must not be left in them.

mod floors;
mod models;
mod sources;

use std::path::{Path, PathBuf};

/// The root of the workspace.
fn root() -> PathBuf {
    let cli = Path::new(env!("CARGO_MANIFEST_DIR"));
    cli.ancestors().nth(2).expect("this crate lies two folders deep").to_owned()
}

/// Fails with a list of what is wrong.
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
