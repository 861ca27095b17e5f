//! The labels of one rank.
//!
//! Generators number labels through: `l1`, `l2`, … for one operation after the other. Such labels
//! are found by arithmetic; only others go into a hash map.

use rustc_hash::FxHashMap;

/// The operation has a label found by arithmetic.
const NUMBERED: u8 = 1;
/// The operation has a label in the map.
const NAMED: u8 = 2;
/// The label is used in a dependency.
const USED: u8 = 4;

/// Finds operations by label.
#[derive(Default)]
pub struct Labels<'a> {
    named: FxHashMap<&'a [u8], u32>,
    /// Flags of each operation.
    state: Vec<u8>,
    /// Number of the label that operation 0 has or would have; set by the first numbered label.
    base: Option<u64>,
}

impl<'a> Labels<'a> {
    /// Forgets all labels.
    pub fn clear(&mut self) {
        self.state.clear();
        self.base = None;
        if !self.named.is_empty() {
            // A rank with many labels must not make every later clearing slow.
            let used = self.named.len();
            self.named.clear();
            self.named.shrink_to(4 * used);
        }
    }

    /// Notes the next operation. If its label exists already, the operation goes without, and the
    /// one that has the label comes back.
    #[inline]
    pub fn push(&mut self, label: Option<&'a [u8]>) -> Result<(), u32> {
        let op = self.state.len() as u32;
        let Some(label) = label else {
            self.state.push(0);
            return Ok(());
        };
        if let Some(first) = self.find(label) {
            self.state.push(0);
            return Err(first);
        }
        let number = number(label);
        let base = number.and_then(|number| number.checked_sub(u64::from(op)));
        if base.is_some() && *self.base.get_or_insert(base.unwrap_or(0)) == base.unwrap_or(0) {
            self.state.push(NUMBERED);
        } else {
            self.state.push(NAMED);
            self.named.insert(label, op);
        }
        Ok(())
    }

    /// The operation of a label.
    #[inline]
    pub fn find(&self, label: &[u8]) -> Option<u32> {
        let index = self.base.and_then(|base| number(label)?.checked_sub(base));
        if let Some(index) = index.and_then(|index| u32::try_from(index).ok()) {
            let state = self.state.get(index as usize).copied().unwrap_or(0);
            if state & NUMBERED != 0 {
                return Some(index);
            }
        }
        if self.named.is_empty() {
            return None;
        }
        self.named.get(label).copied()
    }

    /// Notes that an operation's label is used.
    #[inline]
    pub fn touch(&mut self, op: u32) {
        if let Some(state) = self.state.get_mut(op as usize) {
            *state |= USED;
        }
    }

    /// Returns all labels, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = (Vec<u8>, u32)> + '_ {
        let base = self.base.unwrap_or(0);
        let numbered = (0_u32..).zip(&self.state).filter(|(_, state)| **state & NUMBERED != 0);
        let numbered =
            numbered.map(move |(op, _)| (format!("l{}", base + u64::from(op)).into(), op));
        numbered.chain(self.named.iter().map(|(label, op)| (label.to_vec(), *op)))
    }

    /// Labels that no dependency uses, with their operations, ascending.
    pub fn unused(&self) -> Vec<(u32, Vec<u8>)> {
        let used = |op: u32| self.state.get(op as usize).is_some_and(|state| state & USED != 0);
        let unused = self.all().filter(|(_, op)| !used(*op));
        let mut unused: Vec<_> = unused.map(|(label, op)| (op, label)).collect();
        unused.sort_unstable();
        unused
    }
}

/// N of a label `lN`, written without leading zeros.
#[inline]
fn number(label: &[u8]) -> Option<u64> {
    let (b'l', digits) = label.split_first()? else {
        return None;
    };
    if digits.len() > 18 || digits.is_empty() || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    digits.iter().try_fold(0, |value, digit| {
        digit.is_ascii_digit().then(|| value * 10 + u64::from(digit - b'0'))
    })
}
