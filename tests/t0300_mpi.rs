//! MPI programs, as their authors wrote them: built with `mpicc`, run by `muster run`.

mod cluster;
mod mpi;

use cluster::Cluster;
use mpi::{Mpi, root};
use std::process::Stdio;

/// Runs a program on so many nodes and ranks; what it printed.
fn ran(cluster: &Cluster, nodes: &str, ranks: &str, command: &[&str]) -> String {
    let args = [&["run", "-N", nodes, "-n", ranks], command].concat();
    let done = cluster.muster(&args).run().without_waits();
    assert_eq!((done.code, &*done.err), (0, ""), "{command:?} on {nodes} nodes, {ranks} ranks");
    done.out
}

/// A program of `tests/mpi` is right on any number of ranks, on one node and on several.
fn is_right_everywhere(name: &str) {
    let mpi = Mpi::installed();
    let program = mpi.program(name);
    let cluster = Cluster::up(&format!("t0300{name}"), 3);
    for (nodes, ranks) in [("1", "1"), ("1", "2"), ("1", "5"), ("2", "2"), ("3", "3"), ("3", "8")] {
        assert_eq!(ran(&cluster, nodes, ranks, &[&program]), format!("ok {ranks}\n"));
    }
    for (nodes, ranks) in [("1", "1"), ("1", "4"), ("3", "6")] {
        let ran = ran(&cluster, nodes, ranks, &["--mpi=bcs", &program]);
        assert_eq!(ran, format!("ok {ranks}\n"), "coscheduled");
    }
}

#[test]
fn point_to_point_messages_are_right_on_one_node_and_on_several() {
    is_right_everywhere("point");
}

#[test]
fn messages_are_right_in_every_way_to_send_them() {
    is_right_everywhere("sends");
}

/// Not in the coscheduled mode, where sends are not taken back.
#[test]
fn who_takes_a_send_back_waits_for_no_receive() {
    let mpi = Mpi::installed();
    let program = mpi.program("cancel");
    let cluster = Cluster::up("t0300cancel", 3);
    for (nodes, ranks) in [("1", "1"), ("1", "2"), ("1", "5"), ("2", "2"), ("3", "8")] {
        assert_eq!(ran(&cluster, nodes, ranks, &[&program]), format!("ok {ranks}\n"));
    }
}

#[test]
fn who_has_received_a_synchronous_message_says_so_at_once() {
    let mpi = Mpi::installed();
    let cluster = Cluster::up("t0300answer", 1);
    assert_eq!(ran(&cluster, "1", "2", &[&mpi.program("answer")]), "ok 2\n");
}

#[test]
fn collectives_are_right_blocking_or_not_on_all_ranks_and_on_some() {
    is_right_everywhere("collectives");
}

#[test]
fn every_form_of_every_collective_is_right() {
    is_right_everywhere("forms");
}

#[test]
fn collectives_that_are_kept_are_right_each_time_they_are_started() {
    is_right_everywhere("kept");
}

#[test]
fn short_collectives_are_right_while_communicators_come_and_go_and_ranks_are_late() {
    is_right_everywhere("short");
}

#[test]
fn who_gets_less_in_a_collective_than_it_expects_is_told_so_and_nothing_hangs() {
    let mpi = Mpi::installed();
    let program = mpi.program("shorter");
    let cluster = Cluster::up("t0300shorter", 3);
    for (nodes, ranks) in [("1", "2"), ("1", "5"), ("3", "3"), ("3", "5")] {
        for mode in ["--mpi=direct", "--mpi=bcs"] {
            assert_eq!(ran(&cluster, nodes, ranks, &[mode, &program]), format!("ok {ranks}\n"));
        }
    }
}

#[test]
fn collectives_between_two_groups_are_right() {
    is_right_everywhere("between");
}

#[test]
fn datatypes_are_right() {
    is_right_everywhere("datatypes");
}

#[test]
fn groups_and_communicators_are_right() {
    is_right_everywhere("groups");
}

#[test]
fn requests_of_the_programs_own_and_requests_that_are_only_looked_at_are_right() {
    is_right_everywhere("requests");
}

#[test]
fn closed_streams_signals_and_other_directories_of_a_program_are_its_own_affair() {
    is_right_everywhere("around");
}

#[test]
fn collectives_of_neighbours_are_right_in_grids_that_close_and_in_graphs() {
    is_right_everywhere("neighbors");
}

#[test]
fn collectives_of_neighbours_that_are_begun_or_kept_are_right_over_every_edge() {
    is_right_everywhere("edges");
}

#[test]
fn partitioned_messages_come_part_by_part_however_both_sides_cut_them() {
    is_right_everywhere("partitioned");
}

#[test]
fn a_buffered_send_needs_room_in_what_its_communicator_its_session_or_the_process_has() {
    is_right_everywhere("buffers");
}

#[test]
fn tools_and_other_languages_are_told_what_the_library_has() {
    is_right_everywhere("inquiry");
}

#[test]
fn every_function_for_tools_says_that_there_is_nothing_to_see() {
    is_right_everywhere("tools");
}

#[test]
fn a_program_is_told_what_it_asks_of_the_library_of_itself_and_of_its_objects() {
    is_right_everywhere("itself");
}

#[test]
fn handlers_of_errors_are_found_again_and_called_and_handles_come_back_from_integers() {
    is_right_everywhere("handlers");
}

#[test]
fn a_program_with_sessions_needs_no_init() {
    is_right_everywhere("sessions");
}

#[test]
fn threads_that_call_at_once_all_get_what_they_wait_for() {
    is_right_everywhere("threads");
}

#[test]
fn who_only_asks_and_never_waits_gets_its_messages() {
    is_right_everywhere("polling");
}

#[test]
fn locks_of_a_rank_that_calls_nothing_go_around_among_the_others_of_its_node() {
    let mpi = Mpi::installed();
    let cluster = Cluster::up("t0300unattended", 1);
    assert_eq!(ran(&cluster, "1", "5", &[&mpi.program("unattended")]), "ok 5\n");
}

#[test]
fn ranks_that_are_alone_on_each_of_many_nodes_get_on_whatever_is_under_way() {
    let mpi = Mpi::installed();
    let program = mpi.program("many");
    let cluster = Cluster::up("t0300many", 16);
    for mode in ["--mpi=direct", "--mpi=bcs"] {
        assert_eq!(ran(&cluster, "16", "16", &[mode, &program]), "ok 16\n", "{mode}");
    }
    assert_eq!(ran(&cluster, "5", "12", &[&program]), "ok 12\n");
}

#[test]
fn topologies_are_right() {
    is_right_everywhere("topologies");
}

#[test]
fn programs_that_were_written_for_older_standards_are_right() {
    is_right_everywhere("older");
}

/// Ranks that see one board, and those that miss one there, tell what is wrong with it.
fn ranks_of_a_node_that_differ_are_told(cluster: &Cluster, program: &str) {
    for (how, code, says) in [
        (
            "short-other",
            16,
            "rank 0: MPI_Allreduce failed: MPI_ERR_OTHER: rank 1 has called another",
        ),
        (
            "short-size",
            15,
            "rank 0: MPI_Allreduce (argument count) failed: MPI_ERR_TRUNCATE: rank 1 has 8",
        ),
        (
            "short-long",
            15,
            "rank 0: MPI_Allreduce (argument count) failed: MPI_ERR_TRUNCATE: rank 1 has",
        ),
        ("leave-barrier", 58, "MPI_Barrier failed: MPI_ERR_PROC_ABORTED: rank 1 is gone"),
    ] {
        for ranks in ["2", "4"] {
            let done = cluster.muster(&["run", "-N", "1", "-n", ranks, program, how]).run();
            assert_eq!(done.code, code, "{how}: {}", done.err);
            assert!(done.err.contains(says), "{how}: {}", done.err);
        }
    }
}

/// Ranks of which one fails: the job ends with one message, and its status.
#[test]
fn a_rank_that_fails_ends_the_job_with_one_message_that_names_it() {
    let mpi = Mpi::installed();
    let program = mpi.program("fails");
    let cluster = Cluster::up("t0300fails", 2);
    for (how, code, says) in [
        ("abort", 7, "rank 1 has called MPI_Abort with 7"),
        ("exit", 3, "rank 1 on n0 exited 3"),
        ("signal", 134, "rank 1 on n0 was killed by signal 6"),
        (
            "rank",
            6,
            "rank 1: MPI_Send (argument dest) failed: MPI_ERR_RANK: there is no rank 9 in a",
        ),
        (
            "own",
            1,
            "rank 1: MPI_Comm_call_errhandler failed: an error class of the program: the stars",
        ),
        (
            "standard",
            15,
            "rank 1: MPI_Comm_call_errhandler failed: MPI_ERR_TRUNCATE: the message is",
        ),
        ("leader", 6, "rank 1: MPI_Intercomm_create (argument remote_leader) failed: MPI_ERR_RANK"),
        (
            "truncate",
            15,
            "rank 0: MPI_Recv (argument count) failed: MPI_ERR_TRUNCATE: the message from",
        ),
        ("leave", 58, "MPI_Recv failed: MPI_ERR_PROC_ABORTED: rank 1 is gone"),
        ("leave-send", 58, "MPI_Ssend failed: MPI_ERR_PROC_ABORTED: rank 1 is gone"),
        ("leave-probe", 58, "MPI_Probe failed: MPI_ERR_PROC_ABORTED: rank 1 is gone"),
        ("leave-barrier", 58, "MPI_Barrier failed: MPI_ERR_PROC_ABORTED: rank 1 is gone"),
        ("leave-locked", 58, "MPI_ERR_PROC_ABORTED: rank 1, which has the lock, is gone"),
        ("leave-locked-near", 58, "MPI_ERR_PROC_ABORTED: rank 1, which has the lock, is gone"),
        (
            "count",
            15,
            "rank 1: MPI_Bcast (argument count) failed: MPI_ERR_TRUNCATE: rank 0 sent 16",
        ),
        (
            "fewer",
            16,
            "rank 1: MPI_Bcast (argument count) failed: MPI_ERR_OTHER: rank 0 sent 4 bytes in a \
             collective where 16 were expected",
        ),
        ("again", 16, "rank 1: MPI_Finalize failed: MPI_ERR_OTHER: MPI_Finalize has been called"),
    ] {
        let done = cluster.muster(&["run", "-N", "2", "-n", "4", &program, how]).run();
        assert_eq!(done.code, code, "{how}: {}", done.err);
        assert!(done.err.contains(says), "{how}: {}", done.err);
    }
    ranks_of_a_node_that_differ_are_told(&cluster, &program);
    // Without one rank there is no order of messages.
    let command = ["run", "-N", "2", "-n", "4", "--mpi=bcs", &program, "leave-order"];
    let done = cluster.muster(&command).run();
    let says = "rank 0: MPI_Recv failed: MPI_ERR_PROC_ABORTED: rank 1 is gone";
    assert!(done.code == 58 && done.err.contains(says), "{}", done.err);
    assert_eq!(ran(&cluster, "2", "4", &[&program, "returned"]), "ok 4\n");
    // A rank can run one program only: its second one is told so, and what to do.
    let twice = format!("{program} returned && {program} returned");
    let done = cluster.muster(&["run", "-N", "2", "-n", "4", "sh", "-c", &twice]).run();
    assert_eq!((done.code, &*done.out), (16, "ok 4\n"), "{}", done.err);
    assert!(done.err.contains("it was let in before: a rank can run one MPI"), "{}", done.err);
}

#[test]
fn to_lock_all_where_one_is_gone_fails_and_keeps_no_lock_from_others() {
    let mpi = Mpi::installed();
    let program = mpi.program("gone");
    let cluster = Cluster::up("t0300gone", 3);
    for (nodes, ranks) in [("3", "3"), ("3", "6"), ("1", "4")] {
        let args = ["run", "-N", nodes, "-n", ranks, "--tolerate", &program];
        let done = cluster.muster(&args).run();
        assert_eq!(done.out, format!("ok {ranks}\n"), "{}", done.err);
    }
}

#[test]
fn a_rank_ends_its_job_also_while_a_thread_of_it_reads_or_nobody_takes_what_it_prints() {
    let mpi = Mpi::installed();
    let program = mpi.program("reading");
    for how in ["thread", "full"] {
        let mut command = std::process::Command::new("timeout");
        command.args(["60", &program, how]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut rank = command.spawn().unwrap();
        // Its pipe is read when it has ended.
        assert_eq!(rank.wait().unwrap().code(), Some(7), "{how}");
        let done = rank.wait_with_output().unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert!(told.contains("called MPI_Abort with 7"), "{how}: {told}");
        let has_printed = done.stdout.ends_with(b"printed\n");
        assert_eq!(has_printed, how == "thread", "{how}");
    }
}

/// Calls of a process that is a job by itself, one for each way to be wrong.
#[test]
fn an_error_names_the_function_and_the_argument_that_was_wrong() {
    let mpi = Mpi::installed();
    let program = mpi.program("arguments");
    let run = |args: &[&str]| std::process::Command::new(&program).args(args).output().unwrap();
    let listed = run(&[]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let calls: Vec<&str> = listed.lines().collect();
    assert!(calls.len() > 160 && calls.last() == Some(&"ok 1"), "{listed}");
    for (number, line) in calls[..calls.len() - 1].iter().enumerate() {
        let (argument, call) = line.split_at(line.find(" MPI_").unwrap());
        let call = call.trim_start();
        let function = call.split('(').next().unwrap();
        let done = run(&[&number.to_string()]);
        let told = String::from_utf8(done.stderr).unwrap();
        let says = format!("muster: {function} (argument {argument}) failed: MPI_ERR_");
        assert!(told.starts_with(&says) && told.lines().count() == 1, "{call}: {told}");
    }
}

/// Deadlocks, as the argument has them come about, are told once, and end the job: on one node, on
/// several, and coscheduled, each on a cluster of its own, for each is waited for.
fn are_told(test: &str, program: &str, cases: &[(&str, &str)]) {
    let ways = [("1", "--mpi=direct"), ("3", "--mpi=direct"), ("3", "--mpi=bcs")];
    std::thread::scope(|scope| {
        for (nodes, mode) in ways {
            scope.spawn(move || {
                let cluster = Cluster::up(test, 3);
                for (how, says) in cases {
                    let command = ["run", "-N", nodes, "-n", "5", mode, program, how];
                    let done = cluster.muster(&command).run();
                    assert_eq!(done.code, 1, "{how}: {}", done.err);
                    assert!(done.err.contains(says), "{how}: {}", done.err);
                    assert_eq!(done.err.matches("[E503]").count(), 1, "{how}: {}", done.err);
                }
            });
        }
    });
}

/// A rank that comes to its end while others wait for it; several deadlocks at once; windows.
#[test]
fn who_waits_for_a_rank_that_has_come_to_its_end_is_told_so_whatever_other_threads_there_are() {
    let mpi = Mpi::installed();
    let program = mpi.program("deadlock");
    let told = [
        ("thread-end", "rank 1: MPI_Finalize was called, so nothing is sent any more"),
        ("thread-waitall", "a message with tag 2 from rank 1 in halo"),
        ("pairs", "MPI_Recv waits for a message with tag 6 from rank "),
        ("window", "rank 0: MPI_Recv waits for a message with tag 5 from rank 1 in MPI_COMM"),
        ("posts", "rank 2: MPI_Win_start waits for rank 3 to call MPI_Win_post"),
        ("completes", "rank 3: MPI_Win_wait waits for rank 2 to call MPI_Win_complete"),
        ("split", "rank 1: MPI_Finalize was called, so nothing is sent any more"),
        // Each rank waits for that one alone, so any may be the first to tell it.
        ("any-end", ": MPI_Waitany waits for a message with tag 1 from rank 1 in MPI_COMM_WORLD, "),
        ("roots", "rank 0: MPI_Reduce waits for rank 1 to take part in a collective of MPI_"),
    ];
    are_told("t0300end", &program, &told);
}

/// Ranks that wait for one another for ever: the job ends, and says for each what it waits for.
#[test]
fn a_deadlock_is_told() {
    let mpi = Mpi::installed();
    let program = mpi.program("deadlock");
    let any = "MPI_Recv waits for a message from any rank of halo";
    let told = [
        ("cycle", "rank 1: MPI_Recv waits for a message with tag 7 from rank 0 in halo"),
        ("ring", "rank 1: MPI_Ssend waits for rank 2 to receive a message with tag 3 in halo"),
        (
            "barrier",
            "rank 1: MPI_Barrier waits for rank 0 to take part in a collective of MPI_COMM_",
        ),
        // Broadcast and barrier are two collectives: who calls which is told.
        ("different", "rank 1: MPI_Barrier waits for rank 0 to take part in a collective of MPI_"),
        ("any", any),
        ("waitall", "rank 0: MPI_Waitall waits for a message with tag 1 from rank 1 in halo"),
        ("probe", "rank 0: MPI_Probe waits for a message with tag 4 from rank 1 in halo"),
        ("finalize", "rank 1: MPI_Finalize was called, so nothing is sent any more"),
        ("file", "rank 0: MPI_Recv waits for a message with tag 8 from rank 1 in halo"),
    ];
    are_told("t0300deadlock", &program, &told);
}

/// Locks, partitions, requests that nobody ends, and messages beside accesses that have ended.
#[test]
fn a_deadlock_is_told_that_is_about_locks_or_partitions_or_what_a_rank_can_only_end_itself() {
    let mpi = Mpi::installed();
    let program = mpi.program("deadlock");
    let told = [
        ("locks", "rank 4: MPI_Win_lock waits for the lock of rank 0 in table; rank 4 has its"),
        ("unlocked", "rank 0 has its lock in table, for which rank 1 waits"),
        ("locks-near", "rank 1: MPI_Win_lock waits for the lock of rank 2 in table"),
        ("unlocked-near", "rank 1: MPI_Win_lock waits for the lock of rank 2 in table"),
        ("partitions", "rank 0: MPI_Wait waits for rank 1 to send partitions with tag 4 in halo"),
        ("unready", "rank 0: MPI_Wait waits for partition 1 to be ready, which no thread is left"),
        ("own", "rank 0: MPI_Wait waits for a request of the program's own, which no thread is"),
        ("beside", "rank 0: MPI_Waitall waits for a message with tag 9 from rank 1 in halo"),
    ];
    are_told("t0300locks", &program, &told);
}

/// Ranks that come to their end, and ranks that only take long: neither is a deadlock.
#[test]
fn who_only_waits_for_long_is_not_taken_for_a_deadlock() {
    let mpi = Mpi::installed();
    let program = mpi.program("deadlock");
    let cluster = Cluster::up("t0300slow", 3);
    for how in ["gone", "gone-probe"] {
        let done = cluster.muster(&["run", "-N", "3", "-n", "5", &program, how]).run();
        let says = "MPI_ERR_PROC_ABORTED: rank 0 is gone: so are all others of halo";
        let says = says.replace("rank 0", "rank 1");
        assert!(done.code == 58 && done.err.contains(&says), "{how}: {}", done.err);
    }
    let slow = ["slow", "thread-slow", "thread-slow-probe", "slow-post", "slow-lock", "slow-own"];
    for how in slow.into_iter().chain(["slow-lock-near", "uneven"]) {
        assert_eq!(ran(&cluster, "3", "5", &[&program, how]), "ok 5\n");
    }
    assert_eq!(ran(&cluster, "1", "3", &[&program, "slow-board"]), "ok 3\n");
}

#[test]
fn what_failed_is_told_in_its_status_and_handles_that_ended_and_forked_children_are_found_out() {
    is_right_everywhere("stale");
}

#[test]
fn windows_are_right() {
    is_right_everywhere("windows");
}

#[test]
fn what_accesses_find_that_read_and_change_was_there_when_no_other_changed_it() {
    is_right_everywhere("fetched");
}

#[test]
fn each_element_is_accumulated_as_one_in_each_ranks_order_whichever_node_ranks_are_on() {
    is_right_everywhere("atomic");
    let mpi = Mpi::installed();
    let program = mpi.program("atomic");
    let cluster = Cluster::up("t0300atomic", 2);
    for (nodes, ranks) in [("1", "2"), ("1", "4"), ("2", "4"), ("2", "5")] {
        assert_eq!(ran(&cluster, nodes, ranks, &[&program, "150"]), format!("ok {ranks}\n"));
    }
}

#[test]
fn nobody_waits_to_accumulate_for_a_rank_of_its_node_that_calls_nothing() {
    let mpi = Mpi::installed();
    let program = mpi.program("atomic");
    let cluster = Cluster::up("t0300still", 1);
    for ranks in ["2", "5"] {
        assert_eq!(ran(&cluster, "1", ranks, &[&program, "300", "still"]), format!("ok {ranks}\n"));
    }
}

#[test]
fn who_puts_much_and_then_computes_holds_up_no_other_rank_that_uses_the_window() {
    let mpi = Mpi::installed();
    let cluster = Cluster::up("t0300aside", 3);
    for nodes in ["1", "3"] {
        assert_eq!(ran(&cluster, nodes, "3", &[&mpi.program("aside")]), "ok 3\n");
    }
}

#[test]
fn who_flushes_what_was_put_locally_waits_for_no_target_that_computes() {
    let mpi = Mpi::installed();
    let cluster = Cluster::up("t0300locally", 2);
    for nodes in ["1", "2"] {
        assert_eq!(ran(&cluster, nodes, "2", &[&mpi.program("locally")]), "ok 2\n");
    }
}

#[test]
fn what_is_wrong_with_the_use_of_a_window_is_told_and_nothing_hangs() {
    is_right_everywhere("window_errors");
}

#[test]
fn ranks_of_a_node_share_the_memory_of_a_window_and_those_of_several_are_told_that_they_cannot() {
    is_right_everywhere("shared");
}

#[test]
fn files_are_right_on_one_node_and_on_several() {
    is_right_everywhere("files");
}

#[test]
fn ranks_open_one_file_or_none_and_all_are_told_what_is_wrong() {
    is_right_everywhere("opening");
}

#[test]
fn where_nodes_remember_files_each_rank_locks_what_it_writes_if_the_job_has_several() {
    let mpi = Mpi::installed();
    let program = mpi.program("remembered");
    let cluster = Cluster::up("t0300remembered", 2);
    let mount = cluster.work().join("m");
    std::fs::create_dir(&mount).unwrap();
    cluster.muster(&["mount", mount.to_str().unwrap()]).run().ok();
    // A session is there as long as somebody has it open.
    let mut session = std::fs::File::open(mount.join("nodes/n1/clone")).unwrap();
    let mut id = [0; 32];
    let length = std::io::Read::read(&mut session, &mut id).unwrap();
    let id = std::str::from_utf8(&id[..length]).unwrap().trim();
    let folder = mount.join(format!("nodes/n1/{id}/fs"));
    let folder = folder.to_str().unwrap();
    for (nodes, has_several) in [("1", "0"), ("2", "1")] {
        assert_eq!(ran(&cluster, nodes, "2", &[&program, folder, has_several]), "ok 2\n");
    }
}

#[test]
fn pipes_are_read_and_written_from_front_to_back() {
    is_right_everywhere("sequential");
}

#[test]
fn ranks_end_together_also_where_a_callback_refuses() {
    is_right_everywhere("refused");
}

#[test]
fn what_ranks_write_together_is_in_the_file_byte_by_byte_and_nothing_else_is_touched() {
    is_right_everywhere("woven");
}

#[test]
fn accesses_to_files_that_are_begun_are_right_by_each_kind_of_pointer() {
    is_right_everywhere("begun_files");
}

/// What Sweep3D must print for a deck: the line's first word, the second, how many of its digits,
/// and the third (`apps/sweep3d/checks.txt`).
fn checks(deck: &str) -> Vec<(String, f64, i32, String)> {
    let table = std::fs::read_to_string(root().join("apps/sweep3d/checks.txt")).unwrap();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    // What is not known has no digits.
    let of_deck = words.filter(|words| words.first() == Some(&deck) && words[3] != "-");
    of_deck
        .map(|words| {
            let digits = words[3].parse().unwrap();
            (words[1].to_owned(), words[2].parse().unwrap(), digits, words[4].to_owned())
        })
        .collect()
}

#[test]
fn sweep3d_is_right_to_ten_digits_however_it_is_cut() {
    let mpi = Mpi::installed();
    let program = &mpi.sweep3d();
    let cluster = Cluster::up("t0300sweep", 2);
    for (deck, nodes, ranks, cut) in [
        ("50", "1", "1", ["1", "1"]),
        ("50", "1", "2", ["2", "1"]),
        ("50", "2", "4", ["2", "2"]),
        ("50", "1", "6", ["2", "3"]),
        ("50", "2", "16", ["4", "4"]),
        ("reflective", "1", "4", ["2", "2"]),
        ("s4p0", "2", "2", ["1", "2"]),
        ("converge", "1", "3", ["3", "1"]),
        ("150", "1", "2", ["2", "1"]),
    ] {
        let at = root().join("apps/sweep3d/decks").join(deck);
        for mode in ["--mpi=direct", "--mpi=bcs"] {
            let command = [mode, program, at.to_str().unwrap(), cut[0], cut[1]];
            let printed = ran(&cluster, nodes, ranks, &command);
            is_as_in_the_table(&printed, deck, &format!("{deck}, {ranks} ranks, {mode}"));
        }
    }
}

/// Sweep3D has printed for a deck what it must.
fn is_as_in_the_table(printed: &str, deck: &str, run: &str) {
    for (name, value, digits, third) in checks(deck) {
        let mut lines = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|words| words.first() == Some(&&*name));
        let line = line.unwrap_or_else(|| panic!("no line '{name}' in {printed}"));
        let told: f64 = line[1].parse().unwrap();
        let most = value.abs() * 10_f64.powi(-digits);
        assert!((told - value).abs() <= most, "{run}, {name}: {told}, {value}");
        assert!(third == "-" || line[2] == third, "{run}, {name}: {line:?}");
    }
}
