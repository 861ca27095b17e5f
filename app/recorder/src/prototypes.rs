//! The C prototypes of MPI-3.1 and the persistent, partitioned and large-count calls of MPI-4, as a
//! table: name, version that has it, arguments by kind (MPI: A Message-Passing Interface Standard,
//! 3.1, annex A.2, and 4.0, annex A.3).
//!
//! Not in the table, and so not recorded: the conversions between C and Fortran handles, which the
//! Fortran bindings call within each call; `MPI_Wtime`, `MPI_Wtick` and the address arithmetic,
//! which do nothing but compute (looks at the clock of a simulated run are written all the same, by
//! `trace_look`); the tool interface (`MPI_T_`); the functions that MPI-3.0 removed, all of them
//! local; and sessions.

use std::collections::BTreeMap;

/// The table, as text.
pub const CSV: &str = include_str!("../prototypes.csv");

/// The persistent collectives of Open MPI 4 have this prefix.
const EXTENSION: &str = "MPIX_";

/// The headers that declare a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// MPI-3.1.
    Three,
    /// MPI-4.0.
    Four,
    /// MPI-4.1.
    FourOne,
    /// An extension of Open MPI 4.
    OpenMpi,
}

/// A function of MPI, in one of its forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// The name in C.
    pub name: String,
    /// The entry in the table of calls.
    pub call: Option<Call>,
    /// The headers that declare it.
    pub since: Since,
    /// C types of its arguments.
    pub arguments: Vec<String>,
}

/// The entry of a call in the table of the trace format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The number in traces.
    pub id: u32,
    /// The name in traces.
    pub name: String,
    /// The class, by which the call is compiled.
    pub class: String,
    /// `b` blocking, `i` immediate, `p` persistent.
    pub how: String,
    /// The kind of field in which each argument is kept; empty if none is.
    pub fields: Vec<String>,
}

impl Call {
    /// Returns whether it is a collective made ready for later, such as `MPI_Bcast_init`.
    fn persistent_collective(&self) -> bool {
        self.how == "p" && !["send", "ssend", "bsend", "recv"].contains(&self.class.as_str())
    }
}

/// Reads the trace format's table of calls, by name.
fn calls(text: &str) -> BTreeMap<&str, Call> {
    let rows = text.lines().skip(1).filter_map(|line| {
        let mut cells = line.splitn(5, ',');
        let mut cell = || cells.next();
        let (id, name, class, how) = (cell()?.parse().ok()?, cell()?, cell()?, cell()?);
        let fields = cell()?.split_whitespace().map(str::to_owned).collect();
        let [class, how] = [class, how].map(str::to_owned);
        Some((name, Call { id, name: name.to_owned(), class, how, fields }))
    });
    rows.collect()
}

/// The C type of a kind of argument.
fn c_type(kind: &str) -> String {
    let fixed = match kind {
        "in" => "const void *",
        "out" => "void *",
        "int" | "..." | "char***" | "char**" => kind,
        "int*" => "int *",
        "ints" => "const int *",
        "text" => "const char *",
        "char*" => "char *",
        "triples" => "int (*)[3]",
        "type" => "MPI_Datatype",
        "type*" => "MPI_Datatype *",
        "types" => "const MPI_Datatype *",
        "req" => "MPI_Request",
        "reqs" => "const MPI_Request *",
        "req*" => "MPI_Request *",
        "msg*" => "MPI_Message *",
        "infos" => "const MPI_Info *",
        "aints" => "const MPI_Aint *",
        "statusin" => "const MPI_Status *",
        "status*" => "MPI_Status *",
        _ => "",
    };
    if !fixed.is_empty() {
        return fixed.to_owned();
    }
    if kind.starts_with("MPI_") {
        return kind.to_owned();
    }
    let mut letters = kind.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    format!("MPI_{}{}", first.unwrap_or_default(), letters.as_str())
}

/// The form with counts of type `MPI_Count`, if the call has counts.
fn large(plain: &Prototype) -> Option<Prototype> {
    let call = plain.call.as_ref()?;
    let mut arguments = plain.arguments.clone();
    for (argument, field) in arguments.iter_mut().zip(&call.fields) {
        match (field.as_str(), argument.as_str()) {
            ("count", "int") => "MPI_Count".clone_into(argument),
            ("counts", _) => "const MPI_Count *".clone_into(argument),
            ("displs", "const int *") => "const MPI_Aint *".clone_into(argument),
            _ => {}
        }
    }
    let name = format!("{}_c", plain.name);
    let changed = arguments != plain.arguments;
    changed.then(|| Prototype { name, since: Since::Four, arguments, call: Some(call.clone()) })
}

/// All functions that are wrapped, in all their forms.
pub fn all() -> Vec<Prototype> {
    let mut calls = calls(::calls::CSV);
    let mut all = Vec::new();
    for line in CSV.lines().skip(1) {
        let mut cells = line.splitn(3, ',');
        let mut cell = || cells.next().unwrap_or_default();
        let (name, since, kinds) = (cell(), cell(), cell());
        let since = match since {
            "3" => Since::Three,
            "4" => Since::Four,
            _ => Since::FourOne,
        };
        let call = calls.remove(name);
        let arguments = kinds.split_whitespace().map(c_type).collect();
        let plain = Prototype { name: name.to_owned(), call, since, arguments };
        all.extend(large(&plain));
        if plain.call.as_ref().is_some_and(Call::persistent_collective) {
            let name = name.replacen("MPI_", EXTENSION, 1);
            all.push(Prototype { name, since: Since::OpenMpi, ..plain.clone() });
        }
        all.push(plain);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(all: &'a [Prototype], name: &str) -> &'a Prototype {
        all.iter().find(|prototype| prototype.name == name).expect(name)
    }

    /// Every call of the trace format can be recorded, and has as many fields as arguments
    /// (`MPI_Pcontrol` has more arguments than its standard names). `MPI_File` is no function:
    /// `trace_agreement` writes it.
    #[test]
    fn calls_and_prototypes_agree() {
        let all = all();
        let calls = calls(::calls::CSV);
        for (name, call) in calls.into_iter().filter(|(name, _)| *name != "MPI_File") {
            let prototype = find(&all, name);
            assert_eq!(prototype.call.as_ref(), Some(&call));
            let (kept, given) = (call.fields.len(), prototype.arguments.len());
            assert!(kept == 0 || kept == given || name == "MPI_Pcontrol", "{name}: {kept} {given}");
        }
    }

    /// From the headers of Open MPI 4.1 and MPICH 4.0.
    #[test]
    fn forms_have_the_types_of_the_standard() {
        let all = all();
        assert_eq!(
            find(&all, "MPI_Gatherv_c").arguments,
            [
                "const void *",
                "MPI_Count",
                "MPI_Datatype",
                "void *",
                "const MPI_Count *",
                "const MPI_Aint *",
                "MPI_Datatype",
                "int",
                "MPI_Comm"
            ]
        );
        let barrier = find(&all, "MPIX_Barrier_init");
        assert_eq!(barrier.arguments, ["MPI_Comm", "MPI_Info", "MPI_Request *"]);
        assert_eq!(barrier.since, Since::OpenMpi);
        assert!(all.iter().all(|prototype| prototype.name != "MPI_Barrier_c"));
        assert_eq!(find(&all, "MPI_Win_lock").arguments, ["int", "int", "int", "MPI_Win"]);
    }
}
