//! The share of a commit: the stage whose turn it is, and samples of long lists.

use crate::result::Result;
use xshell::{Shell, cmd};

/// Stages of which each commit runs one.
pub(crate) const TURNS: [&str; 9] = [
    "debian-13",
    "swiftshader",
    "i686",
    "windows",
    "viewer",
    "cli",
    "engines",
    "bevy",
    "package",
];

/// Selects the same parts for the same commit, and others for other commits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// The first digits of the commit's hash. `None` selects everything.
    hash: Option<usize>,
}

impl Share {
    /// The share of the checked-out commit, or everything.
    pub(crate) fn new(sh: &Shell, all: bool) -> Result<Self> {
        if all {
            return Ok(Self { hash: None });
        }
        // Without a repository, such as in an unpacked archive, every share is as good.
        let hash = cmd!(sh, "git rev-parse --short=7 HEAD")
            .quiet()
            .ignore_stderr();
        let hash = hash.read().unwrap_or_else(|_| "0".to_owned());
        let hash = hash.get(..7).unwrap_or(&hash);
        let hash = usize::from_str_radix(hash, 16)?;
        Ok(Self { hash: Some(hash) })
    }

    /// True if this commit runs everything.
    pub(crate) fn is_all(self) -> bool {
        self.hash.is_none()
    }

    /// The turn of this commit, unless it runs all.
    pub(crate) fn turn(self) -> Option<&'static str> {
        self.hash.map(|hash| TURNS[hash % TURNS.len()])
    }

    /// True if it is the turn of this stage.
    pub(crate) fn has(self, turn: &str) -> bool {
        self.turn().is_none_or(|now| now == turn)
    }

    /// One in `parts` of the items.
    pub(crate) fn sample<T>(self, items: impl IntoIterator<Item = T>, parts: usize) -> Vec<T> {
        match self.hash {
            None => items.into_iter().collect(),
            Some(hash) => items
                .into_iter()
                .skip(hash % parts)
                .step_by(parts)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything() {
        let shares = (0..7 * TURNS.len()).map(|hash| Share { hash: Some(hash) });
        let shares: Vec<Share> = shares.collect();
        for turn in TURNS {
            assert!(shares.iter().any(|share| share.has(turn)));
        }
        let mut seen: Vec<u32> = shares[..7]
            .iter()
            .flat_map(|it| it.sample(0..50, 7))
            .collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..50));
        let all = Share { hash: None };
        assert!(all.sample(0..50, 7).into_iter().eq(0..50));
        assert!(TURNS.iter().all(|turn| all.has(turn)));
    }
}
