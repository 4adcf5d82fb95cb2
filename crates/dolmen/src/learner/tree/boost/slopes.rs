//! What boosting descends along: gradients and curvatures of blocks of rows, and their totals.

use super::loss::Loss;

/// Rows whose gradients are one piece of work.
pub(super) const BLOCK: usize = 4096;

/// What is to be predicted. Losses see numbers; classes become such block by block.
#[derive(Clone, Copy)]
pub(super) enum Targets<'a> {
    Numbers(&'a [f64]),
    Classes(&'a [u32]),
}

impl<'a> Targets<'a> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Classes(codes) => codes.len(),
        }
    }

    pub(super) fn at(self, row: u32) -> f64 {
        match self {
            Self::Numbers(numbers) => numbers[row as usize],
            Self::Classes(codes) => f64::from(codes[row as usize]),
        }
    }

    /// The targets of the `count` rows of a block.
    pub(super) fn block<'r>(self, block: usize, count: usize, room: &'r mut Vec<f64>) -> &'r [f64]
    where
        'a: 'r,
    {
        let rows = block * BLOCK..block * BLOCK + count;
        match self {
            Self::Numbers(numbers) => &numbers[rows],
            Self::Classes(codes) => {
                room.clear();
                room.extend(codes[rows].iter().map(|&code| f64::from(code)));
                room
            }
        }
    }
}

/// Room for the slopes of a block of rows with one score each.
#[derive(Default)]
pub(super) struct Room {
    targets: Vec<f64>,
    gradients: Vec<f64>,
    curvatures: Vec<f64>,
}

impl Room {
    /// Gradients and curvatures of a block with these scores.
    pub(super) fn slopes(
        &mut self,
        loss: &dyn Loss,
        targets: Targets<'_>,
        block: usize,
        scores: &[f64],
    ) -> (&[f64], &[f64]) {
        let Self { targets: room, gradients, curvatures } = self;
        gradients.resize(scores.len(), 0.0);
        curvatures.resize(scores.len(), 0.0);
        loss.gradients(targets.block(block, scores.len(), room), scores, gradients, curvatures);
        (gradients, curvatures)
    }
}

/// Totals of the gradients of one output.
#[derive(Clone, Copy, Default)]
pub(super) struct Totals {
    pub(super) gradients: f64,
    pub(super) curvatures: f64,
    pub(super) largest: f64,
}

impl Totals {
    /// Those of a block of rows, for each output.
    pub(super) fn of_block(
        block: usize,
        gradients: &[f64],
        curvatures: &[f64],
        outputs: usize,
        weights: Option<&[f64]>,
    ) -> Vec<Self> {
        let mut totals = vec![Self::default(); outputs];
        for (at, (g, h)) in gradients.iter().zip(curvatures).enumerate() {
            let weight = weights.map_or(1.0, |w| w[block * BLOCK + at / outputs]);
            totals[at % outputs].add(g.abs(), *h, weight);
        }
        totals
    }

    fn add(&mut self, gradient: f64, curvature: f64, weight: f64) {
        self.gradients += weight * gradient;
        self.curvatures += weight * curvature;
        self.largest = self.largest.max(gradient);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.gradients += other.gradients;
        self.curvatures += other.curvatures;
        self.largest = self.largest.max(other.largest);
    }
}
