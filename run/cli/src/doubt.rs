//! The doubt about a prediction: `heddle run --uncertainty` and `--sensitivity`.

use std::io::{self, Write};

use experiment::{Failure, Plan, Sensitivity, Uncertainty};
use serde_json::{Map, Value, json};
use units::Time;

use crate::arguments::{Format, Run};

/// The answers to what a command line asks beyond one run.
pub struct Doubt {
    uncertainty: Option<Uncertainty>,
    sensitivity: Vec<Sensitivity>,
}

impl Doubt {
    /// Runs what the arguments ask for.
    pub fn of(arguments: &Run, plan: &Plan) -> Result<Self, Failure> {
        let uncertainty = arguments.uncertainty.map(|count| plan.uncertainty(count as usize));
        let sensitivity = arguments.sensitivity.iter().map(|key| plan.sensitivity(key));
        Ok(Self {
            uncertainty: uncertainty.transpose()?,
            sensitivity: sensitivity.collect::<Result<_, _>>()?,
        })
    }

    /// Adds the answers to the summary in `text`.
    pub fn add(&self, format: Format, text: &mut Vec<u8>) -> io::Result<()> {
        match format {
            Format::Table => self.describe(text),
            Format::Json if self.uncertainty.is_none() && self.sensitivity.is_empty() => Ok(()),
            Format::Json => {
                let mut summary: Map<String, Value> = serde_json::from_slice(text)?;
                summary.extend(
                    self.uncertainty
                        .as_ref()
                        .map(|found| ("uncertainty".to_owned(), interval(found))),
                );
                if !self.sensitivity.is_empty() {
                    let all: Map<String, Value> = self
                        .sensitivity
                        .iter()
                        .map(|found| (found.key.clone(), rates(found)))
                        .collect();
                    summary.insert("sensitivity".to_owned(), Value::Object(all));
                }
                text.clear();
                serde_json::to_writer(&mut *text, &summary)?;
                text.write_all(b"\n")
            }
        }
    }

    fn describe(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(Uncertainty { replicates, median, low, high, shares, model }) =
            &self.uncertainty
        {
            let [median, low, high] = [median, low, high].map(|ps| results::time(time(*ps)));
            writeln!(
                out,
                "\nmakespan {median}, 95 % between {low} and {high} ({replicates} replicates)"
            )?;
            if *model > 0.0 {
                let percent = model * 100.0;
                writeln!(out, "  {percent:.0} % of the variance is the error of the model")?;
            }
            for (key, share) in shares {
                let percent = share * 100.0;
                writeln!(out, "  with {key} at its median, {percent:.0} % of the variance goes")?;
            }
        }
        for Sensitivity { key, value, makespan, rates, jumps, range } in &self.sensitivity {
            let [makespan, value, from, to] =
                [*makespan, *value, range[0], range[1]].map(results::time);
            writeln!(
                out,
                "\nmakespan {makespan} at {key} = {value}: it changes by {} times what the key \
                 falls, by {} times what it rises, from {from} to {to}",
                rates[0], rates[1]
            )?;
            for (jump, change) in jumps.iter().zip(["falls", "rises"]).filter(|(ps, _)| **ps != 0) {
                let sign = if *jump < 0 { "-" } else { "" };
                let jump = results::time(Time::from_ps(jump.unsigned_abs()));
                writeln!(out, "  it jumps by {sign}{jump} as soon as the key {change}")?;
            }
        }
        Ok(())
    }
}

fn interval(found: &Uncertainty) -> Value {
    let Uncertainty { replicates, median, low, high, shares, model } = found;
    let shares: Map<String, Value> =
        shares.iter().map(|(key, share)| (key.clone(), json!(share))).collect();
    json!({
        "replicates": replicates,
        "median_ps": median,
        "low_ps": low,
        "high_ps": high,
        "variance_without": shares,
        "variance_of_model": model,
    })
}

fn rates(found: &Sensitivity) -> Value {
    let Sensitivity { value, makespan, rates, jumps, range, .. } = found;
    json!({
        "value_ps": value.ps(),
        "makespan_ps": makespan.ps(),
        "rate_below": rates[0],
        "rate_above": rates[1],
        "jump_below_ps": jumps[0],
        "jump_above_ps": jumps[1],
        "from_ps": range[0].ps(),
        "to_ps": range[1].ps(),
    })
}

/// A time to the nanosecond, for people.
#[allow(clippy::cast_sign_loss, reason = "makespans are not negative")]
fn time(ps: f64) -> Time {
    Time::from_ps((ps / 1000.0).round() as u64 * 1000)
}
