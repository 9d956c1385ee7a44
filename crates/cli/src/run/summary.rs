//! What went wrong with a job, in as few lines as name every rank. No I/O.
//!
//! Each line says whose fault it is: `your program:` for what the program did, `muster:` for
//! what happened to it.

use super::failure::{Failure, exit};
use muster_base::ending::Ending;
use muster_base::nodeset::{fold, fold_numbers};
use muster_machine::manager::spec::{End, RankPhase, RankStatus, Sent, Status};
use std::time::Duration;

/// The kinds of lines, in the order in which they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    /// It ended badly by itself.
    Failed(Ending),
    /// It could not start: why.
    NotStarted(String),
    /// It is gone: why.
    Lost(String),
}

/// Ranks of one fate.
struct Group<'a> {
    fate: Fate,
    ranks: Vec<&'a RankStatus>,
}

/// How long it took to send a job's files and to execute it, as far as the manager knows (STORM,
/// figure 1), and how long the whole command, which also finds the manager and shows the output.
pub fn timing(status: &Status, whole: Duration) -> Option<String> {
    let (sent, started, ended) = (status.sent?, status.started?, status.ended?);
    let ms = |from: f64, to: f64| format!("{:.1} ms", (to - from).max(0.0) * 1e3);
    let files = status.files.map_or_else(String::new, |Sent { chunks, of, multicast }| {
        let way = match multicast {
            0 => String::new(),
            bytes => format!(", {:.1} MB by multicast", bytes as f64 / 1e6),
        };
        format!(" ({chunks} of {of} chunks{way})")
    });
    Some(format!(
        "muster: job {} on {} nodes: send {}{files}, execute {} (order {}), in all {}",
        status.id,
        status.nodes.len(),
        ms(status.submitted, sent),
        ms(sent, ended),
        ms(sent, started),
        ms(0.0, whole.as_secs_f64()),
    ))
}

/// The lines, none if all went well. Of a job that went on without ranks that were lost, those are
/// named though its exit status is 0.
pub fn lines(status: &Status) -> Vec<String> {
    let exit = status.exit.unwrap_or(exit::OURS);
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut ended = 0;
    for rank in &status.ranks {
        let fate = match fate(rank) {
            Verdict::Well => continue,
            Verdict::Ended => {
                ended += 1;
                continue;
            }
            Verdict::Ill(fate) => fate,
        };
        match groups.iter_mut().find(|group| group.fate == fate) {
            Some(group) => group.ranks.push(rank),
            None => groups.push(Group { fate, ranks: vec![rank] }),
        }
    }
    let job = status.id;
    let why = status.why.as_deref();
    let mut lines = Vec::new();
    match status.end {
        Some(End::Timeout) => {
            lines.push(format!(
                "muster: job {job} reached its time limit and was ended. Raise: --time  \
                 [E303, exit {exit}]"
            ));
        }
        Some(End::Killed) => {
            let by = why.map(|why| format!(": {why}")).unwrap_or_default();
            lines.push(format!("muster: job {job} was ended{by}  [E305, exit {exit}]"));
        }
        _ => {}
    }
    let told = lines.len();
    lines.extend(groups.iter().map(|group| group.line(exit)));
    if let (Some(first), true) = (lines.get_mut(told), ended > 0) {
        let at = first.rfind("  [").unwrap_or(first.len());
        let text = match ended {
            1 => ". 1 other was ended".to_owned(),
            _ => format!(". {ended} others were ended"),
        };
        first.insert_str(at, &text);
    }
    if lines.is_empty() && exit != 0 {
        let why = why.unwrap_or("the manager does not say why");
        // It may have an id of its own.
        let failure = Failure::told("E402", exit, &format!("job {job} failed: {why}"));
        lines.push(format!("muster: {failure}"));
    }
    lines
}

enum Verdict {
    Well,
    /// Somebody else's failure, or the user, ended it.
    Ended,
    Ill(Fate),
}

fn fate(rank: &RankStatus) -> Verdict {
    let ending = rank.status.map(Ending::of);
    match (&rank.why, ending) {
        (_, Some(Ending::Exited(0))) => Verdict::Well,
        (None, Some(ending)) => Verdict::Ill(Fate::Failed(ending)),
        // A status of its own is its own word, even if it was asked to end by then.
        (Some(why), Some(ending @ Ending::Exited(_))) if why.starts_with("ended") => {
            Verdict::Ill(Fate::Failed(ending))
        }
        (Some(why), _) if why.starts_with("ended") => Verdict::Ended,
        (Some(why), _) if rank.state == RankPhase::Lost => Verdict::Ill(Fate::Lost(why.clone())),
        (Some(why), None) => Verdict::Ill(Fate::NotStarted(why.clone())),
        (Some(_), Some(ending)) => Verdict::Ill(Fate::Failed(ending)),
        (None, None) if rank.state == RankPhase::Lost => {
            Verdict::Ill(Fate::Lost("its node is gone".to_owned()))
        }
        // It never came to run, or its end is not known: somebody else's line says why.
        (None, None) => Verdict::Ended,
    }
}

impl Group<'_> {
    fn line(&self, exit: u8) -> String {
        let numbers: Vec<usize> = self.ranks.iter().map(|rank| rank.rank).collect();
        let plural = if numbers.len() == 1 { "" } else { "s" };
        let (was, ranks) =
            (if plural.is_empty() { "was" } else { "were" }, fold_numbers(&numbers, 1));
        let nodes = fold(self.ranks.iter().map(|rank| rank.node.as_str()));
        let place = format!("rank{plural} {ranks} on {nodes}");
        match &self.fate {
            Fate::Failed(Ending::Exited(code)) => {
                format!("your program: {place} exited {code}  [E302, exit {code}]")
            }
            Fate::Failed(ending @ Ending::Killed(..)) => {
                let exit = ending.exit();
                format!("your program: {place} {was} {ending}  [E301, exit {exit}]")
            }
            Fate::NotStarted(why) => {
                // The node's word has an id of its own.
                let why = Failure::told("E402", exit::OURS, why);
                format!("muster: {place} did not start: {why}")
            }
            Fate::Lost(why) if exit == 0 => {
                format!("muster: {place} {was} lost, the others went on: {why}  [E304]")
            }
            Fate::Lost(why) => format!("muster: {place} {was} lost: {why}  [E304, exit 125]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(rank: usize, node: &str, status: Option<i32>, why: Option<&str>) -> RankStatus {
        let state = if status.is_some() { RankPhase::Done } else { RankPhase::Lost };
        let (node, why) = (node.into(), why.map(str::to_owned));
        RankStatus { rank, node, state, status, why, ..RankStatus::default() }
    }

    fn job(exit: u8, end: End, ranks: Vec<RankStatus>) -> Status {
        Status { id: 3, exit: Some(exit), end: Some(end), ranks, ..Status::default() }
    }

    #[test]
    fn all_went_well() {
        assert!(lines(&job(0, End::Done, vec![rank(0, "n0", Some(0), None)])).is_empty());
    }

    #[test]
    fn a_crash_names_rank_node_and_signal() {
        let mut ranks = vec![rank(0, "n0", Some(0), None), rank(5, "n2", Some(11), None)];
        let told = lines(&job(139, End::Failed, ranks.clone()));
        assert_eq!(
            told,
            ["your program: rank 5 on n2 was killed by signal 11 (SEGV)  [E301, exit 139]"]
        );
        ranks.push(rank(6, "n2", Some(9), Some("ended with the job")));
        ranks.push(rank(7, "n3", Some(9), Some("ended with the job")));
        ranks.push(rank(8, "n3", Some(0x100), Some("ended with the job")));
        let told = lines(&job(139, End::Failed, ranks));
        assert_eq!(
            told,
            [
                "your program: rank 5 on n2 was killed by signal 11 (SEGV). 2 others were ended  \
              [E301, exit 139]",
                "your program: rank 8 on n3 exited 1  [E302, exit 1]"
            ]
        );
    }

    #[test]
    fn equal_fates_are_folded_and_every_rank_is_named() {
        let mut ranks: Vec<RankStatus> = (3..8)
            .map(|at| rank(at, if at < 5 { "n1" } else { "n2" }, Some(0x200), None))
            .collect();
        ranks.push(rank(8, "n2", Some(0x8b), None));
        ranks.push(rank(9, "n3", None, Some("the node's connection broke")));
        ranks.push(rank(10, "n4", None, Some("the node's connection broke")));
        let told = lines(&job(2, End::Failed, ranks));
        assert_eq!(
            told,
            [
                "your program: ranks 3-7 on n[1-2] exited 2  [E302, exit 2]",
                "your program: rank 8 on n2 was killed by signal 11 (SEGV, core dumped)  \
                 [E301, exit 139]",
                "muster: ranks 9-10 on n[3-4] were lost: the node's connection broke  \
                 [E304, exit 125]",
            ]
        );
    }

    #[test]
    fn a_rank_that_did_not_start_has_the_nodes_words() {
        let why = "x: cannot be run on n3: Permission denied  [E103, exit 126]";
        let told = lines(&job(
            126,
            End::Failed,
            vec![RankStatus { state: RankPhase::Done, ..rank(3, "n3", None, Some(why)) }],
        ));
        assert_eq!(told, [format!("muster: rank 3 on n3 did not start: {why}")]);
    }

    #[test]
    fn a_time_limit_or_a_kill_is_said_first() {
        let ended = || vec![rank(0, "n0", Some(15), Some("ended: time limit"))];
        let told = lines(&job(124, End::Timeout, ended()));
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("time limit") && told[0].ends_with("[E303, exit 124]"));
        let told = lines(&job(137, End::Killed, ended()));
        assert_eq!(told, ["muster: job 3 was ended  [E305, exit 137]"]);
    }

    #[test]
    fn a_job_that_went_on_without_some_ranks_names_them() {
        let ranks = vec![rank(0, "n0", Some(0), None), rank(1, "n1", None, Some("it died"))];
        let told = lines(&job(0, End::Done, ranks));
        assert_eq!(told, ["muster: rank 1 on n1 was lost, the others went on: it died  [E304]"]);
    }

    #[test]
    fn something_is_always_said() {
        let told = lines(&job(125, End::Failed, vec![]));
        assert_eq!(told, ["muster: job 3 failed: the manager does not say why  [E402, exit 125]"]);
        let why = Some("its output cannot be kept: No space  [E310]".to_owned());
        let told = lines(&Status { why, ..job(125, End::Failed, vec![]) });
        let said = "muster: job 3 failed: its output cannot be kept: No space  [E310, exit 125]";
        assert_eq!(told, [said], "one id is enough");
    }
}
