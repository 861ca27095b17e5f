//! The hosts of ranks, as `mpirun`s are told them: as keys of the table `[placement]`.

use std::path::Path;

use units::nearest;

use crate::{
    arguments::Mpirun,
    exit::{Ending, Exit},
};

/// Keys of the experiment, with the texts of their values and what the command line says.
type Keys = Vec<(&'static str, String, String)>;

/// The keys that the options say.
pub fn keys(arguments: &Mpirun) -> Result<Keys, Ending> {
    let mut keys = Keys::new();
    if let Some(file) = &arguments.rankfile {
        let said = format!("--rankfile {file}");
        keys.push(("placement.kind", "file".to_owned(), said.clone()));
        keys.push(("placement.file", file.clone(), said));
    }
    let (hosts, said) = match &arguments.hostfile {
        Some(path) => (listed(path)?, format!("--hostfile {}", path.display())),
        None => (arguments.host.join(","), format!("--host {}", arguments.host.join(","))),
    };
    if !hosts.is_empty() {
        keys.push(("placement.hosts", hosts, said));
    }
    if let Some(most) = arguments.per_host {
        keys.push(("placement.per-host", most.to_string(), format!("--per-host {most}")));
    }
    if let Some(how) = &arguments.map_by {
        keys.extend(mapped(how).map_err(|message| Ending::new(Exit::Usage, message))?);
    }
    Ok(keys)
}

/// The settings that a value of `--map-by` stands for. Cores of each rank (`:PE=2`) have no meaning
/// here, and are refused.
fn mapped(how: &str) -> Result<Keys, String> {
    let said = || format!("--map-by {how}");
    let kind = |kind: &str| Ok(vec![("placement.kind", kind.to_owned(), said())]);
    match how {
        "slot" | "core" | "hwthread" | "socket" | "numa" => return kind("linear"),
        "node" => return kind("round-robin"),
        _ => {}
    }
    let parts: Vec<&str> = how.split(':').collect();
    if let [rest @ .., last] = parts.as_slice()
        && !rest.is_empty()
        && last.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case("pe"))
    {
        let rest = rest.join(":");
        return Err(format!(
            "error: --map-by: cores of ranks are not modelled, found `{last}`\n  \
             help: --map-by {rest}; --per-host N says how many ranks a host has"
        ));
    }
    if let ["ppr", count, "node"] = parts.as_slice() {
        return Ok(vec![
            ("placement.kind", "linear".to_owned(), said()),
            ("placement.per-host", (*count).to_owned(), said()),
        ]);
    }
    let known = ["slot", "core", "node", "ppr:1:node"];
    let near = nearest(how, &known).map_or(String::new(), |near| format!(", did you mean {near}?"));
    Err(format!("error: --map-by: expected slot, core, node or ppr:N:node, found `{how}`{near}"))
}

/// The hosts of a file, as `--host` has them: those of Open MPI (`HOST slots=N`) and of MPICH
/// (`HOST:N`).
fn listed(path: &Path) -> Result<String, Ending> {
    let wrong =
        |message: String| Ending::new(Exit::Input, format!("error: {}{message}", path.display()));
    let text = units::text::read(path).map_err(|error| {
        let reason = experiment::unread(path, &error);
        Ending::new(Exit::Input, format!("error: --hostfile {}: {reason}", path.display()))
    })?;
    let mut hosts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let said = line.split('#').next().unwrap_or_default();
        // Blanks may stand on both sides of `=`.
        let said = said.split('=').map(str::trim).collect::<Vec<_>>().join("=");
        let mut words = said.split_whitespace();
        let Some(host) = words.next() else { continue };
        let mut host = host.to_owned();
        for word in words {
            match word.split_once('=') {
                Some(("slots", slots)) if !slots.is_empty() => host = format!("{host}:{slots}"),
                // The most that it takes beyond its slots, and how a host of real machines is
                // reached.
                Some(("max_slots" | "max-slots" | "user" | "ifhn" | "binding", _)) => {}
                _ => {
                    return Err(wrong(format!(
                        ":{number}: expected HOST, HOST:N or HOST slots=N, found `{word}`"
                    )));
                }
            }
        }
        hosts.push(host);
    }
    if hosts.is_empty() {
        return Err(wrong(": there are no hosts in it".to_owned()));
    }
    Ok(hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::mapped;

    #[test]
    fn ways_to_map() {
        let key = |key, value: &str, how| (key, value.to_owned(), format!("--map-by {how}"));
        assert_eq!(mapped("core"), Ok(vec![key("placement.kind", "linear", "core")]));
        assert_eq!(mapped("node"), Ok(vec![key("placement.kind", "round-robin", "node")]));
        let [kind, most] = ["placement.kind", "placement.per-host"];
        let several = vec![key(kind, "linear", "ppr:4:node"), key(most, "4", "ppr:4:node")];
        assert_eq!(mapped("ppr:4:node"), Ok(several));
        let refused = "cores of ranks are not modelled, found `PE=2`\n  help: --map-by ppr:4:node;";
        assert!(mapped("ppr:4:node:PE=2").is_err_and(|message| message.contains(refused)));
        assert!(mapped("node:pe=2").is_err_and(|message| message.contains("--map-by node;")));
        assert!(mapped("nodes").is_err_and(|message| message.contains("did you mean node?")));
    }
}
