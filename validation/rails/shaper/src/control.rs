//! Commands to a running shaper, a line each, over a Unix socket.

use std::{
    io::{self, BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    thread,
};

use units::{Bandwidth, nearest};

use crate::Direction;

const COMMANDS: [&str; 5] = ["rate", "down", "up", "report", "reset"];

/// Answers the commands of all who connect, in a thread of its own.
///
/// `rate RAIL RATE` changes the rate of a rail, `down RAIL` loses all its frames, `up RAIL` carries
/// them again, each in both directions and answered with `ok`; `report` is answered with a line of
/// JSON for each direction, and `reset` counts anew. A mistake is answered with `error: ` and the
/// reason.
pub fn listen(listener: UnixListener, directions: Vec<Direction>) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // One who goes away early wanted no answer.
            let _ = serve(&stream, &directions);
        }
    });
}

fn serve(stream: &UnixStream, directions: &[Direction]) -> io::Result<()> {
    for line in BufReader::new(stream).lines() {
        let answer = obey(&line?, directions).unwrap_or_else(|why| format!("error: {why}\n"));
        (&mut &*stream).write_all(answer.as_bytes())?;
    }
    Ok(())
}

/// Does what a line says and returns the answer, with its ends of lines.
fn obey(line: &str, directions: &[Direction]) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["rate", rail, ref rate @ ..] if !rate.is_empty() => {
            let rate: Bandwidth = rate.concat().parse().map_err(|error| format!("{error}"))?;
            if rate.bits_per_second() == 0 {
                return Err("the rate is zero; `down` loses all frames".to_owned());
            }
            of(rail, directions)?.iter().for_each(|each| each.shared.set_rate(rate));
        }
        ["down", rail] => of(rail, directions)?.iter().for_each(|each| each.shared.take_down()),
        ["up", rail] => of(rail, directions)?.iter().for_each(|each| each.shared.bring_up()),
        ["report"] => return Ok(report(directions)),
        ["reset"] => directions.iter().for_each(|each| each.shared.reset()),
        [command, ..] if !COMMANDS.contains(&command) => {
            return Err(unknown("command", command, &COMMANDS));
        }
        _ => {
            let known = "rate RAIL RATE, down RAIL, up RAIL, report and reset";
            return Err(format!("`{line}` is no command; there are {known}"));
        }
    }
    Ok("ok\n".to_owned())
}

/// Returns the directions of a rail.
fn of<'a>(rail: &str, directions: &'a [Direction]) -> Result<Vec<&'a Direction>, String> {
    let found: Vec<_> = directions.iter().filter(|each| each.rail == rail).collect();
    if found.is_empty() {
        let mut known: Vec<&str> = directions.iter().map(|each| each.rail.as_str()).collect();
        known.dedup();
        return Err(unknown("rail", rail, &known));
    }
    Ok(found)
}

fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let near = nearest(word, known).map(|near| format!(", did you mean `{near}`?"));
    let list = || format!("; there are {}", known.join(", "));
    format!("there is no {what} `{word}`{}", near.unwrap_or_else(list))
}

/// Returns the reports of all directions, a line each.
pub fn report(directions: &[Direction]) -> String {
    directions.iter().map(|each| each.report() + "\n").collect()
}
