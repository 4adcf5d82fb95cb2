//! Work on several threads at once, through one piece of code for all of it.
//!
//! rayon compiles some ten functions for every closure it is given, and did so for a fifth of this library's code. Here the closure
//! is a pointer: what it costs to follow it is nothing beside a fold, a member or a block of rows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// What `work` gives for each of `0..count`, in that order; on the thread pool it is called in.
pub(crate) fn map<R: Send>(count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let found: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    each(count, &|i| {
        let result = work(i);
        *found[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let all = found.into_iter();
    all.filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The same for work that may fail: the first error in the order of the numbers, after which none of the later ones is begun.
pub(crate) fn try_map<R: Send, E: Send>(
    count: usize,
    work: &(dyn Fn(usize) -> Result<R, E> + Sync),
) -> Result<Vec<R>, E> {
    let failed = AtomicUsize::new(usize::MAX);
    let found = map(count, &|i| {
        (i <= failed.load(Ordering::Relaxed)).then(|| {
            work(i).inspect_err(|_| {
                failed.fetch_min(i, Ordering::Relaxed);
            })
        })
    });
    found.into_iter().flatten().collect()
}

fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// What is done to a part, which has a number.
type OnPart<'a, T, E> = dyn Fn(usize, &mut [T]) -> Result<(), E> + Sync + 'a;

/// Hands out `all` in consecutive parts of `size`, the last of which may be shorter, with their numbers.
pub(crate) fn try_parts<T: Send, E: Send>(
    all: &mut [T],
    size: usize,
    work: &OnPart<'_, T, E>,
) -> Result<(), E> {
    all.par_chunks_mut(size).enumerate().try_for_each(|(number, part)| work(number, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_numbers() {
        let squares: Vec<usize> = (0..1000).map(|i| i * i).collect();
        assert_eq!(map(1000, &|i| i * i), squares);
        assert!(map(0, &|i| i).is_empty());
    }

    #[test]
    fn the_first_error_in_order_is_told() {
        let odd = |i: usize| if i % 2 == 1 { Err(i) } else { Ok(i) };
        assert_eq!(try_map(100, &odd), Err(1));
        assert_eq!(try_map(1, &odd), Ok(vec![0]));
    }

    #[test]
    fn every_part_is_handed_out_once() {
        let mut all = vec![0; 10];
        let number = |k: usize, part: &mut [usize]| {
            part.iter_mut().for_each(|cell| *cell += k + 1);
            Ok::<_, ()>(())
        };
        assert_eq!(try_parts(&mut all, 4, &number), Ok(()));
        assert_eq!(all, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        assert_eq!(try_parts(&mut all, 4, &|k, _| if k == 2 { Err(k) } else { Ok(()) }), Err(2));
    }
}
