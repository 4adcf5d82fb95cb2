//! PNG from the same SVG, by resvg. Letters come from a subset of DejaVu Sans that is built in, so that a picture looks alike
//! on every machine; texts with other signs take them from the fonts of the system, from one as bold if there is any. What none of these
//! has would vanish from the picture, and "模型3" become "3": a stand-in is drawn in its place.

use std::sync::{Arc, OnceLock};

use dolmen::error::{Error, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, FaceInfo, Family, ID, Query};
use resvg::usvg::{FallbackSelectionFn, FontResolver, Options, Tree};

use crate::draw::STYLE;

const FONTS: [&[u8]; 2] = [
    include_bytes!("../assets/DejaVuSans-subset.ttf"),
    include_bytes!("../assets/DejaVuSans-Bold-subset.ttf"),
];
/// Pixels that a picture may have: 64 million.
const MOST_PIXELS: f64 = 64e6;
/// What is drawn in the place of a sign that no font has.
const STAND_IN: &str = "?";

/// A picture made by [`draw`](crate::draw) as PNG; `scale` is the pixels for each unit of the SVG: 2 is sharp on most screens. Signs
/// that [no font has](signs_without_font) are drawn as question marks.
pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>> {
    let unusable = |e: &dyn std::fmt::Display| Error::param("picture", "an SVG of this program", e);
    // Variables and queries of media are for browsers; the plain attributes say the same.
    let mut plain = without_style(svg);
    for sign in signs_without_font(&plain) {
        plain = plain.replace(sign, STAND_IN);
    }
    let options = Options {
        font_family: "DejaVu Sans".into(),
        fontdb: fonts(!plain.chars().all(is_built_in)),
        font_resolver: FontResolver { select_fallback: another_font(), ..FontResolver::default() },
        ..Options::default()
    };
    let tree = Tree::from_str(&plain, &options).map_err(|e| unusable(&e))?;
    let size = tree.size();
    let (width, height) = (f64::from(size.width()) * scale, f64::from(size.height()) * scale);
    if !(width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS) {
        return Err(Error::param("scale", "one that gives 1 to 64 million pixels", scale));
    }
    let mut pixels = Pixmap::new(width.round() as u32, height.round() as u32)
        .ok_or_else(|| Error::param("scale", "one that gives 1 to 64 million pixels", scale))?;
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| unusable(&e))
}

/// The signs in the texts of a picture that neither the built-in font nor one of the system's has, each once: [`png`] draws a
/// stand-in for them.
pub fn signs_without_font(svg: &str) -> Vec<char> {
    let mut unknown: Vec<char> = svg.chars().filter(|sign| !is_built_in(*sign)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    // Signs that are never seen are nothing to be missed.
    unknown.retain(|sign| !is_unseen(*sign));
    if unknown.is_empty() {
        return unknown;
    }
    let mut database = fonts(true);
    let families = [Family::Name("DejaVu Sans")];
    let Some(base) = database.query(&Query { families: &families, ..Query::default() }) else {
        return unknown;
    };
    // The same choice as when the text is drawn.
    let font_with = another_font();
    unknown.retain(|sign| font_with(*sign, &[base], &mut database).is_none());
    unknown
}

/// Which font has a sign that a text's own one lacks: one with the same slant that is as bold, or else one with the same slant, or else
/// any. The whole text is drawn in it, so that a plain name among others would be bold, and a title not.
fn another_font() -> FallbackSelectionFn<'static> {
    let any = FontResolver::default_fallback_selector();
    Box::new(move |sign, without, database| {
        let base = database.face(*without.first()?)?;
        let (style, weight) = (base.style, base.weight);
        let is_like: [&dyn Fn(&FaceInfo) -> bool; 3] = [
            &|face| face.style == style && face.weight == weight,
            &|face| face.style == style,
            &|_| true,
        ];
        is_like.iter().find_map(|is_like| {
            let others = database.faces().filter(|face| !is_like(face)).map(|face| face.id);
            let without: Vec<ID> = without.iter().copied().chain(others).collect();
            any(sign, &without, database)
        })
    })
}

/// Whether a sign only steers how its neighbours are written: joiners, directions, variants, marks of byte order.
fn is_unseen(sign: char) -> bool {
    matches!(sign, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

fn without_style(svg: &str) -> String {
    match (svg.find(STYLE), svg.find("</style>")) {
        (Some(from), Some(to)) if from < to => [&svg[..from], &svg[to + 8..]].concat(),
        _ => svg.into(),
    }
}

/// Whether the built-in font has a sign.
fn is_built_in(sign: char) -> bool {
    matches!(sign, ' '..='~' | '\n' | '\u{A0}'..='\u{17F}' | '\u{370}'..='\u{3FF}' | '\u{400}'..='\u{45F}')
        || "‐‑‒–—―‘’‚“”„•…‰′″€←↑→↓−√∞≈≠≤≥●".contains(sign)
}

fn fonts(with_system: bool) -> Arc<Database> {
    static BUILT_IN: OnceLock<Arc<Database>> = OnceLock::new();
    static ALL: OnceLock<Arc<Database>> = OnceLock::new();
    let load = || {
        let mut database = Database::new();
        FONTS.iter().for_each(|font| database.load_font_data(font.to_vec()));
        database.set_sans_serif_family("DejaVu Sans");
        database
    };
    let all = || {
        let mut database = load();
        database.load_system_fonts();
        Arc::new(database)
    };
    if with_system {
        Arc::clone(ALL.get_or_init(all))
    } else {
        Arc::clone(BUILT_IN.get_or_init(|| Arc::new(load())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_the_size_that_is_asked_for_and_ink_on_them() {
        let svg = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 30" width="60" height="30"><style>.f-ink{fill:var(--ink)}</style><rect width="60" height="30" fill="#ffffff"/><text x="2" y="20" font-size="14" class="f-ink" fill="#000000" font-family="system-ui,'DejaVu Sans'">Hm−</text></svg>"##;
        let bytes = png(svg, 2.0).unwrap();
        let pixels = Pixmap::decode_png(&bytes).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (120, 60));
        let dark = pixels.pixels().iter().filter(|pixel| pixel.red() < 100).count();
        assert!((100..3000).contains(&dark), "{dark} dark pixels");
        assert!(signs_without_font(svg).is_empty());
        assert!(png("<svg", 1.0).is_err() && png(svg, 1e9).is_err() && png(svg, f64::NAN).is_err());
    }
    #[test]
    fn signs_that_no_font_has_are_told_and_leave_a_mark() {
        let picture = |text: &str| {
            format!(
                r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 30" width="60" height="30"><rect width="60" height="30" fill="#ffffff"/><text x="2" y="20" font-size="14" fill="#000000" font-family="'DejaVu Sans'">{text}</text></svg>"##
            )
        };
        // Signs for private use, which mean nothing to anybody, and one that joins what stands beside it.
        let unknown = picture("\u{10FFFA}3\u{10FFF0}\u{200D}\u{10FFFA}");
        assert_eq!(signs_without_font(&unknown), ['\u{10FFF0}', '\u{10FFFA}']);
        let pixels = |svg: &str| Pixmap::decode_png(&png(svg, 2.0).unwrap()).unwrap();
        let ink = |svg: &str| pixels(svg).pixels().iter().filter(|p| p.red() < 100).count();
        assert!(ink(&unknown) > 2 * ink(&picture("3")), "{} dark pixels", ink(&unknown));
    }

    #[test]
    fn the_built_in_fonts_have_what_is_said_of_them() {
        let mut database = fonts(false);
        let regular = database.faces().next().unwrap().id;
        let bold = database.faces().nth(1).unwrap().id;
        let font_with = another_font();
        for sign in "aZ09~é÷ŽΩжЯ−∞…≤●€→√".chars() {
            assert!(is_built_in(sign), "{sign}");
            // Without one of both it is in the other.
            for (without, other) in [(regular, bold), (bold, regular)] {
                assert_eq!(font_with(sign, &[without], &mut database), Some(other), "{sign}");
            }
        }
    }

    /// A system that has the same letters bold before it has them plain.
    #[test]
    fn a_font_that_is_as_bold_is_chosen_before_others() {
        let mut database = Database::new();
        for font in [FONTS[1], FONTS[0], FONTS[0], FONTS[1]] {
            database.load_font_data(font.to_vec());
        }
        let ids: Vec<ID> = database.faces().map(|face| face.id).collect();
        let (mut database, font_with) = (Arc::new(database), another_font());
        assert_eq!(font_with('a', &[ids[1]], &mut database), Some(ids[2]));
        assert_eq!(font_with('a', &[ids[0]], &mut database), Some(ids[3]));
        assert_eq!(font_with('a', &[ids[1], ids[2]], &mut database), Some(ids[0]));
    }
}
