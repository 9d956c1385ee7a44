//! What is explored: how many nodes, which operations, how many faults of which kind. Messages of
//! one node to another keep their order but for `swaps`; between pairs every order is explored.

use super::cluster::{Ask, Budget, Fault, Setting};

const NONE: Budget = Budget {
    crashes: 0,
    restarts: 0,
    master_restarts: 0,
    suspicions: 0,
    pauses: 0,
    cuts: 0,
    losses: 0,
    duplicates: 0,
    swaps: 0,
    ticks: 0,
};

fn setting(
    name: &'static str,
    (nodes, arity): (u32, usize),
    asks: &[(u32, Ask)],
    budget: Budget,
) -> Setting {
    Setting { name, nodes, arity, asks: asks.to_vec(), budget, fault: None }
}

const PUT: [(u32, Ask); 1] = [(2, Ask::Put(0, 2))];
const PUTS: [(u32, Ask); 2] = [(1, Ask::Put(0, 2)), (2, Ask::Put(1, 2))];
const WINS: [(u32, Ask); 2] = [(1, Ask::Win(0, 2, 5)), (2, Ask::Win(0, 2, 6))];
const OTHERS: [(u32, Ask); 2] = [(1, Ask::Win(1, 2, 5)), (2, Ask::Win(1, 2, 6))];
const MIXED: [(u32, Ask); 3] = [(1, Ask::Put(1, 2)), (2, Ask::Win(0, 2, 6)), (2, Ask::Query(0, 2))];

/// A few seconds without optimization.
pub fn small() -> Vec<Setting> {
    vec![
        setting("3 nodes, put, crash", (3, 1), &PUT, Budget { crashes: 1, ..NONE }),
        setting("3 nodes, 2 wins", (3, 2), &WINS, NONE),
    ]
}

/// At most a minute on two cores.
pub fn quick() -> Vec<Setting> {
    let one = [
        ("crash", Budget { crashes: 1, ..NONE }),
        ("crash and restart", Budget { crashes: 1, restarts: 1, ..NONE }),
        ("master restart", Budget { master_restarts: 1, ..NONE }),
        ("false suspicion", Budget { suspicions: 1, ..NONE }),
        ("pause", Budget { pauses: 1, ..NONE }),
        ("partition", Budget { cuts: 1, ..NONE }),
        ("loss, duplicate, swap", Budget { losses: 1, duplicates: 1, swaps: 1, ..NONE }),
    ];
    let mut settings = vec![];
    for (name, budget) in one {
        settings.push(setting(name, (3, 1), &PUTS, budget));
        settings.push(setting(name, (3, 2), &WINS, budget));
        settings.push(setting(name, (3, 1), &MIXED, budget));
    }
    settings
}

/// All.
pub fn all() -> Vec<Setting> {
    quick()
}

/// A setting in which a broken rule shows.
pub fn broken(fault: Fault) -> Setting {
    let (asks, budget): (&[(u32, Ask)], Budget) = match fault {
        Fault::DeliversWhenStaged => (&PUT, Budget { crashes: 1, ..NONE }),
        Fault::ForgetsDecisions => (&PUT, Budget { master_restarts: 1, ..NONE }),
        Fault::AnswersForOthers => (&OTHERS, NONE),
    };
    Setting { fault: Some(fault), ..setting("broken", (3, 1), asks, budget) }
}
