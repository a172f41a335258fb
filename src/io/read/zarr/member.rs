//! An array of a store: its metadata in the words of NetCDF, and the array itself.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use zarrs::array::{Array, ArrayMetadata};
use zarrs::filesystem::FilesystemStore;

use super::root::Document;
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::read::damage_guard::caught;
use crate::io::read::dataset::{Extent, Variable};

/// WRF's variable of time stamps, which NetCDF stores as characters, and the dimension of these.
pub(super) const TIMES: (&str, &str, usize) = ("Times", "DateStrLen", 19);

/// An array of a store.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) about: Variable,
    pub(super) element: Element,
    /// The reason if its type, its codecs or its document are not understood.
    pub(super) array: std::result::Result<Array<FilesystemStore>, String>,
}

impl Member {
    /// An array by its metadata.
    pub(super) fn new(
        files: &Arc<FilesystemStore>,
        name: &str,
        document: Document,
    ) -> std::result::Result<Self, String> {
        let Document { mut own, mut attributes } = document;
        let is_v2 = own.get("zarr_format").and_then(Value::as_u64) == Some(2);
        let shape = own.get("shape").and_then(Value::as_array);
        let lengths: Option<Vec<usize>> = shape.and_then(|all| {
            all.iter().map(|n| n.as_u64().and_then(|n| usize::try_from(n).ok())).collect()
        });
        let lengths = lengths.ok_or("has no shape of whole numbers")?;
        let names = if is_v2 {
            attributes.remove("_ARRAY_DIMENSIONS")
        } else {
            own.get("dimension_names").cloned()
        };
        let names: Vec<Value> =
            names.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        let extents = lengths.iter().enumerate().map(|(axis, length)| {
            let named = names.get(axis).and_then(Value::as_str);
            let name = named.map_or_else(|| format!("{name}_{axis}"), str::to_owned);
            let unlimited = matches!(&*name, "Time" | "time");
            Extent { name, length: *length, unlimited }
        });
        let mut extents: Vec<Extent> = extents.collect();
        let element = Element::of(&mut own, is_v2);
        let mut kind = element.as_ref().map_or(Kind::String, Element::kind);
        let is_real = kind.is_real();
        // Zero is what writers state that think of no missing values.
        let fill =
            own.get("fill_value").filter(|fill| is_v2 && fill.as_f64().is_some_and(|x| x != 0.0));
        if let Some(fill) = fill {
            attributes.entry("_FillValue").or_insert_with(|| fill.clone());
        }
        let attributes = attributes
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), Ok(attribute(name, value, is_real)?))));
        let attributes = attributes.collect();
        let array = match &element {
            Err(why) => Err(why.clone()),
            Ok(_) => open(files, name, own, is_v2),
        };
        if name == TIMES.0 && kind == Kind::String && extents.len() == 1 {
            let name = TIMES.1.to_owned();
            extents.push(Extent { name, length: TIMES.2, unlimited: false });
            kind = Kind::Char;
        }
        let about = Variable { name: name.to_owned(), kind, extents, attributes };
        let element = element.unwrap_or(Element::Text(Text::Any));
        Ok(Self { about, element, array })
    }
}

/// An array by its document; the reason if it is not understood.
fn open(
    files: &Arc<FilesystemStore>,
    name: &str,
    own: Map<String, Value>,
    is_v2: bool,
) -> std::result::Result<Array<FilesystemStore>, String> {
    let own = Value::Object(own);
    let path = format!("/{name}");
    let made = caught(|| -> std::result::Result<_, String> {
        let metadata = if is_v2 {
            ArrayMetadata::V2(serde_json::from_value(own).map_err(|e| e.to_string())?)
        } else {
            ArrayMetadata::V3(serde_json::from_value(own).map_err(|e| e.to_string())?)
        };
        Array::new_with_metadata(Arc::clone(files), &path, metadata).map_err(|e| e.to_string())
    });
    made.and_then(|made| made).map_err(|why| {
        format!("is stored in a form that this program does not read ({why}); rewrite it with other codecs")
    })
}

/// Form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// Of any length.
    Any,
    /// Bytes of a fixed length.
    Bytes,
    /// Characters of four bytes.
    Wide,
}

/// Type of the elements of an array.
#[derive(Clone, Debug)]
pub(super) enum Element {
    Number(Kind),
    Text(Text),
    /// One character each.
    Character,
}

impl Element {
    /// The type that a document states, which is put in the words of the library where these are others.
    fn of(own: &mut Map<String, Value>, is_v2: bool) -> std::result::Result<Self, String> {
        let key = if is_v2 { "dtype" } else { "data_type" };
        let stated = own.get(key).cloned().unwrap_or_default();
        let unknown = || format!("is of the type {stated}, which this program does not read");
        let (name, length) = match (&stated, is_v2) {
            (Value::String(name), _) => (name.clone(), None),
            (Value::Object(about), false) => {
                let name = about.get("name").and_then(Value::as_str).unwrap_or_default();
                let length = about.get("configuration").and_then(|all| all.get("length_bytes"));
                (name.to_owned(), length.and_then(Value::as_u64))
            }
            _ => return Err(unknown()),
        };
        let name = if is_v2 { name.trim_start_matches(['<', '>', '|', '=']) } else { &name };
        if let Some(number) = number_of(name) {
            return Ok(Self::Number(number));
        }
        let length = length
            .or_else(|| name.get(1..)?.parse().ok())
            .filter(|n| (1..=LONGEST_TEXT).contains(n));
        let of_length =
            |length: u64| if length == 1 { Self::Character } else { Self::Text(Text::Bytes) };
        match (name, length) {
            ("string" | "O", _) => Ok(Self::Text(Text::Any)),
            (name, Some(length)) if is_v2 && name.starts_with('S') => {
                own.insert(key.to_owned(), Value::from(format!("|V{length}")));
                let zeros = BASE64_STANDARD.encode(vec![0_u8; length as usize]);
                own.insert("fill_value".to_owned(), Value::from(zeros));
                Ok(of_length(length))
            }
            (name, Some(_)) if is_v2 && name.starts_with('U') => Ok(Self::Text(Text::Wide)),
            ("null_terminated_bytes", Some(length)) => {
                own.insert(key.to_owned(), Value::from(format!("r{}", 8 * length)));
                own.insert("fill_value".to_owned(), Value::from(vec![0_u8; length as usize]));
                Ok(of_length(length))
            }
            ("fixed_length_utf32", Some(_)) => Ok(Self::Text(Text::Wide)),
            _ => Err(unknown()),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Number(kind) => *kind,
            Self::Text(_) => Kind::String,
            Self::Character => Kind::Char,
        }
    }
}

/// Longest text of a fixed length, bytes.
pub(super) const LONGEST_TEXT: u64 = 1 << 16;

/// A type of numbers, by its name in version 3, or in version 2 without its byte order.
fn number_of(name: &str) -> Option<Kind> {
    Some(match name {
        "float32" | "f4" => Kind::Float,
        "float64" | "f8" => Kind::Double,
        "int8" | "i1" => Kind::Byte,
        "uint8" | "u1" => Kind::UByte,
        "int16" | "i2" => Kind::Short,
        "uint16" | "u2" => Kind::UShort,
        "int32" | "i4" => Kind::Int,
        "uint32" | "u4" => Kind::UInt,
        "int64" | "i8" => Kind::Int64,
        "uint64" | "u8" => Kind::UInt64,
        _ => return None,
    })
}

/// An attribute as NetCDF has it; `None` for null.
pub(super) fn attribute(name: &str, value: &Value, is_real: bool) -> Option<AttributeValue> {
    if let (true, "_FillValue", Value::String(text)) = (is_real, name, value) {
        // Eight bytes of a double, the lowest first.
        let bytes: Option<[u8; 8]> =
            BASE64_STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        let named = || match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        };
        if let Some(fill) = named().or_else(|| bytes.map(f64::from_le_bytes)) {
            return Some(fill.into());
        }
    }
    Some(match value {
        Value::Null => return None,
        Value::String(text) => text.as_str().into(),
        Value::Number(number) => match number.as_i64().map(i32::try_from) {
            Some(Ok(whole)) => whole.into(),
            _ => number.as_f64()?.into(),
        },
        Value::Array(all) if !all.is_empty() && all.iter().all(Value::is_i64) => {
            let all = all.iter().filter_map(Value::as_i64).map(|x| x as f64).collect();
            AttributeValue::Numbers(Kind::Int64, all)
        }
        Value::Array(all) if !all.is_empty() && all.iter().all(Value::is_number) => {
            all.iter().filter_map(Value::as_f64).collect::<Vec<f64>>().into()
        }
        other => other.to_string().into(),
    })
}
