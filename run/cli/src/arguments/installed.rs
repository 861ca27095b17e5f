//! The arguments of the commands for what comes with an installation.

use clap::Args;

use crate::exit::EXIT_CODES;

const EXAMPLES_EXAMPLES: &str = "\
Examples:
  heddle examples examples
  heddle run examples/sum.goal --gantt";

#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Examples {
    /// The folder, which must not exist yet or be empty
    #[arg(value_name = "FOLDER")]
    pub folder: String,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  heddle completions bash > ~/.local/share/bash-completion/completions/heddle
  heddle completions zsh > ~/.zfunc/_heddle
  heddle completions fish > ~/.config/fish/completions/heddle.fish";

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// The arguments of `heddle man`.
#[derive(Debug, Args)]
pub struct Man {
    /// The folder
    #[arg(value_name = "FOLDER")]
    pub folder: String,
}
