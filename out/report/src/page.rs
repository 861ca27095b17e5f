//! The page: a frame of HTML around the program, the document and the columns.

use std::io::{self, Write};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::blob::Blobs;

/// The program of the page, made by `make web` of the sources in `web/`.
const SCRIPT: &str = include_str!("../bundle/report.js");
/// Its style sheet.
const STYLE: &str = include_str!("../bundle/report.css");
/// The licences of the libraries in the program.
const LICENCES: &str = include_str!("../bundle/LICENCES.txt");

/// Writes the page.
pub fn write(out: &mut impl Write, document: &Value, blobs: &Blobs) -> io::Result<()> {
    let (script, style) = (hash(SCRIPT), hash(STYLE));
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src \
         '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript>{}</noscript>\n<div id=\"app\"></div>",
        escaped(&title(document)),
        escaped(&format!(
            "{}. The rest of this page is drawn by a script, which this browser does not run.",
            title(document)
        )),
    )?;
    writeln!(
        out,
        "<script type=\"application/json\" id=\"document\">{}</script>",
        script_safe(&document.to_string())
    )?;
    // The program shows what it can before the columns have arrived.
    writeln!(out, "<script>{SCRIPT}</script>")?;
    for (number, text) in blobs.texts().iter().enumerate() {
        writeln!(out, "<script type=\"text/plain\" id=\"c{number}\">{text}</script>")?;
    }
    let licences = script_safe(&json!(LICENCES).to_string());
    writeln!(out, "<script type=\"application/json\" id=\"licences\">{licences}</script>")?;
    writeln!(out, "</body>\n</html>")
}

/// The source of a script or style in a content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// The title of the page: the names of the runs, and the time of a single one.
fn title(document: &Value) -> String {
    let runs = document["runs"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<_> = runs.iter().filter_map(|run| run["name"].as_str()).collect();
    let time = match runs {
        [run] => run["summary"]["makespan_ps"].as_u64(),
        _ => None,
    };
    let time = time.map(|ps| format!(": makespan {}", units::Time::from_ps(ps)));
    format!("Heddle: {}{}", names.join(", "), time.unwrap_or_default())
}

/// JSON with which no element can end.
fn script_safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    safe
}

/// Text as an element holds it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_element() {
        let name = "</script></title></noscript><img onerror=\"alert(1)\" src=x>&'";
        let document = json!({ "runs": [{ "name": name }] });
        let mut page = Vec::new();
        write(&mut page, &document, &Blobs::default()).expect("memory");
        let page = String::from_utf8(page).expect("text");
        assert!(!page.contains("<img"), "{page}");
        // The program and the document, the licences, and nothing of the name.
        assert_eq!(page.matches("</script").count(), 3);
        let (_, rest) = page.split_once("id=\"document\">").expect("a document");
        let (text, _) = rest.split_once("</script>").expect("its end");
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), document);
    }

    #[test]
    fn policy_has_the_hashes_of_script_and_style() {
        // From FIPS 180-4's example of the message "abc".
        assert_eq!(hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }
}
