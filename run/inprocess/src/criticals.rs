//! Critical sections and atomic operations of GCC's library of OpenMP that have no name: it has one
//! lock of each for the process, but each rank with threads of its own has its own. A thread may
//! wait in MPI while it has one.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use crate::next;
use crate::own_threads::current;

type Named = unsafe extern "C" fn(*mut *mut c_void);
type Unnamed = unsafe extern "C" fn();

/// Takes or gives back the running rank's lock of a kind, or else that of the process.
fn act(
    kind: usize,
    named: (&'static CStr, &OnceLock<Option<Named>>),
    unnamed: (&'static CStr, &OnceLock<Option<Unnamed>>),
) {
    let own = current().and_then(|own| own.criticals.get(kind));
    // SAFETY: functions of the library, which is there, as it is what is called; the place of a
    // lock that nobody else uses.
    unsafe {
        if let Some(own) = own {
            let real = named.1.get_or_init(|| next(named.0));
            real.map(|real| real(own.as_ptr()));
        } else {
            let real = unnamed.1.get_or_init(|| next(unnamed.0));
            real.map(|real| real());
        }
    }
}

static START: OnceLock<Option<Named>> = OnceLock::new();
static END: OnceLock<Option<Named>> = OnceLock::new();
const STARTS: (&CStr, &OnceLock<Option<Named>>) = (c"GOMP_critical_name_start", &START);
const ENDS: (&CStr, &OnceLock<Option<Named>>) = (c"GOMP_critical_name_end", &END);

/// Takes the place of the library's.
#[unsafe(no_mangle)]
extern "C" fn GOMP_critical_start() {
    static REAL: OnceLock<Option<Unnamed>> = OnceLock::new();
    act(0, STARTS, (c"GOMP_critical_start", &REAL));
}

/// Takes the place of the library's.
#[unsafe(no_mangle)]
extern "C" fn GOMP_critical_end() {
    static REAL: OnceLock<Option<Unnamed>> = OnceLock::new();
    act(0, ENDS, (c"GOMP_critical_end", &REAL));
}

/// Takes the place of the library's.
#[unsafe(no_mangle)]
extern "C" fn GOMP_atomic_start() {
    static REAL: OnceLock<Option<Unnamed>> = OnceLock::new();
    act(1, STARTS, (c"GOMP_atomic_start", &REAL));
}

/// Takes the place of the library's.
#[unsafe(no_mangle)]
extern "C" fn GOMP_atomic_end() {
    static REAL: OnceLock<Option<Unnamed>> = OnceLock::new();
    act(1, ENDS, (c"GOMP_atomic_end", &REAL));
}
