//! What a user has once for all clusters: a key, in a directory that nobody else can enter.
//!
//! It is the manager's in every cluster of several hosts that the user brings up, and never leaves
//! the machine. Where it is: `MUSTER_CONFIG`, else `$XDG_CONFIG_HOME/muster`, else
//! `~/.config/muster`.

use muster_fabric::transport::socket::Identity;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The key's file.
const KEY: &str = "key";

/// Why the user's key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none.
    #[error("you have no key for clusters of several hosts; make it, once: muster init  [E200]")]
    None,
    /// It is no home for a key.
    #[error("{path} cannot hold your key: {why}  [E206]", path = .path.display())]
    Unfit {
        /// The directory or the key.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// The user's directory of what lasts.
#[derive(Clone, Debug)]
pub struct Config {
    path: PathBuf,
}

impl Config {
    /// The one that the environment names.
    ///
    /// # Errors
    /// [`Error::Unfit`] where it names none.
    pub fn from_env() -> Result<Config, Error> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let named = set("MUSTER_CONFIG").map(PathBuf::from);
        let xdg = || set("XDG_CONFIG_HOME").map(|base| Path::new(&base).join("muster"));
        let home = || set("HOME").map(|home| Path::new(&home).join(".config/muster"));
        let unfit = |path: PathBuf, why: &str| Error::Unfit { path, why: why.to_owned() };
        match named.or_else(xdg).or_else(home) {
            Some(path) if path.is_absolute() => Ok(Config { path }),
            Some(path) => Err(unfit(path, "MUSTER_CONFIG and XDG_CONFIG_HOME begin with '/'")),
            None => Err(unfit("~".into(), "neither MUSTER_CONFIG nor HOME is set")),
        }
    }

    /// The one at `path`.
    pub fn at(path: impl Into<PathBuf>) -> Config {
        Config { path: path.into() }
    }

    /// Where the key is.
    pub fn key(&self) -> PathBuf {
        self.path.join(KEY)
    }

    /// The user's key.
    ///
    /// # Errors
    /// [`Error`] when there is none, or others could have put it there.
    pub fn identity(&self) -> Result<Identity, Error> {
        let key = self.key();
        // A link that leads nowhere is no lack of one: that would be made in vain.
        match key.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::None),
            found => found.map_err(|error| self.unfit(error))?,
        };
        self.check()?;
        Identity::load(&key).map_err(|error| self.unfit(error))
    }

    /// Makes the key if there is none; tells whether it did.
    ///
    /// # Errors
    /// [`Error::Unfit`].
    pub fn init(&self) -> Result<(Identity, bool), Error> {
        match self.identity() {
            Err(Error::None) => {}
            other => return other.map(|identity| (identity, false)),
        }
        let make = || DirBuilder::new().recursive(true).mode(0o700).create(&self.path);
        make().map_err(|error| self.unfit(error))?;
        self.check()?;
        let identity = Identity::generate().map_err(|error| self.unfit(error))?;
        match identity.store(&self.key()) {
            Ok(()) => Ok((identity, true)),
            // Of two who make one, both get the first.
            Err(error) if error.is_there() => self.identity().map(|identity| (identity, false)),
            Err(error) => Err(self.unfit(error)),
        }
    }

    /// Nobody else may come near.
    fn check(&self) -> Result<(), Error> {
        let known = std::fs::metadata(&self.path).map_err(|error| self.unfit(error))?;
        if known.uid() != rustix::process::geteuid().as_raw() {
            return Err(self.unfit("it is not yours"));
        }
        match known.mode() & 0o077 {
            0 => Ok(()),
            _ => Err(self.unfit("others may enter it; chmod 700 ends that")),
        }
    }

    fn unfit(&self, why: impl ToString) -> Error {
        Error::Unfit { path: self.path.clone(), why: why.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::fs::{Permissions, metadata, remove_file, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_key_is_made_once_for_the_user_alone() {
        let scratch = Scratch::new("config");
        let config = Config::at(scratch.join("a/muster"));
        assert!(matches!(config.identity(), Err(Error::None)));
        let (made, is_new) = config.init().expect("a key");
        let (again, is_newer) = config.init().expect("the same");
        assert!(is_new && !is_newer);
        assert_eq!(made.public_key(), again.public_key());
        let mode = |path: &Path| metadata(path).expect("it is there").mode() & 0o777;
        assert_eq!((mode(&config.path), mode(&config.key())), (0o700, 0o600));
        assert_eq!(std::fs::read_dir(&config.path).expect("listed").count(), 1);
        set_permissions(&config.path, Permissions::from_mode(0o750)).expect("changed");
        assert!(matches!(config.identity(), Err(Error::Unfit { .. })));
    }

    /// It said that there was none, and `muster init` that it had to be made by muster init.
    #[test]
    fn a_key_that_leads_nowhere_is_told_and_not_missed() {
        let scratch = Scratch::new("config-nowhere");
        let config = Config::at(scratch.join("muster"));
        config.init().expect("a key");
        remove_file(config.key()).expect("it is there");
        symlink("/nowhere/key", config.key()).expect("linked");
        for found in [config.identity().err(), config.init().err()] {
            let said = found.expect("it cannot be read").to_string();
            assert!(said.contains("No such file") && said.contains("[E206]"), "{said}");
        }
        let beyond = Config::at(config.key().join("muster"));
        assert!(matches!(beyond.identity(), Err(Error::None)));
        let closed = Config::at(scratch.file("file", b"").join("muster"));
        let said = closed.init().expect_err("no directory").to_string();
        assert!(said.contains("Not a directory") && said.contains("[E206]"), "{said}");
    }
}
