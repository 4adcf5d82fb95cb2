//! Colours by their part in a picture. Each has a value for light paper and one for dark, and a class by which pages set it.

use crate::Theme;

/// What something is coloured as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Colour {
    /// Text, axes of weight.
    Ink,
    /// Text beside the point, marks that stand back.
    Muted,
    /// Grid lines.
    Faint,
    /// What everything lies on.
    Paper,
    /// The stack, or the only series there is.
    First,
    /// Further series: Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
    Series(usize),
    /// What is worse.
    Worse,
    /// Dark letters on whatever paper.
    Dark,
    /// Bright letters on whatever paper.
    Bright,
}

/// Name of the class, colour on light paper, colour on dark paper.
type Values = (&'static str, &'static str, &'static str);

/// Okabe and Ito's blue, orange, green, purple, sky, vermilion and yellow, lightened for dark paper where they would be too dim.
const SERIES: [Values; 7] = [
    ("s0", "#0072b2", "#4ea8de"),
    ("s1", "#d98800", "#e69f00"),
    ("s2", "#009e73", "#2fbf93"),
    ("s3", "#b5588f", "#d98cb8"),
    ("s4", "#3f9fd0", "#7cc7ee"),
    ("s5", "#d55e00", "#f08a4b"),
    ("s6", "#a89b1c", "#e5d84a"),
];

/// How many colours series have.
pub(crate) const COLOURS: usize = SERIES.len();

impl Colour {
    const ALL: [Values; 7] = [
        ("ink", "#20262e", "#e8eaed"),
        ("muted", "#68717c", "#a2abb6"),
        ("faint", "#dfe3e8", "#39414b"),
        ("paper", "#ffffff", "#14181d"),
        ("worse", "#d55e00", "#f08a4b"),
        ("dark", "#20262e", "#14181d"),
        ("bright", "#ffffff", "#e8eaed"),
    ];

    fn values(self) -> Values {
        match self {
            Self::Ink => Self::ALL[0],
            Self::Muted => Self::ALL[1],
            Self::Faint => Self::ALL[2],
            Self::Paper => Self::ALL[3],
            Self::Worse => Self::ALL[4],
            Self::Dark => Self::ALL[5],
            Self::Bright => Self::ALL[6],
            Self::First => SERIES[0],
            Self::Series(k) => SERIES[k % SERIES.len()],
        }
    }

    /// The letters that are read most easily on this colour, as strong as this on the paper: dark or bright ones, on light paper and on dark.
    pub(crate) fn of_letters_on(self, strength: f64) -> Self {
        let is_dark_better = |on_dark: bool| {
            let value = |colour: Self| channels(colour.value(on_dark));
            let under = blended(value(self), value(Self::Paper), strength);
            contrast(under, value(Self::Dark)) >= contrast(under, value(Self::Bright))
        };
        match (is_dark_better(false), is_dark_better(true)) {
            (true, true) => Self::Dark,
            (false, false) => Self::Bright,
            (true, false) => Self::Ink,
            (false, true) => Self::Paper,
        }
    }

    fn value(self, on_dark: bool) -> &'static str {
        let (_, light, dark) = self.values();
        if on_dark { dark } else { light }
    }

    /// The attributes that paint: `fill` or `stroke`, as a class and as a plain value for programs that know no classes.
    pub(crate) fn attributes(self, what: Paint, theme: Theme) -> String {
        let ((name, ..), value) = (self.values(), self.value(theme == Theme::Dark));
        match what {
            Paint::Fill => format!(r#" class="f-{name}" fill="{value}""#),
            Paint::Both => {
                format!(r#" class="f-{name} k-{name}" fill="{value}" stroke="{value}""#)
            }
            Paint::Stroke => format!(r#" class="k-{name}" fill="none" stroke="{value}""#),
        }
    }
}

/// Red, green and blue from 0 to 1.
type Channels = [f64; 3];

/// The channels of a colour written as `#rrggbb`.
fn channels(value: &str) -> Channels {
    let channel = |k: usize| u8::from_str_radix(&value[2 * k + 1..2 * k + 3], 16).unwrap_or(0);
    [0, 1, 2].map(|k| f64::from(channel(k)) / 255.0)
}

/// A colour as strong as this on another.
fn blended(own: Channels, under: Channels, strength: f64) -> Channels {
    [0, 1, 2].map(|k| strength * own[k] + (1.0 - strength) * under[k])
}

/// The ratio of contrast of two colours, by the Web Content Accessibility Guidelines: 1 to 21.
fn contrast(a: Channels, b: Channels) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The relative luminance of a colour, by the same guidelines.
fn luminance(channels: Channels) -> f64 {
    let linear = |v: f64| if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
    let [red, green, blue] = channels.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// What is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Fill,
    Stroke,
    /// A surface and its rim.
    Both,
}

/// Rules that give every class its colour by a variable of the same name; `scope` stands before each.
pub(crate) fn class_rules(scope: &str) -> String {
    let rule = |(name, ..): &Values| {
        format!("{scope} .f-{name}{{fill:var(--{name})}}{scope} .k-{name}{{stroke:var(--{name})}}")
    };
    Colour::ALL.iter().chain(&SERIES).map(rule).collect()
}

/// The variables of light or dark paper.
pub(crate) fn variables(dark: bool) -> String {
    let variable =
        |(name, light, dim): &Values| format!("--{name}:{};", if dark { dim } else { light });
    Colour::ALL.iter().chain(&SERIES).map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_the_higher_contrast() {
        assert!((contrast(channels("#000000"), channels("#ffffff")) - 21.0).abs() < 1e-9);
        let on = |strength| Colour::Worse.of_letters_on(strength);
        assert_eq!([on(0.1), on(0.8)], [Colour::Ink, Colour::Dark], "orange is light");
        let on = |strength| Colour::First.of_letters_on(strength);
        assert_eq!([on(0.1), on(1.0)], [Colour::Ink, Colour::Paper]);
    }
}
