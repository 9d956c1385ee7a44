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

/// A node that the others do not hear of for a while.
const ALONE: [(&str, Budget); 2] =
    [("pause", Budget { pauses: 1, ..NONE }), ("partition", Budget { cuts: 1, ..NONE })];

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
    let early = Budget { master_restarts: 1, ticks: 1, ..NONE };
    settings.push(setting("master restart, early tick", (3, 2), &WINS, early));
    for (name, budget) in ALONE {
        settings.push(setting(name, (4, 2), &[(3, Ask::Put(1, 3))], budget));
        settings.push(setting(name, (4, 2), &[(3, Ask::Win(1, 3, 5))], budget));
    }
    settings
}

/// Minutes on two cores: all of the quick ones, more nodes, and faults that meet.
pub fn all() -> Vec<Setting> {
    let two = [
        ("2 crashes", Budget { crashes: 2, ..NONE }),
        ("crash, master restart", Budget { crashes: 1, master_restarts: 1, ..NONE }),
        ("suspicion, master restart", Budget { suspicions: 1, master_restarts: 1, ..NONE }),
        ("2 master restarts", Budget { master_restarts: 2, ..NONE }),
        ("crash, restart, suspicion", Budget { crashes: 1, restarts: 1, suspicions: 1, ..NONE }),
        ("pause, duplicate", Budget { pauses: 1, duplicates: 1, ..NONE }),
        ("suspicion, early tick", Budget { suspicions: 1, ticks: 1, ..NONE }),
    ];
    let mut settings = quick();
    for (name, budget) in two {
        settings.push(setting(name, (3, 1), &PUTS, budget));
        settings.push(setting(name, (3, 2), &WINS, budget));
    }
    // With two transfers over a chain this one has more than a million states: not explored.
    let cut = Budget { cuts: 1, master_restarts: 1, ..NONE };
    settings.push(setting("partition, master restart", (3, 2), &WINS, cut));
    let early = Budget { master_restarts: 1, ticks: 1, ..NONE };
    settings.push(setting("master restart, early tick", (3, 1), &PUTS, early));
    // What only a node saw that the next master removed.
    let twice = Budget { cuts: 1, master_restarts: 2, ..NONE };
    let crash = Budget { crashes: 1, ..cut };
    let (one, win) = ([(2, Ask::Put(2, 2))], [(2, Ask::Win(0, 2, 5))]);
    settings.push(setting("partition, 2 master restarts", (3, 1), &one, twice));
    settings.push(setting("partition, 2 master restarts", (3, 2), &win, twice));
    settings.push(setting("crash, partition, master restart", (3, 2), &win, crash));
    let four = [(3, Ask::Put(1, 3))];
    let five = [(4, Ask::Win(1, 4, 5))];
    let six = [(5, Ask::Put(2, 5))];
    let put = [(4, Ask::Put(1, 4))];
    for (name, budget) in ALONE {
        settings.push(setting(name, (5, 2), &put, budget));
    }
    let crashes = Budget { crashes: 2, ..NONE };
    settings.push(setting("2 crashes", (4, 2), &four, crashes));
    settings.push(setting("2 crashes", (5, 2), &five, crashes));
    settings.push(setting("crash", (6, 2), &six, Budget { crashes: 1, ..NONE }));
    settings.push(setting("master restart", (4, 2), &four, Budget { master_restarts: 1, ..NONE }));
    settings.push(setting("master restart", (5, 2), &five, Budget { master_restarts: 1, ..NONE }));
    settings
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
