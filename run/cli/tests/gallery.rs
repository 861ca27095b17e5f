//! The commands of the gallery give the pictures that it shows.

mod common;

use std::{fs, os::unix::fs::symlink, path::Path};

use common::Folder;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const CHAPTER: &str = include_str!("../../../docs/src/gallery.md");

/// Every picture of the book is, byte for byte, the one that the commands above it draw.
#[test]
fn pictures_are_those_of_the_commands() {
    let folder = Folder::new("gallery");
    symlink(Path::new(ROOT).join("examples"), folder.path("examples")).expect("a link");
    let commands: Vec<_> =
        CHAPTER.lines().filter_map(|line| line.strip_prefix("$ heddle ")).collect();
    assert_eq!(commands.len(), 11);
    for command in commands {
        let jobs = if command.starts_with("study") { " --jobs 2" } else { "" };
        let ended = folder.heddle(&format!("{command}{jobs}"));
        assert_eq!(ended.code, 0, "{command}: {}", ended.stderr);
    }
    let pictures = CHAPTER.split("](gallery-").skip(1).filter_map(|rest| rest.split(')').next());
    let pictures: Vec<_> = pictures.map(|name| format!("gallery-{name}")).collect();
    assert_eq!(pictures.len(), 6);
    for name in pictures {
        let book = fs::read(Path::new(ROOT).join("docs/src").join(&name)).expect("a picture");
        assert!(folder.read(&name) == book, "{name} is not what its commands draw");
    }
}
