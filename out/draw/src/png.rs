//! Drawings as pixels.
//!
//! Text is set in DejaVu Sans, which a crate holds, so that a drawing has the same pixels on every
//! machine. Only a character that it lacks makes the fonts of the machine be read.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{FontResolver, Options, Tree},
};

/// Pixels for each unit of length of the drawing.
const SCALE: f32 = 2.0;
/// The most pixels of a side. A larger drawing gets fewer for each unit.
const LONGEST: f32 = 8192.0;

/// The reason why a drawing does not become pixels.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// No font has a character of its text.
    #[error("no font on this machine has `{0}`, which its text needs")]
    Character(char),
    /// The drawing cannot be read.
    #[error("{0}")]
    Drawing(#[from] resvg::usvg::Error),
    /// The drawing has no extent, or more pixels than there is memory for.
    #[error("{0} by {1} units cannot be drawn")]
    Size(f32, f32),
    /// The pixels cannot be written as PNG.
    #[error("{0}")]
    Encoding(String),
}

/// Returns a drawing of this crate, which is SVG, as PNG.
///
/// # Errors
/// If no font has one of its characters, or the text is no SVG.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let missing = Mutex::new(BTreeSet::new());
    let tree = {
        let mut options = Options { font_resolver: resolver(&missing), ..Options::default() };
        let fonts = options.fontdb_mut();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Tree::from_str(svg, &options)?
    };
    if let Some(&character) = missing.into_inner().unwrap_or_else(PoisonError::into_inner).first() {
        return Err(PngError::Character(character));
    }
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = SCALE.min(LONGEST / width.max(height));
    #[expect(clippy::cast_sign_loss, reason = "1 or more")]
    let side = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let mut pixels = Pixmap::new(side(width), side(height)).ok_or(PngError::Size(width, height))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

/// Looks for fonts among those of the crate, then also among those of the machine, and notes the
/// characters that none of them has.
fn resolver(missing: &Mutex<BTreeSet<char>>) -> FontResolver<'_> {
    let search = FontResolver::default_fallback_selector();
    FontResolver {
        select_font: FontResolver::default_font_selector(),
        select_fallback: Box::new(move |character, used, fonts| {
            let mut found = search(character, used, fonts);
            if found.is_none() && fonts.len() == 1 {
                Arc::make_mut(fonts).load_system_fonts();
                found = search(character, used, fonts);
            }
            if found.is_none() {
                missing.lock().unwrap_or_else(PoisonError::into_inner).insert(character);
            }
            found
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::document;

    /// Returns width, height and the number of pixels that are not white.
    fn inked(text: &str) -> (u32, u32, usize) {
        let content = format!("<text x=\"5\" y=\"20\" font-size=\"12\">{text}</text>");
        let bytes = png(&document((120.0, 30.0), "", "", &content)).expect("a drawing");
        let pixels = Pixmap::decode_png(&bytes).expect("PNG");
        let ink = pixels.pixels().iter().filter(|pixel| pixel.red() < 128).count();
        (pixels.width(), pixels.height(), ink)
    }

    /// Text is there in each script of the fonts, at two pixels for each unit.
    #[test]
    fn text_is_drawn() {
        assert_eq!(inked(""), (240, 60, 0));
        for text in ["makespan, us", "λμΣ", "время"] {
            // A letter of 12 units has strokes of about 2 by 12 pixels.
            assert!(inked(text).2 > 24 * text.chars().count(), "{text}: {:?}", inked(text));
        }
        assert_ne!(inked("m"), inked("i"));
    }

    /// A character that no font can have, as Unicode gives it no meaning, is an error.
    #[test]
    fn text_that_would_be_missing_is_refused() {
        let error = png(&document((9.0, 9.0), "", "", "<text y=\"9\">a\u{10fffd}</text>"));
        assert!(matches!(error, Err(PngError::Character('\u{10fffd}'))), "{error:?}");
    }
}
