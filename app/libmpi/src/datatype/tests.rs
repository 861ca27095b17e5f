//! Numbers are derived by hand from the standard's definitions of type maps and bounds.
