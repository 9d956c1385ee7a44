//! What a node tells about its machine.

use muster_ninep::host::user::{self, User};
use std::fmt::Write;

/// The environment that sessions start with: enough for a shell, nothing of the daemon's own.
pub(super) fn environment() -> String {
    let mut lines = String::new();
    let kept = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ"];
    for name in kept {
        if let Ok(value) = std::env::var(name) {
            let _ = writeln!(lines, "{}", muster_base::quote::quote(&format!("{name}={value}")));
        }
    }
    if !lines.contains("PATH=") {
        lines.push_str("PATH=/usr/local/bin:/usr/bin:/bin\n");
    }
    lines
}

/// The user whose programs this node runs, as XCPU writes one: `name:uid:gid:groups`.
pub(super) fn users() -> String {
    let own = User::own();
    let name = user::name(own.uid).unwrap_or_else(|| own.uid.to_string());
    let groups: Vec<String> = own.groups.iter().map(|gid| group_name(*gid)).collect();
    format!("{name}:{}:{}:{}\n", own.uid, own.gid, groups.join(","))
}

/// The groups of that user, one a line: `name:gid`.
pub(super) fn groups() -> String {
    let own = User::own();
    let mut numbers = vec![own.gid];
    numbers.extend(own.groups.iter().filter(|gid| **gid != own.gid));
    numbers.iter().map(|gid| format!("{}:{gid}\n", group_name(*gid))).collect()
}

fn group_name(gid: u32) -> String {
    user::group_name(gid).unwrap_or_else(|| gid.to_string())
}

/// Processors that this daemon may use.
pub(super) fn cpus() -> String {
    format!("{}\n", std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// Total and available bytes of memory.
pub(super) fn memory() -> String {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    let total = bytes("MemTotal:").unwrap_or(0);
    format!("{total} {}\n", bytes("MemAvailable:").unwrap_or(0))
}

/// Load averages of 1, 5 and 15 minutes.
pub(super) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = text.split_whitespace().take(3).collect();
    format!("{}\n", averages.join(" "))
}
