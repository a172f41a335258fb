//! `hypot` of C libraries before 2.35, so that a wheel runs on them: linked against a newer one it would name a version
//! of the function that differs in the treatment of `errno` alone, which nobody here reads. The linker sends all calls
//! here (`build.rs`).

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
std::arch::global_asm!(
    ".symver older_hypot, hypot@GLIBC_2.2.5",
    ".symver older_hypotf, hypotf@GLIBC_2.2.5",
    ".text",
    ".globl __wrap_hypot",
    ".hidden __wrap_hypot",
    ".type __wrap_hypot, @function",
    "__wrap_hypot: jmp older_hypot@PLT",
    ".globl __wrap_hypotf",
    ".hidden __wrap_hypotf",
    ".type __wrap_hypotf, @function",
    "__wrap_hypotf: jmp older_hypotf@PLT",
);
