//! Zarr behind the seam of inputs: local folders of versions 2 and 3, of any writer.
//!
//! Arrays at the top of a store are variables. Their metadata are taken from the root where it holds them, so that all
//! are of one moment while a run writes; otherwise from their own documents.
//!
//! Sources: Zarr core specification, version 3.1, and that of version 2; the attributes that xarray writes
//! (`_ARRAY_DIMENSIONS` of version 2, `_FillValue` in base64).
//!
//! # Decisions
//!
//! **A store is checked before it is trusted.** Documents are read up to a length, arrays are decoded with panics
//! caught, and a request may take no more memory than its chunks on disk can hold, or than a missing chunk reasonably
//! stands for.

mod member;
mod root;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use zarrs::array::{Array, ArrayBytes, ArraySubset, ElementOwned, FromArrayBytes};
use zarrs::filesystem::FilesystemStore;

use crate::error::{Error, Result};
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::read::damage_guard::caught;
use crate::io::read::dataset::{Answer, Dataset, Variable};
use member::{Element, LONGEST_TEXT, Member, TIMES, Text, attribute};
use root::Root;

/// Most bytes that a compressed byte can stand for: zstd repeats one byte by blocks of 128 KB, of which blosc adds a
/// header.
const MOST_PACKED: u64 = 1 << 16;

/// Bytes that a request may take besides: chunks that were never written are left out of a store.
const MOST_ABSENT: u64 = 4 << 30;

/// Most chunks of a request.
const MOST_CHUNKS: u64 = 1 << 20;

/// An open Zarr store.
#[derive(Debug)]
pub(in crate::io) struct ZarrFolder {
    members: BTreeMap<String, Member>,
    groups: Vec<String>,
    attributes: Map<String, Value>,
}

impl ZarrFolder {
    /// Opens a folder for reading.
    pub(in crate::io) fn open(path: &Path) -> Result<Self> {
        let failed = |why: String| Error::input(path, why);
        let root = Root::read(path).map_err(failed)?;
        let files = FilesystemStore::new(path).map_err(|e| failed(e.to_string()))?;
        let files = Arc::new(files);
        let members = root.arrays.into_iter().map(|(name, document)| {
            let member = Member::new(&files, &name, document)
                .map_err(|why| failed(format!("array {name} {why}")))?;
            Ok((name, member))
        });
        let members = members.collect::<Result<_>>()?;
        Ok(Self { members, groups: root.groups, attributes: root.attributes })
    }

    /// The values of an array within ranges.
    fn get<T: ElementOwned>(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<T>> {
        self.retrieve(name, ranges, size_of::<T>())
    }

    /// The bytes of values of a fixed length.
    fn fixed(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<u8>> {
        let bytes: ArrayBytes<'static> = self.retrieve(name, ranges, LONGEST_TEXT as usize)?;
        bytes.into_fixed().map(Cow::into_owned).map_err(|e| e.to_string())
    }

    /// The values of an array within ranges, each of `size` bytes at most.
    fn retrieve<T: FromArrayBytes>(
        &self,
        name: &str,
        ranges: &[Range<usize>],
        size: usize,
    ) -> Answer<T> {
        let member = self.members.get(name).ok_or_else(|| format!("no array {name}"))?;
        let array = member.array.as_ref().map_err(|why| format!("variable {name} {why}"))?;
        let ranges: Vec<_> = ranges.iter().map(|r| r.start as u64..r.end as u64).collect();
        let subset = ArraySubset::new_with_ranges(&ranges);
        let read = || -> Answer<T> {
            room(array, &ranges, size)?;
            array.retrieve_array_subset::<T>(&subset).map_err(|e| e.to_string())
        };
        caught(read).and_then(|read| read).map_err(|why| {
            format!("variable {name} is damaged ({why}); copy or create the store again")
        })
    }

    /// The same, as numbers of another type.
    fn converted<U>(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<U>>
    where
        U: Number,
    {
        let member = self.members.get(name).ok_or_else(|| format!("no array {name}"))?;
        member.array.as_ref().map_err(|why| format!("variable {name} {why}"))?;
        macro_rules! of {
            ($real:ty) => {
                Ok(self.get::<$real>(name, ranges)?.into_iter().map(|x| U::of(x.into())).collect())
            };
        }
        match member.about.kind {
            Kind::Float => of!(f32),
            Kind::Double => of!(f64),
            Kind::Byte => of!(i8),
            Kind::UByte => of!(u8),
            Kind::Short => of!(i16),
            Kind::UShort => of!(u16),
            Kind::Int => of!(i32),
            Kind::UInt => of!(u32),
            Kind::Int64 => of!(i64),
            Kind::UInt64 => of!(u64),
            _ => Err("it is not numeric".to_owned()),
        }
    }
}

/// A number of any type.
#[derive(Clone, Copy, Debug)]
enum Any {
    Real(f64),
    Signed(i64),
    Unsigned(u64),
}

macro_rules! any {
    ($kind:ident: $($real:ty)*) => {$(
        impl From<$real> for Any {
            fn from(x: $real) -> Self {
                Self::$kind(x.into())
            }
        }
    )*};
}

any!(Real: f32 f64);
any!(Signed: i8 i16 i32 i64);
any!(Unsigned: u8 u16 u32 u64);

/// A type that numbers are asked for in.
trait Number {
    fn of(x: Any) -> Self;
}

macro_rules! number {
    ($($real:ty)*) => {$(
        impl Number for $real {
            fn of(x: Any) -> Self {
                match x {
                    Any::Real(x) => x as Self,
                    Any::Signed(x) => x as Self,
                    Any::Unsigned(x) => x as Self,
                }
            }
        }
    )*};
}

number!(f32 f64 i64 u64);

/// Fails if a request takes more memory than its chunks can hold.
fn room(array: &Array<FilesystemStore>, ranges: &[Range<u64>], size: usize) -> Answer<()> {
    let product = |lengths: &mut dyn Iterator<Item = u64>| lengths.fold(1, u64::saturating_mul);
    let values = product(&mut ranges.iter().map(|range| range.end.saturating_sub(range.start)));
    if values == 0 {
        return Ok(());
    }
    let first = vec![0; ranges.len()];
    let chunk = array.chunk_shape(&first).map_err(|e| e.to_string())?;
    let chunk: Vec<u64> = chunk.iter().map(|n| n.get()).collect();
    let spans: Vec<Range<u64>> =
        ranges.iter().zip(&chunk).map(|(r, n)| r.start / n..r.end.div_ceil(*n)).collect();
    let chunks = product(&mut spans.iter().map(|span| span.end - span.start));
    if chunks > MOST_CHUNKS {
        return Err(format!(
            "it is cut into {chunks} chunks; {MOST_CHUNKS} at most are read at once"
        ));
    }
    let of_chunk = product(&mut chunk.iter().copied());
    let bytes = values.max(of_chunk).saturating_mul(size as u64);
    if bytes <= MOST_ABSENT {
        return Ok(());
    }
    let storage = array.storage();
    let (mut at, mut stored) = (spans.iter().map(|span| span.start).collect::<Vec<_>>(), 0_u64);
    for _ in 0..chunks {
        let path = storage.key_to_fspath(&array.chunk_key(&at));
        stored += fs::metadata(path).map_or(0, |about| about.len());
        for axis in (0..at.len()).rev() {
            at[axis] += 1;
            if at[axis] < spans[axis].end {
                break;
            }
            at[axis] = spans[axis].start;
        }
    }
    let most = stored.saturating_mul(MOST_PACKED).saturating_add(MOST_ABSENT);
    if bytes > most {
        return Err(format!(
            "it would take {bytes} bytes by its shape, and its chunks on disk, {stored} bytes, can hold \
             {most} at most"
        ));
    }
    Ok(())
}

impl Dataset for ZarrFolder {
    fn names(&self) -> Vec<String> {
        self.members.keys().cloned().collect()
    }

    fn variable(&self, name: &str) -> Option<Variable> {
        self.members.get(name).map(|member| member.about.clone())
    }

    fn groups(&self) -> Answer<Vec<String>> {
        Ok(self.groups.clone())
    }

    fn dimensions(&self) -> Vec<(String, usize)> {
        let mut all: Vec<(String, usize)> = Vec::new();
        for extent in self.members.values().flat_map(|member| &member.about.extents) {
            if !all.iter().any(|(name, _)| *name == extent.name) {
                all.push((extent.name.clone(), extent.length));
            }
        }
        all
    }

    fn attribute(&self, name: &str) -> Option<Answer<AttributeValue>> {
        attribute(name, self.attributes.get(name)?, false).map(Ok)
    }

    fn digest(&self, _except: &str) -> Answer<String> {
        Err("it is a Zarr store, and restart files are NetCDF files".to_owned())
    }

    fn excess(&self, variable: &Variable) -> Option<String> {
        let bytes = variable.lengths().into_iter().try_fold(8_usize, usize::checked_mul);
        bytes.is_none().then(|| {
            format!(
                "variable {} has more values than a computer can count; it is damaged",
                variable.name
            )
        })
    }

    fn singles(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<f32>> {
        self.converted(name, ranges)
    }

    fn doubles(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<f64>> {
        self.converted(name, ranges)
    }

    fn integers(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<i64>> {
        self.converted(name, ranges)
    }

    fn naturals(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<u64>> {
        self.converted(name, ranges)
    }

    fn characters(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<u8>> {
        let member = self.members.get(name).ok_or_else(|| format!("no array {name}"))?;
        if matches!(member.element, Element::Character) {
            return self.fixed(name, ranges);
        }
        let [times, within] = ranges else { return Err("it is no text".to_owned()) };
        let texts = self.strings(name, std::slice::from_ref(times))?;
        let bytes = texts.into_iter().flat_map(|text| {
            let mut bytes = text.into_bytes();
            bytes.resize(TIMES.2, 0);
            bytes[within.clone()].to_vec()
        });
        Ok(bytes.collect())
    }

    fn strings(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<String>> {
        let member = self.members.get(name).ok_or_else(|| format!("no array {name}"))?;
        let count: usize = ranges.iter().map(Range::len).product();
        let ended = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.trim_end_matches('\0').to_owned()
        };
        match member.element {
            Element::Text(Text::Any) => self.get(name, ranges),
            Element::Text(Text::Bytes) => {
                let bytes = self.fixed(name, ranges)?;
                let each = (bytes.len() / count.max(1)).max(1);
                Ok(bytes.chunks_exact(each).map(ended).collect())
            }
            Element::Text(Text::Wide) => {
                let bytes = self.fixed(name, ranges)?;
                let each = (bytes.len() / count.max(1)).max(1);
                let wide = |text: &[u8]| -> String {
                    let (letters, _) = text.as_chunks();
                    let letters = letters.iter().map(|word| u32::from_ne_bytes(*word));
                    letters.filter(|n| *n != 0).map(|n| char::from_u32(n).unwrap_or('?')).collect()
                };
                Ok(bytes.chunks_exact(each).map(wide).collect())
            }
            _ => Err("it is no text".to_owned()),
        }
    }
}
