//! Fences, and epochs of groups (MPI 4.1, sections 12.5.1 and 12.5.2).

use std::ffi::c_int;

use rank_ipc::{Amount, Collective, Command, Shape, Tag, Ticket};

use super::epoch::{Access, Exposure};
use super::{ALL, Window};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::collective::{self, Call, Contribution};
use crate::error::{Error, Result};
use crate::{check, mpi, mpi_functions, threads};

/// The notices that ranks send each other: tags of messages in the context of a window.
#[derive(Clone, Copy, Debug)]
pub enum Notice {
    /// The window is open.
    Posted,
    /// All accesses are complete.
    Completed,
    /// The lock of a target is yours.
    Granted(u32),
}

impl Window {
    pub(super) fn tag(&self, notice: Notice) -> Tag {
        let tag = match notice {
            Notice::Posted => 0,
            Notice::Completed => 1,
            Notice::Granted(target) => 2 + target,
        };
        Tag { context: self.comm.context, tag: Some(tag) }
    }

    /// Tells ranks something.
    pub(super) fn notify(&self, ranks: &[u32], notice: Notice) -> Result {
        let mpi = mpi();
        let port = mpi.port()?;
        let (tag, bytes, contents, synchronous) = (self.tag(notice), 1, 0, false);
        for rank in ranks {
            let to = self.world(*rank)?;
            let send = Command::Send { to, tag, bytes, contents, synchronous };
            port.forget(port.start(&send));
        }
        threads::finish_later(port, &[]);
        Ok(())
    }

    /// Starts to receive what ranks tell.
    pub(super) fn listen(&self, ranks: &[u32], notice: Notice) -> Result<Vec<Ticket>> {
        let mpi = mpi();
        let port = mpi.port()?;
        let receive = |rank: &u32| {
            let (from, tag) = (self.world(*rank)?, self.tag(notice));
            Ok(port.start(&Command::receive(from, tag, 1)))
        };
        ranks.iter().map(receive).collect()
    }

    /// Waits for what ranks tell.
    pub(super) fn hear(&self, ranks: &[u32], notice: Notice) -> Result {
        let tickets = self.listen(ranks, notice)?;
        let mpi = mpi();
        let port = mpi.port()?;
        threads::finish(port, &tickets);
        for ticket in tickets {
            port.forget(ticket);
        }
        Ok(())
    }

    /// All ranks of the window meet, when their accesses are complete.
    pub(super) fn meet(&self, class: Collective) -> Result {
        self.complete(ALL)?;
        let amounts = (Amount::Each(0), Amount::Each(0));
        let (call, nothing) = (Call::new(class), Contribution::none());
        let ticket = collective::post(&self.comm, &call, amounts.0, amounts.1, nothing)?;
        let mpi = mpi();
        let port = mpi.port()?;
        threads::finish(port, &[ticket]);
        collective::finish(&self.comm, ticket, |_| Ok(()))
    }

    /// The ranks of a group, as the window numbers them.
    fn ranks(&self, group: Handle) -> Result<Vec<u32>> {
        let group = mpi().group(group)?;
        let rank = |world| {
            let known = self.comm.rank_of_world(world);
            known.ok_or_else(|| {
                let text = format!("the group's rank {world} of the world is not in the window");
                Error::new(abi::ERR_GROUP, text)
            })
        };
        group.iter().map(rank).collect()
    }
}

fn check_assertions(assert: c_int, allowed: c_int) -> Result {
    check!(assert & !allowed == 0, ERR_ASSERT, "the assertion {assert:#x}");
    Ok(())
}

fn wrong_end<T>(call: &str) -> Result<T> {
    Err(Error::new(abi::ERR_RMA_SYNC, format!("{call} was not called before")))
}

mpi_functions! {
    fn Win_fence(assert: c_int, win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        let all = abi::MODE_NOSTORE | abi::MODE_NOPUT | abi::MODE_NOPRECEDE | abi::MODE_NOSUCCEED;
        check_assertions(assert, all)?;
        window.epoch.borrow_mut().fence(assert)?;
        window.meet(Collective::Fence)
    }

    fn Win_post(group: Handle, assert: c_int, win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        check_assertions(assert, abi::MODE_NOCHECK | abi::MODE_NOSTORE | abi::MODE_NOPUT)?;
        let ranks = window.ranks(group)?;
        window.epoch.borrow_mut().post(ranks.clone())?;
        window.notify(&ranks, Notice::Posted)
    }

    fn Win_start(group: Handle, assert: c_int, win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        check_assertions(assert, abi::MODE_NOCHECK)?;
        let ranks = window.ranks(group)?;
        window.epoch.borrow_mut().begin()?;
        window.hear(&ranks, Notice::Posted)?;
        window.epoch.borrow_mut().access = Access::Start(ranks);
        Ok(())
    }

    fn Win_complete(win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        let ranks = match &window.epoch.borrow().access {
            Access::Start(ranks) => ranks.clone(),
            _ => return wrong_end("MPI_Win_start"),
        };
        window.complete(ALL)?;
        window.notify(&ranks, Notice::Completed)?;
        window.epoch.borrow_mut().access = Access::None;
        Ok(())
    }

    fn Win_wait(win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        let exposure = window.epoch.borrow_mut().exposure.take();
        let Some(Exposure { to, notices }) = exposure else { return wrong_end("MPI_Win_post") };
        let Some(tickets) = notices else { return window.hear(&to, Notice::Completed) };
        let mpi = mpi();
        let port = mpi.port()?;
        threads::wait(port, true, &tickets);
        for ticket in tickets {
            port.forget(ticket);
        }
        Ok(())
    }

    fn Win_test(win: Handle, flag: Out<c_int>) about Win(win) {
        let window = mpi().window(win)?;
        flag.check()?;
        let Some(Exposure { to, notices }) = window.epoch.borrow().exposure.clone() else {
            return wrong_end("MPI_Win_post");
        };
        let mpi = mpi();
        let port = mpi.port()?;
        let tickets = if let Some(tickets) = notices {
            tickets
        } else {
            let tickets = window.listen(&to, Notice::Completed)?;
            port.called(Shape::Posted);
            tickets
        };
        threads::look(port, &tickets);
        let done = tickets.iter().all(|ticket| port.is_done(*ticket));
        if done {
            port.wait(true, &tickets);
            for ticket in &tickets {
                port.forget(*ticket);
            }
        }
        let exposure = (!done).then_some(Exposure { to, notices: Some(tickets) });
        window.epoch.borrow_mut().exposure = exposure;
        flag.set(c_int::from(done))
    }
}
