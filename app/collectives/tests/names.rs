//! The names: all that SMPI's users know, aliases, fallbacks, selections, and the book's tables.

use std::fmt::Write as _;

use collectives::{
    ALIASES, Action, Blocks, Buffer, Call, Collective, Error, NO_CHOICES, Nodes, Region, Way,
    candidates, find, plan, resolve,
};

/// SMPI's names, by collective.
const SMPI: [(&str, &str); 11] = [
    (
        "gather",
        "default ompi ompi_basic_linear ompi_binomial ompi_linear_sync mpich mvapich2 \
         mvapich2_two_level impi automatic",
    ),
    (
        "allgather",
        "default 2dmesh 3dmesh bruck GB loosely_lr NTSLR NTSLR_NB pair rdb rhv ring SMP_NTS \
         smp_simple spreading_simple ompi ompi_neighborexchange mvapich2 mvapich2_smp mpich impi \
         automatic",
    ),
    (
        "allgatherv",
        "default GB pair ring ompi ompi_neighborexchange ompi_bruck mpich mpich_rdb mpich_ring \
         mvapich2 impi automatic",
    ),
    (
        "allreduce",
        "default lr rab1 rab2 rab_rdb rdb smp_binomial smp_binomial_pipeline smp_rdb smp_rsag \
         smp_rsag_lr smp_rsag_rab redbcast ompi ompi_ring_segmented mpich mvapich2 mvapich2_rs \
         mvapich2_two_level impi rab automatic",
    ),
    (
        "reduce_scatter",
        "default ompi ompi_basic_recursivehalving ompi_ring ompi_butterfly mpich mpich_pair \
         mpich_rdb mpich_noncomm mvapich2 impi automatic",
    ),
    (
        "scatter",
        "default ompi ompi_basic_linear ompi_linear_nb ompi_binomial mpich mvapich2 \
         mvapich2_two_level_binomial mvapich2_two_level_direct impi automatic",
    ),
    (
        "barrier",
        "default ompi ompi_basic_linear ompi_two_procs ompi_tree ompi_bruck ompi_recursivedoubling \
         ompi_doublering mpich_smp mpich mvapich2_pair mvapich2 impi automatic",
    ),
    (
        "alltoall",
        "default 2dmesh 3dmesh basic_linear bruck pair pair_rma pair_light_barrier \
         pair_mpi_barrier pair_one_barrier rdb ring ring_light_barrier ring_mpi_barrier \
         ring_one_barrier mvapich2 mvapich2_scatter_dest ompi mpich impi automatic",
    ),
    (
        "alltoallv",
        "default bruck pair pair_light_barrier pair_mpi_barrier pair_one_barrier ring \
         ring_light_barrier ring_mpi_barrier ring_one_barrier ompi mpich ompi_basic_linear \
         mvapich2 impi automatic",
    ),
    (
        "bcast",
        "default arrival_pattern_aware arrival_pattern_aware_wait arrival_scatter binomial_tree \
         flattree flattree_pipeline NTSB NTSL NTSL_Isend scatter_LR_allgather \
         scatter_rdb_allgather SMP_binary SMP_binomial SMP_linear ompi ompi_split_bintree \
         ompi_pipeline mpich mvapich2 mvapich2_inter_node mvapich2_intra_node \
         mvapich2_knomial_intra_node impi automatic",
    ),
    (
        "reduce",
        "default arrival_pattern_aware binomial flat_tree NTSL scatter_gather ompi ompi_chain \
         ompi_pipeline ompi_basic_linear ompi_in_order_binary ompi_binary ompi_binomial mpich \
         mvapich2 mvapich2_knomial mvapich2_two_level impi rab automatic",
    ),
];

fn with_call<T>(
    ranks: u32,
    bytes: u64,
    commutative: bool,
    nodes: &Nodes,
    use_it: impl Fn(&Call) -> T,
) -> T {
    let blocks = Blocks::Same(bytes);
    use_it(&Call {
        ranks,
        rank: 0,
        root: 0,
        element: 1,
        commutative,
        segment: None,
        blocks: &blocks,
        received: &blocks,
        nodes,
        inside: &NO_CHOICES,
    })
}

/// 185 names in eleven collectives; the numbers are those of the project's list.
#[test]
fn every_name_of_smpi_is_known() {
    let counts: Vec<usize> = SMPI.iter().map(|(_, names)| names.split(' ').count()).collect();
    assert_eq!(counts, [10, 22, 13, 22, 12, 11, 14, 21, 16, 25, 20].map(|listed| listed));
    for (collective, names) in SMPI {
        let collective = collectives::named(collective).unwrap();
        for name in names.split(' ') {
            assert_eq!(find(collective, name).unwrap().name, name);
        }
    }
}

/// Every way through tables and fallbacks ends.
#[test]
fn every_name_leads_to_an_algorithm() {
    let dealt = |ranks: u32| Nodes::Of((0..ranks).map(|rank| rank % 3).collect());
    for collective in collectives::WITH_ALGORITHMS {
        for entry in collectives::algorithms(collective) {
            for ranks in [1, 2, 3, 5, 7, 8, 12, 16, 60, 64, 100, 128, 512, 1000, 4096] {
                for nodes in [Nodes::Consecutive(1), Nodes::Consecutive(16), dealt(ranks)] {
                    for bytes in (0..24).map(|exponent| 1 << exponent) {
                        for commutative in [true, false] {
                            let found = with_call(ranks, bytes, commutative, &nodes, |call| {
                                resolve(collective, entry.name, call)
                            });
                            match entry.way {
                                Way::Automatic => assert_eq!(found.err(), Some(Error::Automatic)),
                                _ => assert!(matches!(found.unwrap().way, Way::Run(_))),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// 2^34 segments of a byte are more than a plan can hold, and more than 2^32, so that a count of
/// them would wrap: an algorithm that cuts says so, and any other has a few steps.
#[test]
fn too_many_segments() {
    let mut cut = Vec::new();
    for collective in collectives::WITH_ALGORITHMS {
        for entry in collectives::algorithms(collective) {
            if !matches!(entry.way, Way::Run(_)) {
                continue;
            }
            for rank in [0, 1, 4] {
                let found = with_call(5, 1 << 34, true, &Nodes::Consecutive(1), |call| {
                    let call = Call { rank, segment: Some(1), ..*call };
                    plan(collective, entry.name, &call).map(|plan| plan.len())
                });
                match found {
                    Err(error) => {
                        assert_eq!(error, Error::TooManySegments, "{}", entry.name);
                        cut.push(entry.name);
                    }
                    Ok(steps) => {
                        assert!(
                            (1..100).contains(&steps),
                            "{}: {steps} on rank {rank}",
                            entry.name
                        );
                    }
                }
            }
        }
    }
    for name in ["ompi_pipeline", "redbcast", "binomial_tree", "NTSL", "ompi_ring_segmented"] {
        assert!(cut.contains(&name), "{name} is not cut: {cut:?}");
    }
}

#[test]
fn aliases_name_what_exists() {
    for (collective, alias, name) in ALIASES {
        match collective {
            Some(collective) => {
                assert_eq!(find(*collective, alias).unwrap().name, *name, "{alias}");
            }
            None => assert_eq!(find(Collective::Bcast, alias).unwrap().name, *name, "{alias}"),
        }
    }
    assert_eq!(find(Collective::Allreduce, "ring").unwrap().name, "lr");
    assert_eq!(find(Collective::Allreduce, "OpenMPI").unwrap().name, "ompi");
    assert_eq!(find(Collective::Allreduce, "recursive-doubling").unwrap().name, "rdb");
    assert_eq!(collectives::named("Iallreduce").unwrap(), Collective::Allreduce);
    assert_eq!(collectives::named("alltoallw").unwrap(), Collective::Alltoallv);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let error = find(Collective::Bcast, "binomail_tree").unwrap_err().to_string();
    assert!(
        error.starts_with(
            "unknown algorithm \"binomail_tree\" of bcast, did you mean \"binomial_tree\"?"
        ),
        "{error}"
    );
    let error = collectives::named("brodcast").unwrap_err();
    assert!(matches!(error, Error::UnknownCollective { .. }));
}

/// Single decisions: Open MPI's read by hand in its source; the others guard the tables as they
/// are.
#[test]
fn selections_are_those_of_the_libraries() {
    let cases = [
        // Open MPI 4.1.4, coll_tuned_decision_fixed.c: from 64 to 127 ranks recursive doubling
        // below 256 KiB, then Rabenseifner; barriers of 64 to 255 ranks are `bruck`.
        (Collective::Allreduce, "openmpi", 64, 262_143, "rdb"),
        (Collective::Allreduce, "openmpi", 64, 262_144, "rabenseifner"),
        (Collective::Barrier, "openmpi", 64, 0, "ompi_bruck"),
        // MPICH 4.0: short broadcasts are below 12288 B, medium ones below 512 KiB.
        (Collective::Bcast, "mpich", 64, 12287, "binomial_tree"),
        (Collective::Bcast, "mpich", 64, 12288, "scatter_rdb_allgather"),
        (Collective::Bcast, "mpich", 63, 12288, "scatter_LR_allgather"),
        (Collective::Alltoall, "mpich", 64, 256, "bruck"),
        (Collective::Alltoall, "mpich", 63, 32769, "ring"),
        // SMPI: its own algorithms at Open MPI's borders; elements instead of bytes, here of one
        // byte each.
        (Collective::Allreduce, "smpi_ompi", 64, 262_144, "rab_rdb"),
        (Collective::Bcast, "smpi_ompi", 8, 65_536, "NTSL"),
        (Collective::ReduceScatter, "smpi_mpich", 64, 8192, "mpich_rdb"),
        (Collective::ReduceScatter, "smpi_mpich", 64, 8193, "mpich_pair"),
        // MVAPICH2: recursive doubling up to 1 KiB, two levels, among 16 ranks, then Rabenseifner.
        (Collective::Allreduce, "mvapich2", 16, 1025, "mvapich2_rs"),
        // Intel MPI, one rank per node, up to 2 ranks: algorithm 1 from 7 to 84 bytes.
        (Collective::Allreduce, "impi", 2, 84, "rdb"),
    ];
    for (collective, library, ranks, bytes, algorithm) in cases {
        let found = with_call(ranks, bytes, true, &Nodes::Consecutive(1), |call| {
            resolve(collective, library, call).unwrap().name
        });
        assert_eq!(found, algorithm, "{} {library} {ranks} {bytes}", collective.name());
    }
}

/// Algorithms that cannot be used are not among the candidates: 63 is no power of two.
#[test]
fn candidates_meet_their_demands() {
    let names = |ranks| {
        with_call(ranks, 1 << 20, true, &Nodes::Consecutive(1), |call| {
            candidates(Collective::Allreduce, call)
                .iter()
                .map(|entry| entry.name)
                .collect::<Vec<_>>()
        })
    };
    assert!(names(64).contains(&"rab1") && !names(63).contains(&"rab1"));
    assert!(names(63).contains(&"rab") && !names(63).contains(&"automatic"));
}

/// A vector without elements costs no message; a barrier does.
#[test]
fn nothing_to_do_is_nothing_done() {
    let steps = |collective| {
        with_call(8, 0, true, &Nodes::Consecutive(1), |call| {
            plan(collective, "default", call).unwrap().len()
        })
    };
    assert_eq!(steps(Collective::Allreduce), 0);
    // Rank 0 hears from seven others and answers them.
    assert_eq!(steps(Collective::Barrier), 14);
}

/// A line of two ranks, periodic: what goes left arrives from the right. Nothing waits for
/// anything, and the two messages of a pair have tags 0 and 1.
#[test]
fn neighbours_exchange_all_at_once() {
    let region = |buffer, start| Region { buffer, start, len: 1 };
    let [left, right] = [0, 1];
    let sources = [(1, region(Buffer::Recv, left)), (1, region(Buffer::Recv, right))];
    let destinations = [(1, region(Buffer::Send, right)), (1, region(Buffer::Send, left))];
    let plan = collectives::neighbor::exchange(&sources, &destinations);
    assert!(plan.steps().all(|(_, required)| required.is_empty()));
    // The other rank receives message 0 from its left, which is this one's right.
    let first = Action::Send { to: 1, tag: 0, from: region(Buffer::Send, right) };
    assert_eq!(plan.steps().nth(2).map(|(action, _)| action), Some(first));
    assert_eq!(plan.len(), 4);
}

/// The tables of the chapter are those of the code.
#[test]
fn the_book_lists_all() {
    let chapter = include_str!("../../../docs/src/collectives.md");
    let mut text = String::new();
    for collective in collectives::WITH_ALGORITHMS {
        let _ = write!(
            text,
            "\n### {}\n\n| name | what happens | instead |\n|---|---|---|\n",
            collective.name()
        );
        for entry in collectives::algorithms(collective) {
            let needs: Vec<_> = entry
                .needs
                .iter()
                .map(|(need, instead)| format!("`{instead}` without {}", need.text()))
                .collect();
            let doc = match entry.way {
                Way::Same(other) => format!("as `{other}`: {}", entry.doc),
                _ => entry.doc.to_owned(),
            };
            let _ = writeln!(text, "| `{}` | {doc} | {} |", entry.name, needs.join("; "));
        }
        let other: Vec<_> = ALIASES
            .iter()
            .filter(|(of, ..)| *of == Some(collective))
            .map(|(_, alias, name)| format!("`{alias}` is `{name}`"))
            .collect();
        if !other.is_empty() {
            let _ = write!(text, "\nAlso: {}.\n", other.join(", "));
        }
    }
    let found = chapter.split_once("<!-- tables -->\n").map(|(_, tables)| tables);
    assert!(found == Some(text.as_str()), "the chapter should end with:\n{text}");
}
