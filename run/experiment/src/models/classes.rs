//! Classes of pairs of hosts: the tables `[loggops.class.NAME]` and the file `loggops.pairs` that
//! says which pairs are of which class.
//!
//! The file is CSV with the columns `source`, `destination` and `class`, and others that are not
//! looked at. Hosts have the numbers of their ranks; a line holds for both directions.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use loggops::{Class, Classes};
use units::HostId;

use super::hosts;
use crate::settings::{
    configuration::Configuration,
    diagnostic::{Diagnostic, unread},
    keys::loggops::PAIRS,
    scope::Model,
};

/// The columns that the file must have.
const COLUMNS: [&str; 3] = ["source", "destination", "class"];

/// The mistakes of a file that are shown; more of them are counted.
const SHOWN: usize = 10;

/// Returns the classes of pairs, if a file says of which class pairs are.
pub(super) fn resolve(
    configuration: &Configuration,
) -> Result<Option<Arc<Classes>>, Vec<Diagnostic>> {
    let path = configuration.value(PAIRS).filter(|_| configuration.model() == Model::Loggops);
    let Some(path) = path else { return Ok(None) };
    let wrong = |message: String| vec![configuration.mistake(PAIRS, message)];
    let shown = path.display();
    if configuration.classes.is_empty() {
        let help = "`heddle measure --pairs` writes them into the machine file".to_owned();
        let message = format!("{shown} names classes, but there is no table [loggops.class.NAME]");
        return Err(vec![configuration.mistake(PAIRS, message).help(help)]);
    }
    let mut classes = Classes::new(costs(configuration));
    let names: Vec<&str> = configuration.classes.iter().map(|class| class.name.as_str()).collect();
    let text = read(&path).map_err(wrong)?;
    let mistakes = fill(&mut classes, &names, &text);
    if mistakes.is_empty() {
        return Ok(Some(Arc::new(classes)));
    }
    let more = mistakes.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("{shown}: {more} more lines are wrong"));
    let lines = mistakes.into_iter().take(SHOWN).map(|mistake| format!("{shown}: {mistake}"));
    Err(lines.chain(more).map(|line| configuration.mistake(PAIRS, line)).collect())
}

/// Returns the same pairs in classes that cost what these settings say.
pub(crate) fn again(configuration: &Configuration, classes: &Classes) -> Arc<Classes> {
    Arc::new(classes.with(costs(configuration)))
}

fn costs(configuration: &Configuration) -> Vec<Class> {
    let costs = |class| {
        let (small, large) = hosts::of_class(&configuration.of_class(class));
        Class { small, large }
    };
    configuration.classes.iter().map(costs).collect()
}

/// Returns a remark on classes to which no file puts a pair.
pub(crate) fn remark(configuration: &Configuration) -> Option<String> {
    let unset = configuration.value(PAIRS).is_none() && configuration.model() == Model::Loggops;
    let names: Vec<&str> = configuration.classes.iter().map(|class| class.name.as_str()).collect();
    (unset && !names.is_empty()).then(|| {
        format!(
            "all pairs of hosts cost what [loggops] says: loggops.pairs names no file that puts \
             them into the classes {}",
            names.join(", ")
        )
    })
}

fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let bytes =
        units::text::bytes(path).map_err(|error| format!("{shown}: {}", unread(path, &error)))?;
    String::from_utf8(bytes).map_err(|_| format!("{shown}: not a text in UTF-8"))
}

/// Puts pairs into classes, as the lines of a file say; returns what is wrong with them.
fn fill(classes: &mut Classes, names: &[&str], text: &str) -> Vec<String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let places = COLUMNS.map(|name| header.iter().position(|column| *column == name));
    let [Some(source), Some(destination), Some(class)] = places else {
        let found = header.join(",");
        return vec![format!(
            "line 1: expected the columns {}, found `{found}`",
            COLUMNS.join(",")
        )];
    };
    let numbers: BTreeMap<&str, u32> = names.iter().copied().zip(0..).collect();
    let mut put = |line: &str| {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let field = |place: usize| fields.get(place).copied().unwrap_or_default();
        let pair = [host(field(source))?, host(field(destination))?];
        let class = field(class);
        let class = *numbers.get(class).ok_or_else(|| unknown(class, names))?;
        if pair[0] == pair[1] {
            return Err(format!("host {} is no pair with itself", pair[0].0));
        }
        let other = classes.put(pair, class).filter(|other| *other != class);
        other.and_then(|other| names.get(other as usize)).map_or(Ok(()), |other| {
            let [one, another] = pair.map(|host| host.0);
            Err(format!("the pair {one}, {another} is of the class `{other}` already"))
        })
    };
    let lines = lines.zip(2..).filter(|(line, _)| !line.trim().is_empty());
    let mistake = |(line, number): (&str, u32)| {
        put(line).err().map(|mistake| format!("line {number}: {mistake}"))
    };
    lines.filter_map(mistake).collect()
}

fn host(text: &str) -> Result<HostId, String> {
    text.parse().map(HostId).map_err(|_| format!("expected the number of a host, found `{text}`"))
}

fn unknown(class: &str, names: &[&str]) -> String {
    let help = units::nearest(class, names).map_or_else(
        || format!("known classes: {}", names.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    format!("there is no class `{class}`; {help}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggops::Costs;

    fn filled(text: &str) -> (Classes, Vec<String>) {
        let costs = Costs::loggopsim();
        let class = Class { small: costs, large: costs };
        let mut classes = Classes::new(vec![class, class]);
        let mistakes = fill(&mut classes, &["near", "far"], text);
        (classes, mistakes)
    }

    #[test]
    fn pairs_are_of_classes_in_both_directions() {
        let text = "source,destination,class,note\n0,1,near,a\n\n2 , 1, far,b\n1,0,near,c\n";
        let (classes, mistakes) = filled(text);
        assert_eq!(mistakes, Vec::<String>::new());
        let of = |one, other| classes.number([HostId(one), HostId(other)]);
        assert_eq!((of(0, 1), of(1, 0)), (Some(0), Some(0)));
        assert_eq!((of(1, 2), of(2, 1), of(0, 2)), (Some(1), Some(1), None));
    }

    #[test]
    fn lines_that_are_wrong_are_named() {
        let (_, mistakes) = filled(
            "source,destination,class\n0,1,neer\n0,x,near\n1,1,near\n0,1,near\n1,0,far\n0,2\n",
        );
        assert_eq!(
            mistakes,
            [
                "line 2: there is no class `neer`; did you mean `near`?",
                "line 3: expected the number of a host, found `x`",
                "line 4: host 1 is no pair with itself",
                "line 6: the pair 1, 0 is of the class `near` already",
                "line 7: there is no class ``; known classes: near, far",
            ]
        );
        let (_, mistakes) = filled("from,to\n");
        assert_eq!(
            mistakes,
            ["line 1: expected the columns source,destination,class, found `from,to`"]
        );
    }
}
