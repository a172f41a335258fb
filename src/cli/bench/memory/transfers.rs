//! Copies between host and device, and their overlap with kernels.

use std::time::Instant;

use super::super::ladder::{megabytes, repeated_times};
use super::super::measurement::{Timing, median};
use super::super::table::counted;
use super::{CHECKED, Curves, Lesson, mixed};
use crate::device::PinnedTransfer;
use crate::error::Result;
use crate::primitives::gpu::memory::{Experiment, Leg, Overlap};

/// Sizes of a transfer, as powers of two of bytes.
const POWERS: [u32; 5] = [12, 16, 20, 24, 28];
/// Elements that are transferred both ways while work is done, 64 MiB.
const ELEMENTS: usize = 1 << 24;
/// Numbers of parts.
const PARTS: usize = 16;
/// Numbers of streams for the parts.
const STREAMS: [usize; 3] = [1, 2, 4];
/// Rounds of the calibration of the work.
const ROUNDS: usize = 256;

const TRANSFERS: Lesson = Lesson {
    title: "transfers: copies between host and device, from pageable and from pinned memory",
    published: None,
    teaches: "the device copies pinned memory directly, and the driver stages pageable memory; \
              latency dominates small copies, so make few large ones",
};
const OVERLAP: Lesson = Lesson {
    title: "overlap: 64 MiB to the device, a computation of the same duration, and the copy back, \
            in 16 parts",
    published: None,
    teaches: "one stream works sequentially; with several, the copies of one part overlap the \
              computation of another, and the slowest of the three operations sets the time",
};

impl Curves<'_, '_> {
    /// Copies of increasing size, both ways.
    pub(super) fn transfers(&mut self) -> Result<()> {
        TRANSFERS.head(self.record)?;
        for bytes in POWERS.map(|power| 1_usize << power) {
            let elements = bytes / size_of::<f32>();
            let values: Vec<f32> =
                (0..elements as u64).map(|at| (mixed(at) % 4096) as f32).collect();
            let on_device = self.gpu.zeros::<f32>(elements)?;
            let mut pinned = PinnedTransfer::new(self.gpu, elements)?;
            let mut back = vec![0.0; elements];

            let there = self.wall(|| on_device.upload(&values))?;
            let home = self.wall(|| on_device.download(&mut back))?;
            let wrong = back != values;
            let pinned_home = self.wall(|| {
                pinned.fetch(&on_device)?;
                self.gpu.synchronize()
            })?;
            on_device.poison()?;
            let pinned_there = self.wall(|| {
                pinned.send(&on_device)?;
                self.gpu.synchronize()
            })?;
            let pinned_wrong = on_device.to_vec()? != values;
            for (what, times, wrong) in [
                ("there, ordinary", there, wrong),
                ("there, pinned", pinned_there, pinned_wrong),
                ("back, ordinary", home, wrong),
                ("back, pinned", pinned_home, pinned_wrong),
            ] {
                let label = format!("{what}, {}", kilobytes(bytes));
                let wrong = wrong.then(|| format!("memory, transfers, {label}: other values"));
                let size = [elements, bytes];
                self.add(&TRANSFERS, &label, size, (Timing::Wall, times), false, wrong)?;
            }
        }
        TRANSFERS.tail(self.record)
    }

    /// The same copies concurrent with work, in one stream and in several.
    pub(super) fn overlap(&mut self) -> Result<()> {
        let values: Vec<f32> = (0..ELEMENTS as u64).map(|at| (mixed(at) % 4096) as f32).collect();
        let most = STREAMS.into_iter().max().unwrap_or(1);
        let mut overlap = Overlap::new(self.lab, &values, most)?;
        // Tends to 1 from any initial value.
        let work = |rounds| Experiment::Work { rounds, factor: 0.999, summand: 0.001 };
        let runs = self.runs;
        let mut seconds = |leg, work, streams| {
            overlap.seconds(leg, work, streams, PARTS)?;
            repeated_times(runs, || overlap.seconds(leg, work, streams, PARTS))
        };
        let there = seconds(Leg::There, work(ROUNDS), 1)?;
        let tried = median(seconds(Leg::Work, work(ROUNDS), 1)?);
        // As long as the transfer to the device.
        let rounds = (ROUNDS as f64 * median(there.clone()) / tried).ceil().max(1.0) as usize;
        let work = work(rounds);
        let mut points = vec![
            ("there alone".to_owned(), there),
            (format!("work alone, {rounds} rounds"), seconds(Leg::Work, work, 1)?),
            ("back alone".to_owned(), seconds(Leg::Back, work, 1)?),
        ];
        for streams in STREAMS {
            let label = format!("all, {}", counted(streams, "stream"));
            points.push((label, seconds(Leg::All, work, streams)?));
        }
        let made = overlap.made();
        let wrong = (0..ELEMENTS).step_by(CHECKED).find_map(|at| {
            let expected = work.expected(&values, &[], at)?;
            let found = made[at];
            (found != expected)
                .then(|| format!("memory, overlap: element {at} is {found}, not {expected}"))
        });
        writeln!(self.record.out, "\n{} each way", megabytes(size_of::<f32>() * ELEMENTS))?;
        OVERLAP.head(self.record)?;
        for (label, times) in points {
            // Both directions if both are included; the work transfers nothing.
            let ways = if label.starts_with("all") { 2 } else { 1 };
            let size = [ELEMENTS, ways * size_of::<f32>() * ELEMENTS];
            let wrong = wrong.clone().filter(|_| label.starts_with("all"));
            self.add(&OVERLAP, &label, size, (Timing::Wall, times), false, wrong)?;
        }
        OVERLAP.tail(self.record)
    }

    /// Times on the clock of the host, after a warm-up call.
    fn wall(&self, mut work: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
        work()?;
        repeated_times(self.runs, || {
            let start = Instant::now();
            work()?;
            Ok(start.elapsed().as_secs_f64())
        })
    }
}

fn kilobytes(bytes: usize) -> String {
    /// Bytes from which on megabytes are easier to read.
    const MANY: usize = 1 << 20;
    if bytes < MANY { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) }
}
