//! Threads: work that is shared out among them, or kept in the thread that calls.

use std::cell::Cell;

thread_local! {
    /// `true` while work of this thread is not shared out.
    static IS_ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Work that stays in this thread. A program that has threads of its own, each with a part of the columns, gains nothing
/// by more of them; and the first use of the usual pool would make them.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    /// Restores the choice, also when the work panics.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_ALONE.set(self.0);
        }
    }
    let _restore = Restore(IS_ALONE.replace(true));
    work()
}

/// Returns `true` in work that stays in this thread.
pub fn is_alone() -> bool {
    IS_ALONE.get()
}

/// Calls `left` and `right`, in two threads unless the work stays in this one.
pub(crate) fn join<A: Send, B: Send>(
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    if is_alone() { (left(), right()) } else { rayon::join(left, right) }
}

/// Number of threads that work is shared out among.
pub(crate) fn count() -> usize {
    if is_alone() { 1 } else { rayon::current_num_threads() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_alone_until_it_ends_or_panics() {
        assert!(!is_alone());
        let inner = alone(|| {
            let before = is_alone();
            let panicked = std::panic::catch_unwind(|| alone(|| panic!("on purpose")));
            [before, panicked.is_err(), is_alone(), count() == 1]
        });
        assert_eq!((inner, is_alone()), ([true; 4], false));
        let here = || std::thread::current().id();
        assert_eq!(alone(|| join(here, here)), (here(), here()));
    }
}
