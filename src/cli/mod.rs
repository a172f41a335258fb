//! The command line: one file for each subcommand.

mod advice;
mod bench;
mod chemistry;
mod columns;
mod completions;
mod config;
mod device;
mod diff;
mod distinct_files;
#[cfg(test)]
mod every_output;
mod info;
mod init;
mod kernels;
mod launcher;
mod mechanism;
mod option_values;
mod physics_choice;
mod plot;
mod rate_code;
mod report_page;
mod run;
mod transport;
mod tune;
mod weights;
mod wilson;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::time::uptime;

pub use device::BackendChoice;
pub use run::host::RunHost;

use crate::error::{Error, Result};
use crate::io::store::writer::Stored;
use crate::model::RunPrecision;
use crate::os_text::escaped;
use crate::ranks::mpi::Launch;
use crate::ranks::{Alone, Team};
pub use crate::real::Precision;
use crate::simd::Instructions;

/// Tracer advection and cloud microphysics of WRF, on the CPU and on the GPU.
///
/// Example: nwp-mini info data/soc.nc
///
/// Example: nwp-mini run --input data/soc.nc --hours 1 --output storm.nc
#[derive(Debug, Parser)]
#[command(name = "nwp-mini", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    good
  1    a comparison failed
  2    wrong usage
  3    bad input, or reading or writing failed
  4    the GPU was requested and cannot be used
  5    a field became NaN or infinite
  130  interrupted";

/// Options of every command.
#[derive(Debug, Args)]
struct Common {
    /// Print errors only. Commands whose result is printed output (info, diff, bench, tune,
    /// kernels, config, completions, man, run --dry-run) print it still; the figures of a run go to
    /// its --json
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Log more, with times; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Number of CPU threads [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Format of the log lines on standard error
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// A precision that a run can be made in, and that files can store.
pub(crate) trait FilePrecision: RunPrecision + Stored {}

impl FilePrecision for f32 {}
impl FilePrecision for f64 {}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::options::Run>),
    Columns(columns::Columns),
    Transport(transport::Transport),
    Wilson(wilson::Wilson),
    Chemistry(Box<chemistry::Chemistry>),
    Mechanism(mechanism::Mechanism),
    Init(init::Init),
    Diff(diff::Diff),
    Plot(plot::Plot),
    Weights(weights::Weights),
    Bench(Box<bench::Bench>),
    Tune(tune::Tune),
    Kernels(kernels::Kernels),
    Info(info::Info),
    Config(config::Config),
    Completions(completions::Completions),
    Man(completions::Man),
}

/// Factor of the hidden option --perturb.
const ONE_PER_CENT_MORE: f64 = 1.01;

/// Runs the command of the command line of this process.
pub fn main() -> ExitCode {
    ExitCode::from(call(std::env::args_os().collect()))
}

/// Parses a command line, of which the first word is the name of the program, runs the command, and turns its result into
/// an exit code. Ends the process where the command line is wrong or asks for help.
pub fn call(arguments: Vec<OsString>) -> u8 {
    // One process of several speaks, and has the time to do so before the others end.
    let is_silent =
        arguments.iter().any(|word| word == "run" || word == "bench") && Launch::is_silent();
    let result = config::with_file(arguments).and_then(|arguments| {
        let mut cli = parse(&arguments, is_silent)?;
        start_log(&cli.common, is_silent);
        ignore_file_size_signal()?;
        Instructions::check().map_err(Error::Usage)?;
        match &mut cli.command {
            Command::Run(command) => command.launch(&arguments)?,
            Command::Bench(command) if command.starts_processes() => {
                return command.over_gpus(&arguments);
            }
            _ => {}
        }
        run(&cli)
    });
    match result {
        Ok(()) => 0,
        Err(error) => {
            match error {
                Error::OfRank { .. } => {}
                _ if is_silent => thread::sleep(OTHERS_SPEAK),
                _ => tell(&error),
            }
            error.exit_code()
        }
    }
}

/// Time that a silent process gives the first one to tell what both have found.
const OTHERS_SPEAK: Duration = Duration::from_secs(1);

/// Tells why a command failed.
fn tell(error: &Error) {
    if !matches!(error, Error::BrokenPipe | Error::OfRank { .. }) {
        // Nothing can be done if standard error is closed too.
        let _ = writeln!(io::stderr(), "error: {}", advice::message(error));
    }
}

/// Runs a command inside another program, without a log: `run` under the eyes of a host, or `plot`. The arguments are
/// those after the name of the program.
///
/// # Errors
///
/// [`Error::Usage`] for wrong arguments, with the text of the parser, and for other commands; otherwise those of the
/// command.
pub fn call_within(arguments: Vec<OsString>, host: RunHost) -> Result<()> {
    let own = [OsString::from("nwp-mini")].into_iter();
    let arguments = config::with_file(own.chain(arguments).collect())?;
    let wrong = |error: clap::Error| Error::Usage(error.render().to_string());
    Instructions::check().map_err(Error::Usage)?;
    match Cli::try_parse_from(arguments).map_err(wrong)?.command {
        Command::Run(mut command) => {
            command.launch_nothing()?;
            command.run(&Team::new(Arc::new(Alone)), Some(host))
        }
        Command::Plot(command) => command.run(),
        _ => Err(Error::Usage("only run and plot are commands for another program".to_owned())),
    }
}

/// Parses the command line; ends the program on an error or a request for help.
fn parse(arguments: &[OsString], is_silent: bool) -> Result<Cli> {
    Cli::try_parse_from(arguments).or_else(|mut error| {
        if error.kind() == ErrorKind::InvalidUtf8 {
            let odd = arguments.iter().filter(|argument| argument.to_str().is_none());
            let odd: Vec<_> = odd.map(|argument| escaped(argument)).collect();
            return Err(Error::Usage(format!(
                "{} is not UTF-8; only names of files may have other bytes",
                odd.join(", ")
            )));
        }
        // A file name in the place of an option, as many programs accept it.
        if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
            && error.kind() == ErrorKind::UnknownArgument
            && Path::new(word).is_file()
        {
            let tip = format!("files are given by options, as in --input {word}");
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
        if is_silent {
            thread::sleep(OTHERS_SPEAK);
            std::process::exit(error.exit_code());
        }
        error.exit()
    })
}

fn run(cli: &Cli) -> Result<()> {
    let mut threads = cli.common.threads;
    let mut team = Team::new(Arc::new(Alone));
    if matches!(&cli.command, Command::Run(_) | Command::Bench(_)) {
        (team, threads) = run::ranks::start(threads)?;
    }
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|e| Error::Usage(format!("--threads {threads}: {e}")))?;
    }
    match &cli.command {
        Command::Run(command) => run::ranks::finish(&team, command.run(&team, None)),
        Command::Columns(command) => command.run(),
        Command::Transport(command) => command.run(),
        Command::Wilson(command) => command.run(),
        Command::Chemistry(command) => command.run(),
        Command::Mechanism(command) => command.run(),
        Command::Init(command) => command.run(),
        Command::Diff(command) => command.run(),
        Command::Plot(command) => command.run(),
        Command::Weights(command) => command.run(),
        Command::Bench(command) => run::ranks::finish(&team, command.run(&team)),
        Command::Tune(command) => command.run(),
        Command::Kernels(command) => command.run(),
        Command::Info(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }
}

/// Makes writing beyond the file size limit fail as on a full disk; by default a signal would end the program and leave
/// incomplete files.
fn ignore_file_size_signal() -> Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())
        .map(drop)
        .map_err(|e| Error::io(Path::new("signals"), "listen to", e))
}

/// Target of a command's log lines: standard output, or none with --quiet. The result of a command, such as a table of
/// differences, is printed to standard output directly.
fn summary_output() -> Box<dyn Write> {
    if LevelFilter::current() < LevelFilter::INFO {
        Box::new(io::sink())
    } else {
        Box::new(io::stdout().lock())
    }
}

fn start_log(common: &Common, is_silent: bool) {
    let level = match (common.quiet || is_silent, common.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::INFO,
        (false, 1) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    };
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let builder = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(colour)
        .with_max_level(level)
        .with_target(false);
    // Seconds since the start, for timing.
    let since_start = uptime();
    match (common.log_format, common.verbose) {
        (LogFormat::Text, 0) => builder.without_time().init(),
        (LogFormat::Text, _) => builder.with_timer(since_start).init(),
        (LogFormat::Json, 0) => builder.without_time().json().init(),
        (LogFormat::Json, _) => builder.with_timer(since_start).json().init(),
    }
}
