//! The kernel's files of this folder that do not know of messages.

#[path = "../../src/transport/bounds.rs"]
mod bounds;
#[path = "../../src/transport/lanes.rs"]
mod lanes;
#[path = "../../src/transport/meeting.rs"]
mod meeting;

pub use bounds::Bounds;
pub use lanes::{Lanes, Route};
pub use meeting::Meeting;
