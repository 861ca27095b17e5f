//! Experiment.
