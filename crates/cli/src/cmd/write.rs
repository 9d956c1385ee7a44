//! `muster write`: text or standard input to a file of the cluster tree.

use super::{because, refused};
use crate::cluster::Context;
use anyhow::Result;
use muster_ninep::client::{Client, File};
use muster_ninep::error::Errno;
use muster_ninep::tree::OpenFlags;
use std::io::{self, Read};
use std::process::ExitCode;

/// Write to a file of the cluster tree: an order, a job's input, a new file.
///
/// The words are written as one line. Without words, standard input is written as it comes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster write /jobs/3/ctl kill\n  \
                        muster write /jobs/3/stdin < data")]
pub struct Args {
    /// File of the cluster
    path: String,
    /// Words to write
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    text: Vec<String>,
    /// No newline behind the words
    #[arg(short = 'n')]
    no_newline: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let client = context.connect()?;
    let path = args.path.strip_prefix(':').unwrap_or(&args.path);
    let file = open(&client, path)?;
    if args.text.is_empty() {
        copy_stdin(&file, path, client.max_data() as usize)?;
    } else {
        let end = if args.no_newline { "" } else { "\n" };
        let text = format!("{}{end}", args.text.join(" "));
        write_all(&file, path, 0, text.as_bytes())?;
    }
    file.into_fid().clunk().map_err(refused)?;
    Ok(ExitCode::SUCCESS)
}

fn open(client: &Client, path: &str) -> Result<File> {
    match client.open(path, OpenFlags(OpenFlags::WRONLY | OpenFlags::TRUNC)) {
        Err(error) if error.errno == Errno::NOENT => client.create(path, 0o666).map_err(refused),
        other => other.map_err(refused),
    }
}

fn copy_stdin(file: &File, path: &str, most: usize) -> Result<()> {
    let mut buffer = vec![0; most];
    let mut input = io::stdin().lock();
    let mut offset = 0;
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other.map_err(because("standard input", "E161"))?,
        };
        write_all(file, path, offset, &buffer[..count])?;
        offset += count as u64;
    }
}

fn write_all(file: &File, path: &str, mut offset: u64, mut data: &[u8]) -> Result<()> {
    while !data.is_empty() {
        let written = file.fid().write_at(offset, data).map_err(refused)?;
        anyhow::ensure!(written > 0, "{path}: it takes no more  [E160]");
        offset += written as u64;
        data = &data[written..];
    }
    Ok(())
}
