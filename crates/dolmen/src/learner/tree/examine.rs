//! Looking for the best splits of nodes: sums of columns, by histograms that are kept or one column at a time.

use rayon::prelude::*;

use super::codes::GROUP;
use super::criterion::{Cell, Criterion, Node};
use super::grow::{Grower, Open};
use super::histogram::{CODES, Sums, add_column, add_group, subtract};
use super::search::{Candidate, Demands, Search};

/// Nodes of fewer rows keep no histograms: their rows are sorted by code instead.
const FEW_ROWS: usize = 48;

/// Rows times columns from which the work in a node is shared between threads.
const SHARED_WORK: usize = 1 << 16;

/// Nodes of more rows have their cells fetched piece by piece for every group of columns instead of once for all: they would
/// take as much memory as a column of the table.
const MANY_ROWS: usize = 1 << 18;

/// Rows in such a piece.
const PIECE: usize = 1024;

/// Bytes of histograms kept at most; nodes beyond sum theirs anew.
const KEPT_BYTES: usize = 1 << 28;

/// Memory that trees are grown in, kept from one to the next.
#[derive(Debug)]
pub struct Workspace<C> {
    histograms: Vec<Vec<Sums<C>>>,
    free: Vec<usize>,
    most: usize,
    /// The cells of a node's rows, in their order.
    ordered: Vec<C>,
    column: Vec<Sums<C>>,
    keys: Vec<u32>,
    searches: Vec<Search>,
    /// Which columns may be split on.
    allowed: Vec<bool>,
    pub(super) scratch: Vec<u32>,
}

impl<C> Default for Workspace<C> {
    fn default() -> Self {
        Self {
            histograms: Vec::new(),
            free: Vec::new(),
            most: 0,
            ordered: Vec::new(),
            column: Vec::new(),
            keys: Vec::new(),
            searches: Vec::new(),
            allowed: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

impl<C: Cell> Workspace<C> {
    /// Makes room for a tree.
    pub(super) fn prepare<K: Criterion<Cell = C>>(
        &mut self,
        grower: &Grower<'_, K>,
        columns: &[u32],
    ) {
        let (width, layers) = (grower.codes.width(), grower.criterion.layers());
        self.most = (KEPT_BYTES / (width * layers * size_of::<Sums<C>>())).max(2);
        if self.column.len() != layers
            || self.histograms.first().is_some_and(|h| h.len() != width * layers)
        {
            self.histograms.clear();
        }
        self.free = (0..self.histograms.len()).collect();
        self.column.clear();
        self.column.resize(layers, [C::default(); CODES]);
        self.searches.resize_with(width.div_ceil(GROUP), Search::default);
        self.allowed.clear();
        self.allowed.resize(width, false);
        columns.iter().for_each(|&column| self.allowed[column as usize] = true);
    }

    /// Histograms of a node that are all its own; none if there are too many already.
    fn take(&mut self, length: usize) -> Option<usize> {
        self.free.pop().or_else(|| {
            (self.histograms.len() < self.most).then(|| {
                self.histograms.push(vec![[C::default(); CODES]; length]);
                self.histograms.len() - 1
            })
        })
    }

    /// Gives histograms back.
    pub(super) fn release(&mut self, histogram: Option<usize>) {
        self.free.extend(histogram);
    }

    fn order<K: Criterion<Cell = C>>(&mut self, criterion: &K, rows: &[u32]) {
        self.ordered.clear();
        self.ordered.extend(rows.iter().map(|&row| criterion.cell(row as usize)));
    }

    /// The same where histograms are summed, which do without the cells of many rows.
    fn order_unless_many<K: Criterion<Cell = C>>(&mut self, criterion: &K, rows: &[u32]) {
        if rows.len() <= MANY_ROWS { self.order(criterion, rows) } else { self.ordered.clear() }
    }
}

/// The sums of rows, one for each layer.
pub(super) fn sum<C: Criterion>(criterion: &C, rows: &[u32]) -> Vec<C::Cell> {
    let mut sums = vec![C::Cell::default(); criterion.layers()];
    for &row in rows {
        sums[criterion.layer(row as usize)] += criterion.cell(row as usize);
    }
    sums
}

impl<C: Criterion> Grower<'_, C> {
    fn demands(&self) -> Demands {
        Demands { min_leaf: self.growth.min_leaf, exact: self.growth.exact }
    }

    fn is_worth(&self, candidate: &Candidate) -> bool {
        candidate.gain > self.growth.min_gain
    }

    /// Finds the best split of a node by itself.
    pub(super) fn examine_one(
        &self,
        open: &mut Open<C>,
        rows: &[u32],
        columns: &[u32],
        workspace: &mut Workspace<C::Cell>,
    ) {
        let rows = &rows[open.range.clone()];
        let length = self.codes.width() * self.criterion.layers();
        if rows.len() >= FEW_ROWS
            && let Some(own) = workspace.take(length)
        {
            workspace.order_unless_many(self.criterion, rows);
            let mut histogram = std::mem::take(&mut workspace.histograms[own]);
            let found =
                self.by_histograms(&mut histogram, None, [Some(&open.node), None], rows, workspace);
            workspace.histograms[own] = histogram;
            (open.histogram, open.best) = (Some(own), found[0].clone());
        } else {
            workspace.order(self.criterion, rows);
            open.best = self.by_columns(&open.node, rows, columns, workspace);
        }
        open.best = open.best.take().filter(|best| self.is_worth(best));
    }

    /// Finds the best splits of the two children of a node, of which child `small` has fewer rows.
    #[expect(clippy::too_many_arguments, reason = "the state of the growth is handed on as it is")]
    pub(super) fn examine_two(
        &self,
        parent: &Open<C>,
        children: &mut [Open<C>; 2],
        small: usize,
        open: [bool; 2],
        rows: &[u32],
        columns: &[u32],
        workspace: &mut Workspace<C::Cell>,
    ) {
        let large = 1 - small;
        let shares = open[large] && children[large].range.len() >= FEW_ROWS;
        let length = self.codes.width() * self.criterion.layers();
        if let (Some(inherited), true) = (parent.histogram, shares)
            && let Some(own) = workspace.take(length)
        {
            let few = &rows[children[small].range.clone()];
            workspace.order_unless_many(self.criterion, few);
            let mut histogram = std::mem::take(&mut workspace.histograms[own]);
            let mut from = std::mem::take(&mut workspace.histograms[inherited]);
            let nodes = [open[small].then_some(&children[small].node), Some(&children[large].node)];
            let found = self.by_histograms(&mut histogram, Some(&mut from), nodes, few, workspace);
            workspace.histograms[own] = histogram;
            workspace.histograms[inherited] = from;
            children[small].histogram = Some(own);
            children[large].histogram = Some(inherited);
            for (child, found) in [small, large].into_iter().zip(found) {
                children[child].best = found.filter(|best| self.is_worth(best));
            }
            return;
        }
        workspace.release(parent.histogram);
        for (child, open) in children.iter_mut().zip(open) {
            if open {
                self.examine_one(child, rows, columns, workspace);
            }
        }
    }

    /// Sums the rows into `histogram`, takes that off the parent's `from`, and finds the best splits of both nodes, for those
    /// that are asked for: group of columns by group, each group's sums while they are in the cache.
    fn by_histograms(
        &self,
        histogram: &mut [Sums<C::Cell>],
        from: Option<&mut [Sums<C::Cell>]>,
        nodes: [Option<&Node>; 2],
        rows: &[u32],
        workspace: &mut Workspace<C::Cell>,
    ) -> [Option<Candidate>; 2] {
        let layers = self.criterion.layers();
        let (ordered, allowed) = (&workspace.ordered[..], &workspace.allowed[..]);
        let work = |group: usize,
                    own: &mut [Sums<C::Cell>],
                    from: Option<&mut [Sums<C::Cell>]>,
                    search: &mut Search| {
            let first = group * GROUP;
            let count = own.len() / layers;
            if !allowed[first..first + count].contains(&true) {
                return [None, None];
            }
            own.fill([C::Cell::default(); CODES]);
            let words = self.codes.words(group);
            if rows.len() > MANY_ROWS {
                let mut cells = Vec::with_capacity(PIECE);
                for rows in rows.chunks(PIECE) {
                    cells.clear();
                    cells.extend(rows.iter().map(|&row| self.criterion.cell(row as usize)));
                    add_group(self.criterion, own, words, rows, &cells);
                }
            } else {
                add_group(self.criterion, own, words, rows, ordered);
            }
            let mut best =
                [nodes[0].and_then(|node| self.best_of(own, first, node, allowed, search)), None];
            if let Some(from) = from {
                subtract(from, own);
                best[1] =
                    nodes[1].and_then(|node| self.best_of(from, first, node, allowed, search));
            }
            best
        };
        let is_shared = self.parallel && rows.len() * self.codes.width() >= SHARED_WORK;
        let size = GROUP * layers;
        let owns = histogram.chunks_mut(size).len();
        let mut froms: Vec<Option<&mut [Sums<C::Cell>]>> = match from {
            Some(from) => from.chunks_mut(size).map(Some).collect(),
            None => (0..owns).map(|_| None).collect(),
        };
        let searches = &mut workspace.searches;
        let found: Vec<[Option<Candidate>; 2]> = if is_shared {
            (histogram.par_chunks_mut(size).zip(&mut froms).zip(searches).enumerate())
                .map(|(group, ((own, from), search))| work(group, own, from.take(), search))
                .collect()
        } else {
            (histogram.chunks_mut(size).zip(&mut froms).zip(searches).enumerate())
                .map(|(group, ((own, from), search))| work(group, own, from.take(), search))
                .collect()
        };
        let mut best = [None, None];
        for found in found {
            for (best, found) in best.iter_mut().zip(found) {
                prefer(best, found);
            }
        }
        best
    }

    /// The best split on the allowed columns of a group.
    fn best_of(
        &self,
        histograms: &[Sums<C::Cell>],
        first: usize,
        node: &Node,
        allowed: &[bool],
        search: &mut Search,
    ) -> Option<Candidate> {
        let mut best = None;
        for (k, histograms) in histograms.chunks_exact(self.criterion.layers()).enumerate() {
            if allowed[first + k] {
                let found = self.best_of_column(first + k, histograms, node, search);
                prefer(&mut best, found);
            }
        }
        best
    }

    fn best_of_column(
        &self,
        column: usize,
        histograms: &[Sums<C::Cell>],
        node: &Node,
        search: &mut Search,
    ) -> Option<Candidate> {
        let (bins, demands) = (&self.bins.columns()[column], self.demands());
        let (criterion, count) = (self.criterion, bins.bins());
        if !bins.is_categorical()
            && let Some(swept) = criterion.sweep(node, &histograms[0], count, demands.min_leaf)
        {
            return Some(Search::swept(swept?, &histograms[0], (column, bins), demands));
        }
        search.profile.read(criterion, histograms, count);
        search.best(criterion, node, (column, bins), demands)
    }

    /// The best split by summing one column at a time.
    fn by_columns(
        &self,
        node: &Node,
        rows: &[u32],
        columns: &[u32],
        workspace: &mut Workspace<C::Cell>,
    ) -> Option<Candidate> {
        let mut search = std::mem::take(&mut workspace.searches[0]);
        let mut best = None;
        for column in columns.iter().map(|&column| column as usize) {
            self.profile(column, rows, &mut search, workspace);
            let bins = (column, &self.bins.columns()[column]);
            prefer(&mut best, search.best(self.criterion, node, bins, self.demands()));
        }
        workspace.searches[0] = search;
        best
    }

    /// The sums of one column: by histogram, or for few rows by sorting them by code.
    fn profile(
        &self,
        column: usize,
        rows: &[u32],
        search: &mut Search,
        workspace: &mut Workspace<C::Cell>,
    ) {
        let codes = self.codes.column(column);
        let bins = self.bins.columns()[column].bins();
        if rows.len() >= FEW_ROWS {
            workspace.column.fill([C::Cell::default(); CODES]);
            add_column(self.criterion, &mut workspace.column, codes, rows, &workspace.ordered);
            search.profile.read(self.criterion, &workspace.column, bins);
            return;
        }
        let keys = &mut workspace.keys;
        keys.clear();
        let key = |(k, &row): (usize, &u32)| u32::from(codes.at(row as usize)) << 16 | k as u32;
        keys.extend(rows.iter().enumerate().map(key));
        keys.sort_unstable();
        let width = self.criterion.width();
        search.profile.clear(width);
        for key in keys.iter() {
            let k = (key & 0xffff) as usize;
            let layer = self.criterion.layer(rows[k] as usize);
            let sums = search.profile.at((key >> 16) as usize, bins, width);
            self.criterion.add_to(sums, layer, workspace.ordered[k]);
        }
    }
}

/// Keeps the better of two splits.
fn prefer(best: &mut Option<Candidate>, found: Option<Candidate>) {
    if let Some(found) = found
        && found.beats(best.as_ref())
    {
        *best = Some(found);
    }
}
