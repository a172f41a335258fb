//! Error messages of the command line, with the option that helps.

use crate::error::{Advice, Error};

/// An error message, with the option that helps.
pub(super) fn message(error: &Error) -> String {
    match error {
        Error::Advised { error, advice } => format!("{}; {}", message(error), by_option(*advice)),
        Error::Member { member, error } => format!("member {member}: {}", message(error)),
        Error::Exists(_) => {
            format!("{error}; give another name or allow overwriting it with --force")
        }
        Error::BlowUp { .. } => {
            format!("{error}; look at the input there, or try a smaller --dt")
        }
        _ => error.to_string(),
    }
}

/// The option for an advice.
fn by_option(advice: Advice) -> &'static str {
    match advice {
        Advice::UseCpu => "use --backend cpu",
        Advice::UseSmallerGridOrCpu => "use a smaller grid or --backend cpu",
        Advice::UseFewerMembers => "give fewer, a smaller grid or --backend cpu",
        Advice::InstallDriver => "install a recent NVIDIA driver, or use the CPU (--backend cpu)",
        Advice::InstallCompiler => {
            "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or name the library with \
             --nvrtc-lib or NWP_NVRTC"
        }
        Advice::UseOlderCompiler => "name an older NVRTC with --nvrtc-lib, or use --backend cpu",
        Advice::ChooseDevice => "choose with --device",
        Advice::ChooseArchitecture => "name another with --arch",
        Advice::ChangeTimeStep => "give another --dt",
        Advice::ShortenRun => "give fewer hours by --hours, or a longer --dt",
        Advice::LengthenRun => "give more by --hours",
        Advice::ChooseOverlap => {
            "say with --overlap first|last which file counts where several have a time"
        }
        Advice::MakePeriodic => "--boundary open,periodic has y periodic",
        Advice::ResumeFromFile => "go on with it by run --restart",
        Advice::GiveRestartFile => "run --restart-output writes one; an input file goes to --input",
        Advice::GiveColumns => {
            "nwp-mini run takes it; nwp-mini columns --help tells the form of columns"
        }
        Advice::GiveTransportCase => {
            "nwp-mini run takes it; nwp-mini transport --help tells the form of a case"
        }
        Advice::ChangeWinds => "give a smaller --updraft or --dx, or a longer --period",
        Advice::ChangePeriod => "give another --period",
        Advice::UseBilinear => {
            "take --target xy with --method conservative, or --method bilinear for latlon"
        }
        Advice::UseMetres => "take --target xy",
        Advice::UseDegrees => "take --target latlon",
        Advice::ChangeBounds => "give other --bounds",
        Advice::ChangeSpacing => "give a larger --spacing",
        Advice::ChangeTarget => "look at --bounds and --spacing",
    }
}
