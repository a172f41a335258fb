//! Values in messages: the bytes of each in the order of memory, of either precision.

use crate::real::Real;

/// Bytes of so many values.
pub fn bytes<R>(values: usize) -> usize {
    values * size_of::<R>()
}

/// Appends values to a message.
pub fn pack<'a, R: Real>(values: impl IntoIterator<Item = &'a R>, message: &mut Vec<u8>) {
    for value in values {
        if size_of::<R>() == size_of::<f32>() {
            // Exact: the value came from single precision.
            message.extend_from_slice(&(value.f64() as f32).to_ne_bytes());
        } else {
            message.extend_from_slice(&value.f64().to_ne_bytes());
        }
    }
}

/// Takes values from the beginning of a message, which has at least as many; returns the rest of it.
pub fn unpack<'m, 'a, R: Real>(
    message: &'m [u8],
    values: impl IntoIterator<Item = &'a mut R>,
) -> &'m [u8] {
    let mut rest = message;
    for value in values {
        if size_of::<R>() == size_of::<f32>() {
            *value = R::of(f32::from_ne_bytes(first(&mut rest)).into());
        } else {
            *value = R::of(f64::from_ne_bytes(first(&mut rest)));
        }
    }
    rest
}

/// Takes the first bytes.
fn first<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (bytes, others) =
        rest.split_first_chunk().expect("a message of the length that was agreed on");
    *rest = others;
    *bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_bits() {
        let single = [1.5_f32, -0.0, f32::from_bits(1), f32::INFINITY];
        let double = [0.1_f64, -0.0, f64::from_bits(1)];
        let mut message = Vec::new();
        pack(&single, &mut message);
        pack(&double, &mut message);
        assert_eq!(message.len(), bytes::<f32>(single.len()) + bytes::<f64>(double.len()));
        let (mut of_single, mut of_double) = ([0.0_f32; 4], [0.0_f64; 3]);
        let rest = unpack(&message, &mut of_single);
        assert!(unpack(rest, &mut of_double).is_empty());
        assert_eq!(single.map(f32::to_bits), of_single.map(f32::to_bits));
        assert_eq!(double.map(f64::to_bits), of_double.map(f64::to_bits));
    }
}
