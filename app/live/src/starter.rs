//! The thread that starts the ranks' processes.
//!
//! These end with this process, however it ends. To the kernel, what they end with is the thread
//! that has started them, so that it must be one that stays as long as they may: not that of a
//! worker.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

/// What is to be started, and whom to tell.
type Order = (Command, mpsc::Sender<io::Result<Child>>);

/// The thread.
#[derive(Debug)]
pub struct Starter {
    thread: Option<JoinHandle<()>>,
    /// Gone when it is over.
    orders: Option<mpsc::Sender<Order>>,
}

impl Starter {
    /// Begins.
    ///
    /// # Errors
    /// If the system has no room for a thread.
    pub fn new() -> io::Result<Self> {
        let (orders, taken) = mpsc::channel::<Order>();
        let work = move || {
            for (mut command, tell) in taken {
                rank_ipc::end_with_parent(&mut command);
                // Whoever has asked waits for it.
                let _ = tell.send(command.spawn());
            }
        };
        let thread = thread::Builder::new().spawn(work)?;
        Ok(Self { thread: Some(thread), orders: Some(orders) })
    }

    /// Starts a process, which ends when this goes.
    pub fn start(&self, command: Command) -> io::Result<Child> {
        let (tell, told) = mpsc::channel();
        let gone = || io::Error::other("there is no thread that starts processes");
        let orders = self.orders.as_ref().ok_or_else(gone)?;
        orders.send((command, tell)).map_err(|_| gone())?;
        told.recv().map_err(|_| gone())?
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
