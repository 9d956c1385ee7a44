//! How long a launch takes. Printed, never asserted.

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use muster_machine::node::cgroup::Hierarchy;
use muster_machine::node::shepherd::{Report, Spawner, Spec};

use crate::tree::start_by;

const RUNS: usize = 300;

pub fn run() -> ExitCode {
    let mut spec = Spec::new("/bin/true", &["true"]);
    launches("launch of /bin/true", &spec);
    spec.fresh_proc = false;
    launches("  without a fresh /proc", &spec);
    spec.fresh_proc = true;
    if let Ok(hierarchy) = Hierarchy::detect() {
        let name = format!("measure-{}", std::process::id());
        let group = hierarchy.create(&name, "1").unwrap();
        spec.cgroup = Some(group.path().to_owned());
        launches("  in a cgroup", &spec);
        hierarchy.sweep(&name, crate::tree::SOON).unwrap();
    }
    let plain = (0..RUNS).map(|_| {
        let begin = Instant::now();
        let mut command = Command::new("/bin/true");
        command.stdin(Stdio::null()).status().unwrap();
        begin.elapsed().as_micros()
    });
    println!("std::process::Command to its end: {} us", median(plain.collect()));
    ExitCode::SUCCESS
}

fn launches(what: &str, spec: &Spec) {
    let spawner = Spawner::default();
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        let begin = Instant::now();
        let mut tree = start_by(&spawner, spec);
        times[0].push(begin.elapsed().as_micros());
        loop {
            let slot = match tree.next() {
                Report::Started { .. } => 1,
                Report::Exited { .. } => 2,
                Report::Gone => 3,
                failed @ Report::Failed { .. } => panic!("{failed:?}"),
            };
            times[slot].push(begin.elapsed().as_micros());
            if slot == 3 {
                break;
            }
        }
    }
    let [back, started, exited, gone] = times.map(median);
    println!("{what}: start() {back} us, Started {started}, Exited {exited}, Gone {gone}");
}

fn median(mut times: Vec<u128>) -> u128 {
    times.sort_unstable();
    times[times.len() / 2]
}
