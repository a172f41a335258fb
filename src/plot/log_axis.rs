//! A logarithmic axis from one power of ten to another.

/// An axis from the decade of the smallest value to that of the largest.
#[derive(Clone, Copy, Debug)]
pub struct Decades {
    /// Power of ten at its beginning.
    pub first: i32,
    /// Power of ten at its end.
    pub last: i32,
}

impl Decades {
    /// The axis for given values; those that are not positive are ignored.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let (least, most) =
            positive.fold((f64::INFINITY, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)));
        if most == 0.0 {
            return Self { first: 0, last: 1 };
        }
        let first = least.log10().floor() as i32;
        Self { first, last: (most.log10().ceil() as i32).max(first + 1) }
    }

    /// Position of a value, from 0 to 1.
    pub fn fraction(self, value: f64) -> f64 {
        (value.log10() - f64::from(self.first)) / f64::from(self.last - self.first)
    }

    /// Values with a grid line, and `true` for those with a label.
    pub fn ticks(self) -> Vec<(f64, bool)> {
        let decade = |power: i32| {
            let inner = (2..10).map(move |n| (f64::from(n) * 10_f64.powi(power), false));
            std::iter::once((10_f64.powi(power), true)).chain(inner)
        };
        let whole = (self.first..self.last).flat_map(decade);
        whole.chain([(10_f64.powi(self.last), true)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_their_values() {
        let axis = Decades::of([0.03, 2.0, 0.0, f64::NAN, 450.0].into_iter());
        assert_eq!((axis.first, axis.last), (-2, 3));
        assert!((axis.fraction(1.0) - 0.4).abs() < 1e-12);
        let labels = axis.ticks().into_iter().filter(|(_, has_label)| *has_label);
        assert_eq!(labels.count(), 6);
        let empty = Decades::of([].into_iter());
        assert!(empty.fraction(1.0).is_finite());
    }
}
