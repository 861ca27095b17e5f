//! The thread that starts the ranks' processes.
//!
//! Ranks end with the simulator, however that ends. For the kernel, a child ends with the thread
//! that started it, so ranks need a thread that lives as long as they may: not a worker's.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

/// A command to start, and where to send the child.
type Order = (Command, mpsc::Sender<io::Result<Child>>);

/// The thread that starts processes.
#[derive(Debug)]
pub struct Starter {
    thread: Option<JoinHandle<()>>,
    /// `None` once the thread is to end.
    orders: Option<mpsc::Sender<Order>>,
}

impl Starter {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no room for a thread.
    pub fn new() -> io::Result<Self> {
        let (orders, taken) = mpsc::channel::<Order>();
        let work = move || {
            for (mut command, tell) in taken {
                rank_ipc::end_with_parent(&mut command, rank_ipc::End::Kill);
                // The one who asked waits for the answer, so that it can be sent.
                let _ = tell.send(command.spawn());
            }
        };
        let thread = thread::Builder::new().spawn(work)?;
        Ok(Self { thread: Some(thread), orders: Some(orders) })
    }

    /// Starts a process, which ends when this value is dropped.
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
