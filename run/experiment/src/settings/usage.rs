//! The check that every setting that was given is used, by the scopes of the keys.

use super::{
    configuration::Configuration,
    diagnostic::Diagnostic,
    keys::{self, Id},
    scope::{Model, Scope, Workload},
    toml_file::CLASS,
};

/// Mistakes for the settings that were given for this run and that its workload or its model does
/// not use.
pub(crate) fn mistakes(configuration: &Configuration, workload: Workload) -> Vec<Diagnostic> {
    let model = configuration.model();
    let said = Id::all().filter(|id| configuration.is_said_of_run(*id));
    said.filter_map(|id| {
        let scope = id.key().scope;
        let (message, help) = if !scope.has_workload(workload) {
            not_of_workload(id, workload)
        } else if !is_used(configuration, id, model) {
            not_of_model(id, model)
        } else {
            return None;
        };
        Some(configuration.mistake(id, message).help(help))
    })
    .collect()
}

/// A remark on the settings of a machine that the model does not use, since a machine file may
/// serve several models.
pub(crate) fn remark(configuration: &Configuration) -> Option<String> {
    let model = configuration.model();
    let unused = Id::all().filter(|id| {
        let described = configuration.is_of_machine(*id) || configuration.is_from_manifest(*id);
        !is_used(configuration, *id, model) && described && configuration.is_said(*id)
    });
    let rails = configuration.rails.iter().filter(|_| model != Model::Rails);
    let rails = rails.map(|rail| format!("rail.{}", rail.name));
    let classes = configuration.classes.iter().filter(|_| model != Model::Loggops);
    let classes = classes.map(|class| format!("{CLASS}.{}", class.name));
    let unused = unused.map(|id| id.key().name.to_owned());
    let names: Vec<_> = unused.chain(rails).chain(classes).collect();
    let unused = (!names.is_empty()).then(|| names.join(", "))?;
    let topology = keys::network::TOPOLOGY.name();
    let is_passed_over = model == Model::Loggops && names.iter().any(|name| name == topology);
    let others = if is_passed_over { "; --network takes the topology" } else { "" };
    let model = model.name();
    Some(format!("settings of the machine for other models than {model}: {unused}{others}"))
}

/// Returns whether a model uses a key.
pub(crate) fn is_used(configuration: &Configuration, id: Id, model: Model) -> bool {
    let scope = id.key().scope;
    let is_of_rail = model == Model::Rails && is_of_rail(configuration, id);
    scope.has_model(model) || is_of_wire(model, scope) || is_of_rail
}

/// Returns whether a key describes the network, which is a rail; the rail checks it.
fn is_of_rail(configuration: &Configuration, id: Id) -> bool {
    configuration.has_network_rail() && id.is_of_rail()
}

/// Returns whether the model is LogGOPSim's and the key belongs to LogGOPS; `loggopsim::resolve`
/// checks those keys.
fn is_of_wire(model: Model, scope: Scope) -> bool {
    model == Model::Loggopsim && scope.has_model(Model::Loggops)
}

pub(crate) fn not_of_workload(id: Id, workload: Workload) -> (String, String) {
    let key = id.key();
    let users = listed(key.scope.workloads().map(Workload::name), "or");
    let message = format!("`{}` is not used by this workload", key.name);
    (message, format!("the workload is {}; the setting belongs to {users}", workload.name()))
}

pub(crate) fn not_of_model(id: Id, model: Model) -> (String, String) {
    let key = id.key();
    let message = format!("`{}` is not used by the model {}", key.name, model.name());
    let users = key.scope.models().filter(|model| *model != Model::Loggopsim);
    (message, format!("leave it out, or set {}", listed(users.map(Model::choice), "or")))
}

/// Items in a row, the last behind a word.
fn listed<'a>(items: impl Iterator<Item = &'a str>, word: &str) -> String {
    let items: Vec<_> = items.collect();
    match items.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} {word} {last}", rest.join(", ")),
        None => String::new(),
    }
}
