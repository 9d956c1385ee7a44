//! What went wrong with a job, in as few lines as name every rank. No I/O.
//!
//! Each line says whose fault it is: `your program:` for what the program did, `muster:` for
//! what happened to it.

use super::failure::{Failure, exit};
use muster_base::ending::Ending;
use muster_base::nodeset::{fold, fold_numbers};
use muster_machine::manager::spec::{End, RankPhase, RankStatus, Sent, Stamps, Status};
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
/// What a job does before it waits for its nodes, and waiting, are neither.
pub fn timing(status: &Status, whole: Duration) -> String {
    let Stamps { queued, allotted, placed, sent, files } = status.stamps;
    let (began, ended) = (Some(status.submitted), status.ended);
    let mut phases = Vec::new();
    if queued.is_some() {
        phases.push(match status.requeued.len() {
            0 => format!("hand over {}", span(began, queued)),
            1 => format!("an attempt before {}", span(began, queued)),
            before => format!("{before} attempts before {}", span(began, queued)),
        });
        phases.push(format!("wait {}", span(queued, allotted.or(ended))));
    }
    if status.started.is_some() {
        let mut parts = vec![format!("place {}", span(allotted, placed))];
        parts.extend(files.map(|files| told(&files)));
        let from = if queued.is_some() { allotted } else { began };
        phases.push(format!("send {} ({})", span(from, sent), parts.join(", ")));
        let order = span(sent, status.started);
        let (run, rest) = (span(status.started, status.over), span(status.over, ended));
        let execute = span(sent, ended);
        phases.push(format!("execute {execute} (order {order}, run {run}, clean up {rest})"));
    } else {
        phases.push("it did not run".to_owned());
    }
    let (id, nodes) = (status.id, status.nodes.len());
    let nodes = if nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") };
    let whole = span(Some(0.0), Some(whole.as_secs_f64()));
    format!("muster: job {id} on {nodes}: {}, in all {whole}", phases.join(", "))
}

/// The time between two stamps. A manager that was started again does not know all of them.
fn span(from: Option<f64>, to: Option<f64>) -> String {
    let known = from.zip(to).map(|(from, to)| format!("{:.1} ms", (to - from).max(0.0) * 1e3));
    known.unwrap_or_else(|| "not known".to_owned())
}

/// What was sent of a job's files.
fn told(Sent { chunks, of, rounds, multicast }: &Sent) -> String {
    let rounds = if *rounds > 1 { format!(" in {rounds} rounds") } else { String::new() };
    let way = match multicast {
        0 => String::new(),
        bytes => format!(", {:.1} MB by multicast", *bytes as f64 / 1e6),
    };
    format!("{chunks} of {of} chunks{rounds}{way}")
}

/// The lines, none if all went well. Of a job that went on without ranks that were lost, those are
/// named though its exit status is 0. `job` is what it is called.
pub fn lines(status: &Status, job: &str) -> Vec<String> {
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
    let why = status.why.as_deref();
    let mut lines = Vec::new();
    match status.end {
        Some(End::Timeout) => {
            lines.push(format!(
                "muster: job {job} reached its time limit and was ended. Raise: --time (mpiexec: \
                 --timeout), or its partition's  [E303, exit {exit}]"
            ));
        }
        Some(End::Killed) => {
            let by = why.map(|why| format!(": {why}")).unwrap_or_default();
            lines.push(format!("muster: job {job} was ended{by}  [E305, exit {exit}]"));
        }
        _ => {}
    }
    let told = lines.len();
    // Those that were lost count where nobody is left.
    let is_left = |rank: &RankStatus| rank.state != RankPhase::Lost;
    let went_on = status.tolerate && status.ranks.iter().any(is_left);
    lines.extend(groups.iter().map(|group| group.line(went_on)));
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
    fn line(&self, went_on: bool) -> String {
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
            Fate::Lost(why) if went_on => {
                format!("muster: {place} {was} lost, the others went on: {why}  [E304]")
            }
            Fate::Lost(why) => format!("muster: {place} {was} lost: {why}  [E304, exit 125]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(status: &Status) -> Vec<String> {
        super::lines(status, &status.id.to_string())
    }

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
        let tolerant = |exit, end, ranks| Status { tolerate: true, ..job(exit, end, ranks) };
        let told = lines(&tolerant(0, End::Done, ranks));
        let lost = "muster: rank 1 on n1 was lost, the others went on: it died  [E304]";
        assert_eq!(told, [lost]);
        // The job's status is that of the rank that failed.
        let ranks = vec![rank(0, "n0", Some(0x300), None), rank(1, "n1", None, Some("it died"))];
        let told = lines(&tolerant(3, End::Failed, ranks));
        assert_eq!(told, ["your program: rank 0 on n0 exited 3  [E302, exit 3]", lost]);
        let told = lines(&tolerant(125, End::Lost, vec![rank(1, "n1", None, Some("it died"))]));
        assert_eq!(told, ["muster: rank 1 on n1 was lost: it died  [E304, exit 125]"]);
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

    /// One whose stamps are these, in seconds after it was made.
    fn timed(stamps: Stamps, times: [Option<f64>; 3]) -> String {
        let [started, over, ended] = times.map(|at| at.map(|at| 100.0 + at));
        let at = |at: Option<f64>| at.map(|at| 100.0 + at);
        let Stamps { queued, allotted, placed, sent, files } = stamps;
        let (queued, allotted) = (at(queued), at(allotted));
        let stamps = Stamps { queued, allotted, placed: at(placed), sent: at(sent), files };
        let requeued = queued.filter(|at| *at > 104.0).map(|_| "n0 died".to_owned());
        let (nodes, requeued) = (vec!["n0".into(), "n1".into()], requeued.into_iter().collect());
        let status = Status { id: 3, submitted: 100.0, nodes, requeued, ..Status::default() };
        let status = Status { stamps, started, over, ended, ..status };
        let line = timing(&status, Duration::from_secs(9));
        line.strip_prefix("muster: job 3 on 2 nodes: ").unwrap().to_owned()
    }

    #[test]
    fn a_job_that_got_its_nodes_at_once_was_sent_from_when_it_was_made() {
        let stamps = Stamps { allotted: Some(0.5), placed: Some(0.75), ..Stamps::default() };
        let sent = Some(Sent { chunks: 3, of: 9, rounds: 2, multicast: 1_500_000 });
        let stamps = Stamps { sent: Some(1.0), files: sent, ..stamps };
        assert_eq!(
            timed(stamps, [Some(1.25), Some(3.0), Some(3.5)]),
            "send 1000.0 ms (place 250.0 ms, 3 of 9 chunks in 2 rounds, 1.5 MB by multicast), \
             execute 2500.0 ms (order 250.0 ms, run 1750.0 ms, clean up 500.0 ms), in all 9000.0 ms"
        );
    }

    #[test]
    fn what_a_job_waited_for_its_nodes_is_not_time_that_it_was_sent_in() {
        let stamps = Stamps { queued: Some(1.0), allotted: Some(3.0), ..Stamps::default() };
        let stamps = Stamps { placed: Some(3.0), sent: Some(3.5), ..stamps };
        let line = timed(stamps, [Some(3.5), Some(4.0), Some(4.0)]);
        let told = "hand over 1000.0 ms, wait 2000.0 ms, send 500.0 ms (place 0.0 ms), execute 500";
        assert!(line.starts_with(told), "{line}");
        // Nor are the attempts before the last.
        let stamps = Stamps { queued: Some(5.0), allotted: Some(5.5), ..Stamps::default() };
        let stamps = Stamps { placed: Some(5.5), sent: Some(6.0), ..stamps };
        let line = timed(stamps, [Some(6.0), Some(7.0), Some(7.0)]);
        let told = "an attempt before 5000.0 ms, wait 500.0 ms, send 500.0 ms (";
        assert!(line.starts_with(told), "{line}");
        // One that was ended while it waited.
        let stamps = Stamps { queued: Some(1.0), ..Stamps::default() };
        let line = timed(stamps, [None, Some(2.0), Some(2.0)]);
        assert_eq!(line, "hand over 1000.0 ms, wait 1000.0 ms, it did not run, in all 9000.0 ms");
    }

    #[test]
    fn times_that_a_manager_has_lost_are_said_to_be_lost() {
        let line = timed(Stamps::default(), [Some(1.0), None, Some(2.0)]);
        assert_eq!(
            line,
            "send not known (place not known), execute not known (order not known, run not known, \
             clean up not known), in all 9000.0 ms"
        );
    }
}
