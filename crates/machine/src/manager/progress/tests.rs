//! The life of a job, step by step.

use super::*;

fn running(ranks: usize, keep_going: bool) -> Progress {
    bearing(ranks, Bears { failures: keep_going, ..Bears::default() })
}

fn bearing(ranks: usize, bears: Bears) -> Progress {
    let mut job = Progress::default();
    let place = |local| Place { node: "n0".to_owned(), local };
    job.placed((0..ranks).map(place).collect(), vec![1; ranks], bears);
    assert!(job.executing());
    assert_eq!(job.started(), []);
    job
}

#[test]
fn a_program_that_cannot_be_run_ends_the_others_unless_the_job_is_to_keep_going() {
    let mut job = running(2, false);
    let actions = job.rank_failed(1, 127, "x: not found");
    assert_eq!(actions, [Action::Ask, Action::Grace]);
    assert_eq!(job.rank_failed(1, 127, "x: not found"), []);
    job.rank_exited(0, 15);
    assert_eq!(job.rank_closed(0), [Action::Finish]);
    assert_eq!(job.verdict(), Some((End::Failed, 127, Some("x: not found".to_owned()))));
    assert_eq!(job.ranks()[1].status, None);
    let mut job = running(2, true);
    assert_eq!(job.rank_failed(1, 126, "no"), []);
    assert_eq!(job.rank_exited(0, 0), [Action::EndRank(0)]);
    assert_eq!(job.rank_closed(0), [Action::Finish]);
    assert_eq!(job.verdict().unwrap().1, 126);
}

fn close_all(job: &mut Progress) -> Vec<Action> {
    (0..job.ranks().len()).flat_map(|rank| job.rank_closed(rank)).collect()
}

#[test]
fn a_job_whose_ranks_all_end_well_is_done_with_0() {
    let mut job = running(2, false);
    assert_eq!(job.rank_exited(1, 0), [Action::EndRank(1)]);
    assert_eq!(job.rank_closed(1), []);
    assert_eq!(job.rank_exited(0, 0), [Action::EndRank(0)]);
    assert_eq!(job.rank_closed(0), [Action::Finish]);
    assert_eq!(job.verdict(), Some((End::Done, 0, None)));
}

#[test]
fn the_first_failure_ends_the_job_and_is_its_exit_status() {
    let mut job = running(3, false);
    assert_eq!(job.rank_exited(1, 3 << 8), [Action::EndRank(1), Action::Pause]);
    assert_eq!(job.pause_over(), ASK);
    assert_eq!(job.rank_exited(0, TERM), [Action::EndRank(0)]);
    assert_eq!(job.grace_over(), [Action::EndAll]);
    assert_eq!(job.rank_exited(2, 9), [Action::EndRank(2)]);
    assert!(job.ranks()[2].why.as_ref().unwrap().starts_with("ended: rank 1"));
    assert_eq!(close_all(&mut job), [Action::Finish]);
    let (end, exit, why) = job.verdict().unwrap();
    assert_eq!((end, exit), (End::Failed, 3));
    assert_eq!(why.unwrap(), "rank 1 on n0 exited 3");
}

#[test]
fn ranks_that_fail_together_end_by_themselves_and_one_that_is_killed_waits_for_no_pause() {
    let mut job = running(3, false);
    job.rank_exited(1, 3 << 8);
    assert_eq!(job.rank_exited(0, 1 << 8), [Action::EndRank(0)]);
    assert_eq!(job.ranks()[0].why, None, "nobody has told it to end");
    assert_eq!(job.rank_exited(2, 3 << 8), [Action::EndRank(2)]);
    assert_eq!(close_all(&mut job), [Action::Finish]);
    assert_eq!(job.pause_over(), []);
    assert_eq!(job.verdict().unwrap().1, 3);

    let mut job = running(2, false);
    job.rank_exited(1, 3 << 8);
    assert_eq!(job.kill("x"), [Action::EndAll]);
    assert_eq!(job.pause_over(), []);
    let mut job = running(2, false);
    assert_eq!(job.rank_exited(1, 11)[1..], ASK, "a crash is nobody's last word");
}

#[test]
fn a_crash_is_told_also_while_the_job_ends() {
    let mut job = running(3, false);
    job.rank_exited(0, 3 << 8);
    job.pause_over();
    job.rank_exited(1, 11);
    job.rank_exited(2, TERM);
    assert_eq!(job.ranks()[1].why, None);
    assert!(job.ranks()[2].why.is_some());
}

#[test]
fn a_job_that_keeps_going_still_tells_the_first_failure() {
    let mut job = running(2, true);
    assert_eq!(job.rank_exited(0, 11), [Action::EndRank(0)]);
    assert_eq!(job.rank_exited(1, 0), [Action::EndRank(1)]);
    close_all(&mut job);
    assert_eq!(job.verdict().unwrap().1, 139);
}

#[test]
fn a_job_that_keeps_going_is_ended_by_what_ends_it_and_not_by_a_failure_before_that() {
    let ends: [fn(&mut Progress) -> Vec<Action>; 3] = [
        |job| job.end(End::Timeout, 124, "its time limit has passed"),
        |job| job.kill("it was killed"),
        |job| job.rank_lost(2, "n0 died"),
    ];
    let told = [
        (End::Timeout, 124, "its time limit has passed"),
        (End::Killed, 137, "it was killed"),
        (End::Lost, 125, "rank 2 on n0 was lost: n0 died"),
    ];
    for (end, (how, exit, why)) in ends.into_iter().zip(told) {
        let mut job = running(3, true);
        assert_eq!(job.rank_exited(0, 2 << 8), [Action::EndRank(0)]);
        assert_ne!(end(&mut job), []);
        // What comes later is not why.
        job.end(End::Failed, 125, "its output cannot be kept");
        job.rank_exited(1, TERM);
        close_all(&mut job);
        assert_eq!(job.verdict(), Some((how, exit, Some(why.to_owned()))));
        assert_eq!(job.ranks()[1].why, Some(format!("ended: {why}")));
    }
    // It bears losses as well.
    let mut job = bearing(2, Bears { failures: true, losses: true, ..Bears::default() });
    job.rank_exited(0, 2 << 8);
    assert_eq!(job.rank_lost(1, "n0 died"), []);
}

#[test]
fn a_lost_rank_ends_the_job_and_is_closed_at_once() {
    let mut job = running(2, false);
    let actions = job.rank_lost(0, "its node is gone");
    assert_eq!(actions, [Action::Ask, Action::Grace]);
    job.rank_exited(1, TERM);
    assert_eq!(job.rank_closed(1), [Action::Finish]);
    assert_eq!(job.verdict().unwrap().1, 125);
    assert_eq!(job.verdict().unwrap().0, End::Lost);
}

/// Its job was done, and what it had written was not all there.
#[test]
fn a_rank_that_has_ended_is_lost_with_the_node_that_has_the_last_of_its_output() {
    let mut job = running(1, false);
    assert_eq!(job.rank_exited(0, 0), [Action::EndRank(0)]);
    assert_eq!(job.output_lost(0, "n0 died"), [ASK[0], ASK[1], Action::Finish]);
    let (end, exit, why) = job.verdict().unwrap();
    assert_eq!((end, exit), (End::Lost, 125));
    let told = "rank 0 on n0 was lost: n0 died, with the last of what it had written";
    assert_eq!(why.unwrap(), told);
    let mut job = begun_again(1);
    job.rank_exited(0, 0);
    job.output_lost(0, "n0 died");
    assert_eq!(job.cleared().unwrap(), told);
    // What a job has written that is being ended does not matter, nor of one that is closed.
    let mut job = running(2, false);
    job.rank_exited(1, 0);
    job.rank_closed(1);
    assert_eq!(job.output_lost(1, "n0 died"), []);
    job.rank_exited(0, 3 << 8);
    assert_eq!(job.output_lost(0, "n0 died"), [Action::Finish]);
    assert_eq!(job.verdict().unwrap().1, 3);
    let mut job = bearing(2, Bears { losses: true, ..Bears::default() });
    job.rank_exited(0, 0);
    assert_eq!(job.output_lost(0, "n0 died"), []);
    job.rank_exited(1, 0);
    job.rank_closed(1);
    assert_eq!(job.verdict().unwrap().2.unwrap(), "rank 0 was lost; the others went on");
}

#[test]
fn a_job_that_tolerates_losses_goes_on_while_it_has_a_rank() {
    let mut job = bearing(3, Bears { losses: true, ..Bears::default() });
    assert_eq!(job.rank_lost(0, "its node is gone"), []);
    assert_eq!(job.rank_lost(2, "its node is gone"), []);
    assert_eq!(job.rank_exited(1, 0), [Action::EndRank(1)]);
    assert_eq!(job.rank_closed(1), [Action::Finish]);
    let (end, exit, why) = job.verdict().unwrap();
    assert_eq!((end, exit), (End::Done, 0));
    assert_eq!(why.unwrap(), "ranks 0,2 were lost; the others went on");
    // A rank that fails ends it as any other job.
    let mut job = bearing(2, Bears { losses: true, ..Bears::default() });
    job.rank_lost(1, "gone");
    assert_eq!(job.rank_exited(0, 3 << 8)[1..], [Action::Pause]);
    let mut job = bearing(2, Bears { losses: true, ..Bears::default() });
    job.rank_lost(1, "gone");
    job.rank_lost(0, "gone");
    close_all(&mut job);
    assert_eq!(job.verdict().unwrap().1, 125, "nobody is left");
}

fn begun_again(ranks: usize) -> Progress {
    bearing(ranks, Bears { again: true, ..Bears::default() })
}

#[test]
fn a_job_that_begins_again_is_ended_first_and_not_done() {
    let mut job = begun_again(2);
    assert_eq!(job.rank_lost(0, "n0 died"), [Action::Ask, Action::Grace]);
    job.rank_exited(1, 1 << 8);
    assert_eq!(job.rank_closed(1), [Action::Finish]);
    assert_eq!((job.phase(), job.verdict()), (Phase::Ending, None));
    assert_eq!(job.cleared().unwrap(), "rank 0 on n0 was lost: n0 died");
    assert_eq!(job.rank_lost(1, "late"), [], "it is over");
}

#[test]
fn a_rank_that_failed_before_its_partners_death_was_known_is_no_cause() {
    let mut job = begun_again(2);
    job.rank_exited(1, 1 << 8);
    job.rank_closed(1);
    assert_eq!(job.rank_lost(0, "n0 died"), [Action::Finish]);
    assert!(job.cleared().unwrap().contains("n0 died"));
    // A failure with all nodes alive is one, and so is a node that only does not answer.
    let mut job = begun_again(2);
    job.rank_exited(1, 1 << 8);
    job.rank_closed(1);
    assert_eq!(job.drain_over(), [Action::Finish]);
    assert_eq!((job.cleared(), job.verdict().unwrap().1), (None, 1));
}

#[test]
fn a_job_does_not_begin_again_beside_a_node_that_only_does_not_answer() {
    let mut job = begun_again(2);
    job.rank_lost(0, "n0 died");
    assert!(job.is_again());
    assert_eq!(job.grace_over(), [Action::EndAll]);
    assert_eq!(job.drain_over(), [Action::Finish]);
    assert_eq!(job.cleared(), None);
    let (end, exit, why) = job.verdict().unwrap();
    assert_eq!((end, exit), (End::Lost, 125));
    assert!(why.unwrap().contains("n0 died"));
    // Nothing was open: it begins again.
    let mut job = begun_again(1);
    assert!(job.rank_lost(0, "n0 died").contains(&Action::Finish));
    assert_eq!(job.drain_over(), []);
    assert!(job.cleared().is_some());
}

#[test]
fn a_job_does_not_begin_again_beside_a_rank_that_only_is_not_heard_of() {
    let mut job = begun_again(2);
    job.rank_lost(0, "n0 died");
    assert!(job.rank_absent(1, true, "it has not come back").contains(&Action::Finish));
    assert_eq!(job.cleared(), None);
    let (end, _, why) = job.verdict().unwrap();
    assert_eq!((end, why.unwrap().contains("n0 died")), (End::Lost, true));
    let mut job = begun_again(2);
    assert_eq!(job.rank_absent(1, true, "it has not come back")[0], Action::Ask);
    job.rank_lost(0, "n0 died");
    assert_eq!(job.cleared(), None);
    // One that is not to begin again bears it as any other loss.
    let mut job = bearing(2, Bears { losses: true, ..Bears::default() });
    assert_eq!(job.rank_absent(0, true, "it has not come back"), []);
}

#[test]
fn a_job_that_somebody_ends_does_not_begin_again() {
    let ends: [fn(&mut Progress); 2] = [
        |job| drop(job.kill("it was killed")),
        |job| drop(job.end(End::Killed, 137, "it was killed")),
    ];
    for end in ends {
        let mut job = begun_again(1);
        assert!(job.rank_lost(0, "n0 died").contains(&Action::Finish));
        end(&mut job);
        assert_eq!(job.cleared(), None);
        assert_eq!(job.verdict(), Some((End::Killed, 137, Some("it was killed".into()))));
        let mut job = begun_again(1);
        end(&mut job);
        job.rank_lost(0, "n0 died");
        assert_eq!(job.cleared(), None);
    }
}

#[test]
fn a_launch_that_lost_a_node_begins_again_and_any_other_has_failed() {
    for (is_lost, again) in [(true, true), (false, false)] {
        let mut job = Progress::default();
        let bears = Bears { again: true, ..Bears::default() };
        job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], bears);
        assert_eq!(job.start_failed(None, 125, "no", is_lost), [Action::Finish]);
        assert_eq!(job.cleared().is_some(), again);
    }
    // Before it had places.
    let mut job = Progress::default();
    job.set_bears(Bears { again: true, ..Bears::default() });
    job.queued();
    assert_eq!(job.end(End::Lost, 125, "n0 is down"), [Action::Finish]);
    assert!(job.cleared().is_some());
}

#[test]
fn a_time_limit_is_124_whatever_the_ranks_say() {
    let mut job = running(1, false);
    job.end(End::Timeout, 124, "its time limit of 1 s has passed");
    job.rank_exited(0, TERM);
    close_all(&mut job);
    assert_eq!(job.verdict().unwrap().1, 124);
}

#[test]
fn a_job_that_goes_on_though_its_time_is_over_is_killed_whatever_it_was_ending_for() {
    let mut job = running(2, false);
    assert_eq!(job.is_late(), [], "it has ended nothing");
    // It may have asked for a day of grace.
    assert_eq!(job.end(End::Failed, 125, "its output cannot be kept"), ASK);
    assert_eq!(job.end(End::Timeout, 124, "its time limit of 1 s has passed"), []);
    assert_eq!(job.is_late(), [Action::EndAll]);
    assert_eq!(job.is_late(), [], "it is killed already");
    close_all(&mut job);
    assert_eq!((job.is_late(), job.verdict().unwrap().1), (vec![], 125));
}

#[test]
fn a_job_that_cannot_start_ends_at_once() {
    let mut job = Progress::default();
    job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
    let actions = job.start_failed(Some(0), 127, "x: not found", false);
    assert_eq!(actions, [Action::Finish]);
    assert_eq!(job.verdict().unwrap().1, 127);
    assert_eq!(job.start_failed(None, 125, "again", false), [], "it is finished once");
}

/// It stayed "ending" for ever: there was no rank that could have ended.
#[test]
fn a_job_that_is_ended_while_its_files_come_is_done_at_once() {
    let mut job = Progress::default();
    job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
    assert_eq!(job.end(End::Killed, 143, "its client went away"), [Action::Finish]);
    assert!(!job.executing(), "its programs must not be run any more");
}

#[test]
fn a_signal_that_comes_while_programs_are_being_run_waits_for_them() {
    let mut job = Progress::default();
    assert!(job.is_unstarted());
    job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
    assert!(job.is_unstarted(), "its files come");
    assert!(job.executing() && !job.is_unstarted());
    assert_eq!([10, 12, 10].map(|number| job.signal(number)), [(); 3].map(|()| vec![]));
    assert_eq!(job.started(), [Action::Signal(10), Action::Signal(12)]);
    assert_eq!((job.signal(10), job.started()), (vec![Action::Signal(10)], vec![]));
}

fn executing(ranks: usize) -> Progress {
    let mut job = Progress::default();
    let place = |local| Place { node: "n0".to_owned(), local };
    job.placed((0..ranks).map(place).collect(), vec![1; ranks], Bears::default());
    assert!(job.executing());
    job
}

/// The order to end came before there was a process, and the program ran for ever.
#[test]
fn programs_that_run_after_their_job_was_ended_are_asked_to_end_and_then_killed() {
    let mut job = executing(1);
    assert_eq!(job.end(End::Killed, 143, "x"), [Action::Ask, Action::Grace]);
    assert_eq!(job.started(), [Action::Ask]);
    assert_eq!(job.grace_over(), [Action::EndAll]);
    assert_eq!(job.rank_exited(0, 9), [Action::EndRank(0)]);
    assert_eq!(job.rank_closed(0), [Action::Finish]);
    assert_eq!(job.verdict().unwrap().1, 143);
    // The time of grace was over before that, or there was none.
    for end in [Progress::end, |job: &mut Progress, _, _, why: &str| job.kill(why)] {
        let mut job = executing(1);
        end(&mut job, End::Killed, 143, "x");
        job.grace_over();
        assert_eq!(job.started(), [Action::EndAll]);
    }
}

/// The others were killed at once, and their ends told as crashes.
#[test]
fn a_rank_that_fails_before_all_run_leaves_the_others_the_time_that_they_have_later() {
    let mut job = executing(3);
    assert_eq!(job.rank_exited(0, 2 << 8), [Action::EndRank(0), Action::Pause]);
    assert_eq!(job.started(), []);
    assert_eq!(job.rank_exited(1, 2 << 8), [Action::EndRank(1)]);
    assert_eq!(job.pause_over(), ASK);
    assert_eq!(job.rank_exited(2, TERM), [Action::EndRank(2)]);
    let whys = [0, 1, 2].map(|rank| job.ranks()[rank].why.as_deref());
    assert_eq!(whys, [None, None, Some("ended: rank 0 on n0 exited 2")]);
}

/// What a manager that was started again reads of one whose ranks were given up that may run on.
#[test]
fn a_job_that_is_final_does_not_begin_again_though_a_node_was_lost() {
    let mut job = running(2, false);
    job.bears.again = true;
    job.end(End::Lost, 125, "n0 died");
    assert!(job.is_again() && job.may_begin_again());
    job.is_final();
    job.rank_exited(0, 9);
    job.rank_closed(0);
    assert_eq!(job.rank_lost(1, "n1 died"), [Action::Finish]);
    assert_eq!(job.cleared(), None);
    assert_eq!(job.verdict().unwrap().0, End::Lost);
}

/// A frozen node kept the job "ending" for ever.
#[test]
fn ranks_that_cannot_be_killed_are_given_up() {
    let mut job = running(2, false);
    job.end(End::Killed, 137, "it was killed");
    job.rank_exited(0, 9);
    job.rank_closed(0);
    assert_eq!(job.drain_over(), [Action::Finish]);
    assert_eq!(job.ranks()[1].state, RankPhase::Lost);
    assert_eq!(job.drain_over(), []);
}

#[test]
fn a_job_that_is_killed_is_not_asked_first() {
    let mut job = running(1, false);
    assert_eq!(job.kill("x"), [Action::EndAll]);
    job.rank_exited(0, 9);
    assert_eq!(job.rank_closed(0), [Action::Finish]);
    assert_eq!((job.verdict().unwrap().1, job.kill("y")), (137, vec![]));
}

/// Its ranks were called lost after 10 s, since their nodes did not answer.
#[test]
fn a_job_that_is_killed_while_nodes_lack_its_files_is_done_at_once() {
    let mut job = Progress::default();
    job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
    assert!(job.executing());
    job.holds_on();
    assert!(!job.is_unstarted(), "some nodes may have had all files");
    assert_eq!(job.kill("it was killed"), [Action::Finish]);
    assert_eq!(job.verdict(), Some((End::Killed, 137, Some("it was killed".into()))));
    assert!(job.ranks().iter().all(|rank| rank.state != RankPhase::Lost));
}

#[test]
fn a_job_is_finished_once() {
    let mut job = running(1, false);
    job.rank_lost(0, "gone");
    assert_eq!(job.end(End::Killed, 143, "again"), []);
    assert_eq!(job.rank_closed(0), []);
    assert_eq!(job.rank_exited(0, 0), []);
}

/// It was told as killed from then on, though its client had seen it end well.
#[test]
fn a_job_that_has_ended_has_ended_so_whoever_kills_or_ends_it_later() {
    let mut job = running(1, false);
    job.rank_exited(0, 0);
    assert_eq!(job.rank_closed(0), [Action::Finish]);
    assert_eq!((job.kill("it was killed"), job.end(End::Killed, 143, "x")), (vec![], vec![]));
    assert_eq!(job.verdict(), Some((End::Done, 0, None)));
    // One that was to begin again, which could not be written down.
    let mut job = bearing(1, Bears { again: true, ..Bears::default() });
    assert_eq!(job.rank_lost(0, "n0 died"), [Action::Ask, Action::Grace, Action::Finish]);
    assert!(job.cleared().is_some());
    let lost = job.verdict().unwrap();
    assert_eq!((lost.0, lost.1), (End::Lost, 125));
    assert_eq!((job.kill("it was killed"), job.end(End::Killed, 143, "x")), (vec![], vec![]));
    assert_eq!(job.verdict(), Some(lost));
}
