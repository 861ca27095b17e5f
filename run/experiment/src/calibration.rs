//! Measured parameters: their origin, intervals and replicates, as `heddle fit` writes them into
//! machine files.

use std::path::Path;

use crate::settings::{
    configuration::{Configuration, Origin, Parameter},
    diagnostic::{Diagnostic, unread},
    keys::{self, Id, Setting, calibration as keys_of, loggops},
    manifest::hash_of,
    scope::Model,
    toml_file::INTERVALS as CLASSES,
    value::Value,
};

/// The parameters, each with the keys of the ends of its interval.
const INTERVALS: [(Id, Id, Id); 10] = [
    (loggops::LATENCY.id(), keys_of::latency::LOW.id(), keys_of::latency::HIGH.id()),
    (loggops::OVERHEAD.id(), keys_of::overhead::LOW.id(), keys_of::overhead::HIGH.id()),
    (
        loggops::SEND_OVERHEAD.id(),
        keys_of::send_overhead::LOW.id(),
        keys_of::send_overhead::HIGH.id(),
    ),
    (
        loggops::RECEIVE_OVERHEAD.id(),
        keys_of::receive_overhead::LOW.id(),
        keys_of::receive_overhead::HIGH.id(),
    ),
    (loggops::GAP.id(), keys_of::gap::LOW.id(), keys_of::gap::HIGH.id()),
    (loggops::GAP_PER_BYTE.id(), keys_of::gap_per_byte::LOW.id(), keys_of::gap_per_byte::HIGH.id()),
    (
        loggops::OVERHEAD_PER_BYTE.id(),
        keys_of::overhead_per_byte::LOW.id(),
        keys_of::overhead_per_byte::HIGH.id(),
    ),
    (loggops::EAGER_LIMIT.id(), keys_of::eager_limit::LOW.id(), keys_of::eager_limit::HIGH.id()),
    (
        loggops::large::LATENCY.id(),
        keys_of::large_latency::LOW.id(),
        keys_of::large_latency::HIGH.id(),
    ),
    (
        loggops::large::GAP_PER_BYTE.id(),
        keys_of::large_gap_per_byte::LOW.id(),
        keys_of::large_gap_per_byte::HIGH.id(),
    ),
];

/// Joint replicates of parameters: values that the same measurement might as well have given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replicates {
    /// The parameters of the columns.
    pub parameters: Vec<Parameter>,
    /// A row of values for each replicate, in nanoseconds and nanoseconds per byte.
    pub rows: Vec<Vec<f64>>,
}

/// Checks what is said of a calibration, and returns a remark that says it.
pub(crate) fn check(configuration: &Configuration) -> Result<Option<String>, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let mut measured = Vec::new();
    let name = |id: Id| id.key().name.to_owned();
    for ids in INTERVALS {
        match interval(configuration, ids, &name) {
            Ok(text) => measured.extend(text),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    for found in of_classes(configuration) {
        match found {
            Ok(text) => measured.extend(text.filter(|_| uses_classes(configuration))),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    let date = configuration.value(keys_of::DATE);
    if date.as_deref().is_some_and(|date| !is_date(date)) {
        let mistake = configuration.mistake(keys_of::DATE, "expected a day as YYYY-MM-DD");
        mistakes.push(mistake);
    }
    let hash = configuration.value(keys_of::SAMPLES_SHA256);
    if hash.as_deref().is_some_and(|hash| !is_hash(hash)) {
        mistakes.push(configuration.mistake(keys_of::SAMPLES_SHA256, NO_HASH));
    }
    mistakes.extend(replicates(configuration).err());
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let said = |before: &str, key: Setting<String>| {
        configuration.value(key).map(|text| format!("{before}{text}"))
    };
    let origin: Vec<String> = [
        date.map(|date| format!("on {date}")),
        said("between ", keys_of::HOSTS),
        said("with ", keys_of::MPI),
        said("from ", keys_of::SAMPLES),
        hash.map(|hash| format!("(SHA-256 {})", hash.get(..16).unwrap_or(&hash))),
    ]
    .into_iter()
    .flatten()
    .collect();
    if origin.is_empty() && measured.is_empty() {
        return Ok(None);
    }
    let values = if measured.is_empty() { String::new() } else { ": ".to_owned() };
    let origin = origin.join(" ");
    Ok(Some(format!("parameters measured {origin}{values}{}", measured.join(", "))))
}

const NO_HASH: &str = "expected a SHA-256: 64 hexadecimal digits";

/// Returns whether pairs of hosts belong to classes.
fn uses_classes(configuration: &Configuration) -> bool {
    configuration.value(loggops::PAIRS).is_some() && configuration.model() == Model::Loggops
}

/// Checks the intervals of the parameters of classes, and describes each as [`interval`] does.
fn of_classes(
    configuration: &Configuration,
) -> impl Iterator<Item = Result<Option<String>, Diagnostic>> {
    configuration.intervals.iter().flat_map(|intervals| {
        let place = match configuration.class_named(&intervals.name) {
            Ok(place) => place,
            Err((message, help)) => {
                return vec![Err(Diagnostic::new(intervals.place(), message).help(help))];
            }
        };
        let class = &configuration.classes[place];
        let own = configuration.of_class_with(class, intervals);
        let name = |id: Id| {
            if id.is_of_interval() {
                return format!("{CLASSES}.{}.{}", class.name, id.name_in_intervals());
            }
            configuration.name_of(Parameter { class: Some(place), id })
        };
        let of_class = INTERVALS
            .iter()
            .filter_map(|(id, low, high)| Some((keys::of_class(of_loggops(*id))?, *low, *high)));
        of_class.map(|ids| interval(&own, ids, &name)).collect()
    })
}

/// Returns the name of a key of `[loggops]` without that of the table.
fn of_loggops(id: Id) -> &'static str {
    let name = id.key().name;
    name.strip_prefix("loggops.").unwrap_or(name)
}

/// Checks an interval, and describes it if the parameter has the value that was measured. `named`
/// tells the full names of keys.
fn interval(
    configuration: &Configuration,
    (parameter, low, high): (Id, Id, Id),
    named: &dyn Fn(Id) -> String,
) -> Result<Option<String>, Diagnostic> {
    let name = named(parameter);
    let ends = (configuration.found(low), configuration.found(high));
    let ((low_value, _), (high_value, _)) = match ends {
        (Some(low), Some(high)) => (low, high),
        (None, None) => return Ok(None),
        (Some(_), None) => {
            return Err(configuration.mistake(low, format!("there is no `{}`", named(high))));
        }
        (None, Some(_)) => {
            return Err(configuration.mistake(high, format!("there is no `{}`", named(low))));
        }
    };
    if number(&low_value) > number(&high_value) {
        let message =
            format!("the interval of `{name}` ends at {}, before it begins", shown(&high_value));
        return Err(configuration.mistake(low, message));
    }
    let file = |origin: &Origin| match origin {
        Origin::File(path, _) => Some(path.clone()),
        _ => None,
    };
    let Some((value, origin)) = configuration.found(parameter) else { return Ok(None) };
    let of_interval = configuration.found(low).and_then(|(_, origin)| file(&origin));
    // A value from elsewhere is another one than what was measured.
    if file(&origin) != of_interval {
        return Ok(None);
    }
    let texts = (shown(&value), shown(&low_value), shown(&high_value));
    if number(&value) < number(&low_value) || number(&value) > number(&high_value) {
        let message = format!("`{name}` is {}, outside of {} to {}", texts.0, texts.1, texts.2);
        return Err(configuration.mistake(parameter, message));
    }
    Ok(Some(format!("{name} {} (95 %: {} to {})", texts.0, texts.1, texts.2)))
}

/// Returns a quantity without the quotes that it has in a file.
fn shown(value: &Value) -> String {
    value.to_string().trim_matches('"').to_owned()
}

/// Returns a quantity in picoseconds, picoseconds per byte or bytes.
fn number(value: &Value) -> f64 {
    match value {
        Value::Time(time) => time.ps() as f64,
        Value::TimePerByte(rate) => rate.parts().0 as f64 / rate.parts().1 as f64,
        Value::Bytes(bytes) => bytes.get() as f64,
        _ => f64::NAN,
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &str, count| part.len() == count && part.parse::<u32>().is_ok();
    let within =
        |part: &str, most| part.parse().is_ok_and(|number: u32| (1..=most).contains(&number));
    matches!(parts[..], [year, month, day]
        if digits(year, 4) && digits(month, 2) && digits(day, 2)
            && within(month, 12) && within(day, 31))
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads the replicates, if there are any, and checks their hash.
pub(crate) fn replicates(configuration: &Configuration) -> Result<Option<Replicates>, Diagnostic> {
    let hash = configuration.value(keys_of::REPLICATES_SHA256);
    let Some(path) = configuration.value(keys_of::REPLICATES) else {
        return match hash {
            Some(_) => {
                let message = format!("there is no `{}`", keys_of::REPLICATES.name());
                Err(configuration.mistake(keys_of::REPLICATES_SHA256, message))
            }
            None => Ok(None),
        };
    };
    let mistake = |message: String| configuration.mistake(keys_of::REPLICATES, message);
    let Some(hash) = hash else {
        let message = format!("there is no `{}`", keys_of::REPLICATES_SHA256.name());
        return Err(mistake(message));
    };
    if !is_hash(&hash) {
        return Err(configuration.mistake(keys_of::REPLICATES_SHA256, NO_HASH));
    }
    let shown = path.display();
    let bytes = units::text::bytes(&path)
        .map_err(|error| mistake(format!("{shown}: {}", unread(&path, &error))))?;
    let found = hash_of(&bytes);
    if !found.eq_ignore_ascii_case(&hash) {
        let message = format!("{shown} is not the file that was written with these parameters");
        let help = format!("its SHA-256 is {found}");
        return Err(mistake(message).help(help));
    }
    table(configuration, &bytes, &path)
        .map(Some)
        .map_err(|(message, help)| mistake(message).help(help))
}

/// Reads the table of replicates.
fn table(
    configuration: &Configuration,
    bytes: &[u8],
    path: &Path,
) -> Result<Replicates, (String, Option<String>)> {
    let shown = path.display();
    let wrong = |text: String| (format!("{shown}: {text}"), None);
    let text = str::from_utf8(bytes).map_err(|_| wrong("not a text in UTF-8".to_owned()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut parameters = Vec::with_capacity(header.len());
    for name in header {
        let parameter = column(configuration, name)
            .map_err(|(text, help)| (format!("{shown}: line 1: {text}"), help))?;
        if parameters.contains(&parameter) {
            return Err(wrong(format!("line 1: there are two columns `{name}`")));
        }
        parameters.push(parameter);
    }
    let row = |(index, line): (usize, &str)| {
        let value = |text: &str| text.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
        let values: Option<Vec<f64>> = line.split(',').map(value).collect();
        values.filter(|values| values.len() == parameters.len()).ok_or_else(|| {
            let (line, count) = (index + 2, parameters.len());
            wrong(format!("line {line}: expected {count} numbers that are not negative"))
        })
    };
    let rows = lines.enumerate().map(row).collect::<Result<Vec<Vec<f64>>, _>>()?;
    if rows.is_empty() {
        return Err(wrong("there are no replicates below the header".to_owned()));
    }
    Ok(Replicates { parameters, rows })
}

/// Returns the parameter of a column of replicates, or else a mistake and advice.
fn column(
    configuration: &Configuration,
    name: &str,
) -> Result<Parameter, (String, Option<String>)> {
    let known = |id: &Id| INTERVALS.iter().any(|(known, ..)| known == id);
    let of_class = configuration
        .named_in_class(name)
        .map_err(|(message, help)| (format!("column `{name}`: {message}"), Some(help)))?;
    let found = match of_class {
        Some(parameter) => Id::named(&format!("loggops.{}", parameter.id.name_in_class()))
            .filter(known)
            .map(|_| parameter),
        None => Id::named(name).filter(known).map(Parameter::from),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = INTERVALS.iter().map(|(id, ..)| id.key().name).collect();
        let help = "classes have columns such as `loggops.class.NAME.L`".to_owned();
        let message = format!("unknown column `{name}`; known columns: {}", names.join(", "));
        (message, Some(help))
    })
}
