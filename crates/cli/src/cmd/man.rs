//! `muster man`: manual pages, made of the same words as `--help`.

use super::because;
use crate::Cli;
use anyhow::Result;
use clap::CommandFactory;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the manual pages into a directory, one for each command; without one print the first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster man | man -l -\n  muster man ~/.local/share/man/man1")]
pub struct Args {
    /// Directory for the pages; it is made if it does not exist
    dir: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let command = Cli::command();
    match &args.dir {
        Some(dir) => {
            let made = std::fs::create_dir_all(dir);
            let written = made.and_then(|()| clap_mangen::generate_to(command, dir));
            written.map_err(because(dir.display(), "E161"))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            std::io::stdout().write_all(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let dir = std::env::temp_dir().join(format!("muster-man-{}", std::process::id()));
        run(&Args { dir: Some(dir.clone()) }).expect("written");
        for page in ["muster.1", "muster-up.1", "muster-cp.1"] {
            let text = std::fs::read_to_string(dir.join(page)).expect(page);
            assert!(text.contains(".SH NAME"), "{page}");
        }
        let hidden = dir.join("muster-daemon.1").exists();
        std::fs::remove_dir_all(&dir).expect("ours");
        assert!(!hidden);
    }
}
