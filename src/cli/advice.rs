//! Error messages of the command line, with the option that helps.

use crate::error::{Advice, Error};

/// An error message, with the option that helps.
pub(super) fn message(error: &Error) -> String {
    match error {
        Error::Advised { error, advice } => format!("{}; {}", message(error), by_option(*advice)),
        Error::Member { member, error } => format!("member {member}: {}", message(error)),
        Error::Exists(_) => {
            format!("{error}; choose another name, or overwrite it with --force")
        }
        Error::BlowUp { .. } => {
            format!("{error}; check the input at that cell, or try a smaller --dt")
        }
        _ => error.to_string(),
    }
}

/// The option for an advice.
pub(super) fn by_option(advice: Advice) -> &'static str {
    match advice {
        Advice::UseCpu => "use --backend cpu",
        Advice::UseSmallerGridOrCpu => "use a smaller grid or --backend cpu",
        Advice::UseFewerMembers => "use fewer members, a smaller grid or --backend cpu",
        Advice::InstallDriver => "install a recent NVIDIA driver, or use the CPU (--backend cpu)",
        Advice::InstallCompiler => {
            "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or name the library with \
             --nvrtc-lib or NWP_NVRTC"
        }
        Advice::UseOlderCompiler => {
            "give the path of an older NVRTC with --nvrtc-lib, or use --backend cpu"
        }
        Advice::ChooseDevice => "choose another one with --device",
        Advice::ChooseArchitecture => "choose another one with --arch",
        Advice::GiveRateConstant => {
            "where it is the same in all cells, give it by --rate-constant NAME=VALUE"
        }
        Advice::ChangeTimeStep => "choose another --dt",
        Advice::ShortenRun => "reduce --hours or increase --dt",
        Advice::LengthenRun => "increase --hours",
        Advice::ChooseOverlap => {
            "choose the file for a repeated time with --overlap first or --overlap last"
        }
        Advice::MakePeriodic => "for example, --boundary open,periodic makes y periodic",
        Advice::ResumeFromFile => "continue from it with run --restart",
        Advice::GiveRestartFile => {
            "run --restart-output writes one; give an input file with --input"
        }
        Advice::GiveColumns => {
            "use nwp-mini run for it; nwp-mini columns --help describes the format of columns"
        }
        Advice::GiveTransportCase => {
            "use nwp-mini run for it; nwp-mini transport --help describes the format of a case"
        }
        Advice::ChangeWinds => "choose a smaller --updraft or --dx, or a longer --period",
        Advice::ChangePeriod => "choose another --period",
        Advice::UseBilinear => {
            "use --target xy with --method conservative, or --method bilinear with latlon"
        }
        Advice::UseMetres => "use --target xy",
        Advice::UseDegrees => "use --target latlon",
        Advice::ChangeBounds => "choose other --bounds",
        Advice::ChangeSpacing => "choose a larger --spacing",
        Advice::ChangeTarget => "check --bounds and --spacing",
        Advice::UseThreadMapping => "use --mapping thread",
        Advice::GiveTracerFile => "or give --tracers the name of a TOML file",
        Advice::RenameTracer => "rename a tracer of --tracers",
        Advice::SpecifySides => "--boundary says otherwise",
    }
}
