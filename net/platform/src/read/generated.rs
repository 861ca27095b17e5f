//! Fat trees, tori and dragonflies: their parameters, and links with SimGrid's names.

use topology::Fault;

use super::{LIMIT, Reader, cluster::Cluster};
use crate::{
    Link,
    routing::{Cables, Dragonfly, FatTree, Leaves, Routing, Torus},
};

impl Reader<'_> {
    /// Hosts, links and routing of a cluster with a topology.
    pub(super) fn generated(
        &mut self,
        kind: &str,
        cluster: &Cluster,
        zone: u32,
    ) -> Option<Routing> {
        match kind {
            "TORUS" => self.torus(cluster, zone).map(Routing::Torus),
            "DRAGONFLY" => self.dragonfly(cluster, zone).map(Routing::Dragonfly),
            _ => self.fat_tree(cluster, zone).map(Routing::FatTree),
        }
    }

    fn torus(&mut self, cluster: &Cluster, zone: u32) -> Option<Torus> {
        let lists = self.parameters(cluster, "sizes such as `4,4,2`", |lists| lists.len() == 1)?;
        let sizes = lists.into_iter().next()?;
        let cables = product(&sizes)? * sizes.len() as u64;
        let (hosts, leaves) = self.leaves(cluster, zone, product(&sizes)?, 0, cables)?;
        let cables = Cables { first: self.links.len() as u32, split: cluster.split };
        for host in 0..hosts {
            let mut stride = 1;
            for &size in &sizes {
                let last = host / stride % size == size - 1;
                let next = if last { host - (size - 1) * stride } else { host + stride };
                self.cable(cluster, &format!("{}_link_from_{host}_to_{next}", cluster.id), 1);
                stride *= size;
            }
        }
        Some(Torus { sizes, cables, leaves })
    }

    fn fat_tree(&mut self, cluster: &Cluster, zone: u32) -> Option<FatTree> {
        let expected =
            "levels, children, parents and parallel cables of each level, such as `2;4,4;1,2;1,1`";
        let lists = self.parameters(cluster, expected, |lists| {
            let levels = lists.first().and_then(|list| list.first()).copied().unwrap_or(0) as usize;
            lists.len() == 4
                && lists[0].len() == 1
                && lists[1..].iter().all(|list| list.len() == levels)
        })?;
        let [_, children, parents, parallel] = <[Vec<u32>; 4]>::try_from(lists).ok()?;
        let Some(Sizes { nodes, cables, switches }) = sizes(&children, &parents, &parallel) else {
            self.too_large(cluster);
            return None;
        };
        let offset = self.count.tree_hosts;
        let (hosts, leaves) = self.leaves(cluster, zone, nodes[0], switches, cables)?;
        self.count.tree_hosts = offset.wrapping_add(hosts);
        let links = Cables { first: self.links.len() as u32, split: cluster.split };
        let (mut first_cable, mut first_switch) = (vec![0], vec![0]);
        for level in 0..children.len() {
            let ports = parents[level] * parallel[level];
            first_cable.push(first_cable[level] + nodes[level] as u32 * ports);
            first_switch.push(first_switch[level] + nodes[level + 1] as u32);
        }
        let tree = FatTree {
            children,
            parents,
            parallel,
            first_cable,
            first_switch,
            hosts,
            cables: links,
            leaves,
            offset,
        };
        for (level, count) in nodes.iter().enumerate().take(tree.children.len()) {
            self.tree_level(cluster, &tree, level, *count as u32);
        }
        Some(tree)
    }

    /// The cables from the nodes of a level upwards.
    fn tree_level(&mut self, cluster: &Cluster, tree: &FatTree, level: usize, nodes: u32) {
        // The number that SimGrid gives to a switch.
        let switch = |number: u32| 2 * i64::from(tree.hosts) - 1 - i64::from(number);
        // The digit that tells parents apart counts as many nodes of the upper level.
        let stride = tree.parents[..level].iter().product::<u32>();
        for node in 0..nodes {
            let (low, high) = (node % stride, node / stride / tree.children[level]);
            let lower = match level.checked_sub(1) {
                None => i64::from(node),
                Some(below) => switch(tree.first_switch[below] + node),
            };
            for parent in 0..tree.parents[level] {
                let above = low + stride * (parent + tree.parents[level] * high);
                let upper = switch(tree.first_switch[level] + above);
                for _ in 0..tree.parallel[level] {
                    let number = self.count.tree_cables;
                    self.count.tree_cables = number.wrapping_add(1);
                    self.cable(cluster, &format!("link_from_{lower}_{upper}_{number}"), 1);
                }
            }
        }
    }

    fn dragonfly(&mut self, cluster: &Cluster, zone: u32) -> Option<Dragonfly> {
        let expected = "groups and cables between them, chassis and cables, blades and cables, \
                        hosts of a blade, such as `3,4;4,3;5,1;2`";
        let lists = self
            .parameters(cluster, expected, |lists| lists.iter().map(Vec::len).eq([2, 2, 2, 1]))?;
        let flat: Vec<u32> = lists.into_iter().flatten().collect();
        let [groups, blue, chassis, black, blades, green, nodes] =
            <[u32; 7]>::try_from(flat).ok()?;
        if groups > 1 && groups > blades {
            let message = format!(
                "topo_parameters: {groups} groups need as many blades in a chassis, not {blades}"
            );
            let help = "the cable to group g is at blade g of the first chassis".to_owned();
            let (line, column) = cluster.parameters();
            self.faults.push(Fault::at(line, column, message).help(Some(help)));
            return None;
        }
        let pairs = |count: u32| u64::from(count) * u64::from(count - 1) / 2;
        let sizes = (|| {
            let routers = product(&[groups, chassis, blades])?;
            let hosts = routers.checked_mul(nodes.into())?;
            let green = pairs(blades).checked_mul(product(&[groups, chassis])?)?;
            let black = pairs(chassis).checked_mul(product(&[groups, blades])?)?;
            let cables =
                hosts.checked_add(green)?.checked_add(black)?.checked_add(pairs(groups))?;
            Some((hosts, routers, cables))
        })();
        let Some((hosts, routers, cables)) = sizes else {
            self.too_large(cluster);
            return None;
        };
        let (_, leaves) = self.leaves(cluster, zone, hosts, routers, cables)?;
        // The sets of links follow each other; where each begins is filled in as they are made.
        let none = Cables { first: 0, split: cluster.split };
        let mut dragonfly = Dragonfly {
            groups,
            chassis,
            blades,
            nodes,
            local: none,
            green: none,
            black: none,
            blue: none,
            leaves,
        };
        self.dragonfly_links(cluster, &mut dragonfly, [green, black, blue]);
        Some(dragonfly)
    }

    fn dragonfly_links(
        &mut self,
        cluster: &Cluster,
        dragonfly: &mut Dragonfly,
        [green, black, blue]: [u32; 3],
    ) {
        let Dragonfly { groups, chassis, blades, nodes, .. } = *dragonfly;
        dragonfly.local.first = self.links.len() as u32;
        for host in 0..groups * chassis * blades * nodes {
            self.numbered(
                cluster,
                &format!("local_link_from_router_{}_to_node_{}", host / nodes, host % nodes),
                1,
            );
        }
        dragonfly.green.first = self.links.len() as u32;
        for set in 0..groups * chassis {
            for (a, b) in each_pair(blades) {
                let name =
                    format!("green_link_in_chassis_{}_between_routers_{a}_and_{b}", set % chassis);
                self.numbered(cluster, &name, green);
            }
        }
        dragonfly.black.first = self.links.len() as u32;
        for group in 0..groups {
            for (a, b) in each_pair(chassis) {
                for blade in 0..blades {
                    let name = format!(
                        "black_link_in_group_{group}_between_chassis_{a}_and_{b}_blade_{blade}"
                    );
                    self.numbered(cluster, &name, black);
                }
            }
        }
        dragonfly.blue.first = self.links.len() as u32;
        for (a, b) in each_pair(groups) {
            let [from, to] =
                [(a, b), (b, a)].map(|(group, blade)| group * blades * chassis + blade);
            self.numbered(
                cluster,
                &format!("blue_link_between_group_{a}_and_{b}_routers_{from}_and_{to}"),
                blue,
            );
        }
    }

    /// Hosts with their loopbacks and limiters, and the limiters of the switches; the number of
    /// hosts.
    fn leaves(
        &mut self,
        cluster: &Cluster,
        zone: u32,
        hosts: u64,
        switches: u64,
        cables: u64,
    ) -> Option<(u32, Leaves)> {
        let (line, column) = cluster.parameters();
        let given = cluster.numbers.len() as u64;
        if hosts > given {
            let message =
                format!("topo_parameters: the topology has {hosts} hosts, `radical` {given}");
            self.faults.push(Fault::at(line, column, message));
            return None;
        }
        if self.links.len() as u64 + 2 * (hosts + switches + cables) > LIMIT {
            self.too_large(cluster);
            return None;
        }
        if hosts < given {
            let message = format!(
                "{} hosts of `radical` are left out: the topology has {hosts}",
                given - hosts
            );
            self.remarks.push(Fault::at(line, column, message));
        }
        let numbers = cluster.numbers.get(..hosts as usize)?;
        for &number in numbers {
            self.leaf(cluster, zone, number)?;
        }
        let mut leaves = Leaves::default();
        for &number in numbers {
            let link = self.loopback(cluster, number);
            leaves.loopback = leaves.loopback.or(link);
        }
        // Switches are numbered from twice the hosts downwards.
        let names =
            (0..hosts).chain((0..switches).map(|number| (2 * hosts).wrapping_sub(number + 1)));
        let before = self.faults.0.len();
        for number in names {
            let link = self.limiter(cluster, number);
            leaves.limiter = leaves.limiter.or(link);
            if self.faults.0.len() > before {
                // SimGrid's names of the switches reach those of the hosts, and it refuses that as
                // well.
                let message = "limiters: SimGrid has no names for them in a tree with more \
                               switches than hosts";
                self.faults.0.truncate(before);
                self.faults.push(Fault::at(line, column, message));
                return None;
            }
        }
        Some((hosts as u32, leaves))
    }

    fn numbered(&mut self, cluster: &Cluster, name: &str, parallel: u32) {
        let number = self.count.dragonfly_cables;
        self.count.dragonfly_cables = number.wrapping_add(1);
        self.cable(cluster, &format!("{name}_{number}"), parallel);
    }

    /// One link, or `_UP` and `_DOWN`.
    fn cable(&mut self, cluster: &Cluster, name: &str, parallel: u32) {
        let bandwidth = cluster.bandwidth * f64::from(parallel);
        if cluster.split {
            for way in ["UP", "DOWN"] {
                self.link(
                    Link::new(format!("{name}_{way}"), bandwidth, cluster.latency),
                    cluster.place,
                );
            }
        } else {
            self.link(Link::new(name.to_owned(), bandwidth, cluster.latency), cluster.place);
        }
    }

    /// The lists of numbers above 0 in `topo_parameters`.
    fn parameters(
        &mut self,
        cluster: &Cluster,
        expected: &str,
        right: impl Fn(&[Vec<u32>]) -> bool,
    ) -> Option<Vec<Vec<u32>>> {
        let text = cluster.element.get("topo_parameters").unwrap_or_default();
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&number| number > 0);
        let lists: Option<Vec<Vec<u32>>> =
            text.split(';').map(|list| list.split(',').map(number).collect()).collect();
        let lists = lists.filter(|lists| right(lists));
        if lists.is_none() {
            let (line, column) = cluster.parameters();
            self.faults.push(Fault::at(
                line,
                column,
                format!("topo_parameters: expected {expected}, found `{text}`"),
            ));
        }
        lists
    }

    fn too_large(&mut self, cluster: &Cluster) {
        let (line, column) = cluster.parameters();
        self.faults.push(Fault::at(
            line,
            column,
            format!("topo_parameters: more than {LIMIT} hosts and links"),
        ));
    }
}

/// The size of a fat tree.
struct Sizes {
    /// Nodes of each level, hosts first.
    nodes: Vec<u64>,
    cables: u64,
    switches: u64,
}

/// Nothing if a number is too large.
fn sizes(children: &[u32], parents: &[u32], parallel: &[u32]) -> Option<Sizes> {
    // Parents below a level, children from it on.
    let nodes =
        |level: usize| product(&parents[..level])?.checked_mul(product(&children[level..])?);
    let nodes = (0..=children.len()).map(nodes).collect::<Option<Vec<u64>>>()?;
    let (mut cables, mut switches) = (0_u64, 0_u64);
    for level in 0..children.len() {
        let ports = u64::from(parents[level]) * u64::from(parallel[level]);
        cables = cables.checked_add(nodes[level].checked_mul(ports)?)?;
        switches = switches.checked_add(nodes[level + 1])?;
    }
    Some(Sizes { nodes, cables, switches })
}

fn each_pair(count: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}

fn product(sizes: &[u32]) -> Option<u64> {
    sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size.into()))
}
