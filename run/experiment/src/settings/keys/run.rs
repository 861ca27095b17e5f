//! The tables `[run]` and `[output]`: how a simulation is carried out and what it writes.

use super::*;

table! {
    THREADS: Count(1, 1024) = "run.threads", Value("1"), flag("threads", "N"), scope::RUN,
        "Worker threads; their number does not change the results.";
    SEED: Count(0, u64::MAX) = "run.seed", Value("1"), flag("seed", "N"), scope::SEED,
        "Seed of all random streams.";
    TRANSPORT: Word(words::TRANSPORT) = "run.transport", Value("shared"), None, scope::TRANSPORT,
        "How messages travel between threads.";
}

/// The table `[output]`.
pub(crate) mod output {
    use super::*;

    table! {
        DIRECTORY: Path = "output.directory",
            Unset("nothing is written"),
            Some(Flag { long: "output", short: Some('o'), value: "DIR" }), scope::FOLDER,
            "Folder for manifest, summary, tables and timeline.";
        TABLES: Words(words::TABLE_NAMES) = "output.tables",
            Value("ranks"), flag("tables", "LIST"), scope::RANKS,
            "Tables to write into the folder.";
        INTERVAL: Time = "output.interval", Value("10 us"), None, scope::RUN,
            "Width of the intervals of `lanes.csv`.";
        TIMELINE: Word(words::TIMELINE) = "output.timeline",
            Value("none"), flag("timeline", "FORMAT"), scope::RANKS,
            "Timeline to write into the folder.";
        GANTT: Switch = "output.gantt", Value("false"), flag("gantt", ""), scope::DRAWN,
            "Draws a timeline of the first 32 ranks on the terminal, below the summary.";
        FORCE: Switch = "output.force", Value("false"), flag("force", ""), scope::FOLDER,
            "Writes into a folder that is not empty, and runs a manifest although its inputs have \
             changed.";
    }
}
