//! A topology of this project and its forwarding tables.

use topology::{Graph, Header, Routes};

use super::Cables;

/// Cables are the graph's links; the first end of a link is its lower one.
#[derive(Debug)]
pub(crate) struct Forwarding {
    pub graph: Graph,
    pub routes: Routes,
    pub cables: Cables,
}

impl Forwarding {
    pub fn local(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<(), &'static str> {
        let header = Header { source: from, destination: to, ..Header::default() };
        let mut hop = self.routes.first_hop(&header);
        let mut device = from;
        // No way of a table without loops passes a device twice.
        for _ in 0..self.graph.devices() {
            if device == to {
                return Ok(());
            }
            let end = self.graph.peer(device, hop.port).ok_or("its tables do not connect them")?;
            let cable = self.graph.link(end.link);
            let up = cable.ends[0].device == device && cable.ends[0].port == hop.port;
            links.push(if up { self.cables.up(end.link) } else { self.cables.down(end.link) });
            device = end.device;
            if !self.graph.is_host(device) {
                hop = self.routes.hop(device, end.port, hop.lane, &header);
            }
        }
        if device == to { Ok(()) } else { Err("its tables lead in a circle or to another host") }
    }
}
