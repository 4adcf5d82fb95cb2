//! Ladders with a rung that cannot be fitted: what fails as a whole is done rung by rung, so that the others stay.

use super::pass::AnyPass;
use super::{Block, Failure, Fitted, Learner, Sample};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::run::Run;
use crate::table::Rows;
use crate::task::Task;

/// A learner with several members, and each of them as a learner of its own.
///
/// Ladders share work between their rungs and fail together, for one value out of range or one rung too large for the rows.
/// Then, and only then, the rungs are fitted by themselves.
#[derive(Debug)]
pub(crate) struct Ladder<T: Task> {
    whole: Box<dyn Learner<T>>,
    rungs: Vec<Box<dyn Learner<T>>>,
}

impl<T: Task> Ladder<T> {
    /// A ladder and its rungs, in the order of its members.
    pub(crate) fn new(whole: Box<dyn Learner<T>>, rungs: Vec<Box<dyn Learner<T>>>) -> Self {
        Self { whole, rungs }
    }
}

impl<T: Task> Learner<T> for Ladder<T> {
    fn members(&self) -> Vec<String> {
        self.whole.members()
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        self.whole.fit(sample, run)
    }

    fn out_of_sample(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Block> {
        let block = self.whole.out_of_sample(sample, plan, run);
        let fails = match &block {
            Err(Error::Cancelled) => false,
            Err(_) => true,
            Ok(block) => block.fails_as_a_whole(self.rungs.len()),
        };
        if !fails {
            return block;
        }
        let blocks = self.rungs.iter().map(|rung| match rung.out_of_sample(sample, plan, run) {
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => Ok(Block::failed(1, plan, &error.to_string())),
            block => block,
        });
        Ok(Block::side_by_side(blocks.collect::<Result<_>>()?))
    }

    fn pass(&self, x: Rows<'_>, run: &Run) -> Option<Result<Box<dyn AnyPass<T>>>> {
        self.whole.pass(x, run)
    }

    fn rungs(&self) -> &[Box<dyn Learner<T>>] {
        &self.rungs
    }
}

impl Block {
    /// Whether some split failed for all of so many members.
    pub(crate) fn fails_as_a_whole(&self, members: usize) -> bool {
        let failed = |v: usize| self.failures.iter().filter(|f| f.split == v).count();
        members > 1 && (0..self.splits.len()).any(|v| failed(v) >= members)
    }

    /// The blocks of learners of one member each as one block.
    pub(crate) fn side_by_side(blocks: Vec<Self>) -> Self {
        let mut all = Self { splits: Vec::new(), failures: Vec::new() };
        for (member, block) in blocks.into_iter().enumerate() {
            let own = |failure: Failure| Failure { member, ..failure };
            all.failures.extend(block.failures.into_iter().map(own));
            all.splits.resize_with(block.splits.len().max(all.splits.len()), Vec::new);
            all.splits.iter_mut().zip(block.splits).for_each(|(all, own)| all.extend(own));
        }
        all
    }
}
