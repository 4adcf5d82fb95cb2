//! The nearest rows found so far.

/// A row, its squared distance and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) distance: f64,
    pub(super) row: u32,
    pub(super) weight: f64,
}

/// The nearest rows that together have the weight wanted, in order of distance; of rows equally far the first.
#[derive(Debug, Clone)]
pub(super) struct Nearest {
    wanted: f64,
    weight: f64,
    found: Vec<Found>,
}

impl Nearest {
    /// Looks for rows that together weigh `wanted`.
    pub(super) fn new(wanted: f64) -> Self {
        Self { wanted, weight: 0.0, found: Vec::new() }
    }

    /// Starts again.
    pub(super) fn clear(&mut self) {
        self.weight = 0.0;
        self.found.clear();
    }

    /// Rows farther than this do not matter.
    pub(super) fn reach(&self) -> f64 {
        match self.found.last() {
            Some(last) if self.weight >= self.wanted => last.distance,
            _ => f64::INFINITY,
        }
    }

    /// Takes a row into account, and drops what it makes superfluous.
    pub(super) fn offer(&mut self, distance: f64, row: u32, weight: f64) {
        let before = |f: &Found| f.distance < distance || (f.distance == distance && f.row < row);
        let at = self.found.iter().rposition(before).map_or(0, |last| last + 1);
        if at == self.found.len() && self.weight >= self.wanted {
            return;
        }
        self.found.insert(at, Found { distance, row, weight });
        self.weight += weight;
        while let Some(last) = self.found.last()
            && self.weight - last.weight >= self.wanted
        {
            self.weight -= last.weight;
            self.found.pop();
        }
    }

    /// The rows, nearest first.
    pub(super) fn found(&self) -> &[Found] {
        &self.found
    }
}
