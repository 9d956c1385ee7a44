//! `muster top` in a real terminal: it shows what runs, obeys keys, keeps up with the terminal's
//! size, and leaves the terminal as it was whichever way it ends.

mod cluster;

use cluster::{Cluster, DEADLINE, Running, until};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcsetwinsize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

/// What a terminal is told to show its usual screen again.
const USUAL_SCREEN: &str = "\x1b[?1049l";

/// Script(1)'s terminal, and in it `muster top` between two looks at how the terminal is set.
struct Screen<'a> {
    cluster: &'a Cluster,
    script: Running,
}

impl Screen<'_> {
    fn open(cluster: &Cluster) -> Screen<'_> {
        let muster = cluster::MUSTER;
        // Who runs the tests may have signals ignored (nohup(1), jobs in the background).
        // And the one whose terminal it is lives on when that is closed.
        let line = format!(
            "trap : HUP; stty cols 100 rows 30; tty > tty; stty -g > before; \
             sh -c 'echo $$ > pid; exec env --default-signal {muster} top -i 100ms'; \
             echo $? > code; stty -g > after"
        );
        let mut call = cluster.muster(&[]).open_input();
        let (home, envs) = (cluster.work(), call.command.get_envs());
        let mut command = Command::new("script");
        for (name, value) in envs {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.args(["-q", "-f", "-c", &line, "/dev/null"]).current_dir(home);
        command.env("TERM", "xterm-256color");
        call.command = command;
        Screen { cluster, script: call.start() }
    }

    fn press(&mut self, keys: &str) {
        let stdin = self.script.stdin.as_mut().expect("script reads keys");
        stdin.write_all(keys.as_bytes()).and_then(|()| stdin.flush()).expect("a key");
    }

    fn told(&self, file: &str) -> String {
        fs::read_to_string(self.cluster.work().join(file)).unwrap_or_default().trim().to_owned()
    }

    /// Waits until this is on the screen.
    fn awaits(&self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !shown(&self.script.out()).contains(text) {
            let now = shown(&self.script.out());
            assert!(Instant::now() < deadline, "{text:?} is not shown, but:\n{now}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// It has ended with this status, and the terminal is as before.
    fn closed(self, code: &str) {
        until("it has ended", || !self.told("after").is_empty());
        assert_eq!(self.told("code"), code);
        assert_eq!(self.told("before"), self.told("after"), "the terminal's settings");
        for file in ["tty", "pid", "code", "before", "after"] {
            fs::remove_file(self.cluster.work().join(file)).expect("it was written");
        }
        let out = self.script.wait().out;
        assert_eq!(out.matches(USUAL_SCREEN).count(), 1, "{out:?}");
    }
}

/// What a terminal shows that has been sent this: text, placed by `CSI row;column H`, on a screen
/// that `CSI 2J` clears. Other orders are colours and the like.
fn shown(sent: &str) -> String {
    let mut cells: BTreeMap<(usize, usize), char> = BTreeMap::new();
    let (mut row, mut column) = (1, 1);
    let mut rest = sent.chars();
    while let Some(letter) = rest.next() {
        if letter != '\x1b' {
            cells.insert((row, column), letter);
            column += 1;
        } else if rest.next() == Some('[') {
            let mut numbers = String::new();
            let order = rest.find(|letter| match letter {
                '@'..='~' => true,
                digit => {
                    numbers.push(*digit);
                    false
                }
            });
            let mut numbers = numbers.split(';').map(|number| number.parse().unwrap_or(1));
            match order {
                Some('H') => {
                    row = numbers.next().unwrap_or(1);
                    column = numbers.next().unwrap_or(1);
                }
                Some('J') => cells.clear(),
                _ => {}
            }
        }
    }
    let last = cells.keys().next_back().map_or(0, |(row, _)| *row);
    let line = |row: usize| -> String {
        let line: Vec<(usize, char)> = cells
            .range((row, 0)..(row + 1, 0))
            .map(|((_, column), letter)| (*column, *letter))
            .collect();
        let width = line.last().map_or(0, |(column, _)| *column);
        let mut letters = vec![' '; width + 1];
        line.iter().for_each(|(column, letter)| letters[*column] = *letter);
        letters.into_iter().skip(1).collect::<String>() + "\n"
    };
    (1..=last).map(line).collect()
}

#[test]
fn top_shows_what_runs_and_kills_what_is_chosen_in_a_terminal_of_any_size() {
    let cluster = Cluster::up("t0156keys", 3);
    let run = |nodes: &str, name: &str, count: usize| {
        let job = cluster.muster(&["run", "-N", nodes, "-J", name, "sleep", "600"]).start();
        let listed = || cluster.muster(&["ps"]).run().ok().out;
        until("it runs", || listed().matches("running").count() == count);
        job
    };
    let (other, job) = (run("1", "other", 1), run("3", "heater", 2));
    let mut screen = Screen::open(&cluster);
    for text in ["muster top", "3 nodes up", "2 jobs", "heater", "other", "n2", "CPU%"] {
        screen.awaits(text);
    }
    // As a window's border is drawn, also where little room is left.
    for (columns, rows, text) in
        [("40", "10", "heater"), ("5", "2", "muste"), ("120", "40", "q quit")]
    {
        let size = ["-F", &screen.told("tty"), "cols", columns, "rows", rows];
        assert!(Command::new("stty").args(size).status().is_ok_and(|status| status.success()));
        screen.awaits(text);
    }
    // Jobs are shown by number: it is the second.
    screen.press("\x1b[B\x1b[Bk");
    screen.awaits("kill job 2?");
    screen.press("n");
    screen.awaits("q quit");
    screen.press("ky");
    screen.awaits("job 2 told to end");
    job.wait().code(143);
    assert_eq!(cluster.job(1)["state"], "running");
    screen.press("q");
    screen.closed("0");
    cluster.muster(&["kill", "1"]).run().ok();
    other.wait().code(143);
    cluster.down();
}

#[test]
fn keys_are_seen_at_once_also_when_they_come_with_a_new_size() {
    let cluster = Cluster::up("t0156resized", 1);
    let job = cluster.muster(&["run", "sleep", "600"]).start();
    until("it runs", || cluster.muster(&["ps"]).run().ok().out.contains("running"));
    let mut screen = Screen::open(&cluster);
    screen.awaits("sleep");
    screen.press("\x1b[B");
    let tty = fs::File::open(screen.told("tty")).expect("its terminal");
    for round in 0..100 {
        let size = Winsize { ws_col: 100 - round % 2, ws_row: 30, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&tty, size).expect("a new size");
        screen.press("k");
        screen.awaits("kill job 1?");
        screen.press("n");
        screen.awaits("q quit");
    }
    screen.press("q");
    screen.closed("0");
    cluster.muster(&["kill", "1"]).run().ok();
    job.wait().code(143);
    cluster.down();
}

#[test]
fn the_terminal_is_as_before_when_a_signal_ends_it_and_a_lost_manager_does_not() {
    let cluster = Cluster::up("t0156signals", 1);
    for (signal, code) in [(Signal::TERM, "143"), (Signal::INT, "130"), (Signal::HUP, "129")] {
        let screen = Screen::open(&cluster);
        screen.awaits("1 nodes up");
        let pid = screen.told("pid").parse().ok().and_then(Pid::from_raw).expect("its process");
        kill_process(pid, signal).unwrap();
        screen.closed(code);
    }
    // A terminal that is closed had it abort, since nothing could be printed any more.
    let screen = Screen::open(&cluster);
    screen.awaits("1 nodes up");
    screen.script.signal(Signal::KILL);
    until("it has ended", || !screen.told("code").is_empty());
    assert_eq!(screen.told("code"), "129");
    drop(screen);
    let mut screen = Screen::open(&cluster);
    screen.awaits("1 nodes up");
    let old = cluster.kill("manager");
    until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    let job = cluster.muster(&["run", "-J", "later", "sleep", "600"]).start();
    screen.awaits("later");
    // Control-C is a key like any other.
    screen.press("\x03");
    screen.closed("0");
    drop(job);
    cluster.down();
}

#[test]
fn where_jobs_take_turns_the_matrix_of_slots_and_nodes_is_shown() {
    let cluster = Cluster::none("t0156slots");
    let gang = ["up", "-N", "2", "--scheduler", "gang", "--slice", "2ms", "--slots", "2"];
    cluster.muster(&gang).run().ok();
    cluster.note("default");
    let run = |name: &str| cluster.muster(&["run", "-N", "2", "-J", name, "sleep", "600"]).start();
    let jobs = [run("one"), run("two")];
    let ranks = || cluster.muster(&["ps"]).run().ok().out.matches("running").count();
    until("both run", || ranks() == 2);
    let shown = cluster.muster(&["top"]).run().ok().out;
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .skip_while(|line| !line.starts_with("SLOT 2ms"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["SLOT", "2ms", "n[0-1]"], "{shown}");
    let mut slots = [rows[1][1..].to_vec(), rows[2][1..].to_vec()];
    slots.sort();
    assert_eq!(slots, [["1"], ["2"]], "{shown}");
    cluster.muster(&["kill", "1", "2"]).run().ok();
    for job in jobs {
        job.wait().code(143);
    }
    cluster.down();
}

#[test]
fn without_a_terminal_one_picture_is_text() {
    let cluster = Cluster::up("t0156text", 2);
    let job = cluster.muster(&["run", "-N", "2", "-J", "heater", "sleep", "600"]).start();
    until("it runs", || cluster.muster(&["ps"]).run().ok().out.contains("running"));
    for words in [&["top"][..], &["top", "--once"]] {
        let said = cluster.muster(words).run().ok().out;
        assert!(said.contains("2 nodes up · 1 jobs · 2 ranks run"), "{said}");
        assert!(said.contains("heater") && said.contains("n[0-1]") && said.contains("n1 "));
        assert!(!said.contains('\x1b'), "{said:?}");
    }
    cluster.muster(&["nodes", "--drain", "n1", "--reason", "new memory"]).run().ok();
    let said = cluster.muster(&["top"]).run().ok().out;
    assert!(said.contains("1 nodes up, 1 drained · 1 jobs · 2 ranks run"), "{said}");
    assert!(said.lines().any(|line| line.ends_with("drained")), "{said}");
    for (words, text) in [
        (["top", "--interval=10ms"], "looks are at least 100ms apart"),
        (["top", "--interval=often"], "is no time"),
        (["top", "--twice"], "--twice"),
    ] {
        let said = cluster.muster(&words).run().code(2).says(text);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }
    drop(job);
    cluster.down();
    let none = Cluster::none("t0156none");
    none.muster(&["top"]).run().code(1).says("[E120]");
}
