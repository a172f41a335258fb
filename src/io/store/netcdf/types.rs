//! Types and attributes in the words of the NetCDF library.

use netcdf::types::{FloatType, IntType, NcVariableType};

use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;

/// The library's type of the values that are written.
pub(super) fn stored(kind: Kind) -> Result<NcVariableType, String> {
    Ok(match kind {
        Kind::Int => NcVariableType::Int(IntType::I32),
        Kind::Float => NcVariableType::Float(FloatType::F32),
        Kind::Double => NcVariableType::Float(FloatType::F64),
        Kind::Char => NcVariableType::Char,
        other => return Err(format!("values of type {} are not stored", other.name())),
    })
}

/// The type that a file has.
pub(in crate::io) fn found(kind: &NcVariableType) -> Kind {
    use NcVariableType as N;
    match kind {
        N::Int(IntType::I8) => Kind::Byte,
        N::Int(IntType::U8) => Kind::UByte,
        N::Int(IntType::I16) => Kind::Short,
        N::Int(IntType::U16) => Kind::UShort,
        N::Int(IntType::I32) => Kind::Int,
        N::Int(IntType::U32) => Kind::UInt,
        N::Int(IntType::I64) => Kind::Int64,
        N::Int(IntType::U64) => Kind::UInt64,
        N::Float(FloatType::F32) => Kind::Float,
        N::Float(FloatType::F64) => Kind::Double,
        N::Char => Kind::Char,
        N::String => Kind::String,
        N::Compound(_) | N::Opaque(_) | N::Enum(_) | N::Vlen(_) => Kind::UserDefined(kind.size()),
    }
}

/// An attribute as the library takes it.
pub(super) fn attribute(value: AttributeValue) -> Result<netcdf::AttributeValue, String> {
    use netcdf::AttributeValue as N;
    let (kind, numbers) = match value {
        AttributeValue::Text(text) => return Ok(N::Str(text)),
        AttributeValue::Texts(texts) => return Ok(N::Strs(texts)),
        AttributeValue::Numbers(kind, numbers) => (kind, numbers),
    };
    Ok(match (kind, &numbers[..]) {
        (Kind::Int, [x]) => N::Int(*x as i32),
        (Kind::Int64, [x]) => N::Longlong(*x as i64),
        (Kind::Float, [x]) => N::Float(*x as f32),
        (Kind::Double, _) => N::Doubles(numbers),
        (other, all) => {
            return Err(format!("{} numbers of type {} are not stored", all.len(), other.name()));
        }
    })
}

/// An attribute as the library gives it.
pub(in crate::io) fn value(attribute: netcdf::AttributeValue) -> AttributeValue {
    use netcdf::AttributeValue as N;
    fn several<T: Copy + Into<f64>>(kind: Kind, numbers: &[T]) -> AttributeValue {
        AttributeValue::Numbers(kind, numbers.iter().map(|x| (*x).into()).collect())
    }
    match attribute {
        N::Str(text) => AttributeValue::Text(text),
        N::Strs(texts) => AttributeValue::Texts(texts),
        N::Uchar(x) => several(Kind::UByte, &[x]),
        N::Uchars(x) => several(Kind::UByte, &x),
        N::Schar(x) => several(Kind::Byte, &[x]),
        N::Schars(x) => several(Kind::Byte, &x),
        N::Ushort(x) => several(Kind::UShort, &[x]),
        N::Ushorts(x) => several(Kind::UShort, &x),
        N::Short(x) => several(Kind::Short, &[x]),
        N::Shorts(x) => several(Kind::Short, &x),
        N::Uint(x) => several(Kind::UInt, &[x]),
        N::Uints(x) => several(Kind::UInt, &x),
        N::Int(x) => several(Kind::Int, &[x]),
        N::Ints(x) => several(Kind::Int, &x),
        N::Ulonglong(x) => several(Kind::UInt64, &[x as f64]),
        N::Ulonglongs(x) => {
            AttributeValue::Numbers(Kind::UInt64, x.into_iter().map(|x| x as f64).collect())
        }
        N::Longlong(x) => several(Kind::Int64, &[x as f64]),
        N::Longlongs(x) => {
            AttributeValue::Numbers(Kind::Int64, x.into_iter().map(|x| x as f64).collect())
        }
        N::Float(x) => several(Kind::Float, &[x]),
        N::Floats(x) => several(Kind::Float, &x),
        N::Double(x) => several(Kind::Double, &[x]),
        N::Doubles(x) => AttributeValue::Numbers(Kind::Double, x),
    }
}
