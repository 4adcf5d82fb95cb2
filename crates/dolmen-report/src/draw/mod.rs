//! The drawing layer: what pictures are made of, without knowing what they show.
//!
//! | file | holds |
//! | --- | --- |
//! | `number` | numbers as they are written |
//! | `scale` | from values to places; round values for axes |
//! | `text` | how wide texts are, and how they are cut |
//! | `colour` | colours by their part in a picture, light and dark |
//! | `canvas` | SVG elements |
//! | `frame` | a picture with two axes: heading, grid, ticks |
//! | `plot` | curves and labels on it |
//! | `key` | names with their colours beside or below it |
//! | `panels` | several pictures under one heading |
//! | `lanes` | a picture with one lane for each of several things |
//! | `lane_ends` | where the axis of lanes ends |
//! | `grid` | cells with a shade each |
//! | `thin` | lines without points that nobody sees |
//! | `contour` | lines of equal height |

mod canvas;
mod colour;
pub(crate) mod contour;
mod frame;
mod grid;
mod key;
mod lane_ends;
mod lanes;
mod number;
mod panels;
mod plot;
mod scale;
mod text;
mod thin;

pub(crate) use canvas::{Canvas, Fill, Letters, Pen, STYLE};
pub(crate) use colour::{COLOURS, Colour, class_rules, variables};
pub(crate) use frame::{ASIDE, Frame, Heading, MARGIN, SMALL, label_place, ticks_across};
pub(crate) use grid::{Grid, Shade};
pub(crate) use key::{Entry, KeyRoom, NARROW, Sign};
pub(crate) use lane_ends::{arrow_words, axis_without_the_hopeless, lane_ends};
pub(crate) use lanes::{Lane, Lanes, Mark};
pub(crate) use number::{counted, fixed, short, short_within, signed, uncertain, uncertain_gain};
pub(crate) use panels::{PANEL_HEIGHT, draw_panels, one_by_one, panel_options};
pub(crate) use plot::{Plot, apart};
pub(crate) use scale::{Scale, Ticks, extent, padded, trimmed};
pub(crate) use text::{capital, escaped, fitted, told_apart, width};
