//! Nodes that stand in for another processor: `muster up --arch NODES=ARCH[:EMULATOR]`.

use muster_base::nodeset;
use muster_machine::node::processor::Processor;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;

/// Some nodes and what they stand in for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// The nodes.
    pub nodes: Vec<String>,
    /// Their processor.
    pub processor: Processor,
}

/// Reads what the user has written, and looks for the emulator.
///
/// # Errors
/// One sentence.
pub fn parse(text: &str) -> Result<StandIn, String> {
    let form = "write NODES=ARCH or NODES=ARCH:EMULATOR, such as n[2-3]=aarch64";
    let (nodes, rest) = text.split_once('=').ok_or(form)?;
    let nodes = nodeset::expand(nodes).map_err(|error| error.to_string())?;
    let (arch, emulator) = match rest.split_once(':') {
        Some((arch, emulator)) => (arch, Some(Path::new(emulator))),
        None => (rest, None),
    };
    let processor = Processor::stand_in(arch, emulator).map_err(|error| error.to_string())?;
    Ok(StandIn { nodes, processor })
}

/// As it is read.
impl fmt::Display for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", nodeset::fold(&self.nodes), self.processor.name)?;
        match &self.processor.emulator {
            Some(emulator) => write!(f, ":{}", emulator.display()),
            None => Ok(()),
        }
    }
}

/// What the daemons of these nodes are told; the last word on a node counts.
pub fn arguments(all: &[StandIn]) -> BTreeMap<String, Vec<OsString>> {
    let mut told = BTreeMap::new();
    for StandIn { nodes, processor } in all {
        let mut words: Vec<OsString> = vec!["--arch".into(), processor.name.clone().into()];
        if let Some(emulator) = &processor.emulator {
            words.extend(["--emulator".into(), emulator.into()]);
        }
        told.extend(nodes.iter().map(|node| (node.clone(), words.clone())));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nodes_stand_in_for_is_read_as_it_is_written() {
        let text = "n[1,3]=riscv64:/bin/sh";
        let read = parse(text).unwrap();
        assert_eq!(read.to_string(), text);
        assert_eq!(read.nodes, ["n1", "n3"]);
        let told = arguments(&[read]);
        assert_eq!(told.keys().collect::<Vec<_>>(), ["n1", "n3"]);
        assert_eq!(told["n3"], ["--arch", "riscv64", "--emulator", "/bin/sh"].map(OsString::from));
        for (text, said) in [
            ("n1", "write NODES=ARCH"),
            ("n[1=arm", "lacks a closing"),
            ("n1=abacus", "is no processor"),
            ("n1=riscv64:/no/such", "/no/such: there is no such file"),
        ] {
            let told = parse(text).unwrap_err();
            assert!(told.contains(said), "{text}: {told}");
        }
    }
}
