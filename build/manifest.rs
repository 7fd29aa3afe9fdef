//! The manifest, which records the sources that each SPIR-V file was built from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::FLAGS;
use super::error::ShaderError;

/// FNV-1a of 128 bits, <http://www.isthe.com/chongo/tech/comp/fnv/>.
///
/// It detects accidents, not attacks, and is short enough for a build script that uses only std.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u128);

impl Hash {
    /// The hash of zero bytes.
    pub(crate) const EMPTY: Self = Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// Continues the hash with `bytes`.
    #[must_use]
    pub(crate) fn and(self, bytes: &[u8]) -> Self {
        let step = |hash: u128, &byte: &u8| (hash ^ u128::from(byte)).wrapping_mul(Self::PRIME);
        Self(bytes.iter().fold(self.0, step))
    }

    fn parse(text: &str) -> Option<Self> {
        (text.len() == 32)
            .then(|| u128::from_str_radix(text, 16).ok().map(Self))
            .flatten()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The content of `shaders/spv/MANIFEST`.
///
/// It names the compiler that produced the SPIR-V, and for each shader the hashes of the input and
/// of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) compiler: String,
    /// By shader name: the source hash, then the output hash.
    pub(crate) shaders: BTreeMap<String, (Hash, Hash)>,
}

impl Manifest {
    pub(crate) fn read(dir: &Path) -> Result<Self, ShaderError> {
        let file = "spv/MANIFEST";
        if !dir.join(file).exists() {
            return Err(ShaderError::NoManifest);
        }
        Self::parse(&super::read_text(dir, file)?)
    }

    fn parse(text: &str) -> Result<Self, ShaderError> {
        let mut compiler = None;
        let mut shaders = BTreeMap::new();
        for (index, text) in text.lines().enumerate() {
            let bad = |why| ShaderError::Manifest {
                line: index + 1,
                why,
            };
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            if let Some(name) = text.strip_prefix("compiler: ") {
                compiler = Some(name.to_owned());
                continue;
            }
            let mut parts = text.split(' ');
            let (Some(source), Some(output), Some(name), None) =
                (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return Err(bad("a line is a source hash, an output hash and a name"));
            };
            let (Some(source), Some(output)) = (Hash::parse(source), Hash::parse(output)) else {
                return Err(bad("a hash is 32 hexadecimal digits"));
            };
            if shaders.insert(name.to_owned(), (source, output)).is_some() {
                return Err(bad("this name stands in an earlier line, too"));
            }
        }
        let compiler = compiler.ok_or(ShaderError::Manifest {
            line: 1,
            why: "there is no line `compiler: …`",
        })?;
        Ok(Self { compiler, shaders })
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Written by scripts/compile-shaders, checked by build.rs. FNV-1a of 128 bits over"
        )?;
        writeln!(
            f,
            "# the flags and the source with its includes, then over the SPIR-V, then the name."
        )?;
        writeln!(f, "# flags: {FLAGS}")?;
        writeln!(f, "compiler: {}", self.compiler)?;
        for (name, (source, output)) in &self.shaders {
            writeln!(f, "{source} {output} {name}")?;
        }
        Ok(())
    }
}
