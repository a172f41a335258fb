//! Files in the units of other programs, and values that no air has, in every command that reads them.

mod air;
mod cells;
mod columns;
mod differences;
mod species;

use std::path::Path;

use ndarray::ArrayD;
use netcdf::AttributeValue;

use nwp_mini_support::run::{place, result, small};

/// Gives a variable of a file an attribute.
fn set_attribute(path: &Path, variable: &str, name: &str, value: AttributeValue) {
    let mut file = netcdf::append(path).expect("a file");
    let mut variable = file.variable_mut(variable).expect("a variable");
    variable.put_attribute(name, value).expect("an attribute");
    drop(variable);
    file.close().expect("written");
}

/// Units of the type string, which other programs write instead of characters.
fn string(text: &str) -> AttributeValue {
    AttributeValue::Strs(vec![text.to_owned()])
}

/// The largest difference of two fields, relative to the largest value.
fn apart(a: &ArrayD<f64>, b: &ArrayD<f64>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let most = a.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    a.iter().zip(b).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs())) / most
}
