//! Test processes without the file locks of HDF5.
//!
//! HDF5 locks a file that it opens and releases the lock only by closing it. It opens files such that programs which
//! are started in the meantime inherit them (without `O_CLOEXEC`), and the lock lasts until the last of these programs
//! ends. So a test could not open the file that it had just closed if another test had started a program before. No two
//! tests share a file, and the programs that a test starts for its files run when it has closed them: nothing needs
//! the locks.
//!
//! HDF5 asks the environment for them once, at its first call. The variable is set before `main`, hence before the first
//! thread, and programs under test inherit it. Those that are tested for their locks get another value.
#![allow(unsafe_code, reason = "a process changes its own environment")]

/// The environment variable of HDF5 for its locks.
pub const USE_FILE_LOCKING: &str = "HDF5_USE_FILE_LOCKING";

ctor::declarative::ctor! {
    #[ctor(unsafe)]
    fn switch_off() {
        // SAFETY: constructors run before `main`, when the process has one thread, which reads no variable meanwhile.
        unsafe { std::env::set_var(USE_FILE_LOCKING, "FALSE") };
    }
}
