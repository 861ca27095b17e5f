//! Judges which estimates the samples support, and says why others are refused.

use std::collections::BTreeMap;

use crate::{
    diagnose::Diagnosis,
    estimate::{Calibration, Estimate, clipped},
    limits::Limit,
    plan::Plan,
};

/// An interval wider than this share of what it is compared with, on one side, says too little.
const WIDE: f64 = 0.5;

/// Sorts estimates into those that are given and those that are refused.
pub fn judge(
    fitted: &mut Calibration,
    mut estimates: BTreeMap<&'static str, Estimate>,
    plan: &Plan,
    limit: &Limit,
) {
    let mut refused: BTreeMap<&'static str, String> = BTreeMap::new();
    if plan.has_trips() && plan.sizes == 1 {
        let text = "all round trips are of one size, from which costs per message and costs per \
                    byte cannot be told apart";
        refused.extend(["L", "o", "g", "G", "O", "S"].map(|name| (name, text.to_owned())));
        fitted.one_way = None;
        fitted.refused = refused;
        return;
    }
    limit_of_eager(fitted, &mut refused, limit, plan);
    if !estimates.contains_key("o") {
        refused.insert("o", overhead(plan));
        let text = match fitted.one_way {
            Some(sum) => format!(
                "L is half a round trip without the overheads, which are not known: L + 2 o is \
                 {:.1} ns, between {:.1} and {:.1} ns",
                sum.value, sum.low, sum.high
            ),
            None => "L needs round trips".to_owned(),
        };
        refused.insert("L", text);
        estimates.remove("o");
    } else if !estimates.contains_key("L") {
        refused.insert("L", "L needs round trips".to_owned());
    }
    per_byte(&mut estimates, &mut refused, plan);
    if let Err(reason) = gap(&estimates, plan) {
        estimates.remove("g");
        refused.insert("g", reason);
    }
    let below: Vec<&str> =
        estimates.iter().filter(|(_, e)| e.low < 0.0).map(|(name, _)| *name).collect();
    if !below.is_empty() {
        let text = format!("the intervals of {} reach below zero and end there", below.join(", "));
        fitted.diagnoses.push(Diagnosis { name: "one-sided", text });
    }
    let kept = estimates.into_iter().map(|(name, estimate)| (name, clipped(estimate)));
    fitted.parameters.extend(kept);
    fitted.refused = refused;
}

fn limit_of_eager(
    fitted: &mut Calibration,
    refused: &mut BTreeMap<&'static str, String>,
    limit: &Limit,
    plan: &Plan,
) {
    match *limit {
        Limit::Step(value, low, high) => {
            let [value, low, high] = [value, low, high].map(|bytes| bytes as f64);
            fitted.parameters.insert("S", Estimate { value, low, high });
        }
        Limit::Bend(size) => {
            let text = format!(
                "behind {size} B the slope changes without a step, which need not be the protocol; \
                 parameters are of sizes up to there"
            );
            refused.insert("S", text);
        }
        Limit::None(largest) if largest > 0 && plan.has_trips() => {
            refused.insert("S", format!("there is no step up to {largest} B, the largest size"));
        }
        Limit::None(_) => {}
    }
}

/// The reason why o is not known.
fn overhead(plan: &Plan) -> String {
    if let Some(near) = plan.near.as_ref().filter(|_| !plan.delayed) {
        return format!("every delay is too near the gap: {}", near.text);
    }
    "o shows only in round trips with a delay (n > 1, d > 0) or in the time of sends, and there \
     are none"
        .to_owned()
}

/// Judges G and O.
fn per_byte(
    estimates: &mut BTreeMap<&'static str, Estimate>,
    refused: &mut BTreeMap<&'static str, String>,
    plan: &Plan,
) {
    let byte = estimates.get("G").copied();
    let cost = byte.map_or(f64::INFINITY, |byte| byte.value.abs());
    match estimates.get("O").copied() {
        None => {
            let text = if plan.delayed {
                "o was measured at one size only"
            } else {
                "O is the slope of o, which was not measured"
            };
            refused.insert("O", text.to_owned());
        }
        Some(found) if found.high - found.low > 2.0 * WIDE * cost => {
            let text = format!("o is known too coarsely: O is at most {:.6} ns/B", found.high);
            refused.insert("O", text);
            estimates.remove("O");
        }
        Some(found) if !estimates.contains_key("g") && found.low > 0.05 * cost => {
            let text = "bytes cost the hosts as well, and the gap shows at no size".to_owned();
            refused.insert("G", text);
            estimates.remove("G");
        }
        Some(_) => {}
    }
    if byte.is_none() {
        refused.insert("G", "G needs round trips of different sizes".to_owned());
    }
    let hides = |found: &Estimate| {
        let doubt = (found.high - found.low) / found.value.abs().max(1e-12);
        doubt > 2.0 && (found.high <= 0.0 || found.low < 0.0 && doubt > 4.0)
    };
    if let Some(found) = byte.filter(hides) {
        let text = format!("the noise hides it: G is at most {:.6} ns/B", found.high.max(0.0));
        refused.insert("G", text);
        estimates.remove("G");
    }
}

/// Judges g, which shows in the sloped part of the gap only.
fn gap(estimates: &BTreeMap<&'static str, Estimate>, plan: &Plan) -> Result<(), String> {
    let overhead = estimates.get("o_send").copied();
    let Some(found) = estimates.get("g").copied() else {
        if let Some(time) = plan.streamed() {
            return Err(format!("a stream shows the longer of o and g only, {time:.1} ns"));
        }
        if !plan.has_trains() {
            return Err("g shows only in round trips of several messages without a delay".into());
        }
        let bound = overhead.map_or(String::new(), |o| format!(": g is at most {:.1} ns", o.high));
        return Err(format!("the gap shows at no size, the overhead is longer{bound}"));
    };
    let bound = format!("g is at most {:.1} ns", found.high.max(0.0));
    if let Some(receiver) = plan.receiver_limits(estimates) {
        return Err(format!("{receiver}; {bound}"));
    }
    let receive = estimates.get("o_receive").copied().or(overhead);
    let alike = receive.is_some_and(|o| found.low <= o.value && o.value <= found.high);
    if alike && plan.has_sends() {
        return Err(format!(
            "a receiver that is busy with each byte would hold messages up alike, by its own \
             overhead; {bound}"
        ));
    }
    let shown = overhead.map_or(found.value, |o| o.value).max(found.value).max(0.0);
    if found.high - found.low > 2.0 * WIDE * shown {
        return Err(format!("the sloped part of the gap does not tell where it begins: {bound}"));
    }
    let hidden = overhead.is_some_and(|o| o.low > found.high);
    if hidden && found.low <= 0.0 {
        return Err(format!("o is longer and hides it: {bound}"));
    }
    Ok(())
}
