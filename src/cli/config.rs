//! Options of `run` from a TOML file, and `nwp-mini config`, which prints such a file.
//!
//! The keys are the names of the options. Entries of a file are converted to options, so that both go through the same
//! parser; typed options have precedence.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, CommandFactory};
use toml::{Table, Value};

use crate::cli::Cli;
use crate::error::{Error, Result};
use crate::io::read::reader::nearest;
use crate::io::read::text;
use crate::os_text::Shown;

/// Print a configuration file with the defaults of run, for its option --config.
///
/// Example: nwp-mini config --print-default > run.toml
#[derive(Debug, Args)]
pub(super) struct Config {
    /// Print all options of run with their defaults
    #[arg(long, required = true)]
    print_default: bool,
}

impl Config {
    pub(super) fn run(&self) -> Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "# Options of nwp-mini run; those typed on the command line win.")?;
        for option in options().iter().filter(|_| self.print_default) {
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            writeln!(out, "\n# {}", help.replace('\n', "\n# "))?;
            let choices: Vec<String> =
                option.get_possible_values().iter().map(|x| x.get_name().to_owned()).collect();
            if !choices.is_empty() && takes_value(option) {
                writeln!(out, "# {}", choices.join(" | "))?;
            }
            let key = option.get_long().unwrap_or_default();
            match option.get_default_values() {
                [] if takes_value(option) => writeln!(out, "# {key} =")?,
                [value, ..] if takes_value(option) => {
                    writeln!(out, "{key} = {:?}", value.to_string_lossy())?;
                }
                _ => writeln!(out, "{key} = false")?,
            }
        }
        Ok(())
    }
}

/// The options of `run` that a file may have.
fn options() -> Vec<Arg> {
    let mut command = Cli::command();
    command.build();
    let run = command.find_subcommand("run").expect("run is a command");
    let belongs = |option: &&Arg| {
        option.get_long().is_some_and(|name| !["config", "help"].contains(&name))
            && !option.is_global_set()
    };
    run.get_arguments().filter(belongs).cloned().collect()
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// Adds to a command line those options of its `--config` file that it does not have.
pub(super) fn with_file(mut arguments: Vec<OsString>) -> Result<Vec<OsString>> {
    // An invalid command line is reported by the parser.
    let Ok(matches) = Cli::command().try_get_matches_from(&arguments) else {
        return Ok(arguments);
    };
    let Some(("run", run)) = matches.subcommand() else { return Ok(arguments) };
    let Some(path) = run.get_one::<std::path::PathBuf>("config") else { return Ok(arguments) };
    let text = text::read(path)?;
    let table: Table = text.parse().map_err(|e| Error::Usage(format!("{}: {e}", path.shown())))?;
    let options = options();
    for (key, value) in &table {
        let Some(option) = options.iter().find(|option| option.get_long() == Some(key)) else {
            let known = options.iter().filter_map(Arg::get_long);
            let hint = nearest(key, known).map_or_else(
                || "nwp-mini config --print-default lists the keys".to_owned(),
                |near| format!("the nearest is {near}"),
            );
            let path = path.shown();
            return Err(Error::Usage(format!("{path}: unknown key {key}; {hint}")));
        };
        if !is_given(run, option) {
            arguments.extend(spelled(path, key, value, takes_value(option))?);
        }
    }
    Ok(arguments)
}

/// Returns `true` if the option is on the command line or in the environment; the two options for the length of a run
/// exclude each other, and so do those for its input.
fn is_given(run: &ArgMatches, option: &Arg) -> bool {
    let is_typed = |id: &str| {
        matches!(run.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    match option.get_id().as_str() {
        "steps" | "hours" => is_typed("steps") || is_typed("hours"),
        "input" | "restart" => is_typed("input") || is_typed("restart"),
        id => is_typed(id),
    }
}

/// A key and its value as an option.
fn spelled(path: &Path, key: &str, value: &Value, takes_value: bool) -> Result<Vec<OsString>> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(_) | Value::Float(_) => Some(value.to_string()),
        _ => None,
    };
    let option = format!("--{key}");
    let values = match value {
        Value::Boolean(yes) if !takes_value => {
            return Ok(if *yes { vec![option.into()] } else { Vec::new() });
        }
        Value::Array(values) if takes_value => values.iter().map(text).collect(),
        value if takes_value => text(value).map(|value| vec![value]),
        _ => None,
    };
    match values {
        Some(values) => {
            Ok(values.into_iter().map(|value| format!("{option}={value}").into()).collect())
        }
        None => Err(Error::Usage(format!(
            "{}: the value {value} does not fit the key {key}; {} is needed",
            path.shown(),
            if takes_value { "a number or a text" } else { "true or false" }
        ))),
    }
}
