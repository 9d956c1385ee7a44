//! What manager and nodes write to each other to launch jobs: orders to the nodes, one multicast
//! each, and reports from them (`docs/wire/launch.md`).
//!
//! A rank is *light* from its order on: its node makes the session and runs the program, with no
//! request of the manager's own. If the program has ended soon, the report of its end carries all
//! that there is to know, its output too. If not, the node asks to be *followed*, and the manager
//! does that through the session's files, as everybody would. Until the manager says that it has
//! done with a job (*forget*), the session stays and tells the same: a report that was lost with a
//! manager is not missed by the next one.

use serde::{Deserialize, Serialize};

/// The numbers of light ranks' sessions begin here; `clone` does not come so far.
const LIGHT: u32 = 1 << 24;

/// Jobs that light ranks' numbers tell apart before they begin again.
const JOBS: u32 = 1 << 18;

/// The session of a job's rank that is one of the first thousands of its node.
pub fn session_of(job: u32, local: usize) -> u32 {
    let local = u32::try_from(local).expect("a node has fewer sessions");
    LIGHT + (job % JOBS) * muster_base::limits::SESSIONS_MAX as u32 + local
}

/// Whether a session's number is that of a light rank.
pub fn is_light(session: u32) -> bool {
    session >= LIGHT
}

/// A light rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// Its number in the job.
    pub rank: usize,
    /// Its number at its node.
    pub local: usize,
    /// Its session.
    pub session: u32,
}

/// From the manager to the nodes of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Run these ranks.
    Launch {
        /// The job.
        job: u32,
        /// As the session's `argv` is written.
        argv: String,
        /// As the session's `env` is written.
        env: String,
        /// Where the program works, if not in the session's directory.
        chdir: Option<String>,
        /// By node's name.
        nodes: Vec<(String, Vec<Rank>)>,
    },
    /// Send a signal to the light ranks of a job.
    Signal {
        /// The job.
        job: u32,
        /// The signal.
        signal: i32,
    },
    /// Kill all processes of a job's light ranks.
    End {
        /// The job.
        job: u32,
    },
    /// The manager has all that it wants of these jobs: wipe their sessions.
    Forget {
        /// The jobs.
        jobs: Vec<u32>,
    },
    /// To a node that may not have heard everything: it may forget all jobs but these.
    Keep {
        /// The last that the manager knows of; not meant are those after it.
        last: u32,
        /// The jobs.
        jobs: Vec<u32>,
    },
}

/// From a node to the manager: what its ranks have to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The node's name.
    pub node: String,
    /// Which start of its daemon this is.
    pub instance: u64,
    /// One thing after another.
    pub said: Vec<Said>,
}

/// What is said of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The job.
    pub job: u32,
    /// The rank.
    pub rank: usize,
    /// What.
    pub what: What,
}

/// What has become of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Its program cannot be run.
    Failed {
        /// Why.
        why: String,
    },
    /// Its program runs on, or has said more than a report holds: its session's files tell.
    Follow {
        /// Its process, if it still runs.
        pid: Option<u32>,
    },
    /// Its program has ended, and all else of it is gone. The output stands behind the report.
    Ended {
        /// Raw wait(2) status.
        status: i32,
        /// As the session's `usage` tells.
        usage: String,
        /// Bytes of its output behind the report, after those of the ranks before.
        stdout: usize,
        /// Bytes of stderr, behind those of stdout.
        stderr: usize,
    },
}

/// Why a letter is none.
#[derive(Debug, thiserror::Error)]
pub enum BadLetter {
    /// Its text.
    #[error("a letter with a head that is none: {0}")]
    Head(#[from] serde_json::Error),
    /// What stands behind it.
    #[error("a letter whose body has {has} bytes, not the {told} that its head tells of")]
    Body {
        /// How many it has.
        has: usize,
        /// How many it should have.
        told: usize,
    },
}

impl Order {
    /// As it travels.
    pub fn letter(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an order is always JSON")
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(letter: &[u8]) -> Result<Order, BadLetter> {
        Ok(serde_json::from_slice(letter)?)
    }
}

impl Report {
    /// As it travels: a line of JSON, and the output of which it tells behind it.
    pub fn letter(&self, output: &[u8]) -> Vec<u8> {
        let mut letter = serde_json::to_vec(self).expect("a report is always JSON");
        letter.push(b'\n');
        letter.extend_from_slice(output);
        letter
    }

    /// Reads one, with the output behind it.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(letter: &[u8]) -> Result<(Report, &[u8]), BadLetter> {
        let end = letter.iter().position(|&byte| byte == b'\n').unwrap_or(letter.len());
        let report: Report = serde_json::from_slice(&letter[..end])?;
        let output = letter.get(end + 1..).unwrap_or_default();
        let told = report.said.iter().fold(0_usize, |sum, said| match said.what {
            What::Ended { stdout, stderr, .. } => sum.saturating_add(stdout).saturating_add(stderr),
            _ => sum,
        });
        if told != output.len() {
            return Err(BadLetter::Body { has: output.len(), told });
        }
        Ok((report, output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters that `docs/wire/launch.md` prints.
    fn printed() -> Vec<serde_json::Value> {
        let page = include_str!("../../../docs/wire/launch.md");
        let blocks = page.split("\n\n").filter(|block| block.starts_with("    {"));
        blocks.map(|block| serde_json::from_str(block).expect("a letter")).collect()
    }

    #[test]
    fn the_letters_of_the_wire_page_are_what_is_sent() {
        let (reports, orders): (Vec<_>, Vec<_>) =
            printed().into_iter().partition(|letter| letter.get("said").is_some());
        assert_eq!((orders.len(), reports.len()), (5, 1));
        let value = |letter: &[u8]| serde_json::from_slice::<serde_json::Value>(letter).unwrap();
        for printed in orders {
            let order = Order::read(printed.to_string().as_bytes()).unwrap();
            assert_eq!(value(&order.letter()), printed);
        }
        let letter = format!("{}\nhi\n", reports[0]);
        let (report, output) = Report::read(letter.as_bytes()).expect("a report");
        assert_eq!(output, b"hi\n");
        let sent = report.letter(output);
        assert_eq!(value(sent.strip_suffix(b"\nhi\n").unwrap()), reports[0]);
    }

    #[test]
    fn a_report_that_is_cut_off_is_none() {
        let ended = What::Ended { status: 0, usage: String::new(), stdout: 3, stderr: 1 };
        let said = vec![Said { job: 1, rank: 0, what: ended }];
        let report = Report { node: "n0".to_owned(), instance: 1, said };
        let letter = report.letter(b"out!");
        assert!(Report::read(&letter).is_ok());
        for end in 0..letter.len() {
            assert!(Report::read(&letter[..end]).is_err(), "{end}");
        }
        assert!(Report::read(&[&letter[..], b"x"].concat()).is_err());
    }
}
