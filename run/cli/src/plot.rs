//! `heddle plot`: any table of a run or of a study as a drawing.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use draw::{
    CategoryChart, Curve, CurveChart, Group, GroupChart, GroupShape, HeatChart, Line, Scale,
    stacked,
};
use results::{Columns, NamedColumn};
use units::{Bandwidth, Bytes, Time};

use crate::{
    arguments::{Plot, Shape},
    exit::{Ending, Exit, print},
    files::write_drawing,
};

/// The values of a group at one place.
type Cell = Vec<f64>;

/// The rows of a table, gathered by place and group.
struct Gathered {
    /// The values of the horizontal axis as texts: in the order of their numbers or quantities if
    /// all of them are such, and otherwise in that in which they come up.
    places: Vec<String>,
    /// These values as numbers, if all of them are.
    numbers: Option<Vec<f64>>,
    /// The groups, in an order of the same kind.
    groups: Vec<String>,
    /// The values by group and place.
    cells: Vec<Vec<Cell>>,
}

/// Draws a table.
pub fn run(arguments: &Plot) -> Result<(), Ending> {
    let path = table(Path::new(&arguments.table))?;
    let table = Columns::read(&path).map_err(experiment::unreadable)?;
    let find = |flag: &str, name: &str| column(&table, &path, flag, name);
    let (x, y) = (find("--x", &arguments.x)?, find("--y", &arguments.y)?);
    let by = arguments.by.as_deref().map(|name| find("--by", name)).transpose()?;
    let by = match (by, hidden(&table, &path, x, by).as_slice()) {
        (None, [only]) => Some(*only),
        (by, []) => by,
        (by, several) => {
            let names: Vec<_> = several.iter().map(|column| column.name.as_str()).collect();
            eprintln!(
                "warning: what is drawn at one place has several values of {}\n  help: --by draws \
                 each value of a column apart; a table with some of the rows leaves the others out",
                names.join(" and ")
            );
            by
        }
    };
    let gathered = gather(&table, x, y, by);
    if gathered.cells.is_empty() {
        let message =
            format!("error: {}: column `{}` holds no number to draw", path.display(), y.name);
        return Err(Ending::new(Exit::Input, message));
    }
    logarithmic(arguments, &gathered, [x, y])?;
    let output = output(arguments)?;
    let svg = draw(arguments, gathered, [x, y], by);
    write_drawing(output, &svg)?;
    if arguments.output.is_none() { print(&format!("{FIGURE}\n")) } else { Ok(()) }
}

/// Refuses logarithmic axes where there are none, and warns of values that have no place on them.
fn logarithmic(
    arguments: &Plot,
    gathered: &Gathered,
    [x, y]: [&NamedColumn; 2],
) -> Result<(), Ending> {
    let refuse = |message: String| Err(Ending::new(Exit::Usage, format!("error: {message}")));
    let flag = if arguments.log_x { "--log-x" } else { "--log-y" };
    if (arguments.log_x || arguments.log_y) && arguments.kind != Shape::Line {
        return refuse(format!("{flag}: only lines have logarithmic axes"));
    }
    let numbers = gathered.numbers.as_deref();
    if arguments.log_x && numbers.is_none() {
        return refuse(format!(
            "--log-x: `{}` is no column of numbers\n  help: leave it out: places that are no \
             numbers, such as sizes and times, are at equal distances",
            x.name
        ));
    }
    let values = gathered.cells.iter().flatten().filter_map(|cell| mean(cell));
    let count = |values: &mut dyn Iterator<Item = f64>| values.filter(|it| *it <= 0.0).count();
    let without = [
        (arguments.log_x, x, count(&mut numbers.into_iter().flatten().copied())),
        (arguments.log_y, y, count(&mut values.clone())),
    ];
    let all = gathered.cells.iter().flatten().filter(|cell| !cell.is_empty()).count();
    if arguments.log_y && count(&mut values.clone()) == all {
        return Err(Ending::new(
            Exit::Input,
            format!("error: --log-y: no value of `{}` is above 0", y.name),
        ));
    }
    for (_, column, count) in without.iter().filter(|(used, _, count)| *used && *count > 0) {
        let name = &column.name;
        let (values, are) = if *count == 1 { ("value", "is") } else { ("values", "are") };
        let message =
            format!("{count} {values} of `{name}` {are} not above 0, and {are} not drawn");
        eprintln!("warning: {message}");
    }
    Ok(())
}

/// The columns that vary in a study, loads included and seeds not, and have several values where a
/// drawing by `x` and `by` has one place.
fn hidden<'a>(
    table: &'a Columns,
    path: &Path,
    x: &NamedColumn,
    by: Option<&NamedColumn>,
) -> Vec<&'a NamedColumn> {
    let description = fs::read_to_string(path.with_file_name("study.json")).unwrap_or_default();
    let description: serde_json::Value = serde_json::from_str(&description).unwrap_or_default();
    let varied = description["columns"].as_array().into_iter().flatten();
    // A run of traffic has a row for each load.
    let varied: Vec<_> = varied.filter_map(serde_json::Value::as_str).chain(["load"]).collect();
    let is_hidden = |column: &&NamedColumn| {
        let mut seen = HashMap::new();
        (0..table.rows).any(|row| {
            let place = (x.text(row), by.map(|by| by.text(row)));
            let text = column.text(row);
            *seen.entry(place).or_insert_with(|| text.clone()) != text
        })
    };
    let columns = table.columns.iter();
    columns
        .filter(|column| varied.contains(&column.name.as_str()) && column.name != "run.seed")
        .filter(is_hidden)
        .collect()
}

/// The file that is written if none is named.
const FIGURE: &str = "figure.svg";

/// Returns the file to write. One that the user has not named is never replaced.
fn output(arguments: &Plot) -> Result<&Path, Ending> {
    let named = arguments.output.as_deref().map(Path::new);
    let path = named.unwrap_or(Path::new(FIGURE));
    if named.is_none() && path.exists() {
        let message = format!("error: {FIGURE} exists already\n  help: -o {FIGURE} replaces it");
        return Err(Ending::new(Exit::Output, message));
    }
    Ok(path)
}

/// The table that a name means: a file, that of a study's folder, or the only one of a run's.
fn table(path: &Path) -> Result<PathBuf, Ending> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let runs = results::study_table(path);
    if runs.is_file() {
        return Ok(runs);
    }
    let entries = fs::read_dir(path).map_err(|error| {
        let reason = experiment::unread(path, &error);
        Ending::new(Exit::Input, format!("error: {}: {reason}", path.display()))
    })?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_table =
        |file: &PathBuf| file.extension().is_some_and(|end| end == "csv" || end == "parquet");
    let mut tables: Vec<_> = files.filter(is_table).collect();
    tables.sort();
    match tables.as_slice() {
        [only] => Ok(only.clone()),
        [] => {
            let message = format!("error: {} holds no table", path.display());
            Err(Ending::new(Exit::Input, message))
        }
        several => {
            let names: Vec<_> = several.iter().map(|path| path.display().to_string()).collect();
            let message = format!(
                "error: {} holds several tables\n  help: name one of {}",
                path.display(),
                names.join(", ")
            );
            Err(Ending::new(Exit::Usage, message))
        }
    }
}

/// The names by which a column may be called: as it is, without its unit, and without the table of
/// settings before it.
fn names(column: &NamedColumn) -> [&str; 4] {
    let full = column.name.as_str();
    let bare = |name: &'static str, from: &'_ str| from.strip_suffix(name).map(str::len);
    let length = bare("_ps", full).or(bare("_ns", full)).unwrap_or(full.len());
    let bare = &full[..length];
    let last = |name: &'_ str| name.rfind('.').map_or(0, |dot| dot + 1);
    [full, bare, &full[last(full)..], &bare[last(bare)..]]
}

/// The column of this name, or the only one that may be called so.
fn column<'a>(
    table: &'a Columns,
    path: &Path,
    flag: &str,
    name: &str,
) -> Result<&'a NamedColumn, Ending> {
    for way in [0..1, 1..2, 2..4] {
        let is_called = |column: &&NamedColumn| names(column)[way.clone()].contains(&name);
        let called: Vec<_> = table.columns.iter().filter(is_called).collect();
        match called.as_slice() {
            [] => {}
            [only] => return Ok(only),
            several => {
                let names: Vec<_> = several.iter().map(|column| column.name.as_str()).collect();
                let message = format!("error: {flag} {name}: this may be {}", names.join(" or "));
                return Err(Ending::new(Exit::Usage, message));
            }
        }
    }
    let known: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let parts: Vec<_> = table.columns.iter().flat_map(names).collect();
    let near = units::nearest(name, &parts);
    let help = near.map_or_else(
        || format!("its columns are {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    let message =
        format!("error: {flag} {name}: {} has no such column\n  help: {help}", path.display());
    Err(Ending::new(Exit::Usage, message))
}

/// The place of a text in a list, to which it is added if it is new.
fn place(list: &mut Vec<String>, text: String) -> usize {
    list.iter().position(|known| *known == text).unwrap_or_else(|| {
        list.push(text);
        list.len() - 1
    })
}

/// Gathers the rows that have a number in column `y`.
fn gather(table: &Columns, x: &NamedColumn, y: &NamedColumn, by: Option<&NamedColumn>) -> Gathered {
    let (mut places, mut groups) = (Vec::new(), Vec::new());
    let mut numbers = Some(Vec::new());
    let mut cells: Vec<Vec<Cell>> = Vec::new();
    for row in 0..table.rows {
        let Some(value) = y.number(row) else { continue };
        let at = place(&mut places, x.text(row));
        let group = place(&mut groups, by.map_or_else(String::new, |by| by.text(row)));
        if let Some(known) = numbers.as_mut().filter(|known| known.len() == at) {
            match x.number(row) {
                Some(number) => known.push(number),
                None => numbers = None,
            }
        }
        cells.resize(groups.len().max(cells.len()), Vec::new());
        let list = &mut cells[group];
        list.resize(places.len().max(list.len()), Vec::new());
        list[at].push(value);
    }
    for list in &mut cells {
        list.resize(places.len(), Vec::new());
    }
    let by_place = ascending(&places);
    for list in &mut cells {
        *list = arranged(&by_place, list);
    }
    let by_group = ascending(&groups);
    Gathered {
        places: arranged(&by_place, &places),
        numbers: numbers.map(|numbers| arranged(&by_place, &numbers)),
        groups: arranged(&by_group, &groups),
        cells: arranged(&by_group, &cells),
    }
}

/// The places of texts in ascending order, if all are numbers, sizes, times or rates; otherwise in
/// their own.
fn ascending(texts: &[String]) -> Vec<usize> {
    fn all<T: FromStr>(texts: &[String]) -> Option<Vec<T>> {
        texts.iter().map(|text| text.parse().ok()).collect()
    }
    let mut places: Vec<usize> = (0..texts.len()).collect();
    // A number is no quantity, because that has a unit.
    if let Some(numbers) = all::<f64>(texts) {
        places.sort_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
    } else if let Some(sizes) = all::<Bytes>(texts) {
        places.sort_by_key(|place| sizes[*place]);
    } else if let Some(times) = all::<Time>(texts) {
        places.sort_by_key(|place| times[*place]);
    } else if let Some(rates) = all::<Bandwidth>(texts) {
        places.sort_by_key(|place| rates[*place]);
    }
    places
}

/// The elements of a list in the order of these places.
fn arranged<T: Clone>(places: &[usize], list: &[T]) -> Vec<T> {
    places.iter().map(|place| list[*place].clone()).collect()
}

/// The factor from the unit of a column to one that suits its number farthest from zero, and the
/// label.
fn scale(column: &NamedColumn, most: f64) -> (f64, String) {
    let picoseconds = match column.name.rsplit('_').next() {
        Some("ps") => 1.0,
        Some("ns") => 1e3,
        _ => {
            let unit = if column.unit.is_empty() { "" } else { ", " };
            return (1.0, format!("{}{unit}{}", column.name, column.unit));
        }
    };
    let units = [(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")];
    let found = units.into_iter().find(|(size, _)| most * picoseconds >= *size);
    let (size, unit) = found.unwrap_or((1.0, "ps"));
    (picoseconds / size, format!("{}, {unit}", names(column)[1]))
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn draw(
    arguments: &Plot,
    mut gathered: Gathered,
    [x, y]: [&NamedColumn; 2],
    by: Option<&NamedColumn>,
) -> String {
    let most = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(0.0, |most: f64, value| most.max(value.abs()))
    };
    let all = gathered.cells.iter().flatten().flatten().copied();
    let (factor, y) = scale(y, most(&mut all.clone()));
    gathered.cells.iter_mut().flatten().flatten().for_each(|value| *value *= factor);
    let title = arguments.title.clone();
    let Gathered { places, numbers, groups, cells } = gathered;
    let scales = [arguments.log_x, arguments.log_y]
        .map(|is_log| if is_log { Scale::Logarithmic } else { Scale::Even });
    let name = |group: String| if by.is_some() { group } else { String::new() };
    match (arguments.kind, numbers) {
        (Shape::Line, Some(numbers)) => {
            let (factor, x) = scale(x, most(&mut numbers.iter().copied()));
            let curve = |(group, cells): (String, Vec<Cell>)| {
                let points = numbers.iter().zip(&cells);
                let points = points.filter_map(|(x, cell)| Some((x * factor, mean(cell)?)));
                let mut points: Vec<_> = points.collect();
                points.sort_by(|one, other| one.0.total_cmp(&other.0));
                Curve { name: name(group), points, band: Vec::new() }
            };
            let curves = groups.into_iter().zip(cells).map(curve).collect();
            stacked(&[CurveChart { title, x, y, scales, curves }])
        }
        (Shape::Line, None) => {
            // A line without a name would be drawn as bars.
            let label = |group: String| if by.is_some() { group } else { y.clone() };
            let line = |(group, cells): (String, Vec<Cell>)| Line {
                name: label(group),
                points: cells.iter().map(|cell| mean(cell)).collect(),
            };
            let lines = groups.into_iter().zip(cells).map(line).collect();
            CategoryChart { title, x: x.name.clone(), y, scale: scales[1], places, lines }.draw()
        }
        (Shape::Bar | Shape::Box, _) => {
            let boxes = arguments.kind == Shape::Box;
            let shape = if boxes { GroupShape::Boxes } else { GroupShape::Bars };
            let group = |(group, values)| Group { name: name(group), values };
            let groups = groups.into_iter().zip(cells).map(group).collect();
            GroupChart { title, x: x.name.clone(), y, places, groups, shape }.draw()
        }
        (Shape::Heat, _) => {
            let row = |cells: Vec<Cell>| cells.iter().map(|cell| mean(cell)).collect();
            let cells = cells.into_iter().map(row).collect();
            let rows = by.map_or_else(String::new, |by| by.name.clone());
            let (columns, x) = (places, x.name.clone());
            HeatChart { title, x, y: rows, value: y, columns, rows: groups, cells }.draw()
        }
    }
}
