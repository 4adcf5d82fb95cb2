//! Random directed acyclic graphs of bounded induced width.
//!
//! The induced width of an order of elimination is the largest number of neighbours a node has, in the moral graph with
//! the edges that earlier eliminations filled in, when its turn comes; that of the graph is the least over all orders.
//! Here the order is greedy (the node that fills in least comes first), so the width found is an upper bound: a graph that
//! passes has an order, and a triangulation with cliques of at most width + 1 nodes, that proves it.
//!
//! Graphs are drawn by a Markov chain (after IdeCozmanRamos2004): an arc is added, removed, or moved, if the graph stays acyclic, connected and within
//! the width. Each move is as probable as its reverse, so among the graphs that the moves reach none is preferred.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Nodes a graph can have: as many as bits in [`Set`].
pub(super) const MOST_NODES: usize = 128;

/// A set of nodes, one bit each.
type Set = u128;

/// A directed acyclic graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    parents: Vec<Set>,
}

/// The nodes of a set, in order.
fn nodes(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let node = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(node)
    })
}

impl Graph {
    /// Draws a graph: the chain takes `steps` steps from a random tree.
    pub(super) fn draw(size: usize, width: usize, steps: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut graph = Self::tree(size, rng);
        for _ in 0..steps {
            if size > 1 {
                graph.step(width, rng);
            }
        }
        graph
    }

    /// A tree: in a random order, every node but the first has one parent among those before it.
    fn tree(size: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut order: Vec<usize> = (0..size).collect();
        (1..size).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
        let mut parents = vec![0; size];
        for i in 1..size {
            parents[order[i]] = 1 << order[rng.random_range(0..i)];
        }
        Self { parents }
    }

    /// One step of the chain: with even chances an arc is added or removed, or an arc is moved.
    fn step(&mut self, width: usize, rng: &mut ChaCha8Rng) {
        let before = self.clone();
        let (from, to) = self.any_pair(rng);
        let has_arc = self.parents[to] >> from & 1 == 1;
        if rng.random_bool(0.5) {
            self.parents[to] ^= 1 << from;
        } else {
            let arcs: Vec<(usize, usize)> = self.arcs().collect();
            let (old_from, old_to) = arcs[rng.random_range(0..arcs.len())];
            if !has_arc {
                self.parents[old_to] &= !(1 << old_from);
                self.parents[to] |= 1 << from;
            }
        }
        if !(self.is_acyclic() && self.is_connected() && self.induced_width() <= width) {
            *self = before;
        }
    }

    /// Two different nodes.
    fn any_pair(&self, rng: &mut ChaCha8Rng) -> (usize, usize) {
        let size = self.parents.len();
        let from = rng.random_range(0..size);
        let to = (from + rng.random_range(1..size)) % size;
        (from, to)
    }

    /// All arcs, from parent to child.
    pub(super) fn arcs(&self) -> impl Iterator<Item = (usize, usize)> {
        let arcs = |(to, set): (usize, &Set)| nodes(*set).map(move |from| (from, to));
        self.parents.iter().enumerate().flat_map(arcs)
    }

    /// The parents of a node, in order.
    pub(super) fn parents(&self, node: usize) -> Vec<usize> {
        nodes(self.parents[node]).collect()
    }

    /// The nodes, parents before children; fewer than all if there is a cycle.
    pub(super) fn order(&self) -> Vec<usize> {
        let (mut order, mut placed): (Vec<usize>, Set) = (Vec::new(), 0);
        loop {
            let ready =
                |node: &usize| placed >> node & 1 == 0 && self.parents[*node] & !placed == 0;
            let next: Vec<usize> = (0..self.parents.len()).filter(ready).collect();
            if next.is_empty() {
                return order;
            }
            next.iter().for_each(|node| placed |= 1 << node);
            order.extend(next);
        }
    }

    fn is_acyclic(&self) -> bool {
        self.order().len() == self.parents.len()
    }

    fn is_connected(&self) -> bool {
        let size = self.parents.len();
        let mut reached: Set = 1;
        loop {
            let mut further = reached;
            for (child, parents) in self.parents.iter().enumerate() {
                if (*parents | 1 << child) & reached != 0 {
                    further |= *parents | 1 << child;
                }
            }
            if further == reached {
                return reached.count_ones() as usize == size;
            }
            reached = further;
        }
    }

    /// Each node's neighbours in the moral graph: parents of a common child are joined.
    pub(super) fn moral(&self) -> Vec<Set> {
        let mut neighbours = vec![0; self.parents.len()];
        for (child, parents) in self.parents.iter().enumerate() {
            let family = *parents | 1 << child;
            nodes(family).for_each(|node| neighbours[node] |= family & !(1 << node));
        }
        neighbours
    }

    /// The induced width of the greedy order: an upper bound of the graph's.
    pub(super) fn induced_width(&self) -> usize {
        let mut neighbours = self.moral();
        let mut left: Vec<usize> = (0..self.parents.len()).collect();
        let mut width = 0;
        while !left.is_empty() {
            let fill = |node: usize| -> u32 {
                let around = neighbours[node];
                nodes(around).map(|n| (around & !neighbours[n]).count_ones() - 1).sum()
            };
            let (at, node) = left
                .iter()
                .copied()
                .enumerate()
                .min_by_key(|(_, node)| fill(*node))
                .unwrap_or_default();
            let around = neighbours[node];
            width = width.max(around.count_ones() as usize);
            for n in nodes(around) {
                neighbours[n] = (neighbours[n] | around) & !(1 << n) & !(1 << node);
            }
            left.remove(at);
        }
        width
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn of(size: usize, arcs: &[(usize, usize)]) -> Graph {
        let mut parents = vec![0; size];
        arcs.iter().for_each(|(from, to)| parents[*to] |= 1 << from);
        Graph { parents }
    }

    /// The least width over all orders of elimination, by trying them all.
    fn exact_width(neighbours: &[Set], left: Set) -> usize {
        let after = |node: usize| {
            let mut joined = neighbours.to_vec();
            let around = joined[node];
            for n in nodes(around) {
                joined[n] = (joined[n] | around) & !(1 << n) & !(1 << node);
            }
            (around.count_ones() as usize).max(exact_width(&joined, left & !(1 << node)))
        };
        nodes(left).map(after).min().unwrap_or(0)
    }

    #[test]
    fn the_widths_of_known_graphs() {
        assert_eq!(of(4, &[(0, 1), (1, 2), (2, 3)]).induced_width(), 1);
        // Three causes of one effect are a clique of four.
        assert_eq!(of(4, &[(0, 3), (1, 3), (2, 3)]).induced_width(), 3);
        // A ring of five nodes without common children but one.
        let ring = of(5, &[(0, 1), (1, 2), (2, 3), (0, 4), (4, 3)]);
        assert_eq!(ring.induced_width(), 2);
    }

    #[test]
    fn drawn_graphs_are_acyclic_connected_and_within_their_width() {
        for (seed, (size, width)) in [(6, 2), (7, 3), (7, 4), (40, 2), (41, 4)].iter().enumerate() {
            let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
            let graph = Graph::draw(*size, *width, 4 * size * size, &mut rng);
            assert!(graph.is_acyclic() && graph.is_connected());
            assert!(graph.induced_width() <= *width);
            assert!(graph.arcs().count() >= size - 1);
            if *size < 8 {
                assert!(exact_width(&graph.moral(), (1 << size) - 1) <= graph.induced_width());
            }
        }
    }

    /// Three nodes have 3 trees as skeletons, each with 4 directions, and 6 complete graphs: 18 connected graphs, of which
    /// each must come up as often as the others.
    #[test]
    fn no_graph_is_preferred() {
        let mut seen = std::collections::HashMap::new();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut graph = Graph::tree(3, &mut rng);
        let draws = 18_000;
        for _ in 0..draws {
            (0..20).for_each(|_| graph.step(2, &mut rng));
            *seen.entry(graph.parents.clone()).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 18);
        // Each count has mean 1000 and standard deviation 31.
        assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
    }

    #[test]
    fn the_chain_uses_the_width_it_is_given() {
        let mean_arcs = |width: usize| {
            let draw = |seed: u64| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                Graph::draw(12, width, 600, &mut rng).arcs().count()
            };
            (0..20).map(draw).sum::<usize>()
        };
        let arcs = [1, 2, 3, 4].map(mean_arcs);
        assert!(arcs.is_sorted_by(|a, b| a < b), "{arcs:?}");
    }
}
