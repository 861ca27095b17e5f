//! Settings from files, `--set` and flags: what is accepted, where it comes from.

use experiment::{Configuration, Request};

fn printed(request: &Request) -> String {
    Configuration::read(request).expect("no mistakes").to_string()
}

#[test]
fn show() {
    println!(
        "{}",
        printed(&Request {
            subject: Some("pattern:gather".into()),
            set: vec!["loggops.o-send=1us".into(), "workload.time-unit=ps".into()],
            flags: vec![("run.threads", "2".into())]
        })
    );
    let text = r#"
[workload]
source = "app.goal"
ranks = "8"
[loggops]
L = 2500
lo = "2 ns"
G = "100 Gbs"
o = 2500 ns
[run]
thread = 2
seed = -5
[protocol]
rendezvous = "rtscts"
[loggop]
threads = 1
[output]
tables = ["rank", 3]
directory = ""
timeline = true
"#;
    println!("{}", Configuration::from_text("a.toml", text).unwrap_err());
    println!(
        "{}",
        Configuration::read(&Request {
            subject: None,
            set: vec![
                "loggops.L".into(),
                "loggops.L=25".into(),
                "logops.L=25 ns".into(),
                "run.thread=2".into(),
                "L=3".into(),
                "loggops.large.x=3".into()
            ],
            flags: vec![("run.threads", "0".into()), ("workload.size", "15".into())]
        })
        .unwrap_err()
    );
}
