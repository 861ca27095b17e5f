//! Topologies, routes and what is said of them.

mod adaptive;
mod cases;
mod common;
mod deadlock;
mod detours;
mod figures;
mod formulas;
mod imports;
mod oracle;
mod placement;
mod properties;
mod routes;
mod sizes;
mod words;
