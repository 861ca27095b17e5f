//! The table `[placement]`: the host of each rank.

use super::*;

table! {
    KIND: Word(words::PLACEMENT) = "placement.kind",
        Value("linear"), flag("placement", "KIND"), scope::PLACED,
        "The rule.";
    FILE: Path = "placement.file", Unset("only for `file`"), None, scope::PLACED,
        "The file.";
    HOSTS: Names = "placement.hosts", Unset("all hosts"), None, scope::PLACED,
        "The hosts to use, in this order, separated by commas or spaces: names, numbers or ranges \
         of numbers (`0-5`), each with the most ranks that it takes behind a colon, or without.";
    PER_HOST: Count(1, U32) = "placement.per-host",
        Unset("as many as it takes to place all evenly"), None, scope::SHARING,
        "Most ranks of each host.";
    SEED: Count(0, u64::MAX) = "placement.seed", Same(&["run.seed"]), None, scope::PLACED,
        "Seed of `random`.";
}
