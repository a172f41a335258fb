//! Ways to corrupt a file: in its contents, and in its bytes.

use netcdf::AttributeValue;

use super::model::{Data, Field, MOST_VALUES, Model};
use super::random::Random;

/// Values that are none, or that no weather has.
const NUMBERS: [f64; 18] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e38,
    -1e38,
    3e38,
    1e-45,
    1e300,
    9.969_21e36,
    2_147_483_648.0,
    -2_147_483_649.0,
    9.3e18,
    273.15,
];

const TEXTS: [&str; 16] = [
    "",
    " ",
    "nan",
    "12",
    "hPa",
    "\u{1}\u{2}",
    "\u{e9}\u{e8}\u{1f327}",
    "%s%n",
    "../../etc/passwd",
    "2005-02-30_25:61:61",
    "9999-12-31_23:59:59",
    "periodic,open,closed",
    "2005-08-28_18:00:00 2005-08-28_17:00:00",
    "0001-01-01_00:00:00",
    "monotonic",
    "65535",
];

const NAMES: [&str; 8] =
    ["Time", "west_east", "bottom_top_stag", "x", "level", "a b", "\u{c5}ngstr\u{f6}m", "_"];

/// One of a list.
pub(crate) fn one_of<'a, T>(random: &mut Random, list: &'a [T]) -> &'a T {
    &list[below(random, list.len())]
}

/// A whole number below `count`, or 0.
pub(crate) fn below(random: &mut Random, count: usize) -> usize {
    (random.bits() % count.max(1) as u64) as usize
}

fn field<'a>(model: &'a mut Model, random: &mut Random) -> Option<&'a mut Field> {
    let at = below(random, model.fields.len());
    model.fields.get_mut(at)
}

/// Corrupts the contents of a file in one way; returns its description.
pub(crate) fn spoil(model: &mut Model, random: &mut Random) -> String {
    match below(random, 22) {
        0 => drop_field(model, random),
        1 => rename_field(model, random),
        2 | 3 => resize(model, random),
        4 => other_type(model, random),
        5..=8 => poke(model, random),
        9 => drop_attribute(model, random),
        10..=12 => other_attribute(model, random),
        13 => turn_axes(model, random),
        14 => other_axis(model, random),
        15 => extra_field(model, random),
        16 | 17 => other_times(model, random),
        18 => swap_values(model, random),
        19 => scale(model, random),
        20 => turn_bytes(model, random),
        _ => rename_dimension(model, random),
    }
}

fn drop_field(model: &mut Model, random: &mut Random) -> String {
    if model.fields.is_empty() {
        return "nothing to drop".to_owned();
    }
    let gone = model.fields.remove(below(random, model.fields.len()));
    format!("without {}", gone.name)
}

fn rename_field(model: &mut Model, random: &mut Random) -> String {
    let Some(field) = field(model, random) else { return String::new() };
    let old = field.name.clone();
    match below(random, 4) {
        0 => field.name += "_2",
        1 => field.name = field.name.to_lowercase(),
        2 => drop(field.name.pop()),
        _ => (*one_of(random, &NAMES)).clone_into(&mut field.name),
    }
    format!("{old} is called {:?}", field.name)
}

fn resize(model: &mut Model, random: &mut Random) -> String {
    if model.dimensions.is_empty() {
        return String::new();
    }
    let at = below(random, model.dimensions.len());
    let (name, old) = (model.dimensions[at].name.clone(), model.dimensions[at].length);
    let lengths = [
        0,
        1,
        2,
        3,
        4,
        old.saturating_sub(1),
        old + 1,
        old * 2,
        257,
        4096,
        100_000,
        1 << 20,
        1 << 31,
        (1 << 32) + 1,
        1 << 40,
        (1 << 62) + 1,
    ];
    let length = *one_of(random, &lengths);
    if length < MOST_VALUES && below(random, 4) == 0 {
        model.dimensions[at].unlimited ^= true;
    }
    model.resize(&name, length);
    // Faces follow their cells, so that the size itself is wrong, and not only the relation between sizes.
    if below(random, 2) == 0 {
        for faces in [format!("{name}_stag"), format!("{name}s")] {
            model.resize(&faces, length.saturating_add(1));
        }
    }
    format!("{name} = {length}")
}

fn other_type(model: &mut Model, random: &mut Random) -> String {
    let Some(field) = field(model, random) else { return String::new() };
    let numbers = field.data.numbers();
    let (kind, data) = match below(random, 8) {
        0 => ("text", Data::Text(Vec::new()).of_kind(numbers)),
        1 => ("byte", Data::Byte(Vec::new()).of_kind(numbers)),
        2 => ("short", Data::Short(Vec::new()).of_kind(numbers)),
        3 => ("int", Data::Int(Vec::new()).of_kind(numbers)),
        4 => ("int64", Data::Long(Vec::new()).of_kind(numbers)),
        5 => ("double", Data::Double(numbers)),
        6 => ("float", Data::Float(Vec::new()).of_kind(numbers)),
        _ => {
            ("strings", Data::Strings(Vec::new()).of_kind(numbers.into_iter().take(500).collect()))
        }
    };
    field.data = data;
    format!("{} is of type {kind}", field.name)
}

fn poke(model: &mut Model, random: &mut Random) -> String {
    let Some(field) = field(model, random) else { return String::new() };
    let value = *one_of(random, &NUMBERS);
    let mut numbers = field.data.numbers();
    let count = numbers.len();
    if count == 0 {
        return String::new();
    }
    let (first, length) = match below(random, 4) {
        0 => (0, count),
        1 => (below(random, count), count / 4 + 1),
        _ => (below(random, count), 1),
    };
    numbers.iter_mut().skip(first).take(length).for_each(|x| *x = value);
    field.data = field.data.of_kind(numbers);
    format!("{} is {value:e} at {length} places from {first}", field.name)
}

/// The attributes of the file, or of a variable.
fn attributes<'a>(
    model: &'a mut Model,
    random: &mut Random,
) -> &'a mut Vec<(String, AttributeValue)> {
    let of_file = model.fields.is_empty() || below(random, 3) > 0;
    if of_file {
        return &mut model.attributes;
    }
    let at = below(random, model.fields.len());
    &mut model.fields[at].attributes
}

fn drop_attribute(model: &mut Model, random: &mut Random) -> String {
    let attributes = attributes(model, random);
    if attributes.is_empty() {
        return String::new();
    }
    let at = below(random, attributes.len());
    format!("without the attribute {}", attributes.remove(at).0)
}

fn other_attribute(model: &mut Model, random: &mut Random) -> String {
    let attributes = attributes(model, random);
    if attributes.is_empty() {
        return String::new();
    }
    let at = below(random, attributes.len());
    let number = *one_of(random, &NUMBERS);
    let text = *one_of(random, &TEXTS);
    let value = match below(random, 9) {
        0 => AttributeValue::Double(number),
        1 => AttributeValue::Float(number as f32),
        2 => AttributeValue::Int(number as i32),
        3 => AttributeValue::Short(number as i16),
        4 => AttributeValue::Doubles(vec![number; 3]),
        5 => AttributeValue::Floats(vec![number as f32; below(random, 5000)]),
        6 => AttributeValue::Longlong(number as i64),
        7 => AttributeValue::Str(text.repeat(1 + below(random, 3000))),
        _ => AttributeValue::Str(text.to_owned()),
    };
    let (name, old) = &mut attributes[at];
    *old = value;
    let shown: String = format!("{old:?}").chars().take(60).collect();
    format!("the attribute {name} is {shown}")
}

fn turn_axes(model: &mut Model, random: &mut Random) -> String {
    let Some(field) = field(model, random) else { return String::new() };
    field.axes.reverse();
    format!("the dimensions of {} are turned round", field.name)
}

fn other_axis(model: &mut Model, random: &mut Random) -> String {
    let names: Vec<String> = model.dimensions.iter().map(|d| d.name.clone()).collect();
    let Some(field) = field(model, random) else { return String::new() };
    let at = below(random, field.axes.len());
    if field.axes.is_empty() || names.is_empty() {
        return String::new();
    }
    match below(random, 3) {
        0 => drop(field.axes.remove(at)),
        1 => field.axes.insert(at, one_of(random, &names).clone()),
        _ => field.axes[at].clone_from(one_of(random, &names)),
    }
    format!("{} has the dimensions {:?}", field.name, field.axes)
}

fn extra_field(model: &mut Model, random: &mut Random) -> String {
    let name = *one_of(random, &NAMES);
    let axes = (0..below(random, 4))
        .filter_map(|_| {
            let at = below(random, model.dimensions.len());
            model.dimensions.get(at).map(|d| d.name.clone())
        })
        .collect();
    let data = Data::Double(vec![*one_of(random, &NUMBERS)]);
    let attributes = vec![(name.to_owned(), AttributeValue::Str(one_of(random, &TEXTS).repeat(9)))];
    model.fields.push(Field { name: name.to_owned(), axes, attributes, data, turned: false });
    format!("with a variable {name:?}")
}

fn other_times(model: &mut Model, random: &mut Random) -> String {
    let text = *one_of(random, &TEXTS);
    let Some(times) = model.fields.iter_mut().find(|f| f.name == "Times") else {
        return String::new();
    };
    let count = times.data.len();
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(count.max(1), [0, b' ', b'-', 0xff][below(random, 4)]);
    times.data = Data::Text(bytes);
    format!("Times is {text:?}")
}

fn swap_values(model: &mut Model, random: &mut Random) -> String {
    let [a, b] = [0, 1].map(|_| below(random, model.fields.len()));
    if model.fields.is_empty() {
        return String::new();
    }
    let [of_a, of_b] = [a, b].map(|n| model.fields[n].data.clone());
    model.fields[a].data = of_b;
    model.fields[b].data = of_a;
    format!("{} and {} have changed their values", model.fields[a].name, model.fields[b].name)
}

fn scale(model: &mut Model, random: &mut Random) -> String {
    let Some(field) = field(model, random) else { return String::new() };
    let factor = *one_of(random, &[-1.0, 0.01, 100.0, 1e6, 1e-6, 1e30]);
    let numbers = field.data.numbers().into_iter().map(|x| x * factor).collect();
    field.data = field.data.of_kind(numbers);
    format!("{} times {factor:e}", field.name)
}

/// Values of the other order of bytes: stored so, which is right, or taken for our own, which is
/// not.
fn turn_bytes(model: &mut Model, random: &mut Random) -> String {
    let Some(field) = field(model, random) else { return String::new() };
    if below(random, 3) == 0 {
        field.turned = true;
        return format!("{} is stored in the other order of bytes", field.name);
    }
    field.data = match &field.data {
        Data::Float(x) => {
            Data::Float(x.iter().map(|x| f32::from_bits(x.to_bits().swap_bytes())).collect())
        }
        Data::Double(x) => {
            Data::Double(x.iter().map(|x| f64::from_bits(x.to_bits().swap_bytes())).collect())
        }
        Data::Int(x) => Data::Int(x.iter().map(|x| x.swap_bytes()).collect()),
        other => other.clone(),
    };
    format!("{} has its bytes the other way round", field.name)
}

fn rename_dimension(model: &mut Model, random: &mut Random) -> String {
    let at = below(random, model.dimensions.len());
    let Some(dimension) = model.dimensions.get_mut(at) else { return String::new() };
    let old = dimension.name.clone();
    let new = if below(random, 2) == 0 {
        old.to_uppercase()
    } else {
        (*one_of(random, &NAMES)).to_owned()
    };
    dimension.name.clone_from(&new);
    for axis in model.fields.iter_mut().flat_map(|f| &mut f.axes).filter(|axis| **axis == old) {
        axis.clone_from(&new);
    }
    format!("the dimension {old} is called {new:?}")
}

/// Numbers of four bytes that lead astray.
const WORDS: [u32; 9] =
    [0, 1, 12, 0x7f, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff];

/// Corrupts the bytes of a file in one way; returns its description.
pub(crate) fn spoil_bytes(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    let length = bytes.len();
    if length < 8 {
        return "too short to spoil".to_owned();
    }
    // The beginning of a file describes the rest.
    let reach = *one_of(random, &[64, 512, 4096, length]);
    let at = below(random, reach.min(length - 4));
    match below(random, 8) {
        0 => {
            bytes.truncate(at);
            format!("cut to {at} of {length} bytes")
        }
        1 => {
            let end = length - 1 - below(random, length / 4);
            bytes.truncate(end);
            format!("cut to {end} of {length} bytes")
        }
        2 | 3 => {
            let count = 1 + below(random, 8);
            for _ in 0..count {
                let at = below(random, reach.min(length));
                bytes[at] ^= 1 << below(random, 8);
            }
            format!("{count} bits flipped in the first {reach} bytes")
        }
        4 | 5 => {
            let word = *one_of(random, &WORDS);
            let at = if below(random, 2) == 0 { at & !3 } else { at };
            let word = if below(random, 2) == 0 { word.to_be_bytes() } else { word.to_le_bytes() };
            bytes[at..at + 4].copy_from_slice(&word);
            format!("{word:?} at byte {at}")
        }
        6 => {
            let count = below(random, (length - at).min(2048)) + 1;
            let value = *one_of(random, &[0, 0xff, 0x41]);
            bytes[at..at + count.min(length - at)].fill(value);
            format!("{count} bytes of {value} at byte {at}")
        }
        _ => {
            let count = below(random, (length - at).min(512)) + 1;
            let from = below(random, length - count.min(length - 1));
            let part = bytes[from..(from + count).min(length)].to_vec();
            bytes.splice(at..at, part);
            format!("{count} bytes of byte {from} put in at byte {at}")
        }
    }
}

/// Words that texts do not expect.
const WORDS_OF_TEXT: [&str; 24] = [
    "nan",
    "inf",
    "-1",
    "1e400",
    "-1e308",
    "0",
    "99999999999999999999",
    "true",
    "\"\"",
    "''",
    "\u{e9}",
    "\0",
    "\u{feff}",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ",,,,",
    "\"",
    "\r\n",
    "\u{2028}",
    "1979-05-27T07:32:00Z",
    "0x7fffffffffffffff",
];

/// Corrupts a text in one way; returns its description.
pub(crate) fn spoil_text(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let at = below(random, lines.len());
    let word = *one_of(random, &WORDS_OF_TEXT);
    let said = match below(random, 10) {
        0 => {
            lines.remove(at);
            format!("without line {at}")
        }
        1 => {
            let line = lines[at].clone();
            lines.insert(at, line);
            format!("line {at} twice")
        }
        2 => {
            let other = below(random, lines.len());
            lines.swap(at, other);
            format!("lines {at} and {other} swapped")
        }
        3 | 4 => {
            let place = below(random, lines[at].len() + 1);
            lines[at].splice(place..place, word.bytes());
            format!("{word:?} in line {at}")
        }
        5 | 6 => {
            let marks = |b: &u8| b",=:\"[]{} ".contains(b);
            let end = lines[at].iter().rposition(marks).map_or(0, |n| n + 1);
            let end = below(random, 2) * end;
            lines[at].truncate(end);
            lines[at].extend(word.bytes());
            format!("line {at} ends in {word:?}")
        }
        7 => {
            let long = word.repeat(1 + below(random, 20_000));
            lines.insert(at, long.into_bytes());
            format!("a long line of {word:?} before line {at}")
        }
        8 => {
            lines.insert(at, vec![0xff, 0xfe, 0x80, 0xc3]);
            format!("bytes that are no text before line {at}")
        }
        _ => {
            *bytes = lines.join(&b'\n');
            bytes.truncate(below(random, bytes.len() + 1));
            return format!("cut to {} bytes", bytes.len());
        }
    };
    *bytes = lines.join(&b'\n');
    said
}
