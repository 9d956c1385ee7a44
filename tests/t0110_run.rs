//! What `muster run` promises: exit statuses, input, output, environment, files, signals.

mod cluster;

use cluster::{Cluster, MUSTER, signal, until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Runs a shell line on the ranks.
fn sh<'a>(flags: &[&'a str], line: &'a str) -> Vec<&'a str> {
    let mut args = vec!["run"];
    args.extend(flags);
    args.extend(["sh", "-c", line]);
    args
}

/// What a shell does to wait for a file.
fn awaits(path: &Path) -> String {
    format!("until [ -e {} ]; do sleep 0.05; done", path.display())
}

#[test]
fn the_exit_status_is_that_of_the_first_rank_that_failed() {
    let cluster = Cluster::up("t0110exit", 4);
    let run = |flags: &[&str], line: &str| cluster.muster(&sh(flags, line)).run();
    run(&["-n", "4"], "exit 0").ok();
    run(&["-n", "4"], "exit 3").code(3);
    // The others would run for long; the failure ends them.
    run(&["-n", "4"], "[ $MUSTER_RANK = 2 ] && exit 9; exec sleep 300")
        .code(9)
        .says("rank 2 on n2 exited 9");
    run(&["-n", "2"], "[ $MUSTER_RANK = 1 ] && kill -SEGV $$; exec sleep 300")
        .code(139)
        .says("rank 1 on n1 was killed by signal 11 (SEGV)");
    let said =
        run(&["-n", "3", "--keep-going"], "[ $MUSTER_RANK = 0 ] && exit 5; echo $MUSTER_RANK");
    assert_eq!(said.code(5).sorted(), ["1", "2"]);
    run(&["-n", "2", "--time", "1s"], "exec sleep 300").code(124);
    // It does not listen to TERM; the grace ends it.
    run(&["-n", "2", "--time", "1s", "--grace", "1s"], "trap '' TERM; while :; do sleep 1; done")
        .code(124);
    cluster.file("plain", 0o644, "text");
    cluster.file("broken", 0o755, "#!/no/such/interpreter\n");
    cluster.muster(&["run", "./plain"]).run().code(126);
    cluster.muster(&["run", "./missing"]).run().code(127).says("E101");
    cluster
        .muster(&["run", "nonexist"])
        .run()
        .code(127)
        .says("nonexist: not found on n0 (searched its PATH)")
        .says("  [E101, exit 127]");
    let said = "./broken: its interpreter /no/such/interpreter is not on n";
    cluster.muster(&["run", "-n", "2", "./broken"]).run().code(127).says(said).says("E103");
    // Also where it was found by its name alone.
    let path = format!("PATH={}", cluster.work().display());
    let named = format!("{}/broken: its interpreter /no/such/int", cluster.work().display());
    cluster.muster(&["run", "--env", &path, "broken"]).run().code(127).says(&named).says("E103");
    cluster.muster(&["run", "--env", &path, "plain"]).run().code(126).says("/plain: cannot be run");
    // What is kept of a job says the same.
    cluster.muster(&["run", "--detach", "./broken"]).run().code(127).says(said);
    let kept = cluster.muster(&["ps", "--all"]).run().ok().out;
    assert!(kept.contains(said) && !kept.contains("./broken: not found"), "{kept}");
    cluster.muster(&["run", "--no-send", "/etc/passwd"]).run().code(126);
    run(&["--chdir", "/no/such/dir"], "true").code(125).says("E107");
    cluster.down();
}

#[test]
fn a_line_that_is_written_for_srun_runs_as_it_is() {
    let cluster = Cluster::up("t0110srun", 4);
    let line = "-N 2 -n 4 -c 2 -x n[0,2] --exclusive --mem=1G -K --export=ALL,MINE=1 --mpi=pmix";
    let line: Vec<&str> = line.split(' ').collect();
    let told = cluster.muster(&sh(&line, "echo $MUSTER_NODE $MINE")).run().ok();
    assert_eq!(told.sorted(), ["n1 1", "n1 1", "n3 1", "n3 1"]);
    let left_out = "muster: left out, because it means nothing here: --exclusive, --mem  [N112]\n";
    assert_eq!(told.err, left_out);
    let told =
        cluster.muster(&sh(&["-n", "2", "-K0", "--export=NONE", "-Q", "-O"], "exit 5")).run();
    assert_eq!(told.code(5).err, "");
    let goes_on = "[ $MUSTER_RANK = 0 ] && exit 5; echo ${MINE-none} ${OTHER-none}";
    let told = cluster.muster(&sh(&["-n", "3", "--kill-on-bad-exit=0", "--export=MINE"], goes_on));
    let told = told.env("MINE", "1").env("OTHER", "2").run();
    assert_eq!(told.code(5).sorted(), ["1 none", "1 none"]);
    cluster.down();
}

#[test]
fn what_cannot_be_is_refused_at_once() {
    let cluster = Cluster::up("t0110refused", 4);
    for (args, code, said) in [
        (&["run", "-N", "8", "true"][..], 125, "8 nodes asked, 4 exist (n[0-3], all up)"),
        (&["run", "-N", "8", "true"], 125, "E110"),
        (&["run", "-N", "3", "-n", "2", "true"], 2, "E111"),
        (&["run", "-w", "n9", "true"], 125, "E113"),
        (&["run", "-x", "n9", "true"], 125, "there is no node n9; there are n[0-3]  [E113"),
        (&["run", "-x", "n1", "-w", "n[0-1]", "true"], 125, "n1 is both asked for and excluded"),
        (&["run", "-x", "n0", "-N", "4", "true"], 125, "without n0: 4 nodes asked, 3 exist"),
        (&["run", "-x", "n[0-3]", "true"], 125, "without n[0-3]: no node is left"),
        (&["run", "--gres=gpu:1", "true"], 2, "--gres: devices are not handed out"),
        (&["run", "-n", "0", "true"], 2, "-n"),
        (&["run", "-w", "n[1-", "true"], 2, "n[1-"),
        (&["run", "--time", "soon", "true"], 2, "soon"),
        (&["run"], 2, "PROGRAM"),
        (&["run", "--no-such-flag", "true"], 2, "--no-such-flag"),
        (&["nonsense"], 2, "nonsense"),
        (&["run", "--output", "/no/such/dir/x", "true"], 2, "/no/such/dir"),
        (&["run", "--input", "/no/such/file", "true"], 2, "/no/such/file"),
        (&["run", "--bcast", "/no/such/file", "true"], 2, "/no/such/file"),
        (&["scheduler", "gang", "--slice", "1ns"], 2, "slice=1ns is no time: write 2ms, 500us"),
        (&["kill", "77"], 1, "E162"),
        (&["logs", "77"], 1, "E162"),
        (&["ps", "77"], 1, "E162"),
    ] {
        let out = cluster.muster(args).run().code(code).says(said);
        assert!(out.out.is_empty(), "{args:?}: {out:?}");
    }
    assert_eq!(cluster.json(&["ps", "--json"])["jobs"].as_array().unwrap().len(), 0);
    let refused = cluster.json(&["ps", "--all", "--json"])["jobs"].clone();
    let names = refused.as_array().unwrap().iter().map(|job| job["name"].as_str());
    assert_eq!(names.collect::<Vec<_>>(), [Some("true"); 7], "{refused}");
    // What fails before there is a job is told in JSON as well, where that was asked for.
    let told = cluster.muster(&["run", "--json", "./nosuch"]).run().code(127).json();
    assert_eq!(told["exit"], 127, "{told}");
    assert!(told["error"]["text"].as_str().is_some_and(|text| text.contains("nosuch")), "{told}");
    cluster.down();
}

/// Nothing was printed at all, as if the job had said nothing.
#[test]
fn who_asks_for_what_a_job_printed_hears_that_it_is_all_on_standard_error() {
    let cluster = Cluster::up("t0110errors", 1);
    cluster.muster(&["run", "--detach", "sh", "-c", "echo oops >&2"]).run().ok();
    cluster.muster(&["run", "--detach", "sh", "-c", "echo good; echo oops >&2"]).run().ok();
    let line = "if [ $MUSTER_RANK = 0 ]; then echo oops >&2; else echo good; fi";
    cluster.muster(&["run", "--detach", "-n", "2", "sh", "-c", line]).run().ok();
    cluster.muster(&["wait", "1", "2", "3"]).run().ok();
    let of_rank = "of what rank 0 of job 3 has printed on standard output nothing is here, and 5 \
                   bytes on standard error: muster logs --stderr --rank 0 3  [N114]";
    let hint = "5 bytes on standard error: muster logs --stderr 1  [N114]";
    for (words, hint) in [
        (&["logs", "1"][..], hint),
        (&["logs", "-f", "1"], hint),
        (&["logs", "3", "--rank", "0"], of_rank),
    ] {
        let said = cluster.muster(words).run().ok();
        assert!(said.out.is_empty() && said.err.contains(hint), "{} {}", said.out, said.err);
    }
    // A disk that is full is told of by every command.
    let line = "exec \"$0\" ps --all > /dev/full";
    let said = cluster.muster(&["run", "-q", "sh", "-c", line, MUSTER]).run().code(1);
    said.says("standard output cannot be written: No space left on device  [E140]");
    // A directory of the name is no program.
    fs::create_dir_all(cluster.work().join("bin/nosuch")).unwrap();
    let path = format!("PATH={}/bin:/usr/bin:/bin", cluster.work().display());
    let said = cluster.muster(&["run", "--env", &path, "nosuch"]).run().code(127);
    said.says("nosuch");
    for (words, out) in [(&["logs", "2"][..], "good\n"), (&["logs", "--stderr", "1"], "oops\n")] {
        let said = cluster.muster(words).run().ok();
        assert_eq!((&*said.out, &*said.err), (out, ""));
    }
    cluster.down();
}

/// Each command that looks at the cluster reads it, and 256 jobs are remembered.
#[test]
fn the_status_of_a_cluster_tells_of_jobs_that_are_done_without_their_ranks() {
    let cluster = Cluster::up("t0110", 2);
    cluster.muster(&["run", "-n", "6", "true"]).run().ok();
    let job = cluster.json(&["cat", "status"])["jobs"][0].clone();
    assert_eq!((&job["state"], &job["size"], job.get("ranks")), (&"done".into(), &6.into(), None));
    assert_eq!(job["nodes"].as_array().map(Vec::len), Some(2));
    assert_eq!(cluster.job(1)["ranks"].as_array().map(Vec::len), Some(6));
    cluster.muster(&["run", "-n", "2", "sh", "-c", "exit $MUSTER_RANK"]).run().code(1);
    // Raw wait(2) statuses, as this manager and the next one have them.
    let waits = || {
        let wait = |rank: &str| cluster.muster(&["cat", rank]).run().ok().out;
        ["jobs/1/ranks/5/wait", "jobs/2/ranks/1/wait"].map(wait)
    };
    assert_eq!(waits(), ["0", "256"]);
    let ranks = cluster.json(&["ps", "--all", "--ranks", "--json"])["jobs"][0]["ranks"].clone();
    assert_eq!(ranks.as_array().map(Vec::len), Some(6));
    cluster.kill("manager");
    cluster.await_nodes(2);
    assert_eq!(waits(), ["0", "256"]);
    cluster.down();
}

#[test]
fn input_reaches_who_is_named() {
    let cluster = Cluster::up("t0110input", 3);
    let text = "one\ntwo\n";
    let read = |flags: &[&str]| {
        let line = "sed \"s/^/$MUSTER_RANK /\"";
        cluster.muster(&sh(flags, line)).input(text).run().ok()
    };
    assert_eq!(read(&["-n", "3"]).sorted(), ["0 one", "0 two"]);
    assert_eq!(read(&["-n", "3", "-i", "2"]).sorted(), ["2 one", "2 two"]);
    assert_eq!(read(&["-n", "3", "-i", "none"]).out, "");
    let all = read(&["-n", "3", "-i", "all"]);
    assert_eq!(all.sorted(), ["0 one", "0 two", "1 one", "1 two", "2 one", "2 two"]);
    cluster.file("in", 0o644, "file\n");
    assert_eq!(read(&["-n", "2", "-i", "in"]).sorted(), ["0 file", "1 file"]);
    // More than all buffers on the way hold together.
    let big: Vec<u8> = (0..600_000_u32).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    let said =
        cluster.muster(&["run", "-n", "3", "-i", "all", "md5sum"]).input(big.clone()).run().ok();
    let sums = said.sorted();
    assert_eq!(sums.len(), 3);
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    let said = cluster.muster(&["run", "cat"]).input(big.clone()).run().ok();
    assert!(said.bytes == big, "{} bytes of {}", said.bytes.len(), big.len());
    // Who does not read it does not matter.
    cluster.muster(&["run", "true"]).input(big).run().ok();
    let mut waits = cluster.muster(&["run", "head", "-n", "1"]).open_input().start();
    waits.stdin.as_mut().unwrap().write_all(b"now\n").unwrap();
    waits.await_out("now");
    until("it ends though its input does not", || waits.ended());
    waits.wait().ok();
    cluster.down();
}

#[test]
fn a_hundred_megabytes_arrive_whole_through_a_slow_reader() {
    const RANKS: usize = 4;
    const LINES: usize = 500_000;
    let cluster = Cluster::up("t0110big", 4);
    let line = "seq -f \"$MUSTER_RANK %08.0f 0123456789012345678901234567890123456789\" 500000";
    let flags = ["-n", "4"];
    let mut call = cluster.muster(&sh(&flags, line));
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child = call.command.stdin(std::process::Stdio::null()).stdout(writer).spawn().unwrap();
    drop(call);
    let mut next = [1; RANKS];
    let mut rest = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    while let Ok(count @ 1..) = std::io::Read::read(&mut reader, &mut buffer) {
        bytes += count;
        rest.extend_from_slice(&buffer[..count]);
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let text = std::str::from_utf8(&rest[..whole]).unwrap();
        for line in text.lines() {
            let mut words = line.split(' ');
            let rank: usize = words.next().unwrap().parse().unwrap_or(99);
            let number: usize = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
            assert!(rank < RANKS && number == next[rank] && line.len() == 51, "{line:?} {next:?}");
            next[rank] += 1;
        }
        rest.drain(..whole);
        if bytes % 7 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(next, [LINES + 1; RANKS]);
    assert_eq!(bytes, RANKS * LINES * 52);
    cluster.down();
}

#[test]
fn output_is_labelled_folded_or_written_to_files() {
    let cluster = Cluster::up("t0110output", 4);
    let run = |flags: &[&str], line: &str| cluster.muster(&sh(flags, line)).run().ok();
    let said = run(&["-n", "2", "-l"], "echo a; echo b >&2; printf c");
    assert_eq!(said.sorted(), ["0: a", "0: c", "1: a", "1: c"]);
    let mut errors: Vec<&str> = said.err.lines().collect();
    errors.sort_unstable();
    assert_eq!(errors, ["0: b", "1: b"]);
    let folded = run(&["-n", "4", "-b"], "[ $MUSTER_RANK = 2 ] && echo odd || echo same");
    assert_eq!(folded.out.matches("same").count(), 1, "{}", folded.out);
    assert_eq!(folded.out.matches("odd").count(), 1);
    assert!(folded.out.contains("0-1,3"), "{}", folded.out);
    run(&["-n", "2", "-o", "out.%n.%N", "-e", "err"], "echo $MUSTER_RANK; echo e$MUSTER_RANK >&2");
    let read = |name: &str| fs::read_to_string(cluster.work().join(name)).unwrap();
    assert_eq!((read("out.0.n0"), read("out.1.n1")), ("0\n".into(), "1\n".into()));
    let errors = read("err");
    assert!(errors == "e0\ne1\n" || errors == "e1\ne0\n", "{errors:?}");
    let value = run(&["-n", "2", "--json"], "echo $MUSTER_RANK").json();
    assert_eq!((&value["exit"], &value["ranks"][1]["stdout"]), (&0.into(), &"1\n".into()));
    assert_eq!(value["transport"], "unix");
    // Bytes that are no text pass as they are.
    let said = run(&["--raw"], "printf '\\000\\377\\n\\200'");
    assert_eq!(said.bytes, b"\0\xff\n\x80");
    cluster.down();
}

/// As a script has them that begins with `exec > >(tee log)`.
#[test]
fn what_a_programs_own_filter_still_has_to_say_is_not_lost() {
    let cluster = Cluster::up("t0110filter", 1);
    // Its second line never comes: what it reads ends when the program does.
    let line = "mkfifo p; (exec 3<p; read -r line <&3; read -r none <&3; sleep 0.05; \
                echo \"$line\") & exec >p; echo the last words";
    let run = |flags: &[&str]| cluster.muster(&sh(flags, line)).run().ok();
    assert_eq!(run(&[]).out, "the last words\n");
    run(&["-o", "out"]);
    assert_eq!(fs::read_to_string(cluster.work().join("out")).unwrap(), "the last words\n");
    cluster.down();
}

#[test]
fn ranks_find_their_environment_directory_and_files() {
    let cluster = Cluster::up("t0110env", 2);
    let run = |flags: &[&str], line: &str| cluster.muster(&sh(flags, line)).run().ok();
    let line = "echo $MUSTER_RANK $MUSTER_SIZE $MUSTER_NODE $MUSTER_LOCAL_RANK $MUSTER_JOB";
    let said = run(&["-n", "4", "-N", "2"], line);
    assert_eq!(said.sorted(), ["0 4 n0 0 1", "1 4 n0 1 1", "2 4 n1 0 1", "3 4 n1 1 1"]);
    assert_eq!(run(&["--env", "A=x y"], "echo \"$A\"").out, "x y\n");
    let call = cluster.muster(&sh(&[], "echo $PASSED")).env("PASSED", "it's").run().ok();
    assert_eq!(call.out, "it's\n");
    assert_eq!(run(&["--chdir", "/usr"], "pwd").out, "/usr\n");
    let odd = cluster.work().join("it's a\nplace");
    fs::create_dir(&odd).unwrap();
    let odd = odd.to_str().unwrap();
    assert_eq!(run(&["--chdir", odd], "pwd").out, format!("{odd}\n"));
    // What the administrator has all do may lack the end of its last line.
    cluster.muster(&["write", "/nodes/n0/ns"]).input("# nothing").run().ok();
    assert_eq!(run(&["--chdir", "/usr", "-w", "n0"], "pwd").out, "/usr\n");
    cluster.muster(&["write", "/nodes/n0/ns"]).input("").run().ok();
    cluster.file(
        "prog",
        0o755,
        "#!/bin/sh\ncat data.txt; ls -l tree/exe tree/sub/f | cut -c1-10\n",
    );
    cluster.file("data.txt", 0o600, "data\n");
    cluster.file("tree/exe", 0o750, "x");
    cluster.file("tree/sub/f", 0o440, "y");
    let args = ["run", "-n", "2", "--bcast", "data.txt", "--bcast", "tree", "./prog"];
    let said = cluster.muster(&args).run().ok();
    let two = ["-r--r-----", "-rwxr-x---", "data"].map(|line| [line, line]).concat();
    assert_eq!(said.sorted(), two);
    let big: Vec<u8> = (0..9_000_000_u32).map(|n| ((n * 7) >> 3) as u8).collect();
    let path = cluster.file("big", 0o644, &big);
    let said = cluster.muster(&sh(&["-n", "2", "--bcast", "big"], "md5sum < big")).run().ok();
    let here = std::process::Command::new("md5sum").stdin(fs::File::open(path).unwrap()).output();
    let here = String::from_utf8(here.unwrap().stdout).unwrap();
    assert_eq!(said.sorted(), [here.trim_end(), here.trim_end()]);
    // What a job leaves in its directory goes with it.
    run(&[], "mkdir -p a/b; echo x > a/b/c; chmod 000 a/b");
    until("its directory is removed", || cluster.sessions(0) == 0);
    // The next one's is as if there had been none, whether it is new or was another's.
    for mess in ["touch left .hidden", "chmod 755 .", "touch x; rm x", ":"] {
        let said = run(&[], &format!("pwd; ls -A; stat -c %a .; {mess}"));
        let [pwd, mode] = said.out.lines().collect::<Vec<_>>()[..] else { panic!("{}", said.out) };
        assert!(pwd.contains("/n0/xcpu-") && mode == "700", "{}", said.out);
        until("it is forgotten", || cluster.sessions(0) == 0);
    }
    let mode = fs::metadata(cluster.directory()).unwrap().permissions().mode();
    assert_eq!(mode & 0o77, 0);
    cluster.down();
}

/// Root needs no rights to remove what is there; everybody else has to give himself some.
#[test]
fn what_an_ordinary_users_job_has_made_unwritable_goes_with_it() {
    let Some(cluster) = Cluster::of_nobody("t0110rights") else { return };
    cluster.muster(&["up", "-N", "1"]).run().ok();
    let mess = "mkdir -p a/b; echo x > a/b/c; chmod 500 a/b";
    // Of a short job its directory would be used again, that of a longer one is removed.
    for line in [mess, &format!("{mess}; chmod 000 a; chmod 500 ."), &format!("{mess}; sleep 1.1")]
    {
        cluster.muster(&sh(&[], line)).run().ok();
        until("its directory is removed", || cluster.sessions(0) == 0);
    }
    cluster.down();
}

#[test]
fn new_files_get_the_modes_that_the_callers_would() {
    let cluster = Cluster::up("t0110umask", 2);
    for (umask, mode) in [("077", "600"), ("002", "664"), ("022", "644")] {
        let call = cluster.muster(&sh(&["-n", "2"], "umask; touch x; stat -c %a x"));
        let said = call.after(&format!("umask {umask}")).run().ok();
        let umask = format!("0{umask}");
        assert_eq!(said.sorted(), [&umask[..], &umask, mode, mode], "{said:?}");
    }
    cluster.down();
}

#[test]
fn a_pipe_that_somebody_made_non_blocking_gets_all_of_the_json_object() {
    let cluster = Cluster::up("t0110pipe", 1);
    let (mut read, write) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&write, true).unwrap();
    let line = "head -c 300000 /dev/zero | tr '\\0' x";
    let mut call = cluster.muster(&["run", "--json", "-i", "none", "sh", "-c", line]);
    let mut muster = call.command.stdout(write).spawn().unwrap();
    // It has a copy of the end that is written to.
    drop(call);
    let mut said = Vec::new();
    read.read_to_end(&mut said).unwrap();
    assert!(muster.wait().unwrap().success());
    let object: Value = serde_json::from_slice(&said).expect("a whole object");
    assert_eq!(object["ranks"][0]["stdout"].as_str().unwrap().len(), 300_000);
    cluster.down();
}

#[test]
fn what_was_stopped_at_a_terminal_goes_on_in_the_background() {
    let cluster = Cluster::up("t0110background", 1);
    let work = cluster.work();
    let rank = cluster.file(
        "rank",
        0o755,
        format!(
            "#!/bin/sh\ncd {}\nread word; echo got $word\n\
             until [ -e go ]; do sleep 0.05; done\necho goes on\n",
            work.display()
        ),
    );
    // As at a prompt: Ctrl-Z, then bg. If it stops again, the shell's wait tells a signal.
    let run = format!("exec {MUSTER} run {}", rank.display());
    let line = format!(
        "set -m; stty -echo; \
         (until grep -q got out; do sleep 0.05; done; kill -TSTP $(cat pid)) & \
         sh -c 'echo $$ > pid; {run} > out'; bg %2; touch go; wait %2; echo $? > code"
    );
    let mut call = cluster.muster(&[]).open_input();
    let mut command = Command::new("script");
    let env = call.command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(env);
    command.args(["-q", "-c", "exec bash -c \"$LINE\"", "/dev/null"]);
    command.env("LINE", &line).env("SHELL", "/bin/bash").current_dir(&work);
    call.command = command;
    let mut shell = call.start();
    shell.stdin.as_mut().unwrap().write_all(b"word\n").unwrap();
    until("the shell is done", || work.join("code").exists());
    shell.wait();
    assert_eq!(fs::read_to_string(work.join("code")).unwrap(), "0\n");
    assert_eq!(fs::read_to_string(work.join("out")).unwrap(), "got word\ngoes on\n");
    cluster.down();
}

#[test]
fn a_job_that_runs_another_runs_it_in_its_own_cluster() {
    let cluster = Cluster::up("t0110within", 3);
    let line = format!("exec {MUSTER} run -N 3 printenv MUSTER_NODE");
    let said = cluster.muster(&sh(&[], &line)).run().ok();
    assert_eq!(said.sorted(), ["n0", "n1", "n2"]);
    cluster.muster(&["view", "create", "half", "--nodes", "n[1-2]"]).run().ok();
    let line = format!("exec {MUSTER} run -n 4 printenv MUSTER_NODE");
    let said = cluster.muster(&[&["--view", "half"], &sh(&[], &line)[..]].concat()).run().ok();
    assert_eq!(said.sorted(), ["n1", "n1", "n2", "n2"]);
    // Where it cannot be reached there is none, and no other is made in its place.
    let line = format!("MUSTER_RUNTIME=$PWD MUSTER_CLUSTER=default exec {MUSTER} run -n 4 true");
    let said = cluster.muster(&sh(&[], &line)).run().code(125);
    assert!(said.err.contains("no cluster is up"), "{said:?}");
    cluster.down();
}

#[test]
fn signals_go_on_to_the_ranks() {
    let cluster = Cluster::up("t0110signal", 2);
    let line = "for s in INT TERM HUP USR1 USR2; do trap \"echo got $s\" $s; done; echo ready; \
                while :; do sleep 0.05; done";
    let flags = ["-n", "2", "--grace", "10m"];
    let job = cluster.muster(&sh(&flags, line)).start();
    until("both are ready", || job.out().matches("ready").count() == 2);
    for (signal, name) in
        [(Signal::USR1, "USR1"), (Signal::HUP, "HUP"), (Signal::TERM, "TERM"), (Signal::INT, "INT")]
    {
        job.signal(signal);
        until(name, || job.out().matches(&format!("got {name}")).count() == 2);
    }
    // The second Ctrl-C, as it is typed.
    std::thread::sleep(Duration::from_millis(100));
    job.signal(Signal::INT);
    job.wait().code(137);
    cluster.no_job_processes();
    // One Ctrl-C is enough for who listens, and its status is what it says.
    let line = "trap 'exit 3' INT; echo ready; while :; do sleep 0.05; done";
    let job = cluster.muster(&sh(&["-n", "2"], line)).start();
    until("both are ready", || job.out().matches("ready").count() == 2);
    job.signal(Signal::INT);
    job.wait().code(3);
    // INT, TERM, KILL, when nobody listens.
    let line = "trap '' INT; trap 'echo term' TERM; echo ready; while :; do sleep 0.05; done";
    let job = cluster.muster(&sh(&["-n", "2", "--grace", "2s"], line)).start();
    until("both are ready", || job.out().matches("ready").count() == 2);
    job.signal(Signal::INT);
    let ended = job.wait().code(137);
    assert_eq!(ended.out.matches("term").count(), 2, "{ended:?}");
    // TERM and HUP do not wait for ever for who does not listen either.
    let line = "trap '' TERM HUP; echo ready; while :; do sleep 0.05; done";
    for signal in [Signal::TERM, Signal::HUP] {
        let job = cluster.muster(&sh(&["-n", "2", "--grace", "300ms"], line)).start();
        until("both are ready", || job.out().matches("ready").count() == 2);
        job.signal(signal);
        job.wait().code(137);
    }
    // Who does not wait for that is told all the same.
    let line = "trap '' INT TERM; echo ready; while :; do sleep 0.05; done";
    let job = cluster.muster(&sh(&["--json", "-w", "n0", "--grace", "1h"], line)).start();
    until("it runs", || cluster.muster(&["ps"]).run().out.contains("running"));
    // Several that come at once are one. And no node does what the second one says.
    let nodes = [cluster.pid("n0"), cluster.pid("n1")];
    nodes.iter().flatten().for_each(|pid| signal(*pid, Signal::STOP));
    until("it has ended", || {
        job.signal(Signal::INT);
        !job.out().is_empty()
    });
    nodes.iter().flatten().for_each(|pid| signal(*pid, Signal::CONT));
    let object = job.wait().json();
    assert_eq!(object["error"]["id"], "E305", "{object}");
    cluster.no_job_processes();
    cluster.down();
}

/// A pipe with a name opens when somebody opens its other end. Until then nothing has begun.
#[test]
fn a_run_whose_input_is_not_there_yet_ends_by_a_signal() {
    let cluster = Cluster::up("t0110fifo", 1);
    let fifo = cluster.work().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let job = cluster.muster(&["run", "--input", "fifo", "cat"]).start();
    // It comes to that.
    std::thread::sleep(Duration::from_secs(1));
    job.signal(Signal::INT);
    job.wait().code(130);
    cluster.down();
}

#[test]
fn who_follows_ranks_that_say_nothing_ends_when_nobody_reads_what_others_say() {
    let cluster = Cluster::up("t0110pipe", 2);
    let fifo = cluster.work().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let line = "[ $MUSTER_RANK = 0 ] && exec sleep 600; while echo x; do sleep 0.05; done";
    let id = cluster.muster(&sh(&["--detach", "-n", "2"], line)).run().ok().out.trim().to_owned();
    let follows = cluster.muster(&["logs", "-f", "-l", &id]).after("exec > fifo").start();
    let mut first = String::new();
    let mut reader = BufReader::new(File::open(&fifo).unwrap());
    reader.read_line(&mut first).unwrap();
    drop(reader);
    assert_eq!(first, "1: x\n");
    follows.wait().code(141);
    cluster.muster(&["kill", &id]).run().ok();
    cluster.down();
}

/// They waited for the next byte, which may never come.
#[test]
fn who_waits_for_more_output_ends_when_nobody_reads_it_any_more() {
    let cluster = Cluster::up("t0110gone", 1);
    let fifo = cluster.work().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let line = "echo x; exec sleep 600";
    let id = cluster.muster(&sh(&["--detach"], line)).run().ok().out.trim().to_owned();
    let path = format!("/jobs/{id}/stdout");
    for args in [&["logs", "-f", &id][..], &["logs", "-f", "-l", &id], &["cat", &path]] {
        let waits = cluster.muster(args).after("exec > fifo").start();
        let mut first = String::new();
        BufReader::new(File::open(&fifo).unwrap()).read_line(&mut first).unwrap();
        assert!(first.ends_with("x\n"), "{first:?}");
        waits.wait().code(141);
    }
    cluster.muster(&["kill", &id]).run().ok();
    cluster.down();
}

#[test]
fn a_detached_job_goes_on_and_is_listed_read_and_killed() {
    let cluster = Cluster::up("t0110detach", 2);
    let line = "echo begun; sleep 0.2; echo ended; exec sleep 600";
    let said = cluster.muster(&sh(&["--detach", "-n", "2", "-J", "long"], line)).run().ok();
    let id = said.out.trim().to_owned();
    let logs = || cluster.muster(&["logs", &id]).run().ok();
    until("its output", || logs().out.matches("ended").count() == 2);
    let listed = cluster.muster(&["ps"]).run().ok();
    assert!(listed.out.contains("long") && listed.out.contains("running"), "{}", listed.out);
    let ranks = cluster.muster(&["ps", "-r", &id]).run().ok();
    assert_eq!(ranks.out.lines().count(), 3, "{}", ranks.out);
    let follows = cluster.muster(&["logs", "-f", "-l", &id]).start();
    follows.await_out("1: ended");
    cluster.muster(&["kill", "-s", "CONT", &id]).run().ok();
    cluster.muster(&["kill", &id]).run().ok();
    follows.wait().ok();
    let job = || cluster.job(id.parse().unwrap());
    until("the job is done", || job()["state"] == "done");
    assert_eq!(job()["end"], "killed", "{}", job());
    cluster.no_job_processes();
    assert_eq!(logs().out.matches("begun").count(), 2, "it can still be read");
    cluster.down();
}

/// What was read of a job's output filled the disk, and a reader that stood had it filled as well.
#[test]
fn of_output_that_is_taken_little_is_kept_and_a_reader_that_stands_has_the_writer_wait() {
    let cluster = Cluster::up("t0110taken", 1);
    let line = "exec yes 0123456789abcdef | head -c 200000000";
    cluster.muster(&sh(&[], line)).after("exec > /dev/null").run().ok();
    let log = |job: u32| fs::metadata(cluster.directory().join(format!("jobs/{job}.log"))).unwrap();
    assert!(log(1).len() > 200_000_000, "its offsets stay");
    assert!(log(1).blocks() * 512 < 120_000_000, "{} bytes are held", log(1).blocks() * 512);
    let end = cluster.muster(&["logs", "1"]).run().ok().says("[N113]").out;
    assert!((60_000_000..110_000_000).contains(&end.len()), "{}", end.len());
    // The last line is what `head` has left of it.
    let whole = end.lines().rev().skip(1).all(|line| line == "0123456789abcdef");
    assert!(whole, "the first line is a whole one: {:?}", &end[..40]);

    let is_written = |job: u32| {
        let path = cluster.directory().join(format!("jobs/{job}.log"));
        path.metadata().is_ok_and(|about| about.len() > 0)
    };
    let job = cluster.muster(&["run", "yes"]).after("exec > /dev/null").start();
    until("it writes", || is_written(2));
    cluster::stop(job.pid());
    let mut last = 0;
    until("it waits", || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        std::mem::replace(&mut last, log(2).len()) == log(2).len()
    });
    job.signal(Signal::CONT);
    until("it goes on", || log(2).len() > last + (64 << 20));
    cluster::stop(job.pid());
    cluster.muster(&["kill", "2"]).run().ok();
    until("the job is done, though nobody reads", || cluster.job(2)["state"] == "done");
    job.signal(Signal::CONT);
    job.wait().code(143);

    // A program that has ended is not waited for longer than this; its output came to its end.
    let drained = std::time::Duration::from_secs(12);
    let go = cluster.work().join("go");
    let line = format!("echo; {}; exec yes | head -c 17000000", awaits(&go));
    let job = cluster.muster(&sh(&[], &line)).start();
    until("it writes", || is_written(3));
    cluster::stop(job.pid());
    fs::write(go, "").unwrap();
    std::thread::sleep(drained);
    job.signal(Signal::CONT);
    assert_eq!(job.wait().ok().out.len(), 17_000_001);
    cluster.down();
}

#[test]
fn a_rank_ends_also_while_somebody_elsewhere_has_its_output_open() {
    let cluster = Cluster::up("t0110held", 1);
    let go = cluster.work().join("go");
    let line = format!("echo hi; {}; echo last", awaits(&go));
    let running = cluster.muster(&sh(&[], &line)).start();
    running.await_out("hi\n");
    let mut pid = None;
    until("its process is known", || {
        pid = cluster.job(1)["ranks"][0]["pid"].as_u64();
        pid.is_some()
    });
    let pid = pid.expect("it is known");
    let held = fs::File::options().write(true).open(format!("/proc/{pid}/fd/1")).expect("a pipe");
    fs::write(go, "").unwrap();
    assert_eq!(running.wait().ok().out, "hi\nlast\n");
    drop(held);
    cluster.down();
}
