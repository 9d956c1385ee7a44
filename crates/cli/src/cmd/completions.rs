//! `muster completions`: for the shell to complete our commands and flags.

use crate::Cli;
use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::process::ExitCode;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  muster completions bash > ~/.local/share/bash-completion/\
                        completions/muster")]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    // Through memory: the generator panics where its reader has gone.
    std::io::stdout().write_all(&script(args.shell))?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "muster", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_gets_the_commands() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = String::from_utf8(script(shell)).expect("text");
            for word in ["nodes", "umount", "explain"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
