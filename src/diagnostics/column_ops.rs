//! Reductions of a field by columns and levels, for plots and tables.

use ndarray::{Array2, Array3, Axis, Zip};

/// The largest value of each column without NaN; NaN if the column has no number. Shape: (ny, nx).
pub(crate) fn column_maximum(field: &Array3<f32>) -> Array2<f64> {
    field.map_axis(Axis(0), |column| column.iter().copied().map(f64::from).fold(f64::NAN, f64::max))
}

/// Mean of each level over the cells that are not NaN, in the units of the field. Shape: (nz, ny, nx); returns nz
/// values.
pub(crate) fn level_means(field: &Array3<f32>) -> Vec<f64> {
    field.outer_iter().map(|level| mean(level.iter().copied().map(f64::from))).collect()
}

/// The mean of the values that are not NaN, in their units; NaN if there are none.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let numbers = values.filter(|x| x.is_finite());
    let (sum, count) = numbers.fold((0.0, 0_u64), |(sum, count), x| (sum + x, count + 1));
    if count == 0 { f64::NAN } else { sum / count as f64 }
}

/// Content of each column of a species: Σ ρ q Δz.
///
/// Shapes: `rho`, `q` (nz, ny, nx), `faces`, the heights of the faces of the layers,
/// (nz + 1, ny, nx). Units: kg m⁻³, kg kg⁻¹, m; returns kg m⁻².
pub(crate) fn content(rho: &Array3<f32>, q: &Array3<f32>, faces: &Array3<f32>) -> Array2<f64> {
    let (nz, ny, nx) = q.dim();
    let mut content = Array2::zeros((ny, nx));
    for k in 0..nz {
        let [below, above] = [k, k + 1].map(|k| faces.index_axis(Axis(0), k));
        Zip::from(&mut content)
            .and(rho.index_axis(Axis(0), k))
            .and(q.index_axis(Axis(0), k))
            .and(below)
            .and(above)
            .for_each(|content, &rho, &q, &below, &above| {
                *content += f64::from(rho) * f64::from(q) * f64::from(above - below);
            });
    }
    content
}

/// The largest value of a plane, (ny, nx), and its position `[j, i]`; `None` if all are NaN.
pub(crate) fn largest(field: &Array2<f64>) -> Option<(f64, [usize; 2])> {
    let numbers = field.indexed_iter().filter(|(_, x)| x.is_finite());
    numbers.max_by(|a, b| a.1.total_cmp(b.1)).map(|((j, i), &x)| (x, [j, i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_does_not_count() {
        let mut field = Array3::from_shape_fn((2, 2, 2), |(k, j, i)| (4 * k + 2 * j + i) as f32);
        field[[1, 0, 0]] = f32::NAN;
        assert_eq!(column_maximum(&field), ndarray::array![[0.0, 5.0], [6.0, 7.0]]);
        assert_eq!(level_means(&field), [1.5, 6.0]);
        assert_eq!(largest(&column_maximum(&field)), Some((7.0, [1, 1])));
        let nothing = Array3::from_elem((1, 1, 1), f32::NAN);
        assert!(column_maximum(&nothing)[[0, 0]].is_nan() && level_means(&nothing)[0].is_nan());
        assert_eq!(largest(&column_maximum(&nothing)), None);
    }

    #[test]
    fn contents_are_sums_of_layers() {
        let one = Array3::from_elem((3, 1, 2), 1.0);
        let faces = Array3::from_shape_fn((4, 1, 2), |(k, _, _)| 100.0 * (k * k) as f32);
        let half = one.mapv(|x: f32| 0.5 * x);
        assert_eq!(content(&one, &half, &faces), ndarray::array![[450.0, 450.0]]);
    }
}
