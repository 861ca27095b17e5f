//! Words that other tools have for settings, so that whoever knows those finds ours: `mpirun` of
//! Open MPI and MPICH, Slurm, SimGrid, LogGOPSim, BookSim 2 and SST's Merlin.

use super::keys::{Id, Key};

/// Words in small letters, with dashes, and the keys that they mean. Of several keys that one is
/// meant which is in the table that was named, or else the first.
#[rustfmt::skip]
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["np", "n", "nprocs", "num-procs", "procs", "processes", "num-processes", "nranks",
       "num-ranks", "ntasks", "tasks", "world-size", "comm-size"], &["workload.ranks"]),
    (&["filename", "goal", "goal-file", "schedule", "input"], &["workload.source"]),
    (&["message-size", "msg-size", "msgsize"], &["workload.size", "traffic.length"]),
    (&["mpi-library", "coll-selector"], &["workload.collectives"]),
    (&["ppn", "npernode", "ranks-per-host", "ranks-per-node", "procs-per-node",
       "processes-per-node", "ntasks-per-node", "tasks-per-node", "slots", "slots-per-host"],
     &["placement.per-host"]),
    (&["per-node"], &["workload.per-node", "placement.per-host"]),
    (&["host", "host-list", "hostlist", "hostfile", "machinefile", "nodelist", "node-list",
       "nodes"], &["placement.hosts", "traffic.host"]),
    (&["rankfile", "rank-file"], &["placement.file"]),
    (&["map-by", "mapping", "distribution"], &["placement.kind", "noise.distribution"]),
    (&["latency", "lat", "alpha"], &["loggops.L", "network.cable"]),
    (&["bandwidth", "bw", "beta"], &["loggops.G", "network.link"]),
    (&["gap-per-byte"], &["loggops.G"]),
    (&["overhead", "cpu-overhead"], &["loggops.o"]),
    (&["send-overhead"], &["loggops.o-send", "flow.os"]),
    (&["recv-overhead", "receive-overhead"], &["loggops.o-recv", "flow.or"]),
    (&["gap", "message-gap"], &["loggops.g"]),
    (&["eager-limit", "eager-threshold", "eager-size", "rendezvous-threshold"],
     &["loggops.S", "flow.eager-below"]),
    (&["send-is-detached-thresh"], &["flow.detached-below"]),
    (&["topo", "topology-file", "fabric"], &["network.topology"]),
    (&["link-bandwidth", "link-bw", "link-speed", "link-rate"], &["network.link"]),
    (&["link-latency", "link-lat", "cable-delay", "wire-delay"], &["network.cable"]),
    (&["input-latency"], &["network.latency-in"]),
    (&["output-latency"], &["network.latency-out"]),
    (&["num-vcs", "vcs", "virtual-channels"], &["network.channels"]),
    (&["vc-buf-size", "buf-size", "buffer-size", "buffer-depth", "input-buffer", "input-buf-size"],
     &["network.buffer"]),
    (&["output-buf-size", "output-buffer-size"], &["network.output-buffer"]),
    (&["flit-size", "flit-width"], &["network.flit"]),
    (&["packet-size", "max-packet-size"], &["network.mtu", "network.congestion.packet-size"]),
    (&["internal-speedup", "speedup"], &["network.speed-up"]),
    (&["routing-function", "routing-algorithm"], &["network.routing"]),
    (&["routing-delay"], &["network.route-delay"]),
    (&["vc-alloc-delay"], &["network.vc-allocation-delay"]),
    (&["sw-alloc-delay"], &["network.switch-allocation-delay"]),
    (&["link-failures", "failures", "faults"], &["network.fail"]),
    (&["injection-rate", "offered-load"], &["traffic.load"]),
    (&["message-length"], &["traffic.length"]),
    (&["noise-trace"], &["noise.trace"]),
    (&["num-threads", "nthreads", "workers", "jobs", "cores"], &["run.threads"]),
    (&["seed", "random-seed", "rng-seed"], &["run.seed"]),
    (&["output-dir", "outdir", "dir", "folder"], &["output.directory"]),
    (&["vizfile"], &["output.timeline"]),
];

/// Returns the key that a word of another tool means in a table; in any table if that has none.
pub fn key_of(table: &str, word: &str) -> Option<&'static Key> {
    let word = word.to_lowercase().replace('_', "-");
    let (_, names) = SYNONYMS.iter().find(|(words, _)| words.contains(&word.as_str()))?;
    let key = |name: &&str| Id::named(name).map(Id::key);
    let inside = names.iter().filter_map(key).find(|key| key.table() == table);
    inside.or_else(|| names.first().and_then(key))
}

/// Returns advice on a name that another tool has for one of our keys.
pub(crate) fn suggestion(table: &str, name: &str) -> Option<String> {
    if table.is_empty() && name.contains('/') {
        let help = "items of SimGrid's configuration are given as `flow.cfg`, such as";
        return Some(format!("{help} --set flow.cfg={name}:VALUE"));
    }
    let key = key_of(table, name)?;
    let shown = if key.table() == table { key.short() } else { key.name };
    Some(format!("did you mean `{shown}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::keys;

    #[test]
    fn words_are_unique_and_mean_keys() {
        let mut words: Vec<_> = SYNONYMS.iter().flat_map(|(words, _)| *words).collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
        for name in SYNONYMS.iter().flat_map(|(_, names)| *names) {
            assert!(Id::named(name).is_some(), "{name}");
        }
    }

    #[test]
    fn words_of_other_tools_lead_to_ours() {
        for (table, word, help) in [
            // Open MPI, MPICH, Slurm.
            ("", "np", "did you mean `workload.ranks`?"),
            ("placement", "ranks-per-host", "did you mean `per-host`?"),
            ("placement", "ppn", "did you mean `per-host`?"),
            ("placement", "per-node", "did you mean `per-host`?"),
            ("workload", "ntasks_per_node", "did you mean `placement.per-host`?"),
            ("", "hostfile", "did you mean `placement.hosts`?"),
            // LogP and its kin, SimGrid.
            ("", "latency", "did you mean `loggops.L`?"),
            ("loggops", "Bandwidth", "did you mean `G`?"),
            ("network", "bandwidth", "did you mean `link`?"),
            ("network", "latency", "did you mean `cable`?"),
            (
                "",
                "smpi/os",
                "items of SimGrid's configuration are given as `flow.cfg`, such as --set \
                 flow.cfg=smpi/os:VALUE",
            ),
            // BookSim, SST.
            ("network", "num_vcs", "did you mean `channels`?"),
            ("", "injection_rate", "did you mean `traffic.load`?"),
            ("network", "link_bw", "did you mean `link`?"),
            // A slip of the pen is none of these; what is a key elsewhere is that.
            ("run", "thread", "did you mean `threads`?"),
            ("", "seed", "did you mean `run.seed`?"),
            ("", "mtu", "`mtu` belongs to the table [network]"),
        ] {
            assert_eq!(keys::suggestion(table, word), help, "{table}.{word}");
        }
    }
}
