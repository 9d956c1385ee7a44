//! What the manager is told about a job (`jobs/J/spec`, `docs/files.md`).

use serde::Serialize;
use std::collections::BTreeMap;

/// A job as the user wants it. What is missing is the manager's choice.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Spec {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How many nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// How many ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Which nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodelist: Option<String>,
    /// Environment.
    pub env: BTreeMap<String, String>,
    /// Working directory on the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chdir: Option<String>,
    /// Who gets what is written to `jobs/J/stdin`.
    pub stdin: Stdin,
    /// Time limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Whether a failed rank leaves the others alone.
    pub keep_going: bool,
    /// What listings call it.
    pub name: String,
    /// Between asking ranks to end and ending them.
    pub grace_ms: u64,
}

/// Who gets the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// Nobody: all read an empty file.
    None,
    /// Every rank.
    All,
    /// This rank.
    Rank(u32),
}

impl Default for Stdin {
    fn default() -> Stdin {
        Stdin::Rank(0)
    }
}

impl Serialize for Stdin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Stdin::None => serializer.serialize_str("none"),
            Stdin::All => serializer.serialize_str("all"),
            Stdin::Rank(rank) => serializer.serialize_u32(*rank),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_is_written() {
        let argv = vec!["./heat".to_owned(), "x".to_owned()];
        let spec = Spec { argv, ranks: Some(4), stdin: Stdin::All, ..Spec::default() };
        let text = serde_json::to_string(&spec).unwrap();
        let expected = r#"{"argv":["./heat","x"],"ranks":4,"env":{},"stdin":"all",
            "keep_going":false,"name":"","grace_ms":0}"#;
        assert_eq!(text, expected.split_whitespace().collect::<String>());
        assert_eq!(serde_json::to_string(&Stdin::Rank(3)).unwrap(), "3");
        assert_eq!(serde_json::to_string(&Stdin::None).unwrap(), "\"none\"");
    }
}
