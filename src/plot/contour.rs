//! Contour lines of a field on a grid.

use std::collections::HashMap;

use ndarray::Array2;

/// Contour lines of a value, each a list of points (column, row) in cells from the centre of the first one. Lines do
/// not cross squares with a NaN corner.
///
/// Marching squares: lines are straight within a square of four values; in the ambiguous case the mean of the corners
/// decides.
pub fn lines(field: &Array2<f64>, value: f64) -> Vec<Vec<[f64; 2]>> {
    let (rows, columns) = field.dim();
    let mut links = Links::default();
    for j in 0..rows.saturating_sub(1) {
        for i in 0..columns.saturating_sub(1) {
            let corners = [[j, i], [j, i + 1], [j + 1, i + 1], [j + 1, i]];
            let values = corners.map(|corner| field[corner]);
            if values.iter().any(|x| !x.is_finite()) {
                continue;
            }
            let is_above = values.map(|x| x >= value);
            let crossed: Vec<usize> =
                (0..4).filter(|&n| is_above[n] != is_above[(n + 1) % 4]).collect();
            let edge = |i, j, is_vertical| Edge { i, j, is_vertical };
            let edges =
                [edge(i, j, false), edge(i + 1, j, true), edge(i, j + 1, false), edge(i, j, true)];
            let pairs: &[[usize; 2]] = match crossed.len() {
                2 => &[[crossed[0], crossed[1]]],
                4 => {
                    let is_joined = (values.iter().sum::<f64>() / 4.0 >= value) == is_above[0];
                    // The first corner is connected to the opposite one, or is isolated.
                    if is_joined { &[[0, 1], [2, 3]] } else { &[[0, 3], [1, 2]] }
                }
                _ => &[],
            };
            for pair in pairs {
                links.join(pair.map(|edge| edges[edge]));
            }
        }
    }
    let place = |&Edge { i, j, is_vertical }: &Edge| {
        let (a, b) = if is_vertical {
            (field[[j, i]], field[[j + 1, i]])
        } else {
            (field[[j, i]], field[[j, i + 1]])
        };
        let share = (value - a) / (b - a);
        if is_vertical { [i as f64, j as f64 + share] } else { [i as f64 + share, j as f64] }
    };
    links.chains().iter().map(|chain| chain.iter().map(place).collect()).collect()
}

/// An edge between two adjacent values.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Edge {
    /// Column of the first.
    i: usize,
    /// Row of the first.
    j: usize,
    /// True if the second one is in the next row.
    is_vertical: bool,
}

/// Pairs of crossed edges that lines connect.
#[derive(Default)]
struct Links {
    /// In the order of the scan, so that the lines are always the same.
    edges: Vec<Edge>,
    joined: HashMap<Edge, Vec<Edge>>,
}

impl Links {
    fn join(&mut self, [a, b]: [Edge; 2]) {
        for (from, to) in [(a, b), (b, a)] {
            self.joined.entry(from).or_default().push(to);
            self.edges.push(from);
        }
    }

    /// Chains of edges, each from one end of a line to the other, or closed.
    fn chains(mut self) -> Vec<Vec<Edge>> {
        let mut chains = Vec::new();
        let ends: Vec<Edge> =
            self.edges.iter().copied().filter(|edge| self.joined[edge].len() == 1).collect();
        for start in ends.into_iter().chain(std::mem::take(&mut self.edges)) {
            let mut chain = vec![start];
            let mut at = start;
            while let Some(next) = self.joined.get_mut(&at).and_then(Vec::pop) {
                if let Some(back) = self.joined.get_mut(&next)
                    && let Some(place) = back.iter().position(|edge| *edge == at)
                {
                    back.swap_remove(place);
                }
                chain.push(next);
                at = next;
            }
            if chain.len() > 1 {
                chains.push(chain);
            }
        }
        chains
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_closed_and_round() {
        let field =
            Array2::from_shape_fn((41, 41), |(j, i)| (i as f64 - 20.0).hypot(j as f64 - 20.0));
        let lines = lines(&field, 12.3);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        for [x, y] in &lines[0] {
            let radius = (x - 20.0).hypot(y - 20.0);
            assert!((radius - 12.3).abs() < 0.05, "{x} {y}");
        }
    }

    #[test]
    fn a_slope_has_one_line_from_side_to_side() {
        let field = Array2::from_shape_fn((5, 9), |(j, i)| i as f64 + 0.25 * j as f64);
        let lines = lines(&field, 4.1);
        assert_eq!(lines.len(), 1);
        let ends = [lines[0][0], *lines[0].last().unwrap()];
        let mut rows = ends.map(|[_, j]| j);
        rows.sort_by(f64::total_cmp);
        assert_eq!(rows, [0.0, 4.0]);
    }

    #[test]
    fn what_is_not_a_number_has_no_line() {
        let mut field = Array2::from_shape_fn((5, 5), |(_, i)| i as f64);
        field[[2, 2]] = f64::NAN;
        for [x, y] in lines(&field, 2.5).into_iter().flatten() {
            assert!(
                x.is_finite() && !(1.0..3.0).contains(&y) || (y - 1.0).abs() < 1e-9 || y >= 3.0
            );
        }
        assert!(lines(&Array2::from_elem((4, 4), 1.0), 2.0).is_empty());
        assert!(lines(&Array2::zeros((1, 1)), 0.0).is_empty());
    }

    #[test]
    fn saddles_have_two_lines() {
        let field = ndarray::array![[1.0, 0.0], [0.0, 1.0]];
        assert_eq!(lines(&field, 0.5).len(), 2);
        assert_eq!(lines(&field, 0.4).len(), 2);
    }
}
