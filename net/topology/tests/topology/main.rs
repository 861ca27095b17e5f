//! Topologies, routes and what is said of them.

mod common;
mod routes;
