//! Status words that kernels write for the host: the number of steps done, and the first value that became infinite or
//! NaN, encoded in one word.

/// Bits of a note for the position, as many as kernels can count to, and first bits of the field and of the step.
pub(crate) const FIELD_SHIFT: u32 = 31;
pub(crate) const STEP_SHIFT: u32 = 43;
/// Indices of the notes.
pub(crate) const FLAW: usize = 0;
pub(crate) const STEPS: usize = 1;
/// Counter of finished blocks of the kernel that ends steps, on the device only, and id of the kernel that began last,
/// on the host only.
const BLOCKS_DONE: usize = 2;
pub(crate) const MARK: usize = 2;
pub(crate) const COUNT: usize = 3;
/// The note of a state without such a value.
pub(crate) const NONE: u64 = u64::MAX;

/// Format of the notes, as kernel constants.
pub(crate) fn constants() -> String {
    let numbers = [
        ("FIELD_SHIFT", FIELD_SHIFT as usize),
        ("STEP_SHIFT", STEP_SHIFT as usize),
        ("FLAW", FLAW),
        ("STEPS", STEPS),
        ("BLOCKS", BLOCKS_DONE),
    ];
    numbers.map(|(name, number)| format!("constexpr int STATUS_{name} = {number};\n")).concat()
}

/// The first value found to be infinite or NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonFiniteValue {
    /// Number of the step after which it was found, from 1.
    pub step: usize,
    /// Index of the field.
    pub field: usize,
    /// Position in the field.
    pub place: usize,
}

impl NonFiniteValue {
    /// Decoding of a note; `None` if there is none yet.
    pub fn of(note: u64) -> Option<Self> {
        let below = |bits: u32| (1_u64 << bits) - 1;
        (note != NONE).then(|| Self {
            step: (note >> STEP_SHIFT) as usize,
            field: (note >> FIELD_SHIFT & below(STEP_SHIFT - FIELD_SHIFT)) as usize,
            place: (note & below(FIELD_SHIFT)) as usize,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_flaws_are_smaller_words() {
        let word =
            |step: u64, field: u64, cell: u64| step << STEP_SHIFT | field << FIELD_SHIFT | cell;
        let flaw = NonFiniteValue { step: 1_000_000, field: 5, place: (1 << 31) - 1 };
        assert_eq!(NonFiniteValue::of(word(1_000_000, 5, (1 << 31) - 1)), Some(flaw));
        assert_eq!(NonFiniteValue::of(NONE), None);
        assert!(word(1, 5, 99) < word(2, 0, 0) && word(2, 0, 99) < word(2, 1, 0));
    }
}
