//! `samples.csv`: a line for each sample, every quantity in a column of its own with its unit in
//! the column's name.

use ::samples::{NEEDED, OPTIONAL};
use csv::{ReaderBuilder, StringRecord};

use super::{LARGEST, LONGEST, Mistake, Reading, SHOWN};
use crate::samples::{Operation, Sample};

/// The place of each column in a line.
struct Columns {
    needed: [usize; 7],
    optional: [Option<usize>; 4],
    count: usize,
}

/// Reads a text; the error lists the mistakes.
pub fn read(text: &str) -> Result<Reading, Vec<Mistake>> {
    let mut reader =
        ReaderBuilder::new().flexible(true).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| vec![malformed(&error)])?.clone();
    let columns = columns(&header)?;
    let (mut samples, mut mistakes) = (Vec::new(), Vec::new());
    for record in reader.records() {
        match record {
            Ok(record) => match sample(&record, &columns) {
                Ok(sample) => samples.push(sample),
                Err(mistake) => mistakes.push(mistake),
            },
            Err(error) => mistakes.push(malformed(&error)),
        }
        if mistakes.len() == SHOWN {
            break;
        }
    }
    if mistakes.is_empty() && samples.is_empty() {
        mistakes.push(Mistake::new(0, "there are no samples below the header"));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(Reading { samples, notes: Vec::new() })
}

fn malformed(error: &csv::Error) -> Mistake {
    let line = error.position().map_or(0, csv::Position::line);
    Mistake::new(line, format!("this is no CSV: {error}"))
}

/// Finds the columns by the names in the header.
fn columns(header: &StringRecord) -> Result<Columns, Vec<Mistake>> {
    let names: Vec<&str> = header.iter().map(str::trim).collect();
    let known: Vec<&str> = NEEDED.into_iter().chain(OPTIONAL).collect();
    let mut mistakes: Vec<Mistake> = names
        .iter()
        .enumerate()
        .filter_map(|(place, name)| {
            if names[..place].contains(name) {
                return Some(Mistake::new(1, format!("two columns are named `{name}`")));
            }
            (!known.contains(name)).then(|| unknown(name, &known))
        })
        .collect();
    let place = |name: &str| names.iter().position(|found| *found == name);
    let needed = NEEDED.map(place);
    let missing = NEEDED.iter().zip(&needed).filter(|(_, place)| place.is_none());
    mistakes.extend(missing.map(|(name, _)| {
        Mistake::new(1, format!("there is no column `{name}`"))
            .help(format!("the header is {}", NEEDED.join(",")))
    }));
    if !mistakes.is_empty() {
        mistakes.truncate(SHOWN);
        return Err(mistakes);
    }
    let needed = needed.map(Option::unwrap_or_default);
    Ok(Columns { needed, optional: OPTIONAL.map(place), count: names.len() })
}

/// An unknown column: another unit of a known one, or a name near one.
fn unknown(name: &str, known: &[&str]) -> Mistake {
    let mistake = Mistake::new(1, format!("unknown column `{name}`"));
    let (stem, unit) = name.rsplit_once('_').unwrap_or((name, ""));
    let factor = match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => Some(("microseconds", "1000")),
        "ms" | "msec" => Some(("milliseconds", "1000000")),
        "s" | "sec" => Some(("seconds", "1000000000")),
        "ps" => Some(("picoseconds", "0.001")),
        _ => None,
    };
    let right = format!("{stem}_ns");
    match factor {
        Some((unit, factor)) if known.contains(&right.as_str()) => mistake.help(format!(
            "times are in nanoseconds here: multiply {unit} by {factor} and name it `{right}`"
        )),
        _ => match units::nearest(name, known) {
            Some(near) => mistake.help(format!("did you mean `{near}`?")),
            None => mistake.help(format!("known columns: {}", known.join(", "))),
        },
    }
}

fn sample(record: &StringRecord, columns: &Columns) -> Result<Sample, Mistake> {
    let line = record.position().map_or(0, csv::Position::line);
    if record.len() != columns.count {
        let (found, count) = (record.len(), columns.count);
        let message = format!("{found} fields where the header has {count}");
        return Err(Mistake::new(line, message).help("is the file cut off?"));
    }
    let text = |column: usize| record.get(columns.needed[column]).unwrap_or_default().trim();
    let optional = |column: usize| {
        let found = columns.optional[column].and_then(|place| record.get(place));
        found.map(str::trim).filter(|text| !text.is_empty())
    };
    let operation = Operation::named(text(0)).ok_or_else(|| {
        let names = Operation::names();
        let mistake = Mistake::new(line, format!("unknown operation `{}`", text(0)));
        match units::nearest(text(0), &names) {
            Some(near) => mistake.help(format!("did you mean `{near}`?")),
            None => mistake.help(format!("known operations: {}", names.join(", "))),
        }
    })?;
    let time = |name: &str, text: &str| duration(line, name, text);
    let found = time("time_ns", text(6))?;
    if found == 0.0 {
        return Err(Mistake::new(line, "`time_ns` is 0: nothing takes no time"));
    }
    Ok(Sample {
        operation,
        messages: count(line, "n", text(1), 1, 1 << 24)? as u32,
        delay: time("d_ns", text(2))?,
        bytes: count(line, "bytes", text(3), 0, LARGEST)?,
        run: count(line, "run", text(4), 0, u32::MAX.into())? as u32,
        repetition: count(line, "repetition", text(5), 0, u32::MAX.into())? as u32,
        time: found,
        at: optional(0).map(|text| moment(line, text)).transpose()?,
        pair: optional(1).zip(optional(2)).map(|(a, b)| (a.to_owned(), b.to_owned())),
    })
}

/// Reads a time that is not negative.
fn duration(line: u64, name: &str, text: &str) -> Result<f64, Mistake> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".+-eE".contains(c)).trim();
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let Some(number) = number else {
        let mistake = Mistake::new(line, format!("`{name}` is no number: `{text}`"));
        return Err(match unit {
            "ns" | "us" | "ms" | "s" => mistake.help("a number of nanoseconds, without its unit"),
            _ => mistake.help("a number of nanoseconds, such as 1500 or 1500.25"),
        });
    };
    if number < 0.0 {
        return Err(Mistake::new(line, format!("`{name}` is negative: {text}")));
    }
    if number > LONGEST {
        let message = format!("`{name}` is longer than a day: {text}");
        return Err(Mistake::new(line, message).help("is it in nanoseconds?"));
    }
    Ok(number)
}

/// Reads a moment, which may be since anything.
fn moment(line: u64, text: &str) -> Result<f64, Mistake> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| Mistake::new(line, format!("`at_ns` is no number: `{text}`")))
}

fn count(line: u64, name: &str, text: &str, least: u64, most: u64) -> Result<u64, Mistake> {
    // A whole number may be written as programs do that know only one kind of number.
    let text = text.strip_suffix(".0").unwrap_or(text);
    let number = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        let message = format!("`{name}` is `{text}`, expected a whole number");
        Mistake::new(line, message).help(format!("from {least} to {most}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "operation,n,d_ns,bytes,run,repetition,time_ns";

    fn mistake(text: &str) -> String {
        let mistakes = read(text).expect_err("a mistake");
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn samples_are_read() {
        let text = format!(
            "{HEADER},at_ns,source,destination,note\nprtt,16,1e4,1024,2,3,41500.5,7,a,b,\"x,y\"\n\
             collective:allreduce,1,0,8,0,0,900,,,,\n"
        );
        let samples = read(&text).expect("samples").samples;
        assert_eq!(
            samples[0],
            Sample {
                operation: Operation::RoundTrip,
                messages: 16,
                delay: 10_000.0,
                bytes: 1024,
                run: 2,
                repetition: 3,
                time: 41_500.5,
                at: Some(7.0),
                pair: Some(("a".into(), "b".into())),
            }
        );
        assert_eq!(samples[1].operation.to_string(), "collective:allreduce");
        assert_eq!((samples[1].at, &samples[1].pair), (None, &None));
    }

    #[test]
    fn mistakes_have_their_places() {
        assert_eq!(mistake(HEADER), "there are no samples below the header");
        assert_eq!(
            mistake(&format!("{HEADER}\nprtt,16,0,8,0,0,-5\nprt,1,0,8,0,0,5\nprtt,1,0,8,0")),
            "line 2: `time_ns` is negative: -5\n\
             line 3: unknown operation `prt`\n  help: did you mean `prtt`?\n\
             line 4: 5 fields where the header has 7\n  help: is the file cut off?"
        );
        let other = HEADER.replace("time_ns", "time_us");
        assert!(mistake(&other).contains("multiply microseconds by 1000 and name it `time_ns`"));
        assert!(mistake(&format!("{HEADER}\nprtt,0,0,8,0,0,5")).contains("`n` is `0`"));
        assert!(mistake(&format!("{HEADER}\nprtt,1,0,8,0,0,5us")).contains("without its unit"));
    }
}
