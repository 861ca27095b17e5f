//! The C source of the wrappers.

use std::fmt::Write;

use crate::prototypes::{Call, Prototype, Since};

/// Classes whose calls are wrapped by hand, in `c/calls.c`.
const BY_HAND: &[&str] = &[
    "init",
    "finalize",
    "abort",
    "region",
    "start",
    "startall",
    "wait",
    "waitany",
    "waitall",
    "waitsome",
    "test",
    "testany",
    "testall",
    "testsome",
    "request_get_status",
    "request_get_status_any",
    "request_get_status_all",
    "request_get_status_some",
    "request_free",
    "cancel",
];

/// Calls that free a handle, and the function that forgets it before: the library may give the
/// handle out again once the call returns.
const FORGOTTEN: &[(&str, &str)] = &[
    ("MPI_Comm_free", "communicator_freed"),
    ("MPI_Comm_disconnect", "communicator_freed"),
    ("MPI_Type_free", "type_freed"),
    ("MPI_Op_free", "operation_freed"),
];

/// The lists of functions: `functions.h`.
pub fn header(all: &[Prototype]) -> String {
    let mut out = String::from("/* Generated from prototypes.csv and calls.csv. */\nenum {\n");
    for Prototype { name, .. } in all {
        let _ = writeln!(out, "    F_{name},");
    }
    out.push_str("    FUNCTION_COUNT\n};\nenum {\n");
    for call in all
        .iter()
        .filter_map(|prototype| prototype.call.as_ref().filter(|call| call.name == prototype.name))
    {
        let _ = writeln!(out, "    C_{} = {},", call.name, call.id);
    }
    out.push_str("};\n");
    out
}

/// The wrappers: `wrappers.c`.
pub fn source(all: &[Prototype]) -> String {
    let mut out = String::from(
        "/* Generated from prototypes.csv and calls.csv. */\n#include \"recorder.h\"\n\n\
         void *functions[FUNCTION_COUNT];\nconst char *const function_names[] = {\n",
    );
    for Prototype { name, .. } in all {
        let _ = writeln!(out, "    \"{name}\",");
    }
    // Not wrapped: `trace_look` and `trace_agreement` write them.
    out.push_str("    \"MPI_Wtime\",\n    \"MPI_File_turn\",\n};\n");
    for prototype in all {
        let by_hand = prototype.call.as_ref().is_some_and(by_hand);
        if !by_hand {
            let guard = match prototype.since {
                Since::Three => None,
                Since::Four => Some("MPI_VERSION >= 4"),
                Since::FourOne => Some("MPI_VERSION * 10 + MPI_SUBVERSION >= 41"),
                Since::OpenMpi => Some("defined OMPI_HAVE_MPI_EXT_PCOLLREQ"),
            };
            let guarded = |text: &str| guard.map(|_| format!("#{text}\n")).unwrap_or_default();
            out.push('\n');
            out += &guarded(&format!("if {}", guard.unwrap_or_default()));
            wrapper(&mut out, prototype);
            out += &guarded("endif");
        }
    }
    out
}

fn by_hand(call: &Call) -> bool {
    BY_HAND.contains(&call.class.as_str())
}

/// Returns the code before and behind a call of MPI-IO.
fn at_file(prototype: &Prototype) -> (&'static str, &'static str) {
    if prototype.name == "MPI_File_open" {
        let after =
            "    meeting = 0;\n    if (result == MPI_SUCCESS)\n        file_opened(a0, *a4);";
        return ("    file_opens(a0);\n", after);
    }
    match prototype.arguments.first().map(String::as_str) {
        Some("MPI_File") => ("    file_enters(a0);\n", "    meeting = 0;"),
        Some("MPI_File*") => ("    file_closes(*a0);\n", "    meeting = 0;"),
        _ => ("", ""),
    }
}

fn wrapper(out: &mut String, prototype: &Prototype) {
    let Prototype { name, arguments, .. } = prototype;
    let declared: Vec<String> = arguments
        .iter()
        .enumerate()
        .map(|(index, kind)| match kind.split_once("(*)") {
            Some((before, after)) => format!("{before}(*a{index}){after}"),
            None => format!("{kind} a{index}"),
        })
        .collect();
    let declared = if declared.is_empty() { "void".to_owned() } else { declared.join(", ") };
    let passed: Vec<String> = (0..arguments.len()).map(|index| format!("a{index}")).collect();
    let passed = passed.join(", ");
    let _ = write!(
        out,
        "PUBLIC int {name}({declared})\n{{\n    struct call call;\n    if (!enter(&call))\n        \
         return REAL({name})({passed});\n"
    );
    let body = prototype.call.as_ref().filter(|call| !call.fields.is_empty()).map(Body::new);
    for (function, forget) in FORGOTTEN {
        if function == name {
            let _ = writeln!(out, "    {forget}(*a0);");
        }
    }
    if let Some(body) = &body {
        body.before(out);
    }
    let (before, after) = at_file(prototype);
    let _ = writeln!(
        out,
        "{before}    int result = REAL({name})({passed});\n    leave(&call);\n{after}"
    );
    if let Some(Body { makes: Some(made), .. }) = &body {
        let _ = writeln!(out, "    if (result == MPI_SUCCESS)\n        communicator_made({made});");
    }
    let _ = writeln!(out, "    lock();\n    if (result != MPI_SUCCESS) {{");
    let _ = writeln!(out, "        trace_unlisted(F_{name}, &call, true);\n    }} else {{");
    match (&body, &prototype.call) {
        (Some(body), _) => body.record(out, prototype),
        (None, Some(call)) => {
            let _ =
                writeln!(out, "        trace_end(trace_begin({}, &call, FIXED_BYTES));", call.id);
        }
        (None, None) => {
            let _ = writeln!(out, "        trace_unlisted(F_{name}, &call, false);");
        }
    }
    let _ =
        write!(out, "    }}\n    unlock();\n    done();\n    return result;\n}}\nALIAS({name})\n");
}

/// The part of a wrapper that writes a call into the trace.
struct Body<'a> {
    call: &'a Call,
    /// The arguments that are a communicator which all its members make in this call, and the one
    /// that they make it of.
    makes: Option<String>,
    /// The arguments that are the communicator, the root and the first two buffers.
    comm: Option<usize>,
    root: Option<usize>,
    buffers: (Option<usize>, Option<usize>),
}

impl<'a> Body<'a> {
    fn new(call: &'a Call) -> Self {
        let find = |wanted: &str| call.fields.iter().position(|field| field == wanted);
        let last = |wanted: &str| call.fields.iter().rposition(|field| field == wanted);
        let creates = ["create", "create_group", "intercomm_create"].contains(&&*call.class);
        let makes = (creates && call.how == "b").then(|| last("comm")).flatten();
        Self {
            call,
            makes: makes.map(|index| match find("comm") {
                Some(parent) if call.class != "intercomm_create" => format!("a{parent}, *a{index}"),
                _ => format!("MPI_COMM_NULL, *a{index}"),
            }),
            comm: find("comm"),
            root: find("rank"),
            buffers: (find("buf"), last("buf")),
        }
    }

    /// Returns whether the arguments of the second buffer begin at or before this one.
    fn second(&self, index: usize) -> bool {
        let (first, second) = self.buffers;
        first != second && second.is_some_and(|second| index >= second)
    }

    /// Returns the condition under which an argument has a meaning (MPI-3.1, chapters 5 and 11);
    /// `None` if it always has.
    fn matters(&self, index: usize, field: &str) -> Option<String> {
        let part = ["buf", "count", "counts", "type", "types", "op"].contains(&field);
        let first = !self.second(index);
        if self.call.class == "get_accumulate" && part && field != "op" && index < 3 {
            // MPI-3.1, section 11.3.4: the origin's buffer is ignored.
            let operation = self.call.fields.iter().position(|field| field == "op")?;
            return Some(format!("a{operation} != MPI_NO_OP"));
        }
        let (root, comm) = (self.root.unwrap_or(0), self.comm?);
        let (a, b) = (self.buffers.0?, self.buffers.1?);
        let leaf = format!("at_leaf(c{comm}, a{root})");
        let at_root = format!("at_root(c{comm}, a{root})");
        let placed = |condition: &str, buffer: usize| match (field, condition) {
            ("buf", "") => None,
            ("buf", _) => Some(condition.to_owned()),
            (_, "") => Some(format!("a{buffer} != MPI_IN_PLACE")),
            _ => Some(format!("{condition} && a{buffer} != MPI_IN_PLACE")),
        };
        match (&*self.call.class, first) {
            _ if !part => None,
            ("gather" | "gatherv", true) => placed(&leaf, a),
            ("gather" | "gatherv", false) | ("scatter" | "scatterv", true) => Some(at_root),
            ("scatter" | "scatterv", false) => placed(&leaf, b),
            ("allgather" | "allgatherv" | "alltoall" | "alltoallv" | "alltoallw", true) => {
                placed("", a)
            }
            ("reduce", false) if field == "buf" => Some(at_root),
            ("bcast" | "reduce", _) => {
                Some(format!("(!c{comm}->remote || a{root} != MPI_PROC_NULL)"))
            }
            _ => None,
        }
    }

    /// Returns the number of items of an array argument, as an expression in C.
    fn length(&self, index: usize, field: &str) -> String {
        let comm = self.comm.unwrap_or(0);
        let all = match (&*self.call.class, self.second(index)) {
            ("reduce_scatter", _) => format!("c{comm}->size"),
            ("neighbor_allgatherv", _) | ("neighbor_alltoallv" | "neighbor_alltoallw", true) => {
                format!("c{comm}->sources")
            }
            ("neighbor_alltoallv" | "neighbor_alltoallw", false) => {
                format!("c{comm}->destinations")
            }
            _ => format!("peers(c{comm})"),
        };
        match self.matters(index, field) {
            Some(condition) => format!("({condition} ? {all} : 0)"),
            None => all,
        }
    }

    fn fields(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.call.fields.iter().map(String::as_str).enumerate()
    }

    /// Returns whether it makes a communicator that is there only when its request is done.
    fn duplicates(&self) -> bool {
        self.call.class == "create" && self.call.how == "i"
    }

    /// Writes what comes before the call: own statuses, and handles that the call takes away.
    fn before(&self, out: &mut String) {
        for (index, field) in self.fields() {
            let _ = match (field, &*self.call.class) {
                ("status", _) => writeln!(
                    out,
                    "    MPI_Status own;\n    \
                     a{index} = a{index} == MPI_STATUS_IGNORE ? &own : a{index};"
                ),
                ("msg", "mrecv") => writeln!(
                    out,
                    "    lock();\n    uint32_t taken = message_taken(a{index});\n    unlock();"
                ),
                ("win", "win_free") => writeln!(
                    out,
                    "    lock();\n    uint64_t freed = window_of(*a{index});\n    unlock();\n    \
                     window_freed(*a{index});"
                ),
                _ => Ok(()),
            };
        }
    }

    /// Writes the code of the record itself.
    fn record(&self, out: &mut String, prototype: &Prototype) {
        let mut most = String::from("FIXED_BYTES");
        let pointer = |index: usize| {
            let kind = prototype.arguments.get(index).map(String::as_str).unwrap_or_default();
            if kind.ends_with('*') { "*" } else { "" }
        };
        let duplicates = self.duplicates();
        for (index, field) in self.fields() {
            let star = pointer(index);
            let _ = match field {
                "comm" if duplicates && star == "*" => writeln!(
                    out,
                    "        uint64_t made = communicator_duplicated(a0);\n        \
                     uint32_t latest = communicator_latest();"
                ),
                "comm" => writeln!(
                    out,
                    "        struct communicator *c{index} = communicator_of({star}a{index});"
                ),
                _ => Ok(()),
            };
            let _ = match field {
                "counts" | "types" => {
                    write!(most, " + ITEM_BYTES * (size_t){}", self.length(index, field))
                }
                "group" => write!(most, " + group_bytes(a{index})"),
                _ => Ok(()),
            };
        }
        let _ = writeln!(out, "        out_t out = trace_begin({}, &call, {most});", self.call.id);
        for (index, field) in self.fields() {
            if let Some(written) = self.written(index, field, pointer(index), prototype) {
                let _ = writeln!(out, "        out = {written};");
            }
        }
        out.push_str("        trace_end(out);\n");
    }

    /// Returns the expression that writes a field.
    // Long because it is a table of fields.
    fn written(
        &self,
        index: usize,
        field: &str,
        star: &str,
        prototype: &Prototype,
    ) -> Option<String> {
        let matters = self.matters(index, field);
        let value = |absent: &str| match &matters {
            Some(condition) => format!("{condition} ? a{index} : {absent}"),
            None => format!("a{index}"),
        };
        let always = matters.clone().unwrap_or_else(|| "true".to_owned());
        let class = &*self.call.class;
        let flag = self.call.fields.iter().position(|field| field == "flag");
        let found = flag.map_or_else(|| "true".to_owned(), |flag| format!("*a{flag}"));
        let duplicates = self.duplicates();
        let text = match field {
            // The address of what the call allocated.
            "buf" if class == "win_create" && self.call.name != "MPI_Win_create" => {
                format!("put_buffer(out, *(void **)a{index})")
            }
            "buf" => format!("put_buffer(out, {})", value("NULL")),
            "count" | "int" => format!("put_signed(out, {})", value("0")),
            "rank" => format!("put_rank(out, a{index})"),
            "tag" => format!("put_tag(out, a{index})"),
            "flag" => format!("put_signed(out, *a{index} != 0)"),
            "op" => format!("put_operation(out, a{index}, {always})"),
            "comm" if duplicates && star == "*" => "put(out, made)".to_owned(),
            "comm" => format!("put(out, c{index}->number)"),
            "win" if class == "win_free" => "put(out, freed)".to_owned(),
            "win" => format!("put(out, window_of({star}a{index}))"),
            // The communicator stands before the request.
            "req" if duplicates => {
                format!("put(out, request_duplicates(a{index}, latest, a{}))", index - 1)
            }
            "req" => {
                let receive = class == "recv" || class == "mrecv";
                format!("put(out, request_made(a{index}, {receive}))")
            }
            "msg" if class == "mrecv" => "put(out, taken)".to_owned(),
            "msg" => format!("put(out, {found} ? message_made(a{index}) : 0)"),
            "type" => format!("put_type(out, a{index}, {always})"),
            "types" => {
                // The counts that belong to them stand two places before.
                let counts = index.checked_sub(2)?;
                let large = prototype.arguments.get(counts).is_some_and(|c| c.contains("Count"));
                let put = if large { "put_types_of" } else { "put_types" };
                format!("{put}(out, a{index}, a{counts}, {})", self.length(index, field))
            }
            "status" => format!("put_status(out, a{index}, {found})"),
            "counts" => {
                let large = prototype.arguments.get(index).is_some_and(|c| c.contains("Count"));
                let put = if large { "put_counts" } else { "put_ints" };
                format!("{put}(out, a{index}, {})", self.length(index, field))
            }
            "group" => format!("put_group(out, a{index})"),
            _ => return None,
        };
        Some(text)
    }
}
