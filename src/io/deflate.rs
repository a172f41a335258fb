//! Deflate of bytes that were shuffled, in little time.
//!
//! Of floating-point numbers the last bytes are noise, which no method makes smaller, and where a field is zero there
//! are nothing but runs of one byte. A search for earlier places that have the same bytes, as libraries of deflate
//! make it, takes most of its time where it finds nothing. So planes of bytes, the lowest one first, are made blocks of
//! runs and of codes of different lengths, or stored as they are, as long as that does about as well; the library
//! does the rest.
//!
//! Source: RFC 1950 and RFC 1951.

use std::ops::Range;

use libdeflater::{Compressor, adler32};

use crate::io::huffman::{MOST_BITS, codes, lengths};

/// Head of a stream that was made in little time, with a window of 32 kB.
const HEAD: [u8; 2] = [0x78, 0x01];

/// Fewest bytes of a plane for which it is worth while to look.
const FEWEST: usize = 1 << 14;

/// Part of a plane on which both ways are tried, and its fewest bytes.
const SAMPLE: usize = 24;
const LEAST_SAMPLE: usize = 1 << 12;

/// Bytes that the library may be better by: a hundredth of its own, and some.
const LEAST_GAIN: (usize, usize) = (100, 64);

/// Bytes that are looked at together, and about as many symbols of a block.
const PIECE: usize = 1 << 13;

/// Shares of the bits of bytes above which they are noise: a piece of a plane, and a whole plane. Plane by plane what
/// is noise in the whole need not be noise in each part.
const NOISE: f64 = 0.99;
const PURE_NOISE: f64 = 0.9985;

/// The largest part of all neighbours that are the same in what may be noise; 1 in 256 is in noise.
const SAME: usize = 64;

/// Shortest and longest match of deflate.
const SHORTEST: usize = 3;
const LONGEST: usize = 258;

/// Symbols: literals, the end of a block, lengths of matches.
const SYMBOLS: usize = 286;
const END: usize = 256;
const FIRST_LENGTH: usize = 257;
const LAST_LENGTH: usize = 285;

/// Literals, and lengths of matches above [`END`].
const TOKENS: usize = END + LONGEST + 1;

/// Most bytes of a stored block.
const MOST_STORED: usize = 0xffff;

/// Symbols of the lengths of codes, the fewest that are told, the most bits of theirs, and the order in which these stand.
const TELLERS: usize = 19;
const LEAST_TOLD: usize = 4;
const MOST_TELLER_BITS: usize = 7;
const ORDER: [usize; TELLERS] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Bits of the head of a block with codes of its own: its kind, and the numbers of codes of each kind.
const KIND_BITS: u32 = 3;
const STORED: u32 = 0b000;
const OWN_CODES: u32 = 0b100;
const HEAD_BITS: usize = 17;

/// Bits on their way to bytes, the lowest first.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    word: u64,
    count: u32,
}

impl Bits {
    /// Appends bits, 32 at most.
    #[inline]
    fn put(&mut self, bits: u32, count: u32) {
        self.word |= u64::from(bits) << self.count;
        self.count += count;
        if self.count >= u32::BITS {
            self.bytes.extend_from_slice(&(self.word as u32).to_le_bytes());
            self.word >>= u32::BITS;
            self.count -= u32::BITS;
        }
    }

    /// Fills the last byte up.
    fn align(&mut self) {
        let whole = self.count.div_ceil(u8::BITS) as usize;
        self.bytes.extend_from_slice(&self.word.to_le_bytes()[..whole]);
        (self.word, self.count) = (0, 0);
    }
}

/// Bytes on their way into blocks.
#[derive(Debug, Default)]
pub(super) struct Deflate {
    out: Bits,
    tokens: Vec<u16>,
    /// The bytes that the tokens stand for are these of all.
    waiting: Range<usize>,
    room: Vec<u8>,
}

impl Deflate {
    /// A stream of zlib of bytes that were shuffled, in `planes` planes of equal length.
    ///
    /// # Errors
    ///
    /// A message where the library needs more room than it said.
    pub(super) fn zlib(
        &mut self,
        bytes: &[u8],
        planes: usize,
        library: &mut Compressor,
    ) -> Result<Vec<u8>, String> {
        let each = bytes.len() / planes;
        let mut ours = 0;
        if each >= FEWEST {
            for plane in bytes.chunks_exact(each) {
                if !self.does_as_well(plane, library)? {
                    break;
                }
                ours += each;
            }
        }
        let (ours, rest) = bytes.split_at(ours);
        let mut out = Vec::with_capacity(library.zlib_compress_bound(bytes.len()));
        out.extend_from_slice(&HEAD);
        let mut out = self.append(ours, out);
        let begin = out.len();
        out.resize(begin + library.deflate_compress_bound(rest.len()), 0);
        let length = library.deflate_compress(rest, &mut out[begin..]).map_err(refused)?;
        out.truncate(begin + length);
        out.extend_from_slice(&adler32(bytes).to_be_bytes());
        Ok(out)
    }

    /// Whether the library would not make a plane smaller, by what it makes of a part from the middle.
    fn does_as_well(&mut self, plane: &[u8], library: &mut Compressor) -> Result<bool, String> {
        if is_noise(plane, PURE_NOISE) {
            return Ok(true);
        }
        let length = (plane.len() / SAMPLE).max(LEAST_SAMPLE).min(plane.len());
        let sample = &plane[(plane.len() - length) / 2..][..length];
        let mut room = std::mem::take(&mut self.room);
        room.resize(library.deflate_compress_bound(length), 0);
        let theirs = library.deflate_compress(sample, &mut room).map_err(refused)?;
        room.clear();
        self.room = self.append(sample, room);
        let (part, some) = LEAST_GAIN;
        Ok(self.room.len() <= theirs + theirs / part + some)
    }

    /// Appends blocks, none of them the last one of a stream, and ends at a whole byte.
    fn append(&mut self, bytes: &[u8], out: Vec<u8>) -> Vec<u8> {
        self.out = Bits { bytes: out, ..Bits::default() };
        self.waiting = 0..0;
        for piece in bytes.chunks(PIECE) {
            let end = self.waiting.end + piece.len();
            if is_noise(piece, NOISE) {
                self.put_block(bytes);
                self.store(piece);
                self.waiting = end..end;
            } else {
                self.tokenise(piece);
                self.waiting.end = end;
                if self.tokens.len() >= PIECE {
                    self.put_block(bytes);
                }
            }
        }
        self.put_block(bytes);
        if self.out.count > 0 {
            self.store(&[]);
        }
        std::mem::take(&mut self.out.bytes)
    }

    /// Takes bytes for literals and for runs.
    fn tokenise(&mut self, piece: &[u8]) {
        let mut at = 0;
        while let Some(byte) = piece.get(at) {
            self.tokens.push((*byte).into());
            at += 1;
            let rest = &piece[at..];
            if !rest.starts_with(&[*byte; SHORTEST]) {
                continue;
            }
            let same = [*byte; size_of::<u64>()];
            let (words, _) = rest.as_chunks();
            let whole = same.len() * words.iter().take_while(|word| **word == same).count();
            let mut run = whole + rest[whole..].iter().take_while(|other| *other == byte).count();
            at += run;
            while run >= SHORTEST {
                let now = run.min(LONGEST);
                self.tokens.push((END + now) as u16);
                run -= now;
            }
            self.tokens.extend((0..run).map(|_| u16::from(*byte)));
        }
    }

    /// Writes what waits as a block, or as it is where that takes no more.
    fn put_block(&mut self, bytes: &[u8]) {
        if self.tokens.is_empty() {
            return;
        }
        let mut tally = [0_u32; TOKENS];
        self.tokens.iter().for_each(|token| tally[usize::from(*token)] += 1);
        let mut counts = [0; SYMBOLS];
        counts[..END].copy_from_slice(&tally[..END]);
        counts[END] = 1;
        let mut beside = 0;
        for length in SHORTEST..=LONGEST {
            let (symbol, _, bits) = of_length(length);
            counts[symbol] += tally[END + length];
            // The distance is a bit.
            beside += tally[END + length] * (bits + 1);
        }
        let of_symbols = lengths(&counts, MOST_BITS);
        let used = of_symbols.iter().rposition(|length| *length > 0).unwrap_or(END) + 1;
        // There is one distance, whose code has one bit.
        let told = told(&[&of_symbols[..used], &[1]].concat());
        let mut counts_of_tellers = [0; TELLERS];
        for (symbol, ..) in &told {
            counts_of_tellers[*symbol] += 1;
        }
        let of_tellers = lengths(&counts_of_tellers, MOST_TELLER_BITS);
        let orders = ORDER.iter().rposition(|n| of_tellers[*n] > 0).map_or(LEAST_TOLD, |n| n + 1);
        let orders = orders.max(LEAST_TOLD);

        let told_bits = |(symbol, _, bits): &(usize, u32, u32)| {
            usize::from(of_tellers[*symbol]) + *bits as usize
        };
        let head = HEAD_BITS + 3 * orders + told.iter().map(told_bits).sum::<usize>();
        let codes_of = counts.iter().zip(of_symbols);
        let body: usize = codes_of.map(|(n, length)| *n as usize * usize::from(length)).sum();
        if head + body + beside as usize > u8::BITS as usize * self.waiting.len() {
            self.store(&bytes[self.waiting.clone()]);
        } else {
            let out = &mut self.out;
            out.put(OWN_CODES, KIND_BITS);
            out.put((used - FIRST_LENGTH) as u32, 5);
            out.put(0, 5);
            out.put((orders - LEAST_TOLD) as u32, 4);
            ORDER[..orders].iter().for_each(|n| out.put(of_tellers[*n].into(), 3));
            let tellers = codes(&of_tellers);
            for (symbol, more, bits) in told {
                out.put(tellers[symbol], of_tellers[symbol].into());
                out.put(more, bits);
            }
            self.put_tokens(&of_symbols);
        }
        self.tokens.clear();
        self.waiting = self.waiting.end..self.waiting.end;
    }

    fn put_tokens(&mut self, lengths: &[u8; SYMBOLS]) {
        let codes = codes(lengths);
        let mut table = [(0, 0); TOKENS];
        for (symbol, entry) in table.iter_mut().enumerate().take(END + 1) {
            *entry = (codes[symbol], lengths[symbol].into());
        }
        for length in SHORTEST..=LONGEST {
            let (symbol, more, bits) = of_length(length);
            let code = u32::from(lengths[symbol]);
            // The code of the distance is a zero.
            table[END + length] = (codes[symbol] | more << code, code + bits + 1);
        }
        let Self { out, tokens, .. } = self;
        for token in tokens.iter() {
            let (bits, count) = table[usize::from(*token)];
            out.put(bits, count);
        }
        let (bits, count) = table[END];
        out.put(bits, count);
    }

    /// Writes bytes as they are.
    fn store(&mut self, bytes: &[u8]) {
        let mut parts = bytes.chunks(MOST_STORED);
        let first = parts.next().unwrap_or_default();
        for part in std::iter::once(first).chain(parts) {
            self.out.put(STORED, KIND_BITS);
            self.out.align();
            let length = part.len() as u16;
            self.out.bytes.extend_from_slice(&length.to_le_bytes());
            self.out.bytes.extend_from_slice(&(!length).to_le_bytes());
            self.out.bytes.extend_from_slice(part);
        }
    }
}

fn refused(_: libdeflater::CompressionError) -> String {
    "deflate needs more room than it said".to_owned()
}

/// Whether bytes are so much at random that codes of different lengths leave more than a share of their bits.
fn is_noise(bytes: &[u8], share: f64) -> bool {
    // Most of what is not shows that by neighbours that are the same.
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    if pairs.map(|(a, b)| u32::from(a == b)).sum::<u32>() as usize > bytes.len() / SAME {
        return false;
    }
    let all = bytes.len() as f64;
    let term = |n: u32| if n == 0 { 0.0 } else { f64::from(n) * f64::from(n).log2() };
    let bits = all * all.log2() - histogram(bytes).into_iter().map(term).sum::<f64>();
    bits > share * f64::from(u8::BITS) * all
}

/// How often each byte is there.
fn histogram(bytes: &[u8]) -> [u32; 1 << u8::BITS] {
    // Four counts of each, since one after the other has to wait for itself.
    let mut counts = [[0_u32; 1 << u8::BITS]; 4];
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        for (counts, byte) in counts.iter_mut().zip(word) {
            counts[usize::from(*byte)] += 1;
        }
    }
    for byte in rest {
        counts[0][usize::from(*byte)] += 1;
    }
    let [a, b, c, d] = counts;
    std::array::from_fn(|n| a[n] + b[n] + c[n] + d[n])
}

/// The symbol of the length of a match, the bits after it and their number.
fn of_length(length: usize) -> (usize, u32, u32) {
    /// Lengths that have symbols of their own, and symbols of lengths with as many bits.
    const ALONE: usize = 8;
    const ALIKE: usize = 4;
    if length == LONGEST {
        return (LAST_LENGTH, 0, 0);
    }
    let above = length - SHORTEST;
    if above < ALONE {
        return (FIRST_LENGTH + above, 0, 0);
    }
    let bits = above.ilog2() - ALIKE.ilog2();
    let symbol = FIRST_LENGTH + ALIKE * bits as usize + (above >> bits);
    (symbol, (above & ((1 << bits) - 1)) as u32, bits)
}

/// Lengths of codes as they are told: symbols, each with the bits after it and their number.
fn told(lengths: &[u8]) -> Vec<(usize, u32, u32)> {
    let mut told = Vec::with_capacity(lengths.len());
    for same in lengths.chunk_by(|a, b| a == b) {
        let (length, mut left) = (usize::from(same[0]), same.len());
        // What is repeated is told first, but for zero.
        if length > 0 {
            told.push((length, 0, 0));
            left -= 1;
        }
        while left > 0 {
            let (symbol, least, most, bits) = match (length, left) {
                (0, 11..) => (18, 11, 138, 7),
                (0, 3..) => (17, 3, 10, 3),
                (1.., 3..) => (16, 3, 6, 2),
                _ => (length, 1, 1, 0),
            };
            let now = left.min(most);
            told.push((symbol, (now - least) as u32, bits));
            left -= now;
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use libdeflater::{CompressionLvl, Decompressor};

    use super::*;
    use crate::random::Random;

    fn noise(n: usize) -> u8 {
        Random::new(5).at(n as u64).bits() as u8
    }

    /// Whatever is made of bytes becomes the same bytes again; how many were made of them.
    fn kept(bytes: &[u8], planes: usize) -> usize {
        let mut library = Compressor::new(CompressionLvl::new(1).expect("a level"));
        let stream = Deflate::default().zlib(bytes, planes, &mut library).expect("a stream");
        let mut found = vec![1; bytes.len()];
        let length = Decompressor::new().zlib_decompress(&stream, &mut found).expect("zlib");
        assert!(length == bytes.len() && found == bytes, "{} bytes", bytes.len());
        // Blocks of our own alone as well, with an empty last one.
        let mut alone = Deflate::default().append(bytes, Vec::new());
        alone.extend_from_slice(&[0b11, 0]);
        let length = Decompressor::new().deflate_decompress(&alone, &mut found).expect("deflate");
        assert!(length == bytes.len() && found == bytes, "{} bytes alone", bytes.len());
        stream.len()
    }

    #[test]
    fn bytes_of_all_kinds_stay_the_same() {
        for length in (0..600).chain([PIECE - 1, PIECE, PIECE + 1, 70_000, 200_001]) {
            let few = |n: usize| noise(n / 7) % 3;
            let smooth = |n: usize| (128.0 + 90.0 * (n as f64 / 50.0).sin()) as u8;
            let skewed = |n: usize| noise(n).leading_zeros() as u8 * noise(n + 1).min(9);
            let kinds: [&dyn Fn(usize) -> u8; 6] = [&noise, &|_| 0, &few, &smooth, &skewed, &|n| {
                if n / 5000 % 3 == 0 { noise(n) } else { (n / 300) as u8 }
            }];
            for kind in kinds {
                kept(&(0..length).map(kind).collect::<Vec<_>>(), 1);
            }
        }
    }

    /// Runs of every length, which end with a piece and beyond it.
    #[test]
    fn runs_of_all_lengths_stay_the_same() {
        for length in 1..2 * LONGEST + 5 {
            let runs: Vec<u8> = (0..20_000).map(|n| (n / length % 256) as u8).collect();
            kept(&runs, 4);
        }
    }

    #[test]
    fn noise_and_runs_take_the_room_that_they_need() {
        let bytes: Vec<u8> = (0..1 << 18).map(noise).collect();
        assert!(is_noise(&bytes, PURE_NOISE));
        assert!(kept(&bytes, 4) < bytes.len() + bytes.len() / 1000);
        assert!(kept(&vec![7; 1 << 18], 4) < 1500);
        // A few bits of each byte.
        let bytes: Vec<u8> = bytes.iter().map(|byte| byte & 0b1011).collect();
        assert!(!is_noise(&bytes, NOISE));
        assert!(kept(&bytes, 4) < bytes.len() * 3 / 8 + bytes.len() / 50);
    }

    /// Rows that are the same again and again are what the library is for.
    #[test]
    fn the_library_has_what_repeats() {
        let rows: Vec<u8> = (0..1 << 18).map(|n| noise(n % 300) & 0b111_1111).collect();
        assert!(kept(&rows, 1) < rows.len() / 20);
    }

    #[test]
    fn lengths_of_matches_have_the_symbols_of_the_standard() {
        for (length, expected) in [
            (3, (257, 0, 0)),
            (10, (264, 0, 0)),
            (11, (265, 0, 1)),
            (12, (265, 1, 1)),
            (18, (268, 1, 1)),
            (19, (269, 0, 2)),
            (130, (280, 15, 4)),
            (131, (281, 0, 5)),
            (257, (284, 30, 5)),
            (258, (285, 0, 0)),
        ] {
            assert_eq!(of_length(length), expected, "{length}");
        }
    }
}
