//! Typed numbers of the things that a simulation counts.
//!
//! All numbers are dense and start at 0, so that vectors can be indexed by them. Each kind is a
//! type of its own: a rank is not a host, and the compiler notices where one is taken for the
//! other.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($number:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $number);

        impl $name {
            /// The number as an index into a vector with an element for each.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

id! {
    /// A rank of a parallel program.
    RankId(u32)
}
id! {
    /// A host: an end of the network at which messages enter and leave it.
    HostId(u32)
}
id! {
    /// A host or a switch. Hosts have the numbers of their [`HostId`]; switches follow.
    DeviceId(u32)
}
id! {
    /// A link of a topology: a cable with its two directions.
    LinkId(u32)
}
id! {
    /// An operation of a rank, numbered within its rank.
    OpId(u32)
}
id! {
    /// A message, numbered by whoever sends it within its host.
    MessageId(u64)
}

impl From<HostId> for DeviceId {
    #[inline]
    fn from(host: HostId) -> Self {
        Self(host.0)
    }
}

impl DeviceId {
    /// The host that this device is, in a network of `hosts` hosts; `None` if it is a switch.
    #[inline]
    pub const fn host(self, hosts: u32) -> Option<HostId> {
        if self.0 < hosts { Some(HostId(self.0)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of five devices the first three are hosts.
    #[test]
    fn hosts_come_first() {
        let hosts: Vec<_> = (0..5).filter_map(|device| DeviceId(device).host(3)).collect();
        assert_eq!(hosts, [HostId(0), HostId(1), HostId(2)]);
        assert_eq!(DeviceId::from(HostId(2)), DeviceId(2));
        assert_eq!(size_of::<Option<HostId>>() + size_of::<MessageId>(), 16);
    }
}
