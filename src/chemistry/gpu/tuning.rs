//! Mappings of cells to threads, as settings that can be tuned without changing results.

use sha2::{Digest, Sha256};

use super::{Plan, ThreadMapping, source_text};
use crate::chemistry::cells::RateUpdate;
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::rosenbrock::methods;
use crate::device::Gpu;
use crate::device::tuning::Choice;
use crate::real::Precision;

/// Prefix of the names of the setting in files, followed by a digest of the mechanism.
pub(crate) const NAME: &str = "chemistry ";

/// Digits of the digest of a mechanism.
const DIGITS: usize = 16;

/// Cells have no levels: a choice has this number in place of the levels of a column.
pub(crate) const LEVELS_OF_CELLS: usize = 1;

/// Name of the setting in files, for a mechanism.
pub(crate) fn name(kinetics: &Kinetics) -> String {
    let (method, rates) = (methods::ROS3, RateUpdate::Frozen);
    let plan = Plan { method, rates, form: ThreadMapping::thread() };
    // The tables of a mechanism contain all of it except its rates, which are in the second text.
    let texts =
        [source_text::integration_source(kinetics, &plan), source_text::rates_source(kinetics)];
    let mut digest = Sha256::new();
    for source in &texts {
        digest.update(&source.prelude);
    }
    format!("{NAME}{}", &format!("{:x}", digest.finalize())[..DIGITS])
}

/// True for a choice about any mechanism whose setting has the format of [`ThreadMapping`].
pub(crate) fn is_possible(choice: &Choice) -> bool {
    let is_name = choice.knob.strip_prefix(NAME).is_some_and(|digest| {
        digest.len() == DIGITS && digest.bytes().all(|digit| digit.is_ascii_hexdigit())
    });
    let are_sizes = |text: &str, count: usize| {
        let mut sizes = text.split('x').map(str::parse::<usize>);
        text.split('x').count() == count && sizes.all(|size| size.is_ok_and(|size| size > 0))
    };
    let is_form = match choice.setting.split_once(' ') {
        None => choice.setting == ThreadMapping::thread().to_string(),
        Some(("straight", sizes)) => are_sizes(sizes, 2),
        Some(("team", sizes)) => are_sizes(sizes, 3),
        Some(_) => false,
    };
    is_name && is_form && choice.nz == LEVELS_OF_CELLS && choice.precision == Precision::F64.name()
}

/// All forms that are worth a trial on a device with this much shared memory in a block, bytes.
pub(crate) fn candidates(kinetics: &Kinetics, shared_bytes: usize) -> Vec<ThreadMapping> {
    let straight = ThreadMapping::STRAIGHT_WORKERS
        .map(|workers| ThreadMapping::straight(kinetics, shared_bytes, workers));
    let teams = ThreadMapping::teams(kinetics, shared_bytes);
    straight.into_iter().flatten().chain(teams).chain([ThreadMapping::thread()]).collect()
}

/// The form measured to be the fastest on this GPU for this number of cells; `None` without a measurement.
pub(crate) fn measured(gpu: &Gpu, kinetics: &Kinetics, cells: usize) -> Option<ThreadMapping> {
    let tuning = gpu.tuning()?;
    let choice = tuning.choice(&name(kinetics), Precision::F64, LEVELS_OF_CELLS, cells)?;
    let all = candidates(kinetics, gpu.device().shared_bytes as usize);
    all.into_iter().find(|form| form.to_string() == choice.setting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chemistry::mechanism;

    fn kinetics(text: &str) -> Kinetics {
        let (mechanism, _) = mechanism::parse("m", text).mechanism().expect("a mechanism");
        Kinetics::new(&mechanism).expect("kinetics")
    }

    fn choice(knob: &str, setting: &str) -> Choice {
        Choice {
            knob: knob.to_owned(),
            precision: "f64".to_owned(),
            nz: LEVELS_OF_CELLS,
            from_columns: 1,
            setting: setting.to_owned(),
            measured_on: 4_096,
            us: 1.0,
            built_in_us: 2.0,
            date: "2026-11-26".to_owned(),
        }
    }

    #[test]
    fn candidates_are_written_apart_and_can_be_read() {
        let text = include_str!("../../../data/chemistry/radm2.kpp");
        let kinetics = kinetics(text);
        let knob = name(&kinetics);
        let all = candidates(&kinetics, 227 << 10);
        let mut names: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert!(names.len() > 4, "{names:?}");
        for setting in &names {
            assert!(is_possible(&choice(&knob, setting)), "{setting}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len(), "{names:?}");
        for (knob, setting) in [
            ("chemistry", "thread"),
            ("chemistry 0123", "thread"),
            (&*knob, "warp"),
            (&*knob, "straight 32"),
            (&*knob, "straight 32x0"),
            (&*knob, "team 32x8"),
            (&*knob, "team 32x8x-1"),
        ] {
            assert!(!is_possible(&choice(knob, setting)), "{knob} {setting}");
        }
        assert!(!is_possible(&Choice { nz: 27, ..choice(&knob, "thread") }));
    }

    #[test]
    fn mechanisms_have_names_of_their_own() {
        let text = |rate: &str| {
            format!("#DEFVAR A = IGNORE; B = IGNORE; #EQUATIONS A = B : {rate}; B = A : 1e-3;")
        };
        let names =
            ["1e-3", "2e-3", "ARR2(1e-3, 500, TEMP)"].map(|rate| name(&kinetics(&text(rate))));
        assert_eq!(names[0], name(&kinetics(&text("1e-3"))));
        assert!(names[0] != names[1] && names[1] != names[2], "{names:?}");
    }
}
