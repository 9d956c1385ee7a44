//! Two processes that talk to each other: one serves, the other one asks, measures, and prints what
//! it found. Ours, the bare limits and the peers are all measured so, kept to processors by the
//! same program (`taskset`), and ended when they take too long.

use super::place::{PROCESSORS, processors};
use crate::child::{self, Child};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a measurement may take. All take less than 2 s here where they have their processors.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two tries to reach a server that does not listen so far.
const AGAIN: Duration = Duration::from_millis(10);

/// On which processors the two are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One on each of two.
    Apart,
    /// Both on the first.
    Together,
    /// Wherever the kernel wants.
    Anywhere,
    /// The same, and nothing is run before it in its process, whose processor time would be its.
    Bare,
}

/// A program and what it is told.
#[derive(Clone, Debug)]
pub struct Call {
    program: PathBuf,
    words: Vec<String>,
    settings: Vec<(&'static str, String)>,
}

impl Call {
    /// A program with words.
    pub fn new(program: &Path, words: &[&str]) -> Call {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Call { program: program.to_owned(), words, settings: Vec::new() }
    }

    /// With more words.
    pub fn with(mut self, words: &[&str]) -> Call {
        self.words.extend(words.iter().map(|&word| word.to_owned()));
        self
    }

    /// With a variable of the environment.
    pub fn set(mut self, name: &'static str, value: impl Into<String>) -> Call {
        self.settings.push((name, value.into()));
        self
    }

    /// To be carried out at a place, by the one who asks or the one who serves.
    fn command(&self, place: Place, asks: bool) -> Command {
        let [first, second] = processors();
        let processor = match place {
            Place::Apart if !asks => Some(second),
            Place::Apart | Place::Together => Some(first),
            Place::Anywhere | Place::Bare => None,
        };
        let mut command = match processor {
            Some(processor) => {
                let mut command = child::command("taskset");
                command.args(["-c", &processor.to_string()]).arg(&self.program);
                command
            }
            None if place == Place::Bare => Command::new(&self.program),
            None => child::command(&self.program),
        };
        command.args(&self.words).stdin(Stdio::null());
        // Whoever calls us may have set up a peer for himself.
        command.env_remove("UCX_TLS").env(PROCESSORS, format!("{first},{second}"));
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Has the two play; what the one who asks prints last. `who` is for people.
pub fn duel(who: &str, place: Place, server: &Call, client: &Call) -> Result<String> {
    let text = whole(who, place, (server, client), &|text| !text.trim().is_empty())?;
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    Ok(last.unwrap_or_default().to_owned())
}

/// As [`duel`], but all that is printed, once it is an answer.
pub fn whole(
    who: &str,
    place: Place,
    (server, client): (&Call, &Call),
    is_answer: &dyn Fn(&str) -> bool,
) -> Result<String> {
    let deadline = Instant::now() + PATIENCE;
    let mut serving = server.command(place, false);
    let mut serving = Child::start(serving.stdout(Stdio::null()).stderr(Stdio::null()))?;
    loop {
        let mut asking = client.command(place, true);
        let asking = Child::start(asking.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let left = deadline.saturating_duration_since(Instant::now());
        let Some(output) = asking.output(left)? else {
            bail!("{who}: no end after {PATIENCE:?}, so both of its processes were ended");
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() && is_answer(&text) {
            return Ok(text);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if let Some(status) = serving.ended()?.filter(|status| !status.success()) {
            bail!("{who}: its server ended with {status}; its client: {said}");
        }
        // It may not listen so far. Who has not after a quarter of the time never will.
        if deadline.saturating_duration_since(Instant::now()) < PATIENCE * 3 / 4 {
            bail!("{who}: its client ended with {}: {said}{text}", output.status);
        }
        std::thread::sleep(AGAIN);
    }
}

/// What one process alone prints last.
pub fn solo(who: &str, place: Place, call: &Call) -> Result<String> {
    let mut command = call.command(place, true);
    let child = Child::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let output = child.output(PATIENCE)?;
    let output = output.with_context(|| format!("{who}: no end after {PATIENCE:?}; ended"))?;
    if !output.status.success() {
        bail!("{who}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().last().unwrap_or_default().to_owned())
}

/// The figures among some words.
pub fn figures(text: &str) -> Vec<f64> {
    text.split_whitespace().flat_map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Call {
        Call::new(Path::new("sh"), &["-c", script])
    }

    #[test]
    fn the_last_line_of_who_asks_counts() {
        let client = shell("echo 1; echo x 2.5 3; echo");
        let text = duel("it", Place::Anywhere, &shell("sleep 5"), &client).unwrap();
        assert_eq!((text.as_str(), figures(&text)), ("x 2.5 3", vec![2.5, 3.0]));
        assert_eq!(solo("it", Place::Together, &shell("echo 7")).unwrap(), "7");
    }

    #[test]
    fn a_client_tries_until_its_server_is_there_or_has_failed() {
        let room = std::env::temp_dir().join(format!("muster-duel-{}", std::process::id()));
        let at = room.display();
        let (server, client) = (format!("sleep 0.1; mkdir {at}; sleep 5"), format!("ls -d {at}"));
        let text = duel("it", Place::Anywhere, &shell(&server), &shell(&client)).unwrap();
        std::fs::remove_dir(&room).unwrap();
        assert_eq!(text, room.display().to_string());
        let client = shell("echo no door >&2; exit 1");
        let error = duel("it", Place::Anywhere, &shell("exit 3"), &client).unwrap_err();
        assert!(error.to_string().starts_with("it: its server ended with exit status: 3"));
        assert!(error.to_string().ends_with("no door"), "{error}");
    }
}
