//! The parameters of rails in a machine file, as the simulation reads them: tables `[rail.NAME]`
//! with `loggops = { L, o, g, G }`, in the order of the file. Other tables are left to the
//! simulation.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use units::{Time, TimePerByte, nearest};

use crate::{
    Error,
    rail::{Rail, per_byte, ticks},
};

/// The parameters that a rail must have, and those of one side, which `o` may stand for.
const KEYS: [&str; 6] = ["L", "o", "g", "G", "o-send", "o-recv"];

/// Reads the rails of a machine file. The error says where what is expected.
pub fn read(text: &str) -> Result<Vec<Rail>, Error> {
    let file = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(0, |span| text[..span.start].lines().count().max(1));
        Error::new(format!("line {line}: {}", error.message()))
    })?;
    let none = || Error::new("there is no table [rail.NAME], which describes a rail");
    let found = file.get_ref().get("rail").map(Spanned::get_ref);
    let Some(DeValue::Table(tables)) = found else { return Err(none()) };
    let mut tables: Vec<_> = tables.iter().collect();
    tables.sort_by_key(|(name, _)| name.span().start);
    let rails: Vec<Rail> = tables
        .into_iter()
        .map(|(name, table)| rail(name.get_ref(), table.get_ref()))
        .collect::<Result<_, _>>()?;
    if rails.is_empty() {
        return Err(none());
    }
    Ok(rails)
}

fn rail(name: &str, table: &DeValue) -> Result<Rail, Error> {
    let place = format!("rail.{name}");
    if name.len() >= crate::rail::NAME {
        let most = crate::rail::NAME - 1;
        return Err(Error::new(format!("{place}: names have at most {most} bytes here")));
    }
    let Some(DeValue::Table(costs)) = table.get("loggops").map(Spanned::get_ref) else {
        let hint = "the parameters of a rail: loggops = { L = \"..\", o = \"..\", g = \"..\", \
                    G = \"..\" }";
        return Err(Error::new(format!("{place}.loggops is missing, {hint}")));
    };
    for key in costs.keys().map(|key| &**key.get_ref()) {
        // The simulation knows more keys than decisions need; those that look like a slip of one
        // of these are not one of them.
        let near = nearest(key, &KEYS).filter(|near| near.eq_ignore_ascii_case(key));
        if let Some(near) = near.filter(|near| *near != key && !KEYS.contains(&key)) {
            return Err(Error::new(format!("{place}.loggops.{key}: did you mean `{near}`?")));
        }
    }
    let time = |key: &str| -> Result<Option<u64>, Error> {
        let Some(value) = costs.get(key) else { return Ok(None) };
        let read: Time = text(&place, key, value.get_ref())?
            .parse()
            .map_err(|error| Error::new(format!("{place}.loggops.{key}: {error}")))?;
        Ok(Some(ticks(read.ps() as f64 / 1000.0)))
    };
    let needed = |key: &str, found: Option<u64>| {
        found.ok_or_else(|| Error::new(format!("{place}.loggops.{key} is missing")))
    };
    let both = time("o")?;
    let rate = costs.get("G").ok_or_else(|| {
        Error::new(format!("{place}.loggops.G is missing: the time that a byte takes"))
    })?;
    let rate: TimePerByte = text(&place, "G", rate.get_ref())?
        .parse()
        .map_err(|error| Error::new(format!("{place}.loggops.G: {error}")))?;
    let (ps, bytes) = rate.parts();
    let send_overhead = needed("o", time("o-send")?.or(both))?;
    let receive_overhead = needed("o", time("o-recv")?.or(both))?;
    let rail = Rail {
        send_overhead,
        receive_overhead,
        change: send_overhead.max(receive_overhead),
        latency: needed("L", time("L")?)?,
        gap: needed("g", time("g")?)?,
        gap_per_byte: per_byte(ps as f64 / 1000.0 / bytes as f64),
        ..Rail::named(name)
    };
    if !rail.is_possible() {
        return Err(Error::new(format!(
            "{place}.loggops: times are at most a minute, and a millisecond per byte"
        )));
    }
    Ok(rail)
}

fn text<'a>(place: &str, key: &str, value: &'a DeValue) -> Result<&'a str, Error> {
    value.as_str().ok_or_else(|| {
        let expected = "a quantity in quotes, such as \"1.4 us\"";
        let found = value.type_str();
        Error::new(format!("{place}.loggops.{key}: expected {expected}, found an {found}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_of_the_simulation_is_read() {
        let rails = read(
            "[rails]\npolicy = \"vft\"\n[rail.zeta]\nmodel = \"loggops\"\n\
             loggops = { L = \"2.82 us\", o = \"1.4 us\", g = \"1.4 us\", G = \"1.03 ns/B\" }\n\
             [rail.alpha]\nloggops = { L = \"1 us\", o-send = \"1 ns\", o-recv = \"3 ns\", \
             g = \"2 ns\", \
             G = \"8 Gb/s\" }\n",
        )
        .unwrap();
        let [zeta, alpha] = rails.as_slice() else { panic!("{rails:?}") };
        assert_eq!(zeta.name(), "zeta");
        assert_eq!((zeta.latency, zeta.gap_per_byte), (2820 << 10, 1_080_033));
        assert_eq!((alpha.send_overhead, alpha.receive_overhead), (1 << 10, 3 << 10));
        assert_eq!(alpha.gap_per_byte, 1 << 20);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, expected) in [
            ("", "there is no table [rail.NAME], which describes a rail"),
            ("[rail.a]\n", "rail.a.loggops is missing, the parameters of a rail"),
            ("[rail.a]\nloggops = { L = \"1 us\" }\n", "rail.a.loggops.G is missing"),
            ("[rail.a]\nloggops = { l = \"1 us\" }\n", "rail.a.loggops.l: did you mean `L`?"),
            (
                "[rail.a]\nloggops = { L = 1, o = \"1 us\", g = \"1 us\", G = \"1 ns/B\" }\n",
                "rail.a.loggops.L: expected a quantity in quotes, such as \"1.4 us\", found an \
                 integer",
            ),
            ("[rail.a]\n[rail.a]\n", "line 2: "),
            ("x = \n", "line 1: "),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    const PIECES: [&str; 16] = [
        "[rail.a]\n",
        "[rail.b]\n",
        "[rail]\n",
        "rail = ",
        "a = ",
        "loggops = ",
        "L = ",
        "o = ",
        "g = ",
        "G = ",
        "{",
        "}",
        ", ",
        "\"1 us\"",
        "\"1 ns/B\"",
        "\"-9999999999999999999 s\"",
    ];

    proptest::proptest! {
        /// Any text is read or refused.
        #[test]
        fn nothing_panics(
            of in proptest::collection::vec(0..PIECES.len(), 0..24),
            cut in 0..400_usize,
        ) {
            let text: String = of.into_iter().map(|piece| PIECES[piece]).collect();
            let _ = read(&text[..cut.min(text.len())]);
        }
    }
}
