//! The environment that ranks get: the caller's, but for what is only true on this machine or in
//! this terminal, and but for what Muster itself sets.

use super::failure::{Failure, exit};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Left behind by name. `muster run --help` tells of them under `--env`.
const LOCAL: &[&str] = &[
    "_",
    "COLUMNS",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "HOST",
    "HOSTNAME",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LINES",
    "MAIL",
    "MAKEFLAGS",
    "MFLAGS",
    "NOTIFY_SOCKET",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "TEMP",
    "TMP",
    "TMPDIR",
    "WATCHDOG_USEC",
    "WAYLAND_DISPLAY",
    "WINDOWID",
    "XAUTHORITY",
];

/// Left behind by how they begin.
const LOCAL_PREFIXES: &[&str] = &[
    "GPG_",
    "LISTEN_",
    "MUSTER_",
    "OMPI_",
    "PMI_",
    "PMIX_",
    "PRTE_",
    "SLURM_",
    "SSH_",
    "SUDO_",
    "TERM_SESSION",
    "TMUX",
    "XCPU",
    "XDG_RUNTIME",
    "XDG_SESSION",
    "XDG_SEAT",
    "XDG_VTNR",
];

/// What users set for the ranks, and not Muster.
const TOLD_TO_RANKS: &str = "MUSTER_MPI_DEADLOCK";

fn passes(name: &str) -> bool {
    let is_local = || LOCAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    name == TOLD_TO_RANKS || !LOCAL.contains(&name) && !is_local()
}

/// Gathers the environment: `own` is the caller's, `wished` are the words after `--env`: `K=V`
/// sets, `K` passes the caller's value on even if it would stay behind.
///
/// # Errors
/// A wish that cannot be granted.
pub fn gather(
    own: impl IntoIterator<Item = (OsString, OsString)>,
    wished: &[String],
    pass: bool,
) -> Result<BTreeMap<String, String>, Failure> {
    // JSON carries no bytes that are not UTF-8, and nodes take no name with `=`, as the kernel and
    // other systems do: such variables stay behind.
    let own: BTreeMap<String, String> = own
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !name.contains('='))
        .collect();
    let mut all: BTreeMap<String, String> = match pass {
        true => own.iter().filter(|(name, _)| passes(name)).map(pair).collect(),
        false => BTreeMap::new(),
    };
    for wish in wished {
        if wish.is_empty() {
            return Err(usage("--env '': it names no variable. Write NAME=VALUE or NAME".into()));
        }
        let (name, value) = match wish.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => match own.get(wish) {
                Some(value) => (wish.as_str(), value.clone()),
                None => return Err(usage(format!("--env {wish}: {wish} is not set here"))),
            },
        };
        if name.is_empty() || value.contains('\0') || name.contains('\0') {
            return Err(usage(format!("--env '{wish}': write NAME=VALUE or NAME")));
        }
        all.insert(name.to_owned(), value);
    }
    Ok(all)
}

/// Bits that the modes of the caller's new files do not get, and those of its ranks neither. To ask
/// the kernel by umask(2) would change it for a moment.
pub fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let told = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(told.trim(), 8).ok()
}

fn pair((name, value): (&String, &String)) -> (String, String) {
    (name.clone(), value.clone())
}

fn usage(text: String) -> Failure {
    Failure::new("E100", exit::USAGE, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<(OsString, OsString)> {
        let own = [("PATH", "/bin"), ("PWD", "/x"), ("MUSTER_RANK", "3"), ("SSH_TTY", "t")];
        // As the standard library reads the kernel's `=C:=x`, of which each node refused the job.
        let all = own.into_iter().chain([("LANG", "C"), ("=C:", "x")]);
        all.map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn gathered(wished: &[&str], pass: bool) -> Result<String, Failure> {
        let wished: Vec<String> = wished.iter().map(|wish| (*wish).to_owned()).collect();
        let all = gather(own(), &wished, pass)?;
        Ok(all.iter().map(|(name, value)| format!("{name}={value} ")).collect())
    }

    #[test]
    fn what_is_local_stays_behind_unless_wished() {
        assert_eq!(gathered(&[], true).unwrap(), "LANG=C PATH=/bin ");
        assert_eq!(
            gathered(&["PWD", "LANG=D", "E=", "A=b=c"], true).unwrap(),
            "A=b=c E= LANG=D PATH=/bin PWD=/x "
        );
        // A shell's functions are true everywhere: `module` is one.
        assert!(passes("BASH_FUNC_module%%"));
        assert_eq!(gathered(&["LANG"], false).unwrap(), "LANG=C ");
    }

    #[test]
    fn that_a_deadlock_is_to_last_the_ranks_are_told() {
        assert!(passes("MUSTER_MPI_DEADLOCK"));
        assert!(!passes("MUSTER_MPI_DEADLOCKS") && !passes("MUSTER_MPI"));
    }

    #[test]
    fn a_wish_that_cannot_be_granted_is_named() {
        assert_eq!(gathered(&["NONE"], true).unwrap_err().exit, exit::USAGE);
        assert!(gathered(&["=x"], true).unwrap_err().text.contains("NAME=VALUE"));
        assert!(gathered(&[""], true).unwrap_err().text.contains("it names no variable"));
    }
}
