//! Items that are produced on all threads and consumed in order.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;

/// Items under way for each thread: enough that no thread waits for the consumer, and few enough that their memory is
/// small beside a field.
const UNDER_WAY: usize = 3;

/// Produces `count` items on all threads and consumes them in order, with a few under way.
pub(in crate::io) fn in_order<T: Send>(
    count: usize,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> Result<(), String>,
) -> Result<(), String> {
    let (sender, receiver) = channel();
    let make = &make;
    rayon::in_place_scope(|scope| {
        let begin = |n: usize| {
            let sender = sender.clone();
            scope.spawn(move |_| {
                let made = catch_unwind(AssertUnwindSafe(|| make(n)));
                // After an error of the consumer nothing receives any more.
                let _ = sender.send((n, made));
            });
        };
        let ahead = count.min(UNDER_WAY * rayon::current_num_threads());
        (0..ahead).for_each(begin);
        let mut early = BTreeMap::new();
        for next in 0..count {
            let made = loop {
                if let Some(made) = early.remove(&next) {
                    break made;
                }
                let (n, made) = receiver.recv().map_err(|e| e.to_string())?;
                early.insert(n, made);
            };
            take(next, made.unwrap_or_else(|panic| resume_unwind(panic)))?;
            if next + ahead < count {
                begin(next + ahead);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn things_are_taken_in_order_and_few_are_under_way() {
        let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let most = UNDER_WAY * rayon::current_num_threads();
        let make = |n: usize| {
            let ahead = begun.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
            assert!(ahead <= most + 1, "{ahead}");
            n * n
        };
        let mut seen = Vec::new();
        let done = in_order(100, make, |n, made| {
            assert_eq!(made, n * n);
            seen.push(n);
            taken.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        assert_eq!(done, Ok(()));
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
        assert_eq!(in_order(0, |n| n, |_, _| Err(String::new())), Ok(()));
    }

    #[test]
    fn the_first_that_cannot_be_taken_ends_it() {
        let take = |n: usize, _| if n == 5 { Err("full".to_owned()) } else { Ok(()) };
        assert_eq!(in_order(50, |n| n, take), Err("full".to_owned()));
    }
}
