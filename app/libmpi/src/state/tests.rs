use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// Returns the text of the panic that something ends with.
fn panic_of(act: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(act)).expect_err("it panics");
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

const NOT_HELD: &str = "the state of a rank is used by a thread that does not hold it";

#[test]
fn there_is_no_guard_outside_of_a_call() {
    assert_eq!(panic_of(|| drop(mpi())), NOT_HELD, "before the rank has a state");
    let inside = enter("MPI_Init").unwrap();
    assert_eq!(mpi().call.get(), "MPI_Init");
    drop(inside);
    assert_eq!(panic_of(|| drop(mpi())), NOT_HELD, "once the call has ended");
}

#[test]
fn another_thread_gets_no_guard() {
    let _inside = enter("MPI_Init").unwrap();
    let rank = std::ptr::from_ref::<Mpi>(&mpi()).addr();
    let other = move || {
        run_as(std::ptr::with_exposed_provenance_mut(rank));
        assert_eq!(panic_of(|| drop(mpi())), NOT_HELD);
    };
    let _ = std::ptr::from_ref::<Mpi>(&mpi()).expose_provenance();
    std::thread::spawn(other).join().unwrap();
}

#[test]
fn a_call_within_a_call_is_an_error_that_names_the_outer_one() {
    let outer = enter("MPI_Session_init").unwrap();
    let error = enter("MPI_Info_create").unwrap_err();
    assert_eq!(error.code, crate::abi::ERR_OTHER);
    assert!(error.text.starts_with("the call began within MPI_Session_init,"));
    // One that only looks something up is harmless.
    drop(look_up("MPI_Initialized"));
    assert_eq!(mpi().call.get(), "MPI_Session_init");
    assert!(unguarded().is_held_here());
    drop(outer);
    assert!(!unguarded().is_held_here());
    assert!(enter("MPI_Info_create").is_ok());
}

#[test]
fn a_function_that_mpi_calls_may_call_mpi() {
    let _outer = enter("MPI_Init").unwrap();
    let guard = mpi();
    suspended(|| {
        assert_eq!(panic_of(|| drop(mpi())), NOT_HELD, "the state was given up");
        let inner = enter("MPI_Info_create").unwrap();
        suspended(|| assert!(enter("MPI_Info_dup").is_ok()));
        drop(inner);
    });
    assert!(unguarded().is_held_here());
    assert!(std::ptr::eq::<Mpi>(&raw const *guard, &raw const *mpi()));
    assert_eq!(panic_of(|| suspended(|| panic!("thrown"))), "thrown");
    assert!(unguarded().is_held_here(), "also if an exception leaves the function");
    assert!(enter("MPI_Info_create").is_err());
}

#[test]
fn a_guard_does_not_outlive_its_call() {
    let inside = enter("MPI_Init").unwrap();
    let guard = mpi();
    assert_eq!(panic_of(|| drop(inside)), "a guard outlives MPI_Init");
    drop(guard);
}

#[test]
fn whoever_ends_the_program_gives_the_state_up() {
    let inside = enter("MPI_Init").unwrap();
    let guard = mpi();
    abandon();
    assert!(enter("MPI_Finalized").is_ok(), "what the program does at its end");
    std::mem::forget((inside, guard));
}
