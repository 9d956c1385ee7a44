//! `muster scheduler`: which scheduler chooses, and how it is set.

use super::{SCHEMA, Usage, print_json, refused};
use crate::cluster::Context;
use crate::turns;
use anyhow::Result;
use muster_machine::schedule::Config;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;

/// How gang scheduling is set.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Settings {
    /// Length of a slice of gang scheduling, 300us to 8s; 10ms if not given, and at least 10ms
    /// where the strober may not be real-time (muster explain N125)
    #[arg(long, value_name = "TIME")]
    slice: Option<String>,
    /// Most slots that gang scheduling goes through; 4 if not given
    #[arg(long, value_name = "N")]
    slots: Option<String>,
    /// How gang scheduling chooses nodes: buddy (if not given) or first
    #[arg(long, value_name = "HOW")]
    placement: Option<String>,
}

impl Settings {
    /// As words of the file `scheduler`.
    fn words(&self) -> String {
        let all = [("slice", &self.slice), ("slots", &self.slots), ("placement", &self.placement)];
        let word = |(name, value): (&str, &Option<String>)| {
            value.as_ref().map(|value| format!(" {name}={value}")).unwrap_or_default()
        };
        all.into_iter().map(word).collect()
    }

    /// The line for the file `scheduler`, checked; none if nothing is asked for. `now` is what is
    /// set.
    ///
    /// # Errors
    /// The mistake.
    pub fn line(&self, name: Option<&str>, now: &str) -> Result<Option<String>> {
        let words = self.words();
        if name.is_none() && words.is_empty() {
            return Ok(None);
        }
        // Of two settings of the same name the later one counts.
        let line = format!("{}{words}", name.unwrap_or(now));
        Config::parse(&line).map(|set| Some(set.to_string())).map_err(|said| Usage(said).into())
    }
}

/// Show which scheduler starts jobs, or let another one do it from now on.
///
/// share starts every job at once, and the nodes' kernels share the processors. fcfs gives a node
/// to one job at a time, in order of submission. easy does too, but lets jobs with a --time pass
/// where they delay nobody (behind one without a --time nobody knows that, and they pass). gang
/// lets jobs take turns on all their nodes at the same moment; their ranks are nicer than other
/// processes, and bound to processors where they fill a machine (see muster run --no-bind). Jobs
/// that run stay where they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster scheduler easy\n  \
                        muster scheduler gang --slice 2ms --slots 4\n  \
                        muster write /scheduler fcfs")]
pub struct Args {
    /// share, fcfs, easy or gang
    name: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let client = context.connect()?;
    let read = || client.read_to_string("scheduler").map_err(refused);
    if let Some(line) = args.settings.line(args.name.as_deref(), read()?.trim())? {
        client.write("scheduler", format!("{line}\n")).map_err(refused)?;
    }
    let now = read()?;
    if args.json {
        let mut words = now.split_whitespace();
        let mut value = json!({
            "schema": SCHEMA, "cluster": context.cluster, "scheduler": words.next(),
        });
        for (name, set) in words.filter_map(|word| word.split_once('=')) {
            value[name] = match set.parse::<u64>() {
                Ok(number) => number.into(),
                Err(_) => set.into(),
            };
        }
        print_json(&value)?;
    } else {
        write!(std::io::stdout(), "{now}")?;
    }
    if now.starts_with("gang") {
        turns::tell_limits(&client);
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_change_what_is_set_and_a_name_begins_anew() {
        let slice = Settings { slice: Some("2ms".into()), ..Settings::default() };
        let now = "gang slice=1ms slots=8 placement=first";
        let line = |settings: &Settings, name, now| settings.line(name, now);
        let same = line(&slice, None, now).unwrap().unwrap();
        assert_eq!(same, "gang slice=2ms slots=8 placement=first");
        let anew = line(&slice, Some("gang"), now).unwrap().unwrap();
        assert_eq!(anew, "gang slice=2ms slots=4 placement=buddy");
        assert_eq!(line(&Settings::default(), None, now).unwrap(), None);
        let said = line(&slice, None, "easy").unwrap_err();
        assert!(said.is::<Usage>() && said.to_string().contains("gang has settings"), "{said}");
    }
}
