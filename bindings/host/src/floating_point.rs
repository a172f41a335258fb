//! Floating-point settings of the processor. A host may flush subnormal numbers to zero (-ffast-math, -Ofast, ifx), trap
//! on exceptions (-ffpe-trap) or round in another way; results would then depend on it, or the host would be stopped by
//! lanes whose results nobody uses. The library sets its own and restores those of the host.

use std::arch::asm;

/// The settings of a host, restored when this value goes.
#[derive(Debug)]
pub struct HostSettings(Word);

#[cfg(target_arch = "x86_64")]
type Word = u32;
/// MXCSR after a reset: subnormal numbers, no traps, round to nearest.
#[cfg(target_arch = "x86_64")]
const USUAL: Word = 0x1f80;

#[cfg(target_arch = "aarch64")]
type Word = u64;
/// FPCR likewise.
#[cfg(target_arch = "aarch64")]
const USUAL: Word = 0;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the floating-point settings of this processor are not known");

impl HostSettings {
    /// Keeps the settings of the host, and sets those of the library.
    #[must_use = "the settings of the host come back when this value goes"]
    pub fn replace() -> Self {
        let host = Self(settings());
        set(USUAL);
        host
    }
}

impl Drop for HostSettings {
    fn drop(&mut self) {
        set(self.0);
    }
}

#[cfg(target_arch = "x86_64")]
fn settings() -> Word {
    let mut word = 0;
    // SAFETY: stores the register to a word of its size.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
    word
}

#[cfg(target_arch = "x86_64")]
fn set(word: Word) {
    // SAFETY: a word that the register held, or its value after a reset. Where it is restored, nothing computes between
    // this and the host.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
fn settings() -> Word {
    let word;
    // SAFETY: reads the register.
    unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
    word
}

#[cfg(target_arch = "aarch64")]
fn set(word: Word) {
    // SAFETY: as for the other processor.
    unsafe { asm!("msr fpcr, {}", in(reg) word, options(nomem, nostack, preserves_flags)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits that flush subnormal results and operands to zero.
    #[cfg(target_arch = "x86_64")]
    const FLUSH: Word = 0x8040;
    #[cfg(target_arch = "aarch64")]
    const FLUSH: Word = 1 << 24;

    #[test]
    fn settings_of_the_host_come_back() {
        let before = settings();
        set(before | FLUSH);
        let within = {
            let _host = HostSettings::replace();
            settings()
        };
        let after = settings();
        set(before);
        assert_eq!((within & FLUSH, after & FLUSH), (0, FLUSH));
    }
}
