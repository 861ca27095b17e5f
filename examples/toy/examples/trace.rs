//! Shows every signal of a token that goes once round three hosts on the bus:
//! `cargo run -p heddle-toy --example trace`.

use std::io;

use host::{Settings, simulate_over};
use kernel::Silent;
use network::{Lines, Traced};
use toy::{Bus, Token};
use units::{Time, TimePerByte};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let per_byte = TimePerByte::new(800, 1).ok_or("a rate")?;
    let bus = Bus { hosts: 3, delay: Time::from_ps(100_000), per_byte };
    let lines = Lines::default();
    let traced = Traced::new(bus, |sent: &_| lines.keep(sent));
    let token = Token { ranks: 3, bytes: 1000 };
    simulate_over(&traced, None, &token, &Settings::default(), || Silent)?;
    lines.write(&mut io::stdout().lock())?;
    Ok(())
}
