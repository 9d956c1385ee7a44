//! Where the cluster's directory is on a file system that is mounted noexec, as hardened machines
//! mount /tmp, what a job brings runs all the same.

mod cluster;
mod hosts;

use cluster::{Call, MUSTER, call};
use hosts::Hosts;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::process::Command;

/// A machine of its own whose clusters are on such a file system.
struct Machine(Hosts);

impl Deref for Machine {
    type Target = Hosts;

    fn deref(&self) -> &Hosts {
        &self.0
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Its control groups are this machine's.
        let _ = self.muster(&["down"]).run();
    }
}

impl Machine {
    fn new(test: &str) -> Machine {
        let hosts = Hosts::waiting(
            test,
            0,
            |home| {
                let at = home.join("r").display().to_string();
                format!(
                    "mkdir {at}; mount -t tmpfs -o noexec,nosuid,nodev,mode=700 none {at}
                     cp /bin/true {at}/there; echo ready; exec sleep infinity"
                )
            },
            |_| unreachable!("there are no hosts"),
        );
        let machine = Machine(hosts);
        let tried = format!("{}/there || echo $?", machine.runtime().display());
        assert_eq!(machine.inside(None, &tried), "126\n", "it is not mounted noexec");
        machine
    }

    /// One with a cluster of two nodes.
    fn up(test: &str) -> Machine {
        let machine = Machine::new(test);
        machine.muster(&["up", "-N", "2"]).run().ok();
        machine
    }

    /// A copy of one of the system's programs where commands work.
    fn copy(&self, program: &str, name: &str) {
        std::fs::copy(which(program), self.work().join(name)).unwrap();
    }

    /// Compiles C where commands work.
    fn compile(&self, name: &str, source: &str, args: &[&str]) {
        let from = self.file("source.c", 0o644, source);
        let mut cc = Command::new("cc");
        cc.current_dir(self.work()).args(["-o", name]).arg(from).args(args);
        assert!(cc.status().expect("cc, which cargo xtask setup installs").success());
    }

    fn run(&self, args: &[&str]) -> Call {
        self.muster(&[&["run", "-N", "2"], args].concat())
    }

    /// Takes the cluster down and sees that nothing is left.
    fn down(self) {
        self.muster(&["down"]).run().ok();
        let left = self.inside(None, &format!("ls {}", self.runtime().display()));
        assert_eq!(left, "there\n");
        assert_eq!(self.processes(None), [""; 0]);
    }
}

fn which(program: &str) -> String {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    String::from_utf8(found.expect("a shell").stdout).unwrap().trim().to_owned()
}

#[test]
fn programs_run_from_memory_that_a_nodes_ranks_have_in_common_and_lie_where_people_look() {
    let machine = Machine::up("noexec");
    machine.copy("stat", "look");
    let args = ["-n", "6", "./look", "-L", "-c", "%d %i", "/proc/self/exe"];
    let said = machine.run(&args).run().ok().out;
    assert_eq!(said.lines().count(), 6);
    let files: BTreeSet<&str> = said.lines().collect();
    assert_eq!(files.len(), 2, "one for a node: {said}");
    // The second time as well, and by a rank that is called otherwise and works elsewhere.
    machine.run(&args).run().ok();
    let said = machine.run(&["--chdir", "/usr", "./look", "-c", "%n", "lib"]).run().ok();
    assert_eq!(said.out, "lib\nlib\n");
    // Its file is there; the system's own programs run as ever.
    machine.file("each", 0o755, "#!/bin/sh\ncmp look $1 && echo same ${0##*/} $2\n");
    let stat = which("stat");
    let said = machine.run(&["--bcast", "look", "./each", &stat, "word"]).run().ok();
    assert_eq!(said.out, "same each word\n".repeat(2));
    let said = machine.run(&["--bcast", "look", "cmp", "look", &stat]).run().ok();
    assert_eq!(said.out, "");
    // An interpreter may be sent along, and be a script itself.
    machine.copy("sh", "shell");
    machine.file("middle", 0o755, "#!./shell -e\necho middle \"$@\"\n");
    machine.file("outer", 0o755, "#!./middle  an argument\nnever read\n");
    let args = ["--bcast", "shell", "--bcast", "middle", "./outer", "x"];
    let said = machine.run(&args).run().ok();
    let is_right = |line: &str| {
        line.strip_prefix("middle an argument /").is_some_and(|rest| rest.ends_with("/outer x"))
    };
    assert!(said.out.lines().count() == 2 && said.out.lines().all(is_right), "{said:?}");
    machine.down();
}

#[test]
fn what_is_no_program_is_told_as_everywhere() {
    let machine = Machine::up("noexecnone");
    machine.file("data", 0o644, "data\n");
    let said = machine.run(&["--bcast", "data", "data"]).run().code(126);
    said.says("Permission denied").sentence("E103");
    machine.file("bare", 0o755, "echo\n");
    machine.run(&["./bare"]).run().code(126).says("must name its interpreter").sentence("E102");
    machine.file("lost", 0o755, "#!/no/such\n");
    let said = machine.run(&["./lost"]).run().code(127);
    said.says("its interpreter /no/such is not on n").sentence("E103");
    // What is the node's own is as its administrator wants it.
    let there = machine.runtime().join("there");
    let there = there.to_str().unwrap();
    let said = machine.run(&["--no-send", there]).run().code(126);
    let runtime = machine.runtime();
    let why = format!("{} is mounted noexec there. Send it along", runtime.display());
    said.says(&why).sentence("E109");
    // A file of the user's that is in such a place travels as any other.
    machine.run(&[there]).run().ok();
    machine.down();
}

#[test]
fn libraries_that_are_sent_along_are_found_and_loaded() {
    let machine = Machine::up("noexeclibs");
    machine.compile("liba.so", "int a(void) { return 3; }\n", &["-shared", "-fPIC"]);
    let source = "int a(void); int b(void) { return a() + 1; }\n";
    machine.compile("libb.so", source, &["-shared", "-fPIC", "-L.", "-la"]);
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint b(void);\nint main(int count, \
                  char **words) { printf(\"%d\\n\", b()); fflush(stdout);\n\
                  return count > 1 ? system(words[1]) : 0; }\n";
    machine.compile("prog", source, &["-L.", "-lb", "-la"]);
    let run = |args: &[&str]| {
        let all = [&["--bcast-libs", "--no-env"], args].concat();
        machine.run(&all).env("LD_LIBRARY_PATH", machine.work().to_str().unwrap()).run()
    };
    assert_eq!(run(&["./prog"]).ok().out, "4\n4\n");
    // They lie where they lie elsewhere, and what the program runs finds them, too.
    let script = "ls $XCPUPATH/.libs; cat ${LD_LIBRARY_PATH%%:*}/liba.so | cmp - .libs/liba.so";
    let said = run(&["./prog", script]).ok();
    assert_eq!(said.sorted(), ["4", "4", "liba.so", "liba.so", "libb.so", "libb.so"]);
    // One that lies elsewhere in the job's directory cannot be loaded.
    let args = ["--bcast", "liba.so", "--bcast", "libb.so", "--env", "LD_LIBRARY_PATH=.", "./prog"];
    let said = machine.run(&args).run().code(127).says("./prog cannot load libb.so");
    assert!(said.err.contains("is mounted noexec. Send it along: --bcast-libs  [E109"), "{said:?}");
    machine.down();
}

#[test]
fn where_the_kernel_runs_nothing_from_memory_one_sentence_says_what_to_set() {
    let machine = Machine::new("noexecnever");
    // Of its pid namespace, whose processes alone heed it.
    machine.inside(None, "echo 2 >/proc/sys/vm/memfd_noexec");
    machine.muster(&["up", "-N", "2"]).run().ok();
    machine.copy("id", "prog");
    let said = machine.run(&["./prog"]).run().code(126);
    let why = format!(
        "{} is mounted noexec, and vm.memfd_noexec=2 allows nothing in memory either. Have \
         clusters elsewhere: export MUSTER_RUNTIME=",
        machine.runtime().display()
    );
    said.says("./prog: cannot be run on n").says(&why).sentence("E109");
    // A script is its interpreter's.
    machine.file("script", 0o755, "#!/bin/sh\necho ran\n");
    assert_eq!(machine.run(&["./script"]).run().ok().out, "ran\nran\n");
    machine.down();
}

#[test]
fn a_user_without_any_rights_has_the_same() {
    let machine = Machine::new("noexecuser");
    let at = machine.runtime();
    machine.inside(None, &format!("chown 65534:65534 {}", at.display()));
    let muster = |args: &[&str]| {
        let mut command = machine.at_head();
        command.args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(MUSTER).args(args);
        call(command)
    };
    muster(&["up", "-N", "2"]).run().ok();
    machine.copy("id", "me");
    let said = muster(&["run", "-N", "2", "./me", "-u"]).run().ok();
    assert_eq!(said.out, "65534\n65534\n");
    machine.compile("liba.so", "int a(void) { return 0; }\n", &["-shared", "-fPIC"]);
    let source = "int a(void); int main(void) { return a(); }\n";
    machine.compile("prog", source, &["-L.", "-la"]);
    let args = ["run", "-N", "2", "--no-env", "--bcast-libs", "./prog"];
    muster(&args).env("LD_LIBRARY_PATH", machine.work().to_str().unwrap()).run().ok();
    muster(&["down"]).run().ok();
}
