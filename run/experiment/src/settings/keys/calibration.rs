//! The table `[calibration]`: the origin of measured parameters, and their intervals.

use super::*;

table! {
    DATE: Name = "calibration.date", Unset("not measured"), None, scope::CALIBRATED,
        "Day of the measurement, `YYYY-MM-DD`.";
    HOSTS: Name = "calibration.hosts", Unset("not said"), None, scope::CALIBRATED,
        "Names of the hosts between which messages were timed.";
    MPI: Name = "calibration.mpi", Unset("not said"), None, scope::CALIBRATED,
        "Version of the MPI library, or the name of what else carried the messages.";
    SAMPLES: Name = "calibration.samples", Unset("not said"), None, scope::CALIBRATED,
        "Name of the file of samples.";
    SAMPLES_SHA256: Name = "calibration.samples-sha256",
        Unset("not said"), None, scope::CALIBRATED,
        "SHA-256 of the samples, in hexadecimal.";
    REPLICATES: Path = "calibration.replicates", Unset("none"), None, scope::CALIBRATED,
        "A table of joint bootstrap replicates: a column for each key, in nanoseconds and \
         nanoseconds per byte.";
    REPLICATES_SHA256: Name = "calibration.replicates-sha256",
        Unset("none"), None, scope::CALIBRATED,
        "SHA-256 of that table, in hexadecimal; a run checks it.";
}

/// The table `[calibration.loggops.L]`.
pub(crate) mod latency {
    use super::*;

    table! {
        LOW: Time = "calibration.loggops.L.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: Time = "calibration.loggops.L.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.o]`.
pub(crate) mod overhead {
    use super::*;

    table! {
        LOW: Time = "calibration.loggops.o.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: Time = "calibration.loggops.o.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.o-send]`.
pub(crate) mod send_overhead {
    use super::*;

    table! {
        LOW: Time = "calibration.loggops.o-send.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: Time = "calibration.loggops.o-send.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.o-recv]`.
pub(crate) mod receive_overhead {
    use super::*;

    table! {
        LOW: Time = "calibration.loggops.o-recv.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: Time = "calibration.loggops.o-recv.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.g]`.
pub(crate) mod gap {
    use super::*;

    table! {
        LOW: Time = "calibration.loggops.g.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: Time = "calibration.loggops.g.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.G]`.
pub(crate) mod gap_per_byte {
    use super::*;

    table! {
        LOW: TimePerByte = "calibration.loggops.G.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: TimePerByte = "calibration.loggops.G.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.O]`.
pub(crate) mod overhead_per_byte {
    use super::*;

    table! {
        LOW: TimePerByte = "calibration.loggops.O.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: TimePerByte = "calibration.loggops.O.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.S]`.
pub(crate) mod eager_limit {
    use super::*;

    table! {
        LOW: Bytes = "calibration.loggops.S.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: Bytes = "calibration.loggops.S.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.large.L]`.
pub(crate) mod large_latency {
    use super::*;

    table! {
        LOW: Time = "calibration.loggops.large.L.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: Time = "calibration.loggops.large.L.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}

/// The table `[calibration.loggops.large.G]`.
pub(crate) mod large_gap_per_byte {
    use super::*;

    table! {
        LOW: TimePerByte = "calibration.loggops.large.G.low",
            Unset("not measured"), None, scope::CALIBRATED,
            "Lower end of the interval.";
        HIGH: TimePerByte = "calibration.loggops.large.G.high",
            Unset("not measured"), None, scope::CALIBRATED,
            "Upper end of the interval.";
    }
}
