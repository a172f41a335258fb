//! Fields of tracers in a WRF file, converted to the units of the tracer.

use ndarray::{Array3, Zip};

use super::source::{TimeReader, convert, stored_name};
use super::{Frame, air};
use crate::bounds;
use crate::chemistry::coupling::{self, mixing_ratio};
use crate::error::Result;
use crate::passive::SourceVariable;
use crate::units::{self, Quantity};

/// Reads the source of a tracer; number densities of a gas become mixing ratios in the air of the frame. Shape: (nz, ny,
/// nx).
///
/// Fails for units that are not those of the tracer, and for amounts of a gas below 0 or above those of the air.
pub(super) fn read(
    source: &TimeReader<'_>,
    variable: SourceVariable,
    frame: &Frame,
) -> Result<Array3<f32>> {
    let SourceVariable { name, units } = variable;
    let mut values = source.volume_as_stored(name)?;
    let stored = stored_name(source.reader, name).unwrap_or_else(|| name.to_owned());
    let stated = source.reader.units(&stored).unwrap_or_default();
    let quantity = Quantity::in_units(units);
    let density = Quantity::NUMBER_DENSITY.conversion(&stated);
    match (quantity.conversion(&stated), density) {
        (Ok(conversion), _) => convert(&mut values, conversion),
        (Err(_), Ok(conversion)) if quantity == Quantity::GAS_RATIO => {
            let rho = frame.environment::<f64>().rho;
            Zip::from(&mut values).and(&rho).for_each(|value, &rho| {
                let density = conversion.of(f64::from(*value));
                *value = mixing_ratio(density, coupling::air(rho)) as f32;
            });
        }
        (Err(refusal), _) => return Err(source.reader.other_units(&stored, &refusal)),
    }
    if let Some(all_of_it) = units::whole(units) {
        let largest = |values: &mut dyn Iterator<Item = f32>| values.fold(0.0, f32::max);
        let mut most = largest(&mut values.iter().copied());
        // The bound below 0 is that of the whole, of which a window may have the small values alone.
        if source.window.is_some()
            && values.iter().any(|x| *x < 0.0)
            && let Ok(conversion) = quantity.conversion(&stated)
        {
            source.all_levels(name, |level| {
                let converted = |x: &f32| conversion.of(f64::from(*x)) as f32;
                most = most.max(largest(&mut level.iter().map(converted)));
                true
            })?;
        }
        let range = bounds::gas(all_of_it, f64::from(most).min(all_of_it));
        let what = format!("{stored} ({units})");
        air::within(source.reader, (&values, source.window), range, &what)?;
    }
    Ok(values)
}
