//! The noise that an experiment asks for.

use std::{ops::Range, path::Path, sync::Arc};

use host::{Duration, Noise};
use units::Time;

use crate::settings::{
    configuration::Configuration,
    diagnostic::{Diagnostic, Place, Source},
    keys::{self, Id, Setting},
};

/// Keys that only random noise has.
const RANDOM: [Id; 4] = [
    keys::noise::INTERVAL.id(),
    keys::noise::DURATION.id(),
    keys::noise::DURATION_MAX.id(),
    keys::noise::DISTRIBUTION.id(),
];

/// The shortest interval of random noise. The cost of an activity grows with the number of
/// intervals that it covers, and no system interrupts a program more often.
const SHORTEST: Time = Time::from_ps(1_000_000);

/// The noise of an experiment, with its trace read.
pub(crate) fn resolve(configuration: &Configuration) -> Result<Noise, Vec<Diagnostic>> {
    let coscheduled = configuration.switch(keys::noise::COSCHEDULED);
    let random: Vec<_> = RANDOM.into_iter().filter(|id| configuration.is_said(*id)).collect();
    match (configuration.value(keys::noise::TRACE), random.first()) {
        (Some(_), Some(id)) => Err(vec![
            configuration
                .mistake(*id, format!("`{}` and `noise.trace` exclude each other", id.key().name))
                .help("noise is either recorded or random".to_owned()),
        ]),
        (Some(path), None) => {
            let events = trace(&path)?;
            Ok(Noise::Trace { events, coscheduled })
        }
        (None, Some(_)) => random_noise(configuration, coscheduled),
        (None, None) if configuration.is_said(keys::noise::COSCHEDULED) && coscheduled => {
            let message = "there is no noise that could be coscheduled";
            Err(vec![
                configuration
                    .mistake(keys::noise::COSCHEDULED, message)
                    .help("set noise.trace, or noise.interval and noise.duration".to_owned()),
            ])
        }
        (None, None) => Ok(Noise::None),
    }
}

fn random_noise(
    configuration: &Configuration,
    coscheduled: bool,
) -> Result<Noise, Vec<Diagnostic>> {
    let needed = |setting: Setting<Time>| {
        configuration.value(setting).ok_or_else(|| {
            let set = RANDOM.into_iter().find(|id| configuration.is_said(*id));
            let set = set.unwrap_or(setting.id());
            let message = format!("`{}` is of no use without `{}`", set.key().name, setting.name());
            vec![configuration.mistake(set, message)]
        })
    };
    let interval = needed(keys::noise::INTERVAL)?;
    let shortest = needed(keys::noise::DURATION)?;
    let longest = configuration.value(keys::noise::DURATION_MAX);
    let wrong = |id: Id, message: String| Err(vec![configuration.mistake(id, message)]);
    if interval < SHORTEST {
        let message = format!("an interval of {interval} is shorter than {SHORTEST}");
        let help = "every activity looks at all the intervals that it covers";
        let mistake = configuration.mistake(keys::noise::INTERVAL, message).help(help.to_owned());
        return Err(vec![mistake]);
    }
    let (duration, most) = match (configuration.word(keys::noise::DISTRIBUTION), longest) {
        ("uniform", None) => {
            let message = "the distribution `uniform` needs `noise.duration-max`".to_owned();
            return wrong(keys::noise::DISTRIBUTION.id(), message);
        }
        ("uniform", Some(longest)) if longest < shortest => {
            let message = format!("`noise.duration-max` is less than `noise.duration`, {shortest}");
            return wrong(keys::noise::DURATION_MAX.id(), message);
        }
        ("uniform", Some(longest)) => (Duration::Uniform(shortest, longest), longest),
        (_, Some(_)) => {
            let message = "only the distribution `uniform` has a greatest duration".to_owned();
            return wrong(keys::noise::DURATION_MAX.id(), message);
        }
        ("exponential", None) => (Duration::Exponential(shortest), shortest),
        (_, None) => (Duration::Fixed(shortest), shortest),
    };
    if most > interval {
        let message =
            format!("an interruption of {most} does not fit into `noise.interval`, {interval}");
        let longest =
            if longest.is_some() { keys::noise::DURATION_MAX } else { keys::noise::DURATION };
        return wrong(longest.id(), message);
    }
    Ok(Noise::Random { interval, duration, coscheduled })
}

/// Reads a noise trace in `LogGOPSim`'s format: one interruption per line, its start and its
/// duration in nanoseconds; `#` begins a comment.
fn trace(path: &Path) -> Result<Vec<(Time, Time)>, Vec<Diagnostic>> {
    let text = units::text::read(path).map_err(|error| vec![Diagnostic::unread(path, &error)])?;
    let name = path.display().to_string();
    let source = Arc::new(Source { name, text });
    let mut events: Vec<(Time, Time)> = Vec::new();
    let mut mistakes = Vec::new();
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let content = line.split('#').next().unwrap_or_default().trim_end();
        let span = start..start + content.len();
        start += line.len();
        let Some(event) = interruption(content) else {
            if !content.trim().is_empty() {
                let message = "expected the start and the duration of an interruption";
                mistakes.push(wrong_line(
                    &source,
                    span,
                    message,
                    "two whole numbers of nanoseconds",
                ));
            }
            continue;
        };
        let free = events.last().map_or(Time::ZERO, |last| last.0.saturating_add(last.1));
        if event.0 < free {
            let message = format!("this begins before the last interruption ends, at {free}");
            let help = "interruptions ascend and do not overlap";
            mistakes.push(wrong_line(&source, span, message, help));
        }
        events.push(event);
    }
    if mistakes.is_empty() && events.is_empty() {
        mistakes.push(Diagnostic::new(
            Place::File(path.to_owned()),
            "a noise trace without interruptions",
        ));
    }
    if mistakes.is_empty() { Ok(events) } else { Err(mistakes) }
}

fn wrong_line(
    source: &Arc<Source>,
    span: Range<usize>,
    message: impl Into<String>,
    help: &str,
) -> Diagnostic {
    Diagnostic::new(Place::Text(Arc::clone(source), span), message).help(help.to_owned())
}

fn interruption(line: &str) -> Option<(Time, Time)> {
    let mut fields = line.split_whitespace().map(|field| {
        let ns: u64 = field.parse().ok()?;
        ns.checked_mul(1_000).map(Time::from_ps)
    });
    let event = (fields.next()??, fields.next()??);
    fields.next().is_none().then_some(event)
}
