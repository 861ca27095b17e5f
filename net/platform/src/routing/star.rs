//! Points around a middle: every point has links up to it and links down from it.

use smallvec::SmallVec;

type Links = SmallVec<[u32; 4]>;

/// The links from a point to the middle and back; `None` where a point was given other links only.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    pub up: Option<Links>,
    pub down: Option<Links>,
    /// The link from the point to itself.
    pub own: Option<Links>,
}

impl Default for Seat {
    fn default() -> Self {
        Self { up: Some(Links::new()), down: Some(Links::new()), own: None }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Star {
    pub seats: Vec<Seat>,
}

impl Star {
    /// A link that is on the way up and on the way down, such as a backbone, is there once.
    pub fn local(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<(), &'static str> {
        let [a, b] = [from, to].map(|seat| &self.seats[seat as usize]);
        if from == to
            && let Some(own) = &a.own
        {
            links.extend_from_slice(own);
            return Ok(());
        }
        let up = a.up.as_ref().ok_or("no links lead up from the first of them")?;
        let down = b.down.as_ref().ok_or("no links lead down to the second of them")?;
        let first = links.len();
        for &link in up.iter().chain(down) {
            if !links[first..].contains(&link) {
                links.push(link);
            }
        }
        Ok(())
    }
}
