//! Metadata of a Zarr store: documents for the root and for every array.

use serde_json::{Map, Value, json};

use super::TIME;
use super::level;
use super::shards::Shards;
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::store::format::Definition;
use crate::io::store::storage::Compression;

/// Name of a document.
pub(super) const NAME: &str = "zarr.json";

/// The fill value of integers in NetCDF: what a variable holds that is never written.
const NEVER_WRITTEN: i32 = -2_147_483_647;

/// Attributes of the root or of an array.
pub(super) type Attributes = Map<String, Value>;

/// A variable.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) name: String,
    kind: Kind,
    /// Its type and its fill value, in the words of the format.
    data_type: (&'static str, Value),
    /// Names and lengths; the dimension of time has none.
    pub(super) dimensions: Vec<(String, Option<usize>)>,
    compression: Compression,
    /// `true` if it is a field, stored in shards.
    is_field: bool,
    pub(super) attributes: Attributes,
}

impl Array {
    /// A variable with these dimensions.
    pub(super) fn new(
        about: &Definition<'_>,
        dimensions: Vec<(String, Option<usize>)>,
    ) -> Result<Self, String> {
        Ok(Self {
            data_type: data_type(about.kind)?,
            name: about.name.to_owned(),
            kind: about.kind,
            dimensions,
            compression: about.compression,
            is_field: about.chunks.is_some(),
            attributes: Attributes::new(),
        })
    }

    /// Its document, with so many frames.
    pub(super) fn document(&self, frames: usize) -> Value {
        let lengths = |time: usize| -> Vec<usize> {
            self.dimensions.iter().map(|(_, length)| length.unwrap_or(time)).collect()
        };
        let shards = self.shards();
        let chunk = shards.map_or_else(|| lengths(1), |shards| shards.extents());
        let names: Vec<&str> = self.dimensions.iter().map(|(name, _)| name.as_str()).collect();
        let (kind, fill) = &self.data_type;
        let codecs = match shards {
            Some(shards) if shards.is_shared() => json!([{
                "name": "sharding_indexed",
                "configuration": {
                    "chunk_shape": shards.inner_extents(),
                    "codecs": self.codecs(true),
                    "index_codecs": [bytes(), {"name": "crc32c"}],
                    "index_location": "end",
                },
            }]),
            shards => self.codecs(shards.is_some()),
        };
        json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": lengths(frames),
            "data_type": kind,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill,
            "codecs": codecs,
            "attributes": self.attributes,
            "dimension_names": names,
        })
    }

    /// The shards of a field.
    fn shards(&self) -> Option<Shards> {
        let mut space = self.dimensions.iter().filter(|(name, _)| name != TIME);
        let space: Option<Vec<usize>> = space.by_ref().map(|(_, length)| *length).collect();
        let space = space.filter(|_| self.is_field)?;
        Shards::new(&space, self.size())
    }

    /// Bytes of a value.
    fn size(&self) -> usize {
        if self.kind == Kind::Double { size_of::<f64>() } else { size_of::<f32>() }
    }

    /// The codecs of a chunk.
    fn codecs(&self, is_field: bool) -> Value {
        let level = level(self.compression).filter(|_| is_field);
        match (self.kind, level) {
            (Kind::Char, _) => json!([{"name": "vlen-utf8"}]),
            (_, None) => json!([bytes()]),
            (_, Some(level)) => json!([bytes(), {
                "name": "blosc",
                "configuration": {
                    "cname": "zstd",
                    "clevel": level,
                    "shuffle": "shuffle",
                    "typesize": self.size(),
                    "blocksize": 0,
                },
            }]),
        }
    }
}

/// The type of values, and the value of missing ones.
fn data_type(kind: Kind) -> Result<(&'static str, Value), String> {
    Ok(match kind {
        Kind::Float => ("float32", json!("NaN")),
        Kind::Double => ("float64", json!("NaN")),
        Kind::Int => ("int32", json!(NEVER_WRITTEN)),
        Kind::Char => ("string", json!("")),
        other => return Err(format!("values of type {} are not stored", other.name())),
    })
}

/// The codec that puts the lowest byte first.
fn bytes() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

/// The document of the root, with those of all arrays.
pub(super) fn root(attributes: &Attributes, arrays: &[Array], frames: usize) -> Value {
    let arrays = arrays.iter().map(|array| (array.name.clone(), array.document(frames)));
    json!({
        "zarr_format": 3,
        "node_type": "group",
        "attributes": attributes,
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": false,
            "metadata": Value::Object(arrays.collect()),
        },
    })
}

/// Path of a chunk below its array.
pub(super) fn chunk_key(at: &[usize]) -> String {
    at.iter().fold("c".to_owned(), |key, index| format!("{key}/{index}"))
}

/// A chunk of one text: the number of texts, its length, its bytes.
pub(super) fn vlen_utf8(text: &str) -> Vec<u8> {
    let length = text.len() as u32;
    [&1_u32.to_le_bytes()[..], &length.to_le_bytes(), text.as_bytes()].concat()
}

/// Adds an attribute.
pub(super) fn put(attributes: &mut Attributes, name: &str, value: AttributeValue) {
    let number = |kind: Kind, x: f64| match kind {
        // The digits of the single precision, not those of the double nearest to it.
        Kind::Float => json!(x as f32),
        Kind::Double => json!(x),
        _ => json!(x as i64),
    };
    let value = match value {
        AttributeValue::Text(text) => json!(text),
        AttributeValue::Texts(texts) => json!(texts),
        AttributeValue::Numbers(kind, numbers) => match numbers[..] {
            [x] => number(kind, x),
            _ => numbers.into_iter().map(|x| number(kind, x)).collect(),
        },
    };
    attributes.insert(name.to_owned(), value);
}

/// An attribute, if it is text.
pub(super) fn text(attributes: &Attributes, name: &str) -> Option<String> {
    attributes.get(name)?.as_str().map(str::to_owned)
}
