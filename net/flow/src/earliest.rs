//! The smallest of many moments that change all the time.

/// A tournament tree: a moment per place, and the earliest of them at once.
#[derive(Debug)]
pub struct Earliest {
    /// The root is at 1, the children of `n` at `2n` and `2n + 1`, the leaf of place `p` at
    /// `leaves + p`.
    nodes: Vec<u64>,
    leaves: usize,
}

impl Earliest {
    /// Never, at all places.
    pub fn new(places: usize) -> Self {
        let leaves = places.next_power_of_two();
        Self { nodes: vec![u64::MAX; 2 * leaves], leaves }
    }

    /// The earliest moment.
    pub fn first(&self) -> u64 {
        self.nodes[1]
    }

    /// Sets the moment of a place.
    pub fn set(&mut self, place: u32, moment: u64) {
        let mut node = self.leaves + place as usize;
        if self.nodes[node] == moment {
            return;
        }
        self.nodes[node] = moment;
        while node > 1 {
            node /= 2;
            let earlier = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if self.nodes[node] == earlier {
                return;
            }
            self.nodes[node] = earlier;
        }
    }

    /// Adds the places whose moment is at most `until`, in ascending order.
    pub fn due(&self, until: u64, places: &mut Vec<u32>) {
        self.descend(1, until, places);
    }

    fn descend(&self, node: usize, until: u64, places: &mut Vec<u32>) {
        if self.nodes[node] > until {
            return;
        }
        if node >= self.leaves {
            places.push((node - self.leaves) as u32);
            return;
        }
        self.descend(2 * node, until, places);
        self.descend(2 * node + 1, until, places);
    }
}

#[cfg(test)]
mod tests {
    use super::Earliest;

    #[test]
    fn finds_the_earliest_and_all_that_are_due() {
        let mut earliest = Earliest::new(5);
        assert_eq!(earliest.first(), u64::MAX);
        for (place, moment) in [(0, 30), (4, 10), (2, 20), (3, 20)] {
            earliest.set(place, moment);
        }
        assert_eq!(earliest.first(), 10);
        let mut due = Vec::new();
        earliest.due(20, &mut due);
        assert_eq!(due, [2, 3, 4]);
        earliest.set(4, 40);
        assert_eq!(earliest.first(), 20);
    }
}
