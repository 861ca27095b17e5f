//! The arguments of `heddle plot`.

use clap::{Args, ValueEnum};

use crate::exit::EXIT_CODES;

const PLOT_EXAMPLES: &str = "\
Examples:
  heddle plot study --x size --y makespan --by topology -o figure.svg
  heddle plot study --kind box --x routing --y latency.mean -o routing.svg
  heddle plot study --kind heat --x ranks --y makespan --by size -o heat.svg
  heddle plot result/messages.csv --x injected --y delivered -o messages.svg";

#[derive(Debug, Args)]
#[command(after_help = format!("{PLOT_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Plot {
    /// A table, such as result/ranks.csv, or the folder of a study or of a run with one table
    #[arg(value_name = "TABLE|FOLDER")]
    pub table: String,
    /// The column along the horizontal axis: its name, or the part behind the last dot and before
    /// the unit, as `size` for `workload.size` or `makespan` for `makespan_ps`
    #[arg(long, value_name = "COLUMN")]
    pub x: String,
    /// The column of the values
    #[arg(long, value_name = "COLUMN")]
    pub y: String,
    /// The column whose values have a line, a group of bars or a row each
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// The kind of drawing
    #[arg(long, value_enum, default_value_t = Shape::Line)]
    pub kind: Shape,
    /// A logarithmic horizontal axis, for lines over a column of numbers
    #[arg(long)]
    pub log_x: bool,
    /// A logarithmic vertical axis, for lines
    #[arg(long)]
    pub log_y: bool,
    /// The heading
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub title: String,
    /// The file to write; without it figure.svg, if there is none yet
    #[arg(
        short, long, value_name = "FILE.svg|FILE.png", value_parser = crate::files::drawing
    )]
    pub output: Option<String>,
}

/// A kind of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// Lines through the mean of the values at each place
    Line,
    /// Bars up to the mean, with a line from the least to the greatest value
    Bar,
    /// A colour for the mean of each place and row
    Heat,
    /// Boxes with quartiles, median and outliers
    Box,
}
