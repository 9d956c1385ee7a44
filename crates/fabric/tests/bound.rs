//! The key table decides at build time, so these tests build a program, each with another table.

mod scratch;

use std::sync::Mutex;

/// Checks share one target directory: one after the other, as cargo would have it anyway.
static ONE: Mutex<()> = Mutex::new(());

const PORT: &str = "pub fn use_it(network: muster_fabric::bound::Network) {
    let _ = network.port();
    let _ = <muster_fabric::bound::Network>::mailbox(\"box\", 8);
}";

const OTHERS: &str = "use muster_fabric::bound::Network;
    pub fn link(network: Network) {
        let _ = network.link();
    }
    pub fn invocation(network: Network) {
        let _ = network.invocation();
    }
    pub fn copy(network: Network) {
        let _ = network.remote_copy();
    }
    pub fn segment() {
        let _ = <Network>::segment(64, Vec::new());
    }";

/// Compiles a program with a key table; what the compiler says if it does not.
fn compile(program: &str, keys: &str) -> Result<(), String> {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let room = scratch::package("bound", "src/lib.rs", program);
    std::fs::write(room.join("keys.toml"), keys).unwrap();
    let cargo = ["check", "--offline", "--target-dir", "target"];
    scratch::cargo(&room, &cargo, &[("MUSTER_KEYS", &room.join("keys.toml"))]).map(drop)
}

#[test]
fn a_missing_capability_does_not_compile_and_names_the_key_to_change() {
    let said = compile(PORT, "[keys]\nnetwork_adapter = \"stream\"\n").unwrap_err();
    for expected in [
        "the realization that `network_adapter` is bound to, `StreamOnly`, has no datagrams",
        "set `network_adapter` in the key table",
        "network.port()",
        "<muster_fabric::bound::Network>::mailbox(",
    ] {
        assert!(said.contains(expected), "{expected:?} is not in:\n{said}");
    }
    // What the message advises helps.
    let datagram = "[keys]\nnetwork_adapter = \"datagram\"\n";
    compile(PORT, datagram).unwrap();
    let said = compile(OTHERS, datagram).unwrap_err();
    for (what, strategy, calls) in [
        ("streams", "stream", ["network.link()"].as_slice()),
        ("active messages", "active_message", &["network.invocation()"]),
        ("remote copy", "remote_copy", &["network.remote_copy()", "<Network>::segment("]),
    ] {
        let has_none = format!("is bound to, `DatagramOnly`, has no {what}");
        let advice = format!("(keys.toml, or MUSTER_KEYS) to `full` or `{strategy}`");
        for expected in [&has_none, &advice].map(String::as_str).iter().chain(calls) {
            assert!(said.contains(expected), "{expected:?} is not in:\n{said}");
        }
    }
    let full = "[keys]\nnetwork_adapter = \"full\"\n";
    compile(PORT, full).unwrap();
    compile(OTHERS, full).unwrap();
}

#[test]
fn a_line_of_the_table_puts_the_same_program_into_a_scenario() {
    let program = "use muster_fabric::adapter::{Profiled, Traced};
        pub fn is_observed(network: &muster_fabric::bound::Network) -> bool {
            let (_, _): &(Traced, Profiled) = network.scenario();
            muster_fabric::bound::SCENARIO == \"traced_and_profiled\"
        }";
    compile(program, "[keys]\nscenario = \"traced_and_profiled\"\n").unwrap();
    let said = compile(program, "[keys]\n").unwrap_err();
    assert!(said.contains("mismatched types"), "{said}");
}

#[test]
fn a_wrong_table_is_refused_with_its_line_and_the_choices() {
    for (keys, expected) in [
        ("[keys]\nnetwork_adapter = \"carrier pigeon\"\n", "has no realization \"carrier pigeon\""),
        ("[keys]\nnetwork_adapter = \"carrier pigeon\"\n", "keys.toml:2"),
        ("[keys]\nnetwork_adapter = \"carrier pigeon\"\n", "active_message, datagram, full"),
        ("[keys]\nmailbox = \"full\"\n", "there is no interface \"mailbox\""),
        ("[keys]\nscenario = none\n", "is not `name = \\\"text\\\"`"),
        ("[scenario]\nmine = \"()\"\n", "only [keys] can be changed"),
    ] {
        let said = compile(PORT, keys).unwrap_err();
        let plain = said.replace('\\', "");
        assert!(plain.contains(&expected.replace('\\', "")), "{expected:?} is not in:\n{said}");
    }
}
