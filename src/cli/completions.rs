//! `nwp-mini completions` and `nwp-mini man`: descriptions of the commands for shells and `man`.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::Result;

/// Print a completion script for a shell.
///
/// Example: nwp-mini completions bash > ~/.local/share/bash-completion/completions/nwp-mini
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "nwp-mini", &mut script);
        Ok(io::stdout().write_all(&script)?)
    }
}

/// Print the manual page, of all commands one after the other.
///
/// Example: nwp-mini man | man -l -
#[derive(Debug, Args)]
pub(super) struct Man {}

impl Man {
    #[allow(clippy::unused_self, reason = "as every command")]
    pub(super) fn run(&self) -> Result<()> {
        let mut page = Vec::new();
        let mut command = Cli::command();
        command.build();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            clap_mangen::Man::new(sub.clone()).render(&mut page)?;
        }
        Ok(io::stdout().write_all(&page)?)
    }
}
