//! What is explored: how many nodes, which operations, how many faults of which kind. Messages of
//! one node to another keep their order but for `swaps`; between pairs every order is explored.

use super::cluster::{Ask, Budget, Fault, Setting};
use std::sync::Arc;

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
    blocks: 0,
    delays: 0,
};

/// So many beats pass where all that waits for time is to be sent again.
const SHORT: u64 = 3;

/// And where the lease of one who is silent has to end, and that one has to come back.
const LONG: u64 = 8;

/// And where a way that is none is found out.
const LONGEST: u64 = 14;

fn setting(
    name: &'static str,
    (nodes, arity): (u32, usize),
    asks: &[(u32, Ask)],
    budget: Budget,
) -> Setting {
    let Budget { master_restarts, pauses, cuts, blocks, .. } = budget;
    let beats = match (master_restarts + pauses + cuts, blocks) {
        (0, 0) => SHORT,
        (_, 0) => LONG,
        _ => LONGEST,
    };
    let (asks, fault, seen) = (asks.to_vec(), None, Arc::default());
    Setting { name, nodes, arity, asks, budget, beats, are_leases_slow: false, fault, seen }
}

/// In which leases are renewed in every order with all else.
fn slow(name: &'static str, tree: (u32, usize), asks: &[(u32, Ask)], budget: Budget) -> Setting {
    Setting { are_leases_slow: true, ..setting(name, tree, asks, budget) }
}

const PUT: [(u32, Ask); 1] = [(2, Ask::Put(0, 2))];
const PUTS: [(u32, Ask); 2] = [(1, Ask::Put(0, 2)), (2, Ask::Put(1, 2))];
const WINS: [(u32, Ask); 2] = [(1, Ask::Win(0, 2, 5)), (2, Ask::Win(0, 2, 6))];
const OTHERS: [(u32, Ask); 2] = [(1, Ask::Win(1, 2, 5)), (2, Ask::Win(1, 2, 6))];
const MIXED: [(u32, Ask); 3] = [(1, Ask::Put(1, 2)), (2, Ask::Win(0, 2, 6)), (2, Ask::Query(0, 2))];

const TOLD: [(u32, Ask); 2] = [(1, Ask::Tell), (2, Ask::Tell)];

const RESTART: Budget = Budget { master_restarts: 1, ..NONE };

/// A node that the others do not hear of for a while.
const ALONE: [(&str, Budget); 2] =
    [("pause", Budget { pauses: 1, ..NONE }), ("partition", Budget { cuts: 1, ..NONE })];

fn bad_way() -> Setting {
    let asks = [(1, Ask::Put(1, 2)), (2, Ask::Tell)];
    slow("a way that is none", (3, 1), &asks, Budget { blocks: 1, ..NONE })
}

/// A few seconds without optimization.
pub fn small() -> Vec<Setting> {
    vec![
        setting("crash", (3, 1), &PUT, Budget { crashes: 1, ..NONE }),
        setting("nothing", (3, 2), &WINS, NONE),
        setting("master restart", (2, 1), &[(1, Ask::Put(0, 1))], RESTART),
        slow("partition", (3, 1), &TOLD, Budget { cuts: 1, ..NONE }),
        bad_way(),
    ]
}

/// Some minutes on a core.
pub fn quick() -> Vec<Setting> {
    let one = [
        ("crash", Budget { crashes: 1, ..NONE }),
        ("crash and restart", Budget { crashes: 1, restarts: 1, ..NONE }),
        ("master restart", RESTART),
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
    let early = Budget { master_restarts: 1, delays: 1, ..NONE };
    settings.push(setting("master restart, delay", (3, 2), &WINS[..1], early));
    for (name, budget) in ALONE {
        settings.push(setting(name, (4, 2), &[(3, Ask::Put(1, 3))], budget));
        settings.push(setting(name, (4, 2), &[(3, Ask::Win(1, 3, 5))], budget));
    }
    for (name, budget) in ALONE {
        settings.push(slow(name, (3, 1), &TOLD, budget));
        settings.push(slow(name, (4, 1), &[], budget));
    }
    settings.push(bad_way());
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
        ("suspicion, delay", Budget { suspicions: 1, delays: 1, ..NONE }),
    ];
    let mut settings = quick();
    for (name, budget) in two {
        // Two restarts of the master, with two transfers over a chain, have too many states.
        let asks = if budget.master_restarts > 1 { &PUT[..] } else { &PUTS };
        settings.push(setting(name, (3, 1), asks, budget));
        settings.push(setting(name, (3, 2), &WINS, budget));
    }
    // With two transfers over a chain this one has more than a million states: not explored.
    let cut = Budget { cuts: 1, master_restarts: 1, ..NONE };
    settings.push(setting("partition, master restart", (3, 2), &WINS, cut));
    let early = Budget { master_restarts: 1, delays: 1, ..NONE };
    settings.push(setting("master restart, delay", (3, 1), &PUT, early));
    settings.push(setting("master restart, delay", (3, 2), &WINS, early));
    // What only a node saw that the next master removed.
    let twice = Budget { cuts: 1, master_restarts: 2, ..NONE };
    let crash = Budget { crashes: 1, ..cut };
    let (one, win) = ([(2, Ask::Put(2, 2))], [(2, Ask::Win(0, 2, 5))]);
    // In more time this one has more states than are explored.
    let chain = setting("partition, 2 master restarts", (3, 1), &one, twice);
    settings.push(Setting { beats: SHORT, ..chain });
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
    settings.push(setting("master restart", (4, 2), &four, RESTART));
    settings.push(setting("master restart", (5, 2), &five, RESTART));
    settings
}

/// A setting in which a broken rule shows.
pub fn broken(fault: Fault) -> Setting {
    let (asks, budget): (&[(u32, Ask)], Budget) = match fault {
        Fault::DeliversWhenStaged => (&PUT, Budget { crashes: 1, ..NONE }),
        Fault::ForgetsDecisions => (&PUT, RESTART),
        Fault::AnswersForOthers => (&OTHERS, NONE),
        Fault::CountsFromArrival | Fault::IsImpatient => (&[], Budget { pauses: 1, ..NONE }),
    };
    Setting { fault: Some(fault), ..slow("broken", (3, 1), asks, budget) }
}
