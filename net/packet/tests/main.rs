//! Tests of the model of routers.

mod adaptive;
mod bubble;
mod closed_forms;
mod common;
mod conformance;
mod injection_control;
mod mistakes;
mod ports;
mod recorded;
