//! Metadata of a Zarr store: documents for the root and for every array.

use netcdf::AttributeValue;
use serde_json::{Map, Value, json};

use super::TIME;
use super::level;
use super::shards::Shards;
use crate::io::store::format::{Definition, Done, Kind};
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
    /// Names and lengths; the dimension of time has none.
    pub(super) dimensions: Vec<(String, Option<usize>)>,
    compression: Compression,
    /// `true` if it is a field, stored in shards.
    is_field: bool,
    pub(super) attributes: Attributes,
}

impl Array {
    /// A variable with these dimensions.
    pub(super) fn new(about: &Definition<'_>, dimensions: Vec<(String, Option<usize>)>) -> Self {
        Self {
            name: about.name.to_owned(),
            kind: about.kind,
            dimensions,
            compression: about.compression,
            is_field: about.chunks.is_some(),
            attributes: Attributes::new(),
        }
    }

    /// Its document, with so many frames.
    pub(super) fn document(&self, frames: usize) -> Value {
        let lengths = |time: usize| -> Vec<usize> {
            self.dimensions.iter().map(|(_, length)| length.unwrap_or(time)).collect()
        };
        let shards = self.shards();
        let chunk = shards.map_or_else(|| lengths(1), |shards| shards.extents());
        let names: Vec<&str> = self.dimensions.iter().map(|(name, _)| name.as_str()).collect();
        let (kind, fill) = match self.kind {
            Kind::Single => ("float32", json!("NaN")),
            Kind::Double => ("float64", json!("NaN")),
            Kind::Whole => ("int32", json!(NEVER_WRITTEN)),
            Kind::Text => ("string", json!("")),
        };
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
            (Kind::Text, _) => json!([{"name": "vlen-utf8"}]),
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
pub(super) fn put(attributes: &mut Attributes, name: &str, value: AttributeValue) -> Done {
    use AttributeValue as A;
    let value = match value {
        A::Str(text) => json!(text),
        A::Strs(texts) => json!(texts),
        A::Int(x) => json!(x),
        A::Ints(x) => json!(x),
        A::Longlong(x) => json!(x),
        // The digits of the single precision, not those of the double nearest to it.
        A::Float(x) => json!(x),
        A::Floats(x) => json!(x),
        A::Double(x) => json!(x),
        A::Doubles(x) => json!(x),
        other => return Err(format!("attribute {name} is {other:?}, which is not stored")),
    };
    attributes.insert(name.to_owned(), value);
    Ok(())
}

/// An attribute, if it is text.
pub(super) fn text(attributes: &Attributes, name: &str) -> Option<String> {
    attributes.get(name)?.as_str().map(str::to_owned)
}
