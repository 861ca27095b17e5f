//! Variables of the environment by which launchers of other MPIs tell a process its rank. Scripts
//! and programs look at them before `MPI_Init`: to choose a device, to name a file, to find out
//! whether there are several of them.

use rustc_hash::FxHashMap;

/// The number of a rank among those that were started with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    rank: u32,
    size: u32,
    /// Its number among those on its host.
    local_rank: u32,
    local_size: u32,
}

impl Identity {
    /// Returns the identities of ranks that are started together. `hosts` are the hosts of all
    /// ranks of the run; it is empty if each rank is alone on a host.
    pub fn of(ranks: &[u32], hosts: &[u32]) -> Vec<Self> {
        let size = ranks.len() as u32;
        let host = |rank: &u32| hosts.get(*rank as usize).copied();
        let mut sizes = FxHashMap::default();
        let mut arrived = |host| {
            let size = sizes.entry(host).or_insert(0);
            *size += 1;
            *size - 1
        };
        let local_ranks: Vec<u32> =
            ranks.iter().map(|rank| host(rank).map_or(0, &mut arrived)).collect();
        let local_size =
            |rank| host(rank).and_then(|host| sizes.get(&host)).map_or(1, |size| *size);
        let numbered = (0..).zip(ranks).zip(local_ranks);
        let identity = |((rank, known), local_rank)| Self {
            rank,
            size,
            local_rank,
            local_size: local_size(known),
        };
        numbered.map(identity).collect()
    }

    /// Returns the variables of Open MPI's `mpirun` and of MPICH's Hydra.
    pub const fn variables(&self) -> [(&'static str, u32); 9] {
        let Self { rank, size, local_rank, local_size } = *self;
        [
            ("OMPI_COMM_WORLD_RANK", rank),
            ("OMPI_COMM_WORLD_SIZE", size),
            ("OMPI_COMM_WORLD_LOCAL_RANK", local_rank),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", local_size),
            ("OMPI_COMM_WORLD_NODE_RANK", local_rank),
            ("PMI_RANK", rank),
            ("PMI_SIZE", size),
            ("MPI_LOCALRANKID", local_rank),
            ("MPI_LOCALNRANKS", local_size),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identities(ranks: &[u32], hosts: &[u32]) -> Vec<[u32; 4]> {
        let all = Identity::of(ranks, hosts).into_iter();
        all.map(|one| [one.rank, one.size, one.local_rank, one.local_size]).collect()
    }

    #[test]
    fn local_ranks_count_those_on_the_same_host() {
        let three = identities(&[0, 1, 2], &[7, 4, 7]);
        assert_eq!(three, [[0, 3, 0, 2], [1, 3, 0, 1], [2, 3, 1, 2]]);
        assert_eq!(identities(&[0, 1], &[]), [[0, 2, 0, 1], [1, 2, 0, 1]]);
        // Two that were started later are a world of their own.
        assert_eq!(identities(&[3, 4], &[7, 4, 7, 4, 4]), [[0, 2, 0, 2], [1, 2, 1, 2]]);
    }
}
