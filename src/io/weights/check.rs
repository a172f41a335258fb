//! Checks of weights against the attributes and variables of their file.

use std::path::Path;

use tracing::warn;

use super::{Coordinates, Normalisation, Weights};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::io::mapping;
use crate::io::mapping::EARTH_RADIUS;
use crate::io::read::reader::Reader;
use crate::os_text::Shown;
use crate::primitives::csr::Csr;

/// Error of a sum of weights above which there is a warning: the rounding of a dozen single-precision weights.
const NOTED: f64 = 1e-6;

/// Error of a sum of weights above which a file is rejected: a pressure of 1000 hPa would be off by 1 hPa.
const REFUSED: f64 = 1e-3;

/// Result of the check of the sums of weights.
#[derive(Debug)]
pub(super) struct Sums {
    /// Largest distance from the expected sums.
    pub(super) defect: f64,
    /// Divisors of each row that turn the weights into means; `None` if none are needed.
    pub(super) divisors: Option<Vec<f64>>,
}

/// Returns `true` if a method is conservative according to the attribute `map_method`.
pub(super) fn is_conservative(method: &str) -> bool {
    method.to_lowercase().contains("conserv")
}

/// Compares the sums of the weights with those that the normalisation states.
pub(super) fn row_sums(reader: &Reader, weights: &Weights) -> Result<Sums> {
    let Weights { matrix, fraction, areas, method, normalisation, .. } = weights;
    let is_conservative = is_conservative(method);
    let covered = |row: usize| if is_conservative { fraction[row] } else { 1.0 };
    let divisors = if *normalisation == Normalisation::None && is_conservative {
        let Some([_, target]) = areas else {
            return Err(reader.error(
                "has weights that contain areas (normalization none), but not the areas of the \
                 target cells; make the weights with normalization fracarea",
            ));
        };
        Some(target.iter().zip(fraction).map(|(area, part)| area * part).collect::<Vec<f64>>())
    } else {
        None
    };
    let mut worst = (0.0, 0, 0.0, 0.0);
    for row in 0..matrix.rows() {
        let entries = matrix.starts()[row]..matrix.starts()[row + 1];
        let is_empty = entries.is_empty();
        // The sum of an empty row is -0.
        let sum = 0.0 + matrix.values()[entries].iter().sum::<f64>();
        let promised = match (normalisation, &divisors) {
            _ if is_empty && fraction[row] <= NOTED => 0.0,
            // Files of interpolating methods may have a fraction of 1 in cells outside.
            _ if is_empty && !is_conservative => 0.0,
            (_, Some(divisors)) => divisors[row],
            (Normalisation::DestArea, None) => covered(row),
            (Normalisation::FracArea | Normalisation::None, None) => 1.0,
        };
        let scale = if divisors.is_some() { promised.abs().max(f64::MIN_POSITIVE) } else { 1.0 };
        let off = (sum - promised).abs() / scale;
        if off > worst.0 {
            worst = (off, row, sum, promised);
        }
    }
    let (defect, row, sum, promised) = worst;
    let message = format!(
        "the weights of target cell {} add up to {sum}; with normalization {} and a covered part of \
         {} they should add up to {promised}",
        row + 1,
        normalisation.name(),
        fraction.get(row).copied().unwrap_or_default()
    );
    if defect > REFUSED {
        return Err(reader.error(format!("{message}; the attribute or the weights are invalid")));
    }
    if defect > NOTED {
        warn!("{}: {message}", reader.path().shown());
    }
    Ok(Sums { defect, divisors })
}

/// Difference of the total of the target from that of the source, relative to it.
///
/// Σ over the target of A f Σ w q against Σ over the source of A f q, for q = 1.
pub(super) fn conservation(reader: &Reader, weights: &Weights) -> Result<Option<f64>> {
    let Weights { matrix, fraction, areas, source_fraction, .. } = weights;
    let (true, Some([source, target]), Some(source_fraction)) =
        (is_conservative(&weights.method), areas, source_fraction)
    else {
        return Ok(None);
    };
    let content: f64 = source.iter().zip(source_fraction).map(|(area, part)| area * part).sum();
    // Factor of each row: its weights contain the covered fraction, the area, or neither.
    let extent: Vec<f64> = match weights.normalisation {
        Normalisation::FracArea => target.iter().zip(fraction).map(|(a, f)| a * f).collect(),
        Normalisation::DestArea => target.clone(),
        Normalisation::None => vec![1.0; target.len()],
    };
    let mut received = vec![0.0; matrix.columns()];
    matrix.multiply_transposed(&extent, &mut received);
    let received: f64 = received.iter().sum();
    if content <= 0.0 {
        return Ok(None);
    }
    let off = (received / content - 1.0).abs();
    let message = format!(
        "the target receives {received:e} of the {content:e} that its part of the source covers"
    );
    if off > REFUSED {
        return Err(reader.error(format!(
            "claims to be conservative ({}), but {message}; the areas or the weights are wrong",
            weights.method
        )));
    }
    if off > NOTED {
        warn!("{}: {message}", reader.path().shown());
    }
    Ok(Some(off))
}

/// The matrix with every row divided by its divisor; rows with divisor zero are kept.
pub(super) fn divided(matrix: &Csr<f64>, divisors: &[f64]) -> Result<Csr<f64>> {
    let mut values = matrix.values().to_vec();
    for (row, divisor) in divisors.iter().enumerate().filter(|(_, divisor)| **divisor != 0.0) {
        for value in &mut values[matrix.starts()[row]..matrix.starts()[row + 1]] {
            *value /= divisor;
        }
    }
    Csr::from_parts(matrix.columns(), matrix.starts().to_vec(), matrix.column_of().to_vec(), values)
}

/// Fails if the known centres of the source cells are not those of the run.
pub(super) fn same_places(path: &Path, weights: &Weights, domain: &Domain) -> Result<()> {
    let Some((coordinates, [x, y])) = &weights.source else { return Ok(()) };
    let Some(centres) = mapping::centres(domain, *coordinates == Coordinates::Metres) else {
        return Ok(());
    };
    // Beyond half the distance to the next cell a centre belongs to another cell.
    let most = 0.5 * domain.grid.dx.min(domain.grid.dy);
    for (cell, place) in centres.enumerate() {
        let [dx, dy] = [x[cell] - place[0], y[cell] - place[1]];
        let away = match coordinates {
            Coordinates::Metres => dx.hypot(dy),
            Coordinates::Degrees => {
                let east = mapping::turn(dx).to_radians() * place[1].to_radians().cos();
                EARTH_RADIUS * east.hypot(dy.to_radians())
            }
        };
        if away > most {
            return Err(Error::input(
                path,
                format!(
                    "has source cell {} at {:.4} {:.4}, where the grid of the run has it at {:.4} \
                     {:.4}; the weights are those of another grid",
                    cell + 1,
                    x[cell],
                    y[cell],
                    place[0],
                    place[1]
                ),
            ));
        }
    }
    Ok(())
}
