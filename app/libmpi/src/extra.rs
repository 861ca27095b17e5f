//! Functions of the simulation beyond MPI: the functions behind `heddle.h` and the libraries that
//! are loaded before the program.

mod clock;
mod folded;
mod sampled;

pub use clock::running;
pub use folded::Folded;
pub use sampled::Blocks;
