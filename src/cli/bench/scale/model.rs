//! Time of a step on several GPUs by a model: the kernels as measured on one GPU, the messages as assumed.
//!
//! A part takes the time of as many cells by themselves, in which the transport has the cells of the margins as well, and an
//! exchange of the margins, of which as much is hidden as the microphysics of the cells takes that no margin of others has.

/// Time of an exchange of nothing through NVLink, s: pack, send and receive, unpack.
pub(super) const LATENCY: f64 = 12e-6;
/// Bytes a second that a GPU sends through NVLink, and as many that it receives.
pub(super) const LINK: f64 = 270e9;
/// Bytes a second that kernels pack or unpack, read and written.
const PACKING: f64 = 1e12;
/// Time that more launches take where the cells of others' margins go before the rest, s.
const SPLIT: f64 = 4e-6;

/// The largest part of a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct LargestPart {
    /// Its own columns.
    pub(super) columns: usize,
    /// The same with those of its margins.
    pub(super) with_margins: usize,
    /// Its own columns that no margin has.
    pub(super) inner: usize,
    /// Bytes that it sends in a step.
    pub(super) bytes_sent: u64,
}

/// A step of as many cells as a part has on one GPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepAlone {
    /// Time of the step, s.
    pub(super) seconds: f64,
    /// Share of the transport in it.
    pub(super) transport: f64,
}

/// Time of an exchange that sends so many bytes and receives as many, s.
pub(super) fn exchange(bytes: u64) -> f64 {
    let bytes = bytes as f64;
    LATENCY + bytes / LINK + bytes / PACKING
}

impl LargestPart {
    /// Time of a step, s.
    pub(super) fn step(&self, alone: StepAlone) -> f64 {
        let ratio = |columns: usize| columns as f64 / self.columns as f64;
        let transport = alone.seconds * alone.transport;
        let microphysics = alone.seconds - transport;
        let with_margins = transport * ratio(self.with_margins) + microphysics;
        if self.bytes_sent == 0 {
            return with_margins;
        }
        let exchange = exchange(self.bytes_sent);
        let shown = (exchange - microphysics * ratio(self.inner)).max(0.0) + SPLIT;
        with_margins + shown.min(exchange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: StepAlone = StepAlone { seconds: 4.6e-3, transport: 0.75 };

    #[test]
    fn one_gpu_sends_nothing() {
        let whole =
            LargestPart { columns: 1 << 20, with_margins: 1 << 20, inner: 1 << 20, bytes_sent: 0 };
        assert_eq!(whole.step(ALONE), ALONE.seconds);
    }

    /// A part of 1024x1024 columns with one neighbour, six fields of 27 levels of four bytes.
    #[test]
    fn an_exchange_is_hidden_while_there_is_microphysics() {
        let part = LargestPart {
            columns: 1024 * 1024,
            with_margins: 1034 * 1024,
            inner: 1014 * 1024,
            bytes_sent: 10 * 1024 * 27 * 6 * 4,
        };
        // 12 us, 6.6 MB at 270 GB/s and at 1 TB/s.
        assert!((exchange(part.bytes_sent) - 43.2e-6).abs() < 0.1e-6);
        let expected = 4.6e-3 * (0.75 * 1034.0 / 1024.0 + 0.25) + SPLIT;
        assert!((part.step(ALONE) - expected).abs() < 1e-9);
        // All of it shows where no column is free of margins.
        let narrow = LargestPart { inner: 0, ..part };
        let shown = narrow.step(ALONE) - part.step(ALONE);
        assert!((shown - (exchange(part.bytes_sent) - SPLIT)).abs() < 1e-9);
    }
}
