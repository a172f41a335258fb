//! Mean and spread of many arrays, element by element, with one array in memory at a time.

use rayon::prelude::*;

use crate::real::Real;

/// Moments of the arrays added so far.
#[derive(Clone, Debug)]
pub struct Moments {
    count: usize,
    /// Mean, and sum of the squared deviations from it.
    values: Vec<[f64; 2]>,
}

impl Moments {
    /// For arrays of `len` values.
    pub fn new(len: usize) -> Self {
        Self { count: 0, values: vec![[0.0; 2]; len] }
    }

    /// Removes all arrays.
    pub fn clear(&mut self) {
        self.count = 0;
        self.values.fill([0.0; 2]);
    }

    /// Adds an array.
    ///
    /// Source: Welford 1962, Technometrics 4, 419-420.
    ///
    /// # Panics
    ///
    /// When its length differs.
    pub fn add<R: Real>(&mut self, array: &[R]) {
        assert_eq!(array.len(), self.values.len(), "values of the arrays");
        self.count += 1;
        let share = 1.0 / self.count as f64;
        self.values.par_iter_mut().zip(array).for_each(|([mean, squares], x)| {
            let off = x.f64() - *mean;
            *mean += off * share;
            *squares += off * (x.f64() - *mean);
        });
    }

    /// Means; 0 without arrays.
    pub fn mean<R: Real>(&self) -> Vec<R> {
        self.values.par_iter().map(|[mean, _]| R::of(*mean)).collect()
    }

    /// Sample standard deviations, √(Σ (x - mean)² / (n - 1)); 0 with less than two arrays.
    pub fn spread<R: Real>(&self) -> Vec<R> {
        let others = self.count.saturating_sub(1).max(1) as f64;
        self.values.par_iter().map(|[_, squares]| R::of((squares / others).sqrt())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_values_and_equal_ones_have_no_spread() {
        let mut moments = Moments::new(3);
        for x in [1.0, 2.0, 3.0, 6.0] {
            // The values of the second element are far from 0 compared with their spread; the third element is
            // constant.
            moments.add(&[x, 1e9 + x, 0.1]);
        }
        let (mean, spread) = (moments.mean::<f64>(), moments.spread::<f64>());
        assert_eq!((mean[0], mean[2]), (3.0, 0.1));
        assert!((mean[1] - (1e9 + 3.0)).abs() < 1e-6, "{mean:?}");
        let expected = (14.0_f64 / 3.0).sqrt();
        assert!((spread[0] - expected).abs() < 1e-14, "{spread:?}");
        assert!((spread[1] - expected).abs() < 1e-7 && spread[2] == 0.0, "{spread:?}");
        moments.clear();
        moments.add(&[5.0_f32; 3]);
        assert_eq!((moments.mean::<f32>(), moments.spread::<f32>()), (vec![5.0; 3], vec![0.0; 3]));
    }
}
