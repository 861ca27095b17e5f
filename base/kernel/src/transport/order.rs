//! The order in which processes may touch what they have in common outside of messages.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::Transport;
use crate::Wire;

/// A transport without the type of its messages.
trait InOrder {
    fn in_order(&self, turn: usize, me: usize);
}

struct Typed<M>(Arc<dyn Transport<M>>);

impl<M: Wire> InOrder for Typed<M> {
    fn in_order(&self, turn: usize, me: usize) {
        self.0.in_order(turn, me);
    }
}

/// The worker that a thread is.
struct Here {
    transport: Box<dyn InOrder>,
    me: usize,
    turn: Rc<Cell<usize>>,
}

thread_local! {
    static HERE: RefCell<Option<Here>> = const { RefCell::new(None) };
}

/// Makes a thread known as a worker while it lives. A worker that panics abandons the others.
pub struct AtWork<M: Wire> {
    transport: Arc<dyn Transport<M>>,
    turn: Rc<Cell<usize>>,
}

impl<M: Wire> AtWork<M> {
    pub fn begin(transport: &Arc<dyn Transport<M>>, me: usize) -> Self {
        let typed = Box::new(Typed(transport.clone()));
        let turn = Rc::default();
        let here = Here { transport: typed, me, turn: Rc::clone(&turn) };
        HERE.with_borrow_mut(|place| *place = Some(here));
        Self { transport: transport.clone(), turn }
    }

    /// Begins a turn.
    pub fn turn(&self, turn: usize) {
        self.turn.set(turn);
    }
}

impl<M: Wire> Drop for AtWork<M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.transport.abandon();
        }
        HERE.with_borrow_mut(|place| *place = None);
    }
}

/// Returns when every process that stands before the calling one in the order of processes has run
/// in this window. It is called by a process while it runs. If every process that looks at or
/// changes what processes have in common calls it first, they do so in one order, however many
/// workers there are; with no order of the model's own ([`crate::Model::order`]) or one that leaves
/// these processes in the order of their numbers, it is the order of one worker, provided that the
/// windows are the same: a model that needs that has no lookahead across workers.
pub fn wait_for_those_before() {
    HERE.with_borrow(|place| {
        if let Some(Here { transport, me, turn }) = place {
            transport.in_order(turn.get(), *me);
        }
    });
}
