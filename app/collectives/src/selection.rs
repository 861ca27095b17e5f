//! The choice of algorithms of MPI libraries, by number of ranks and size: tables as data.

use std::sync::LazyLock;

use calls::Collective;

use crate::{call::Call, layout::Nodes};

/// A library's selection table.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The library's name.
    pub name: &'static str,
    /// The version that the table is of.
    pub version: &'static str,
    /// The table as it stands in its file, with its source and what its columns mean.
    pub table: &'static str,
}

/// All libraries.
pub const LIBRARIES: [Library; 6] = [
    Library { name: "openmpi", version: "4.1", table: include_str!("../data/openmpi-4.1.csv") },
    Library { name: "mpich", version: "4.0", table: include_str!("../data/mpich-4.0.csv") },
    Library { name: "mvapich2", version: "1.9", table: include_str!("../data/mvapich2-1.9.csv") },
    Library { name: "impi", version: "4.1", table: include_str!("../data/intelmpi-4.1.csv") },
    Library {
        name: "smpi_ompi",
        version: "3.32",
        table: include_str!("../data/smpi-ompi-3.32.csv"),
    },
    Library {
        name: "smpi_mpich",
        version: "3.32",
        table: include_str!("../data/smpi-mpich-3.32.csv"),
    },
];

/// A row of a table.
#[derive(Debug)]
struct Row {
    collective: &'static str,
    per_node: PerNode,
    conditions: &'static str,
    ranks: u64,
    /// Bytes up to which the algorithm is taken.
    sizes: Vec<(u64, &'static str)>,
}

#[derive(Debug, PartialEq, Eq)]
enum PerNode {
    Any,
    Several,
    Exactly(u32),
}

static ROWS: LazyLock<[Vec<Row>; 6]> = LazyLock::new(|| {
    LIBRARIES.map(|library| {
        let lines = library.table.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(row).collect()
    })
});

/// A line of a table; a test reads all lines.
fn row(line: &'static str) -> Option<Row> {
    let mut fields = line.splitn(5, ',');
    let mut next = || fields.next().map(str::trim);
    let limit = |text: &str| if text == "*" { Some(u64::MAX) } else { text.parse().ok() };
    let (collective, per_node, conditions) = (next()?, next()?, next()?);
    let per_node = match per_node {
        "*" => PerNode::Any,
        "2+" => PerNode::Several,
        number => PerNode::Exactly(number.parse().ok()?),
    };
    let ranks = limit(next()?)?;
    let pairs = next()?.split_whitespace().map(|pair| {
        let (bytes, algorithm) = pair.split_once(':')?;
        Some((limit(bytes)?, algorithm))
    });
    Some(Row { collective, per_node, conditions, ranks, sizes: pairs.collect::<Option<_>>()? })
}

/// The algorithm that a library takes; `default` where its table does not say.
pub fn choose(library: &str, collective: Collective, call: &Call) -> &'static str {
    let Some(index) = LIBRARIES.iter().position(|other| other.name == library) else {
        return "default";
    };
    let total = call.blocks.start(call.ranks);
    let usual = match collective {
        Collective::ReduceScatter => total,
        _ if collective.is_whole() => call.count(),
        _ => total / u64::from(call.ranks),
    };
    let per_node = match call.nodes {
        Nodes::Consecutive(size) if call.ranks.is_multiple_of(*size) => *size,
        nodes => nodes.most(call.ranks),
    };
    let fits = |row: &&Row| {
        row.collective == collective.name()
            && u64::from(call.ranks) <= row.ranks
            && match row.per_node {
                PerNode::Any => true,
                PerNode::Several => per_node > 1,
                PerNode::Exactly(number) => per_node == number,
            }
            && row.conditions.split(' ').all(|condition| match condition {
                "commutes" => call.commutative,
                "ordered" => !call.commutative,
                "power-of-two" => call.ranks.is_power_of_two(),
                _ => true,
            })
    };
    let Some(row) = ROWS.get(index).and_then(|rows| rows.iter().find(fits)) else {
        return "default";
    };
    let elements = if row.conditions.contains("total") { total } else { usual };
    let unit = if row.conditions.contains("elements") { 1 } else { call.element };
    let measure = elements * unit;
    let size = row.sizes.iter().find(|&&(limit, _)| measure <= limit);
    size.map_or("default", |&(_, algorithm)| algorithm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line that is no comment is a row, its algorithms exist, its sizes ascend to the end.
    #[test]
    fn tables_are_whole() {
        for library in LIBRARIES {
            assert!(library.table.starts_with("# "), "{} names no source", library.name);
            for line in library.table.lines().filter(|line| !line.starts_with('#')) {
                let row = row(line).unwrap_or_else(|| panic!("{}: {line}", library.name));
                let collective = crate::named(row.collective).unwrap();
                assert!(row.sizes.is_sorted_by(|a, b| a.0 < b.0), "{line}");
                assert_eq!(row.sizes.last().unwrap().0, u64::MAX, "{line}");
                let conditions = ["-", "commutes", "ordered", "power-of-two", "total", "elements"];
                assert!(row.conditions.split(' ').all(|c| conditions.contains(&c)), "{line}");
                for (_, algorithm) in row.sizes {
                    let found = crate::find(collective, algorithm);
                    assert!(
                        found.is_ok_and(|entry| entry.name == algorithm),
                        "{line}: {algorithm}"
                    );
                }
            }
        }
    }
}
