//! The kinds of MPI calls.

use crate::Collective;

/// Declares [`Class`] together with the words that stand for its variants in the table of calls.
macro_rules! classes {
    ($($class:ident = $word:literal),* $(,)?) => {
        /// The class of a function of MPI, which decides how it is compiled. The blocking,
        /// immediate and persistent forms of a call share a class.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Class {
            /// A collective operation.
            Collective(Collective),
            $(
                #[doc = concat!("The calls with the word `", $word, "` in the table.")]
                $class,
            )*
        }

        impl Class {
    /// Returns the call that tells the same of its requests and completes them, for one that only
    /// tells (`MPI_Request_get_status` and its kin); any other call as it is.
    #[must_use]
    pub const fn completing(self) -> Self {
        match self {
            Self::RequestGetStatus => Self::Test,
            Self::RequestGetStatusAny => Self::Testany,
            Self::RequestGetStatusAll => Self::Testall,
            Self::RequestGetStatusSome => Self::Testsome,
            other => other,
        }
    }

            /// Returns the class that a word of the table stands for.
            pub fn named(word: &str) -> Option<Self> {
                Some(match word {
                    $($word => Self::$class,)*
                    _ => Self::Collective(Collective::named(word)?),
                })
            }
        }
    };
}

classes! {
    Local = "local",
    Init = "init",
    Finalize = "finalize",
    Abort = "abort",
    Region = "region",
    Send = "send",
    Ssend = "ssend",
    Bsend = "bsend",
    BufferDetach = "buffer_detach",
    Recv = "recv",
    Sendrecv = "sendrecv",
    SendrecvReplace = "sendrecv_replace",
    Probe = "probe",
    Iprobe = "iprobe",
    Mprobe = "mprobe",
    Improbe = "improbe",
    Mrecv = "mrecv",
    Start = "start",
    Startall = "startall",
    Wait = "wait",
    Waitany = "waitany",
    Waitall = "waitall",
    Waitsome = "waitsome",
    Test = "test",
    Testany = "testany",
    Testall = "testall",
    Testsome = "testsome",
    RequestGetStatus = "request_get_status",
    RequestGetStatusAny = "request_get_status_any",
    RequestGetStatusAll = "request_get_status_all",
    RequestGetStatusSome = "request_get_status_some",
    RequestFree = "request_free",
    Cancel = "cancel",
    IntercommCreate = "intercomm_create",
    Spawn = "spawn",
    Post = "post",
    WinStart = "win_start",
    Complete = "complete",
    WinWait = "win_wait",
    WinTest = "win_test",
    WinSync = "win_sync",
    Lock = "lock",
    LockAll = "lock_all",
    Unlock = "unlock",
    UnlockAll = "unlock_all",
    Flush = "flush",
    FlushAll = "flush_all",
    FlushLocal = "flush_local",
    FlushLocalAll = "flush_local_all",
    Put = "put",
    Get = "get",
    Accumulate = "accumulate",
    GetAccumulate = "get_accumulate",
    FetchAndOp = "fetch_and_op",
    CompareAndSwap = "compare_and_swap",
}

impl Class {
    /// Returns whether the call only looks whether something has come: `MPI_Test`, `MPI_Iprobe` and
    /// their kin.
    pub const fn is_look(self) -> bool {
        matches!(
            self.completing(),
            Self::Test
                | Self::Testany
                | Self::Testall
                | Self::Testsome
                | Self::Iprobe
                | Self::Improbe
                | Self::WinTest
                | Self::WinSync
        )
    }
}
