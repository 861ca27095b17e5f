//! loggops.
