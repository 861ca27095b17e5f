//! The elements that SimGrid's files may contain, their attributes, and where they stand. Source:
//! `simgrid.dtd` of SimGrid 3.32 (version 4.1). Their order is free here.

use topology::{Fault, Faults};

use super::Node;

struct Kind {
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    children: &'static [&'static str],
}

const ZONE: &[&str] = &[
    "prop",
    "AS",
    "zone",
    "cluster",
    "cabinet",
    "peer",
    "host",
    "router",
    "link",
    "backbone",
    "host_link",
    "route",
    "zoneRoute",
    "ASroute",
    "bypassRoute",
    "bypassZoneRoute",
    "bypassASroute",
    "include",
    "trace",
    "trace_connect",
    "storage",
    "storage_type",
];
const ENDS: &[&str] = &["src", "dst"];
const GATEWAYS: &[&str] = &["src", "dst", "gw_src", "gw_dst"];
const LINKS: &[&str] = &["link_ctn"];
const ACTOR: &[&str] = &["start_time", "kill_time", "on_failure"];

const KINDS: &[Kind] = &[
    Kind {
        name: "platform",
        required: &["version"],
        optional: &[],
        children: &[
            "config",
            "random",
            "include",
            "cluster",
            "cabinet",
            "peer",
            "AS",
            "zone",
            "trace",
            "trace_connect",
            "process",
            "actor",
        ],
    },
    Kind { name: "config", required: &[], optional: &["id"], children: &["prop"] },
    Kind { name: "prop", required: &["id", "value"], optional: &[], children: &[] },
    Kind { name: "zone", required: &["id", "routing"], optional: &[], children: ZONE },
    Kind { name: "AS", required: &["id", "routing"], optional: &[], children: ZONE },
    Kind {
        name: "host",
        required: &["id", "speed"],
        optional: &[
            "core",
            "speed_file",
            "availability_file",
            "state_file",
            "coordinates",
            "pstate",
        ],
        children: &["disk", "prop", "mount"],
    },
    Kind {
        name: "disk",
        required: &["read_bw", "write_bw"],
        optional: &["id"],
        children: &["prop"],
    },
    Kind {
        name: "cluster",
        required: &["id", "prefix", "suffix", "radical", "speed", "bw", "lat"],
        optional: &[
            "core",
            "sharing_policy",
            "topology",
            "topo_parameters",
            "bb_bw",
            "bb_lat",
            "bb_sharing_policy",
            "router_id",
            "limiter_link",
            "loopback_bw",
            "loopback_lat",
        ],
        children: &["prop"],
    },
    Kind {
        name: "cabinet",
        required: &["id", "prefix", "suffix", "radical", "speed", "bw", "lat"],
        optional: &[],
        children: &[],
    },
    Kind {
        name: "peer",
        required: &["id", "speed", "bw_in", "bw_out"],
        optional: &["lat", "coordinates", "speed_file", "availability_file", "state_file"],
        children: &[],
    },
    Kind { name: "router", required: &["id"], optional: &["coordinates"], children: &[] },
    Kind {
        name: "backbone",
        required: &["id", "bandwidth", "latency"],
        optional: &[],
        children: &[],
    },
    Kind { name: "host_link", required: &["id", "up", "down"], optional: &[], children: &[] },
    Kind {
        name: "link",
        required: &["id", "bandwidth"],
        optional: &["latency", "sharing_policy", "bandwidth_file", "latency_file", "state_file"],
        children: &["prop"],
    },
    Kind { name: "route", required: ENDS, optional: &["symmetrical"], children: LINKS },
    Kind { name: "bypassRoute", required: ENDS, optional: &[], children: LINKS },
    Kind { name: "zoneRoute", required: GATEWAYS, optional: &["symmetrical"], children: LINKS },
    Kind { name: "ASroute", required: GATEWAYS, optional: &["symmetrical"], children: LINKS },
    Kind { name: "bypassZoneRoute", required: GATEWAYS, optional: &[], children: LINKS },
    Kind { name: "bypassASroute", required: GATEWAYS, optional: &[], children: LINKS },
    Kind { name: "link_ctn", required: &["id"], optional: &["direction"], children: &[] },
    Kind { name: "include", required: &["file"], optional: &[], children: &[] },
    Kind { name: "trace", required: &["id", "periodicity"], optional: &["file"], children: &[] },
    Kind {
        name: "trace_connect",
        required: &["trace", "element"],
        optional: &["kind"],
        children: &[],
    },
    Kind {
        name: "random",
        required: &["id", "min", "max", "mean", "std_deviation"],
        optional: &["seed", "radical", "generator"],
        children: &[],
    },
    Kind {
        name: "storage_type",
        required: &["id", "size"],
        optional: &["model", "content"],
        children: &["model_prop", "prop"],
    },
    Kind {
        name: "storage",
        required: &["id", "typeId", "attach"],
        optional: &["content"],
        children: &["prop"],
    },
    Kind { name: "mount", required: &["storageId", "name"], optional: &[], children: &[] },
    Kind { name: "model_prop", required: &["id", "value"], optional: &[], children: &[] },
    Kind {
        name: "actor",
        required: &["host", "function"],
        optional: ACTOR,
        children: &["argument", "prop"],
    },
    Kind {
        name: "process",
        required: &["host", "function"],
        optional: ACTOR,
        children: &["argument", "prop"],
    },
    Kind { name: "argument", required: &["value"], optional: &[], children: &[] },
];

fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Adds what is wrong with the elements within one that may contain `allowed`.
pub(super) fn check(nodes: &[Node], parent: &str, faults: &mut Faults) {
    let allowed = match parent {
        "" => &["platform"],
        parent => kind(parent).map_or(&[][..], |kind| kind.children),
    };
    for node in nodes {
        let (name, (line, column)) = (node.element.name.as_str(), node.element.place);
        let Some(kind) = kind(name) else {
            let message = format!("unknown element <{name}>");
            faults.push(Fault::at(line, column, message).near(name, allowed));
            continue;
        };
        if !allowed.contains(&name) {
            let message = match parent {
                "" => format!("expected <platform>, found <{name}>"),
                parent => format!("<{name}> does not belong into <{parent}>"),
            };
            faults.push(Fault::at(line, column, message));
        }
        attributes(node, kind, faults);
        check(&node.children, name, faults);
    }
}

fn attributes(node: &Node, kind: &Kind, faults: &mut Faults) {
    let (name, (line, column)) = (kind.name, node.element.place);
    for key in kind.required {
        if node.element.get(key).is_none() {
            let message = format!("<{name}> needs the attribute `{key}`");
            faults.push(Fault::at(line, column, message));
        }
    }
    for attribute in &node.element.attributes {
        let key = attribute.name.as_str();
        if !kind.required.contains(&key) && !kind.optional.contains(&key) {
            let known: Vec<&str> = kind.required.iter().chain(kind.optional).copied().collect();
            let message = format!("<{name}> has no attribute `{key}`");
            let (line, column) = attribute.place;
            faults.push(Fault::at(line, column, message).near(key, &known));
        }
    }
}
