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
        TABLES_FORMAT: Word(words::TABLES_FORMAT) = "output.tables-format",
            Value("csv"), flag("tables-format", "FORMAT"), scope::RUN,
            "Form of the tables in the folder.";
        INTERVAL: Time = "output.interval", Value("10 us"), None, scope::RUN,
            "Width of the intervals of `lanes.csv`.";
        TIMELINE: Word(words::TIMELINE) = "output.timeline",
            Value("none"), flag("timeline", "FORMAT"), scope::RANKS,
            "Timeline to write into the folder.";
        GANTT: Switch = "output.gantt", Value("false"), flag("gantt", ""), scope::DRAWN,
            "Draws a timeline of the first 32 ranks on the terminal, below the summary.";
        REPORT: Switch = "output.report", Value("false"), flag("report", ""), scope::FOLDER,
            "Also writes `report.html` into the folder, a page that shows the run, and the tables \
             that it is made from.";
        REPORT_DETAIL: Count(0, 100_000_000) = "output.report-detail",
            Value("1000000"), flag("report-detail", "EVENTS"), scope::RANKS,
            "Most events of which the report shows each; of more it shows those on the critical \
             path and in the windows.";
        REPORT_WINDOW: Names = "output.report-window",
            Unset("no windows"), flag("report-window", "T0..T1"), scope::RANKS,
            "Stretches of simulated time of which the report shows every event, such as \
             `1ms..1200us`.";
        FORCE: Switch = "output.force", Value("false"), flag("force", ""), scope::FOLDER,
            "Writes into a folder that is not empty, and runs a manifest although its inputs have \
             changed.";
    }
}
