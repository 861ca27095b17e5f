//! Tests of hosts.

mod closed_forms;
mod hand;
mod oracle;
#[path = "../../../validation/infiniband.rs"]
mod published_infiniband;
#[path = "../../../validation/loggops.rs"]
mod published_loggops;
mod two_way_ring;
