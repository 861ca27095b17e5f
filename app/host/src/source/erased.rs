//! Programs and sources whose type is forgotten.
//!
//! An engine is compiled once for each type of source, each network and each probe. That makes runs
//! quick and compiling slow. Where compiling has to be quick, [`AnyWork`] stands for all programs:
//! each question is then a call through a table. The answers, and so the results, are the same.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};

use mpi::Tag;
use schedule::{Edge, Follow, Op, Run};

use super::{Claims, Explains, Operations, Probing, Source, Starts, Waits, Work};
use crate::PendingMessage;
use crate::path::Stamp;

/// A program of any type.
#[derive(Clone, Copy)]
pub struct AnyWork<'a>(&'a dyn Questions);

impl<'a> AnyWork<'a> {
    /// The program, without its type.
    pub fn new<P: Work>(program: &'a P) -> Self {
        Self(program)
    }
}

impl Debug for AnyWork<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AnyWork").field("ranks", &self.0.ranks()).finish_non_exhaustive()
    }
}

impl Work for AnyWork<'_> {
    type Source<'s>
        = AnySource<'s>
    where
        Self: 's;

    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn cpus(&self) -> u32 {
        self.0.cpus()
    }

    fn nics(&self) -> u32 {
        self.0.nics()
    }

    fn operations(&self) -> Option<u64> {
        self.0.operations()
    }

    fn source(&self) -> AnySource<'_> {
        AnySource(self.0.source())
    }

    fn posting_all(&self) -> Option<AnySource<'_>> {
        self.0.posting_all().map(AnySource)
    }
}

/// [`Work`], asked through a table; [`Work::by_loggopsim`] has no place in one.
trait Questions: Sync {
    fn ranks(&self) -> u32;
    fn cpus(&self) -> u32;
    fn nics(&self) -> u32;
    fn operations(&self) -> Option<u64>;
    fn source(&self) -> Box<dyn Asked + '_>;
    fn posting_all(&self) -> Option<Box<dyn Asked + '_>>;
}

impl<P: Work> Questions for P {
    fn ranks(&self) -> u32 {
        Work::ranks(self)
    }

    fn cpus(&self) -> u32 {
        Work::cpus(self)
    }

    fn nics(&self) -> u32 {
        Work::nics(self)
    }

    fn operations(&self) -> Option<u64> {
        Work::operations(self)
    }

    fn source(&self) -> Box<dyn Asked + '_> {
        Box::new(Work::source(self))
    }

    fn posting_all(&self) -> Option<Box<dyn Asked + '_>> {
        Work::posting_all(self).map(|source| Box::new(source) as _)
    }
}

/// The source of a program of any type.
pub struct AnySource<'s>(Box<dyn Asked + 's>);

/// The state that it keeps for a rank: that of the source behind it.
type State = Box<dyn Any + Send>;

/// The state as the source behind knows it.
fn known<S: Operations>(state: &State) -> &S::State {
    state.downcast_ref().expect("a source sees states that it has made")
}

/// The state as the source behind knows and changes it.
fn known_mut<S: Operations>(state: &mut State) -> &mut S::State {
    state.downcast_mut().expect("a source sees states that it has made")
}

/// Writes down the questions of all traits of a source once: as a table, as a source of any type
/// answers them, and as [`AnySource`] passes them on. `start` and `reached` take closures of any
/// type and are added by hand.
macro_rules! questions {
    ($($trait:ident {
        of all { $(fn $all:ident($($all_name:ident: $all_type:ty),*) -> $all_answer:ty;)* }
        of state { $(fn $of:ident($($of_name:ident: $of_type:ty),*) -> $of_answer:ty;)* }
        to state { $(fn $to:ident($($to_name:ident: $to_type:ty),*) -> $to_answer:ty;)* }
        by hand { $($by_hand:item)* }
    })*) => {
        trait Asked: Sync {
            fn state(&self, rank: u32) -> State;
            fn start(&self, state: &mut State, rank: u32, post: &mut dyn FnMut(Run, Op));
            fn reached(
                &self,
                state: &mut State,
                rank: u32,
                event: (u32, Edge),
                at: &Stamp,
                post: &mut dyn FnMut(u32, Op, &Stamp),
            );
            $($(fn $all(&self, $($all_name: $all_type),*) -> $all_answer;)*
            $(fn $of(&self, state: &State, $($of_name: $of_type),*) -> $of_answer;)*
            $(fn $to(&self, state: &mut State, $($to_name: $to_type),*) -> $to_answer;)*)*
        }

        impl<S: Source> Asked for S {
            fn state(&self, rank: u32) -> State {
                Box::new(Operations::state(self, rank))
            }

            fn start(&self, state: &mut State, rank: u32, post: &mut dyn FnMut(Run, Op)) {
                Operations::start(self, known_mut::<S>(state), rank, post);
            }

            fn reached(
                &self,
                state: &mut State,
                rank: u32,
                event: (u32, Edge),
                at: &Stamp,
                post: &mut dyn FnMut(u32, Op, &Stamp),
            ) {
                Operations::reached(self, known_mut::<S>(state), rank, event, at, post);
            }

            $($(fn $all(&self, $($all_name: $all_type),*) -> $all_answer {
                $trait::$all(self, $($all_name),*)
            })*
            $(fn $of(&self, state: &State, $($of_name: $of_type),*) -> $of_answer {
                $trait::$of(self, known::<S>(state), $($of_name),*)
            })*
            $(fn $to(&self, state: &mut State, $($to_name: $to_type),*) -> $to_answer {
                $trait::$to(self, known_mut::<S>(state), $($to_name),*)
            })*)*
        }

        $(impl $trait for AnySource<'_> {
            $($by_hand)*
            $(fn $all(&self, $($all_name: $all_type),*) -> $all_answer {
                self.0.$all($($all_name),*)
            })*
            $(fn $of(&self, state: &State, $($of_name: $of_type),*) -> $of_answer {
                self.0.$of(state, $($of_name),*)
            })*
            $(fn $to(&self, state: &mut State, $($to_name: $to_type),*) -> $to_answer {
                self.0.$to(state, $($to_name),*)
            })*
        })*
    };
}

questions! {
    Operations {
        of all {
            fn weight(rank: u32) -> u32;
            fn starts() -> Starts;
            fn wants_sends() -> bool;
            fn matched_by(number: u32) -> Tag;
            fn shown_tag(number: u32) -> u32;
        }
        of state {
            fn op(rank: u32, index: u32) -> Op;
            fn unfinished(rank: u32) -> bool;
            fn wants_start(index: u32) -> bool;
            fn is_alarm(index: u32) -> bool;
            fn prefetch(rank: u32, stage: usize) -> ();
        }
        to state {}
        by hand {
            type State = State;

            fn state(&self, rank: u32) -> State {
                self.0.state(rank)
            }

            fn start(&self, state: &mut State, rank: u32, mut post: impl FnMut(Run, Op)) {
                self.0.start(state, rank, &mut post);
            }

            fn reached(
                &self,
                state: &mut State,
                rank: u32,
                event: (u32, Edge),
                at: &Stamp,
                mut post: impl FnMut(u32, Op, &Stamp),
            ) {
                self.0.reached(state, rank, event, at, &mut post);
            }
        }
    }
    Claims {
        of all {
            fn claims() -> bool;
            fn fits() -> bool;
        }
        of state {
            fn follow(rank: u32, index: u32) -> Follow;
        }
        to state {
            fn claim(rank: u32, source: u32, tag: u32) -> Option<u32>;
            fn answer(source: u32, tag: u32) -> Option<(u32, Follow)>;
            fn ended() -> ();
            fn sent() -> bool;
        }
        by hand {}
    }
    Probing {
        of all {
            fn prefetch_sender(sender: u32, tag: u32) -> ();
            fn keeps_order() -> bool;
            fn grows() -> bool;
        }
        of state {
            fn is_conditional(receive: u32) -> bool;
            fn cancels(index: u32) -> Option<u32>;
            fn is_exclusive(index: u32) -> bool;
        }
        to state {
            fn accepts(receive: u32, send: Option<u32>) -> bool;
            fn matched(receive: u32, send: (u32, u32), bytes: u64) -> ();
            fn receive_unposted(sender: u32, tag: u32) -> Option<u32>;
            fn cancelled(receive: u32) -> ();
        }
        by hand {}
    }
    Waits {
        of all {
            fn is_sleep(rank: u32, index: u32) -> bool;
        }
        of state {
            fn is_blocking(rank: u32, index: u32) -> bool;
            fn is_in_order(rank: u32, index: u32) -> bool;
            fn dependents(rank: u32, index: u32, each: &mut dyn FnMut(u32)) -> ();
            fn missing(rank: u32, index: u32) -> u32;
            fn is_any(index: u32) -> bool;
            fn wants(index: u32) -> bool;
            fn is_look(rank: u32, index: u32) -> bool;
            fn tested(index: u32, is_there: &dyn Fn(u32) -> bool) -> Option<u32>;
        }
        to state {}
        by hand {}
    }
    Explains {
        of all {}
        of state {
            fn first_blocked(rank: u32) -> Option<u32>;
            fn waits_in() -> Option<String>;
            fn message(index: u32) -> Option<PendingMessage>;
        }
        to state {}
        by hand {}
    }
}

#[cfg(test)]
mod tests {
    /// No question is left to its default, those included that traits get later.
    #[test]
    fn every_question_is_passed_on() {
        let traits = [
            include_str!("mod.rs"),
            include_str!("claims.rs"),
            include_str!("explains.rs"),
            include_str!("probing.rs"),
            include_str!("waits.rs"),
        ];
        let (own, _) = include_str!("erased.rs").split_once("#[cfg(test)]").expect("tests");
        let questions = traits.iter().flat_map(|text| text.lines());
        let questions = questions.filter_map(|line| line.strip_prefix("    fn "));
        let names = questions.map(|rest| rest.split(['(', '<']).next().unwrap_or_default());
        let names: Vec<_> = names.filter(|name| *name != "by_loggopsim").collect();
        assert!(names.len() > 30, "{names:?}");
        for name in names {
            assert!(own.contains(&format!("fn {name}(")), "{name} is not passed on");
        }
    }
}
