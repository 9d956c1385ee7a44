//! The primitives under the model checker: the shipped cores, every order of messages and faults
//! within the bounds of each setting. `cargo xtask model` runs all of them.

#[path = "model/checker.rs"]
mod checker;
#[path = "model/cluster.rs"]
mod cluster;
#[path = "model/settings.rs"]
mod settings;

use cluster::{Fault, Seen, Setting};
use stateright::{Checker, Model};
use std::sync::Arc;
use std::time::Instant;

/// More than any setting has: an unbounded one ends here, and fails.
const STATES_MAX: usize = 5_000_000;

/// Explores a setting; returns what does not hold, and the size.
fn explore(setting: Setting) -> (Vec<String>, String, Arc<Seen>) {
    let begin = Instant::now();
    let Setting { nodes, asks, seen, .. } = &setting;
    let seen = seen.clone();
    let slow = if setting.are_leases_slow { "slow leases, " } else { "" };
    let name = format!("{nodes} nodes, {} operations: {slow}{}", asks.len(), setting.name);
    let checker = setting.checker().threads(2).target_state_count(STATES_MAX).spawn_bfs().join();
    let broken = checker
        .discoveries()
        .into_iter()
        .map(|(property, path)| format!("{property} after {:?}", path.into_actions()));
    let size = format!(
        "{name:<56} {:>9} states {:>4} deep {:>7.1} s",
        checker.unique_state_count(),
        checker.max_depth(),
        begin.elapsed().as_secs_f64()
    );
    let mut broken: Vec<String> = broken.collect();
    if checker.state_count() >= STATES_MAX {
        broken.push("more states than expected; not exhausted".to_owned());
    }
    (broken, size, seen)
}

/// `cargo xtask model` says how many settings; without it, two small ones.
#[test]
fn every_order_of_messages_and_faults_is_safe_and_ends() {
    let settings = match std::env::var("MUSTER_MODEL").as_deref() {
        Ok("quick") => settings::quick(),
        Ok("all") => settings::all(),
        _ => settings::small(),
    };
    let (mut failed, all) = (0, Seen::default());
    for setting in settings {
        let (broken, size, seen) = explore(setting);
        all.add(&seen);
        println!("{size}");
        for what in &broken {
            println!("  BROKEN: {what}");
        }
        failed += broken.len();
    }
    println!("messages that arrived: {:?}", all.counts());
    assert_eq!(failed, 0);
    let never = all.counts().into_iter().filter(|(_, count)| *count == 0);
    assert_eq!(never.collect::<Vec<_>>(), [], "kinds of messages that no state has");
}

#[test]
fn a_commit_that_does_not_wait_is_found() {
    let (broken, ..) = explore(settings::broken(Fault::DeliversWhenStaged));
    for expected in ["atomicity", "an event is seen with its delivery"] {
        assert!(broken.iter().any(|what| what.starts_with(expected)), "{broken:?}");
    }
}

#[test]
fn a_master_that_forgets_decisions_is_found() {
    let (broken, ..) = explore(settings::broken(Fault::ForgetsDecisions));
    assert!(!broken.is_empty());
}

#[test]
fn a_wrong_comparison_is_found() {
    let (broken, ..) = explore(settings::broken(Fault::AnswersForOthers));
    assert!(broken.iter().any(|what| what.starts_with("sequential")), "{broken:?}");
}

/// A relay that was stopped for a while would hand on leases that last too long.
#[test]
fn a_lease_that_counts_from_its_arrival_is_found() {
    let (broken, ..) = explore(settings::broken(Fault::CountsFromArrival));
    assert!(broken.iter().any(|what| what.starts_with("the master goes on")), "{broken:?}");
}

#[test]
fn a_master_that_does_not_wait_for_a_lease_to_end_is_found() {
    let (broken, ..) = explore(settings::broken(Fault::IsImpatient));
    assert!(broken.iter().any(|what| what.starts_with("the master goes on")), "{broken:?}");
}
