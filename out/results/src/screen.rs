//! The place where texts for people are shown: its width, its colours and its characters.

use std::{borrow::Cow, env, ffi::OsString, sync::LazyLock};

/// A terminal, or what stands in for one.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Width in columns.
    pub width: u16,
    /// Draws in colour.
    pub colour: bool,
    /// Draws with characters beyond ASCII.
    pub unicode: bool,
}

/// The variables that say the locale of characters, in their order of precedence (POSIX.1-2017,
/// Base Definitions, 8.2).
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Says whether the locale's characters are UTF-8, as the environment of the process names it.
pub fn shows_unicode() -> bool {
    static UNICODE: LazyLock<bool> = LazyLock::new(|| is_unicode(|name| env::var_os(name)));
    *UNICODE
}

/// Says whether a locale has UTF-8. One that is named has it if its name says so, as in
/// `en_GB.UTF-8`; where none is, as in containers, terminals have it all the same.
fn is_unicode(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let named = VARIABLES.iter().filter_map(|name| variable(name)).find(|name| !name.is_empty());
    let Some(name) = named else { return true };
    name.to_string_lossy().to_lowercase().replace('-', "").contains("utf8")
}

/// Returns a text with three dots for each ellipsis, where characters are not UTF-8.
pub fn shown(text: &str) -> Cow<'_, str> {
    if shows_unicode() || !text.contains('…') {
        return Cow::Borrowed(text);
    }
    text.replace('…', "...").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_locale() {
        let is = |all: &str, characters: &str, language: &str| {
            let values = [all, characters, language];
            is_unicode(|name| {
                let place = VARIABLES.iter().position(|known| *known == name)?;
                Some(values[place].into())
            })
        };
        assert!(is("", "", "en_GB.UTF-8") && is("C.utf8", "C", "C") && is("", "UTF-8", "POSIX"));
        assert!(!is("C", "en_GB.UTF-8", "en_GB.UTF-8") && !is("", "POSIX", "en_GB.UTF-8"));
        assert!(!is("", "", "C") && !is("", "", "de_DE") && !is("", "", "de_DE.ISO-8859-1@euro"));
        assert!(is("", "", "") && is_unicode(|_| None));
    }
}
