//! `heddle check`, `heddle gen` and `heddle convert`.

use std::{
    fs::{self, File},
    io::{self, BufWriter, IsTerminal, Read, Write},
    path::Path,
};

use experiment::{Failure, Generated, Request};
use results::Temporary;
use schedule::{
    Program,
    goal::{self, Form, Reading, Severity},
};

use crate::{
    arguments::{Check, Convert, Generate, TraceFormat},
    exit::{Ending, Exit, complain, print, written},
    stop,
};

/// The name of standard input and output.
const STANDARD: &str = "-";

/// Reports everything that is wrong or odd about a GOAL file.
pub fn check(arguments: &Check) -> Result<(), Ending> {
    let name = &arguments.file;
    let bytes = contents(name)?;
    let report = if Form::of(&bytes) == Some(Form::Text) {
        goal::check_text(&bytes)
    } else {
        let reading = goal::read_bytes(bytes).map_err(|error| wrong(name, error))?;
        goal::Report { findings: goal::check(&reading.image), ..goal::Report::default() }
    };
    let mut counts = [0_u64; 3];
    for diagnostic in &report.diagnostics {
        counts[diagnostic.severity as usize] += 1;
        complain(&diagnostic.render(name));
    }
    for finding in &report.findings {
        counts[finding.rule.severity() as usize] += 1;
        complain(&format!("{name}: {finding}"));
    }
    let count = |severity: Severity| match counts[severity as usize] {
        1 => format!("1 {severity}"),
        count => format!("{count} {severity}s"),
    };
    let counts = [Severity::Error, Severity::Warning, Severity::Note].map(count);
    print(&format!("{name}: {}\n", counts.join(", ")))?;
    if counts[0].starts_with("0 ") { Ok(()) } else { Err(Ending::silent(Exit::Input)) }
}

/// Writes a pattern or a collective as a GOAL file.
pub fn generate(arguments: &Generate) -> Result<(), Ending> {
    let name = &arguments.pattern;
    let is_full = ["pattern:", "collective:"].iter().any(|prefix| name.starts_with(prefix));
    if !is_full && name.contains(['.', '/']) {
        let message = format!(
            "error: {name}: this is no pattern\n\
             \x20 help: heddle gen takes the name of a pattern, pattern:NAME or collective:NAME; \
             heddle convert takes files"
        );
        return Err(Ending::new(Exit::Usage, message));
    }
    let request = Request {
        subject: Some(if is_full { name.clone() } else { format!("pattern:{name}") }),
        set: arguments.set.clone(),
        flags: arguments.flags.0.clone(),
        ..Request::default()
    };
    let form = form_of(&arguments.output).unwrap_or(Form::Text);
    match experiment::generated(&request)? {
        Generated::Pattern(pattern) => write(&pattern, &arguments.output, form),
        Generated::Collective(collective) => write(&collective, &arguments.output, form),
    }
}

/// Converts a GOAL file from one form to the other, or traces to either.
pub fn convert(arguments: &Convert) -> Result<(), Ending> {
    let request = Request {
        subject: Some(arguments.input.clone()),
        set: arguments.set.clone(),
        ..Request::default()
    };
    apart(Path::new(&arguments.input), Path::new(&arguments.output))?;
    if let Some(form) = arguments.format {
        return rewrite(arguments, form);
    }
    if let Some(compiled) = experiment::compiled_traces(&request)? {
        compiled.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
        let form = form_of(&arguments.output).unwrap_or(Form::Text);
        write(&compiled.image, &arguments.output, form)?;
        complain(
            "note: its unit of time is the picosecond: heddle run --set workload.time-unit=ps",
        );
        return Ok(());
    }
    if !arguments.set.is_empty() {
        let message = "error: --set says how traces become a schedule; the input is no traces";
        return Err(Ending::new(Exit::Usage, message));
    }
    let Reading { image, form, warnings } = read(&arguments.input)?;
    for warning in &warnings {
        complain(&warning.render(&arguments.input));
    }
    let other = match form {
        Form::Text => Form::Binary,
        Form::Binary => Form::Text,
    };
    write(&image, &arguments.output, form_of(&arguments.output).unwrap_or(other))
}

/// Writes traces in a form of text. The folder appears when it is complete.
fn rewrite(arguments: &Convert, form: TraceFormat) -> Result<(), Ending> {
    let folder = Path::new(&arguments.output);
    if folder.exists() {
        let message = format!("error: {} exists already; name a new folder", folder.display());
        return Err(Ending::new(Exit::Output, message));
    }
    let request = Request {
        subject: Some(arguments.input.clone()),
        set: arguments.set.clone(),
        ..Request::default()
    };
    let name = folder.display().to_string();
    stop::watch(|| {});
    let partial = match Temporary::folder(folder) {
        Ok(partial) => partial,
        Err(error) => return written(Err(error), &name),
    };
    let form = match form {
        TraceFormat::Allprof => experiment::TraceForm::Allprof,
        TraceFormat::Ti => experiment::TraceForm::Independent,
    };
    let warnings = experiment::rewritten_traces(&request, form, partial.path(), folder)?;
    for warning in &warnings {
        complain(&format!("warning: {warning}"));
    }
    written(results::hold().rename(&partial, folder), &name)
}

/// The form that a file's name asks for; none for standard output.
fn form_of(name: &str) -> Option<Form> {
    let extension = Path::new(name).extension();
    let binary = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("bin"));
    (name != STANDARD).then_some(if binary { Form::Binary } else { Form::Text })
}

fn read(name: &str) -> Result<Reading, Ending> {
    let reading = match name {
        STANDARD => goal::read_bytes(contents(name)?),
        _ => goal::read(Path::new(name)),
    };
    reading.map_err(|error| wrong(name, error))
}

/// Returns the contents of a file, or of standard input.
pub fn contents(name: &str) -> Result<Vec<u8>, Ending> {
    let result = match name {
        STANDARD => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        _ => units::text::bytes(Path::new(name)),
    };
    result.map_err(|error| wrong(name, error.into()))
}

fn wrong(name: &str, error: goal::ReadError) -> Ending {
    let name = if name == STANDARD { "standard input" } else { name };
    Failure::Input(experiment::goal_errors(name, error)).into()
}

fn write(program: &impl Program, name: &str, form: Form) -> Result<(), Ending> {
    if name != STANDARD {
        return to_file(Path::new(name), |out| write_form(program, form, out));
    }
    let stdout = io::stdout();
    if form == Form::Binary && stdout.is_terminal() {
        let message = "error: the binary form is not for terminals; give a file instead of `-`";
        return Err(Ending::new(Exit::Usage, message));
    }
    let mut out = BufWriter::new(stdout.lock());
    written(write_form(program, form, &mut out), "standard output")
}

fn write_form(program: &impl Program, form: Form, out: &mut impl Write) -> io::Result<()> {
    match form {
        Form::Text => goal::write_text(program, out),
        Form::Binary => goal::write_binary(program, out),
    }
}

/// Says whether a file is written as PNG, by the end of its name.
fn is_png(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"))
}

/// Returns the name of a file that a drawing can be written to: one in `.png`, or for SVG one in
/// `.svg` or in nothing.
pub fn drawing(name: &str) -> Result<String, String> {
    let path = Path::new(name);
    if let Some(folder) = path.parent().filter(|folder| *folder != "" && !folder.is_dir()) {
        return Err(format!("there is no folder {}", folder.display()));
    }
    match path.extension() {
        Some(other) if !is_png(path) && !other.eq_ignore_ascii_case("svg") => Err(format!(
            "drawings are SVG or PNG, found a name in .{}: end it in .svg or .png",
            other.display()
        )),
        _ => Ok(name.to_owned()),
    }
}

/// Writes a drawing, which is SVG, in the form that the name of the file tells.
pub fn write_drawing(path: &Path, svg: &str) -> Result<(), Ending> {
    if !is_png(path) {
        return to_file(path, |out| out.write_all(svg.as_bytes()));
    }
    let pixels = draw::png(svg).map_err(|error| {
        let help = "a name in .svg writes a drawing that needs no fonts";
        let message = format!("error: {}: {error}\n  help: {help}", path.display());
        Ending::new(Exit::Output, message)
    })?;
    to_file(path, |out| out.write_all(&pixels))
}

/// Refuses to replace files that cannot be made again from what the command reads, such as those of
/// a measurement, unless that is asked for.
pub fn keep_existing(paths: &[&Path], force: bool) -> Result<(), Ending> {
    // Devices and pipes hold nothing that would be lost.
    let found = paths.iter().filter(|path| path.is_file());
    let names: Vec<_> = found.map(|path| path.display().to_string()).collect();
    if force || names.is_empty() {
        return Ok(());
    }
    let (exist, them) = if names.len() == 1 { ("exists", "it") } else { ("exist", "them") };
    let names = names.join(", ");
    let message = format!("error: {names} {exist} already\n  help: --force replaces {them}");
    Err(Ending::new(Exit::Output, message))
}

/// Refuses to write a file over the one that the command reads.
pub fn apart(input: &Path, output: &Path) -> Result<(), Ending> {
    let [read, written] = [input, output].map(|path| fs::canonicalize(path).ok());
    if read.is_none() || read != written || !input.is_file() {
        return Ok(());
    }
    let name = output.display();
    let message = format!("error: {name}: this is the file that is read; name another one");
    Err(Ending::new(Exit::Usage, message))
}

/// Writes a file under a temporary name and gives it its own once it is complete. What is not a
/// regular file, such as a pipe, is written to directly.
pub fn to_file(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Ending> {
    let name = path.display().to_string();
    let fill = |file: File| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        content(&mut out)?;
        out.flush()
    };
    if path.metadata().is_ok_and(|data| !data.is_file()) {
        return written(File::create(path).and_then(fill), &name);
    }
    stop::watch(|| {});
    let result = Temporary::file(path).and_then(|(temporary, file)| {
        fill(file)?;
        results::hold().rename(&temporary, path)
    });
    written(result, &name)
}
