//! Options of `bench scale` for steps on GPUs, and what they may stand beside.

use clap::Args;

use super::super::{Bench, Part};
use crate::cli::BackendChoice;
use crate::error::{Error, Result};
use crate::model::replicated_grid::Replication;
use crate::ranks::Team;

/// Options of steps on GPUs.
#[derive(Debug, Args)]
pub(in crate::cli::bench) struct GpuScaleOptions {
    /// Let `scale` measure steps on so many GPUs, as 1,2,4: starts a run on each number of them by the mpiexec on the
    /// path, and prints weak and strong scaling beside a model; one GPU is always among them
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) gpus: Vec<u16>,
    /// Columns of each GPU for weak scaling; may be given several times [default: 512x512 and 1024x1024]
    #[arg(long, value_name = "NXxNY")]
    weak: Vec<Replication>,
    /// Columns of all GPUs together for strong scaling; may be given several times [default: 1024x1024]
    #[arg(long, value_name = "NXxNY")]
    strong: Vec<Replication>,
    /// Let the processes of a host share its GPUs, where there are fewer GPUs than processes
    #[arg(long)]
    pub(super) share_gpu: bool,
    /// Also step the parts of the grids of --strong on so many GPUs, each part by itself, for the model
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide = true,
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) parts_of: Vec<u16>,
}

/// Columns of a GPU, and of all of them, where no option says so.
const WEAK: [Replication; 2] =
    [Replication { nx: 512, ny: 512 }, Replication { nx: 1024, ny: 1024 }];
const STRONG: [Replication; 1] = [Replication { nx: 1024, ny: 1024 }];

impl GpuScaleOptions {
    /// Sizes of a GPU for weak scaling.
    pub(super) fn weak(&self) -> &[Replication] {
        if self.weak.is_empty() { &WEAK } else { &self.weak }
    }

    /// Sizes of all GPUs together for strong scaling.
    pub(super) fn strong(&self) -> &[Replication] {
        if self.strong.is_empty() { &STRONG } else { &self.strong }
    }

    /// Numbers of GPUs in ascending order, with one at the beginning.
    pub(super) fn counts(&self) -> Vec<usize> {
        let mut counts: Vec<usize> = self.gpus.iter().map(|count| usize::from(*count)).collect();
        counts.push(1);
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// The option of the numbers of GPUs as it was given.
    pub(super) fn shown(&self) -> String {
        let counts: Vec<String> = self.gpus.iter().map(ToString::to_string).collect();
        format!("--gpus {}", counts.join(","))
    }

    /// The first option that is given.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--gpus", !self.gpus.is_empty()),
            ("--weak", !self.weak.is_empty()),
            ("--strong", !self.strong.is_empty()),
            ("--share-gpu", self.share_gpu),
            ("--parts-of", !self.parts_of.is_empty()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

impl Bench {
    /// Returns `true` if the measurements are those of processes that this one starts.
    pub(in crate::cli) fn starts_processes(&self) -> bool {
        !self.range.on_gpus.gpus.is_empty()
    }

    /// Returns `true` if steps on a GPU for each rank are measured.
    pub(in crate::cli::bench) fn steps_on_gpus(&self, team: &Team) -> bool {
        let is_of_scale = self.parts[..] == [Part::Scale] && self.backend == BackendChoice::Gpu;
        is_of_scale && (team.is_several() || self.range.on_gpus.given().is_some())
    }

    /// Fails if options of steps on GPUs stand beside what has no use for them.
    pub(in crate::cli::bench) fn check_gpu_scale(&self) -> Result<()> {
        let Some(option) = self.range.on_gpus.given() else { return Ok(()) };
        if self.parts[..] != [Part::Scale] {
            return Err(Error::Usage(format!(
                "{option} is of the part scale by itself, as in nwp-mini bench scale --gpus 1,2"
            )));
        }
        let is_on_gpus = match self.backend {
            BackendChoice::Gpu => true,
            BackendChoice::Auto => self.starts_processes(),
            BackendChoice::Cpu | BackendChoice::Both => false,
        };
        if !is_on_gpus {
            return Err(Error::Usage(format!(
                "{option} measures steps on GPUs alone; use --backend gpu, or give --gpus without \
                 --backend (or NWP_BACKEND)"
            )));
        }
        let drawn = [("--svg", self.range.svg.is_some()), ("--report", self.report.is_some())];
        if let Some((other, _)) = drawn.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Error::Usage(format!(
                "{option} prints a table, and {other} has none of its figures; omit one of them, or \
                 write them with --json"
            )));
        }
        Ok(())
    }

    /// Fails if several ranks are to measure what is not measured on them.
    pub(in crate::cli::bench) fn check_ranks(&self, team: &Team) -> Result<()> {
        let has_page = self.range.svg.is_some() || self.report.is_some();
        let is_of_scale = self.parts[..] == [Part::Scale];
        let is_possible = is_of_scale && self.backend != BackendChoice::Both && !has_page;
        if !team.is_several() || is_possible {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "on several ranks, of which there are {}, bench measures scale alone, on CPUs or on GPUs, \
             without --svg and --report; start one process, or nwp-mini bench scale --backend cpu",
            team.ranks.size()
        )))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Options {
        #[command(flatten)]
        on_gpus: GpuScaleOptions,
    }

    fn parsed(text: &str) -> GpuScaleOptions {
        let words = ["bench"].into_iter().chain(text.split_whitespace());
        Options::try_parse_from(words).expect("options").on_gpus
    }

    #[test]
    fn numbers_and_sizes_have_defaults() {
        let usual = parsed("--gpus 4,2");
        assert_eq!((usual.counts(), usual.shown().as_str()), (vec![1, 2, 4], "--gpus 4,2"));
        let sizes = |sizes: &[Replication]| -> Vec<String> {
            sizes.iter().map(ToString::to_string).collect()
        };
        assert_eq!(sizes(usual.weak()), ["512x512", "1024x1024"]);
        assert_eq!(sizes(usual.strong()), ["1024x1024"]);
        let chosen = parsed("--gpus 1 --gpus 2 --weak 64x32 --strong 4096x2048 --strong 128x64");
        assert_eq!(chosen.counts(), [1, 2]);
        assert_eq!(sizes(chosen.weak()), ["64x32"]);
        assert_eq!(sizes(chosen.strong()), ["4096x2048", "128x64"]);
        assert_eq!((chosen.given(), parsed("").given()), (Some("--gpus"), None));
        assert!(Options::try_parse_from(["bench", "--gpus", "0"]).is_err());
    }
}
