//! Blocks made on a thread of their own while the one before is looked at.

use std::sync::mpsc::sync_channel;
use std::thread;

use super::reader::{Reader, Stop};
use crate::error::Result;
use crate::table::Table;

/// Blocks that may wait to be looked at.
const WAITING: usize = 1;

/// Shows each block of a reader, with the number of rows that are expected in all.
pub(super) fn each_block<'a>(
    reader: impl Fn() -> Reader<'a> + Sync,
    show: &mut dyn FnMut(Table, Option<usize>) -> Result<()>,
) -> Result<(), Stop> {
    // The pool's own thread that waits for a block would keep the pool from making it.
    if rayon::current_thread_index().is_some() {
        return one_by_one(reader(), show);
    }
    let done = thread::scope(|scope| {
        let (send, receive) = sync_channel(WAITING);
        let make = || {
            let send = send;
            let mut reader = reader();
            loop {
                let block = reader.next_block();
                let ends = !matches!(block, Ok(Some(_)));
                // Nobody listens any more if what was done with a block failed.
                if send.send(block).is_err() || ends {
                    break;
                }
            }
        };
        let maker = thread::Builder::new().name("blocks".into()).spawn_scoped(scope, make);
        if maker.is_err() {
            return None;
        }
        let done = (|| {
            while let Ok(block) = receive.recv() {
                let Some((block, expected)) = block? else { break };
                show(block, expected).map_err(Stop::Error)?;
            }
            Ok(())
        })();
        drop(receive);
        Some(done)
    });
    done.unwrap_or_else(|| one_by_one(reader(), show))
}

fn one_by_one(
    mut reader: Reader<'_>,
    show: &mut dyn FnMut(Table, Option<usize>) -> Result<()>,
) -> Result<(), Stop> {
    while let Some((block, expected)) = reader.next_block()? {
        show(block, expected).map_err(Stop::Error)?;
    }
    Ok(())
}
