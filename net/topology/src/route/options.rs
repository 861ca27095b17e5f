//! Routings as they are written: a name, and perhaps options.

use std::str::FromStr;

use super::{
    build::{ALGORITHMS, Algorithm, Routing},
    grid::{Bubble, Dateline},
    load::Weights,
};
use crate::Fault;

impl FromStr for Routing {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let (name, option) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
        let names = ALGORITHMS.map(|entry| entry.0);
        let known = ALGORITHMS.iter().find(|entry| entry.0 == name).ok_or_else(|| {
            let message = format!("unknown routing `{name}` (known: {})", names.join(", "));
            Fault::new(message).near(name, &names)
        })?;
        if let Some(options) = option.filter(|_| known.1.compares_queues()) {
            return by_queues(known.1, options);
        }
        match option {
            None => Ok(known.1.into()),
            Some("lanes=1") if needs_lanes(known.1) => Err(Fault::new(format!(
                "routing {name} needs lanes: on one lane packets could wait for each other for ever"
            ))),
            Some("lanes=1") if known.1 == Algorithm::Adaptive => Err(Fault::new(
                "routing adaptive needs lanes for its escape: on one lane packets could wait for \
                 each other for ever"
                    .to_owned(),
            )),
            Some("lanes=1") => Ok(Self { single_lane: true, ..known.1.into() }),
            Some("dateline=whole") if is_ordered(known.1) => {
                Ok(Self { dateline: Dateline::Whole, ..known.1.into() })
            }
            Some(option) if option == "bubble" || option.starts_with("bubble=") => {
                let bubble = bubble(known.1, option)?;
                Ok(Self { dateline: Dateline::Bubble(bubble), ..known.1.into() })
            }
            Some("halves=dimension-order") if known.1 == Algorithm::Valiant => {
                Ok(Self { halves_in_order: true, ..known.1.into() })
            }
            Some("halves=dimension-order") => {
                Err(Fault::new("the option `halves=dimension-order` belongs to valiant".to_owned()))
            }
            Some("dateline=whole") => Err(Fault::new(
                "the option `dateline=whole` belongs to dimension-order and direction-order"
                    .to_owned(),
            )),
            Some(other) => Err(Fault::new(format!(
                "unknown option `{other}` of a routing; there are lanes=1, for dimension-order \
                 and direction-order dateline=whole and bubble, for adaptive bubble, and for \
                 valiant halves=dimension-order"
            ))),
        }
    }
}

impl Routing {
    /// True if only routers with virtual channels can follow it: load decides about ways, or places
    /// in rings stay free.
    pub const fn needs_routers(&self) -> bool {
        use Algorithm::{Adaptive, AdaptiveUp, Dal, DimensionAdaptive};
        matches!(self.algorithm, Adaptive | AdaptiveUp | Dal | DimensionAdaptive)
            || self.algorithm.compares_queues()
            || matches!(self.dateline, Dateline::Bubble(_))
    }
}

/// Returns true if packets take the dimensions of a grid in an order.
const fn is_ordered(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::DimensionOrder | Algorithm::DirectionOrder)
}

/// Reads the option `bubble`, `bubble=local` or `bubble=global`.
fn bubble(algorithm: Algorithm, option: &str) -> Result<Bubble, Fault> {
    if !is_ordered(algorithm) && algorithm != Algorithm::Adaptive {
        let message = format!(
            "the option `{option}` belongs to dimension-order and direction-order, and to adaptive"
        );
        return Err(Fault::new(message));
    }
    match option.split_once('=').map_or("local", |(_, word)| word) {
        "local" => Ok(Bubble::Local),
        "global" => Ok(Bubble::Global),
        other => {
            let message = format!("unknown bubble `{other}`; there are local and global");
            Err(Fault::new(message).near(other, &["local", "global"]))
        }
    }
}

/// True if only its lanes keep a routing from deadlock.
const fn needs_lanes(algorithm: Algorithm) -> bool {
    use Algorithm::{Dal, DimensionAdaptive, O1Turn, Romm};
    matches!(algorithm, O1Turn | Romm | Dal | DimensionAdaptive)
}

/// Reads the options of a comparison of queues, `factor=2,offset=30` or `factor=hops`, and that of
/// ugal-l, `via=switch`.
fn by_queues(algorithm: Algorithm, options: &str) -> Result<Routing, Fault> {
    let mut routing = Routing::from(algorithm);
    let bias = &mut routing.bias;
    for option in options.split(',') {
        let number = |text: &str| {
            let wrong = || Fault::new(format!("{option}: expected a whole number from 0"));
            text.parse().map_err(|_| wrong())
        };
        match option.split_once('=') {
            Some(("factor", "hops")) => bias.weights = Weights::Hops,
            Some(("factor", text)) => bias.weights = Weights::Factor(number(text)?),
            Some(("offset", text)) => bias.offset = number(text)?,
            Some(("via", "switch")) if algorithm == Algorithm::UgalL => routing.by_switch = true,
            _ => {
                let known = ["factor", "offset", "via"];
                let message = format!(
                    "unknown option `{option}` of {}; there are factor, offset and, for ugal-l, \
                     via=switch",
                    algorithm.name()
                );
                let key = option.split('=').next().unwrap_or_default();
                return Err(Fault::new(message).near(key, &known));
            }
        }
    }
    Ok(routing)
}
