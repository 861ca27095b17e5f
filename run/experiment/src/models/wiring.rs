//! The memory that a topology and its model take at least, counted before anything is wired.
//!
//! A line of text can ask for millions of hosts, and for switches whose memory grows with the
//! square of their ports. All that makes a topology of such a line goes by here. What routes, ranks
//! and packets take comes on top and is not counted.

use ::topology::{Fault, Faults, Graph, Shape, Size, Topology};

/// The memory that a model takes besides the devices, ports and links of its topology.
#[derive(Clone, Copy)]
pub(crate) struct Needs<'a> {
    /// The parts that it is for, in the plural.
    pub what: &'a str,
    /// Returns the least number of bytes for a topology of a size.
    pub bytes: &'a dyn Fn(&Size) -> u64,
}

impl Needs<'_> {
    /// Those of a model that takes nothing worth counting.
    pub const NOTHING: Self = Self { what: "", bytes: &|_| 0 };

    /// Checks that a topology of this size and what the model takes for it fit into the memory of
    /// this machine.
    pub fn fit(&self, size: &Size) -> Result<(), Fault> {
        let own = (self.bytes)(size);
        let needed = Graph::least_memory(size).saturating_add(own);
        crate::memory::has(needed).map_err(|text| {
            let with = if own > 0 { format!(", with {},", self.what) } else { String::new() };
            let (hosts, switches, links) = (size.hosts, size.all_switches(), size.links);
            Fault::new(format!(
                "its {hosts} hosts, {switches} switches and {links} links{with} need {text}"
            ))
        })
    }
}

/// Wires the topology of a text such as `torus:dims=8x8,hosts=2`, if it fits into the memory of
/// this machine.
///
/// # Errors
/// All mistakes in the text, or the memory that the topology would take.
pub fn wire(spec: &str) -> Result<Topology, Faults> {
    wire_for(spec, &Needs::NOTHING)
}

/// Wires the topology of such a text for a model with these needs.
pub(crate) fn wire_for(spec: &str, needs: &Needs<'_>) -> Result<Topology, Faults> {
    let shape = Shape::parse(spec)?;
    shape.size().map_or(Ok(()), |size| needs.fit(&size))?;
    shape.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3464 x 1732 hosts, 3464 + 1732 switches, a link up from each host and as many above, and a
    /// model that takes 2^40 bytes for each switch: 5713064 GB and a little for the wires.
    #[test]
    fn what_no_memory_holds_is_not_wired() {
        let needs = Needs { what: "the maps of its ports", bytes: &|size| size.sum(|_| 1 << 40) };
        let faults = wire_for("fat-tree:levels=2,radix=3464", &needs).expect_err("too large");
        let expected = "its 5999648 hosts, 5196 switches and 11999296 links, with the maps of its \
                        ports, need at least 5713064";
        assert!(faults.to_string().starts_with(expected), "{faults}");
    }

    #[test]
    fn mistakes_go_before_memory() {
        let needs = Needs { what: "tables", bytes: &|_| u64::MAX };
        let faults = wire_for("fat-tree:levels=16,radix=3464", &needs).expect_err("no tree");
        assert_eq!(faults.to_string(), "this tree is too large");
        assert_eq!(wire("star:hosts=3").map(|topology| topology.graph.hosts()), Ok(3));
    }
}
