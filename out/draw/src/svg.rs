//! The frame of a drawing, text that is safe inside it, and its colours.

/// Colours that people with colour blindness can tell apart (Okabe and Ito, 2008), and after them
/// darker ones (P. Tol, 2021).
const PALETTE: [&str; 12] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#332288", "#882255",
    "#999933", "#555555", "#44aa99", "#aa4499",
];

/// The colours of the palette, over and over.
pub fn palette() -> impl Iterator<Item = &'static str> {
    PALETTE.iter().copied().cycle()
}

/// Wraps `content` into an SVG document on a white ground. `style` holds attributes that apply to
/// all of it, and starts with a blank unless it is empty. `title` comes before the ground.
pub fn document((width, height): (f64, f64), style: &str, title: &str, content: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\"{style}>\n{title}<rect width=\"100%\" height=\"100%\" \
         fill=\"#fff\"/>\n{content}</svg>\n"
    )
}

/// Returns the room that a text of this size needs: 0.64 of it for each character, which is the
/// width of a digit of `DejaVu` Sans, wider than the mean of words. Viewers take other fonts, too,
/// of which few are as wide.
pub fn room_for(text: &str, size: f64) -> f64 {
    0.64 * size * text.chars().count() as f64
}

/// Returns the content of a text element of this font size that has so much room. A text that needs
/// more loses its middle, and the element has the whole text as its title.
pub fn fitted(text: &str, size: f64, room: f64) -> String {
    if room_for(text, size) <= room {
        return escaped(text);
    }
    #[allow(clippy::cast_sign_loss, reason = "at least 3")]
    let kept = (room / room_for("…", size)).floor().max(3.0) as usize - 1;
    let end = text.chars().count().saturating_sub(kept / 2);
    let before: String = text.chars().take(kept - kept / 2).collect();
    let behind: String = text.chars().skip(end).collect();
    format!("<title>{}</title>{}…{}", escaped(text), escaped(&before), escaped(&behind))
}

/// Replaces the characters that mean something to XML, and those that it does not allow.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\t' | '\n' => safe.push(' '),
            _ if character.is_control() => safe.push(char::REPLACEMENT_CHARACTER),
            _ => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    /// XML 1.0 forbids control characters, even as references (section 2.2).
    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("<a b=\"c\">&\u{1b}[0m"), "&lt;a b=&quot;c&quot;&gt;&amp;\u{fffd}[0m");
    }

    /// A character of size 10 takes 6.4: ten fit into 64, of which the ellipsis is one, five stand
    /// before it and four behind it.
    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(fitted("0123456789", 10.0, 64.0), "0123456789");
        let whole = "<title>0123456789a</title>";
        assert_eq!(fitted("0123456789a", 10.0, 64.0), format!("{whole}01234…789a"));
        assert_eq!(fitted("abcd", 10.0, 0.0), "<title>abcd</title>a…d");
    }
}
