//! One part held out: whole groups, or the last rows in time.

use rand::seq::SliceRandom;

use super::resample::Portion;
use super::{Plan, Split, check_enough, check_repeats, stream};
use crate::error::{Error, Result};
use crate::run::Run;

impl Plan {
    /// Draws of whole groups, `repeats` times: each holds out as near to `test` rows as the groups in a random order allow,
    /// and learns from all others.
    pub fn hold_out_groups(
        groups: &[u32],
        test: Portion,
        repeats: usize,
        run: &Run,
    ) -> Result<Self> {
        check_repeats(repeats)?;
        let wanted = test.count(groups.len(), "test")?;
        let mut distinct = groups.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        check_enough(distinct.len(), "groups")?;
        let place = |group: u32| distinct.partition_point(|&g| g < group);
        let mut sizes = vec![0; distinct.len()];
        groups.iter().for_each(|&group| sizes[place(group)] += 1);
        let streams = stream(run);
        let draw = |repeat: usize| {
            let mut order: Vec<usize> = (0..distinct.len()).collect();
            order.shuffle(&mut streams.child(repeat as u64).rng());
            let mut held_out = vec![false; distinct.len()];
            let mut rows = 0;
            // The first group is held out in any case, the last never.
            for (k, &group) in order[..order.len() - 1].iter().enumerate() {
                if k == 0 || rows + sizes[group] / 2 < wanted {
                    held_out[group] = true;
                    rows += sizes[group];
                }
            }
            let is_test = |&i: &usize| held_out[place(groups[i])];
            Split::others((0..groups.len()).filter(is_test).collect())
        };
        Ok(Self::of(groups.len(), (0..repeats).map(draw).collect()))
    }

    /// One split that holds out the last `test` rows in time and learns from all before; rows of the same time stay
    /// together on the later side.
    pub fn hold_out_last(times: &[f64], test: Portion) -> Result<Self> {
        check_enough(times.len(), "rows")?;
        if let Some(i) = times.iter().position(|time| time.is_nan()) {
            return Err(Error::param("times", "numbers", format!("missing in row {}", i + 1)));
        }
        let wanted = test.count(times.len(), "test")?;
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let first = sorted[times.len() - wanted];
        if first <= sorted[0] {
            return Err(Error::param("times", "of several values, or no row is left", first));
        }
        let held_out = (0..times.len()).filter(|&i| times[i] >= first).collect();
        Ok(Self::of(times.len(), vec![Split::others(held_out)]))
    }
}
