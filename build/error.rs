//! Errors about shaders and their SPIR-V, as sentences.

use std::fmt;
use std::io;

use super::manifest::Hash;

/// A problem with the shaders or their SPIR-V. Its text is a sentence.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum ShaderError {
    /// A file or folder could not be read or written.
    Io { path: String, source: io::Error },
    /// A file name cannot be converted to the name of a Rust constant.
    BadName { shader: String },
    /// An include is neither beside the file that names it nor in the shader folder.
    MissingInclude {
        file: String,
        line: usize,
        include: String,
    },
    /// Includes nest too deeply, most likely in a cycle.
    DeepInclude { file: String, depth: usize },
    /// There is no `MANIFEST`.
    NoManifest,
    /// `MANIFEST` cannot be parsed.
    Manifest { line: usize, why: &'static str },
    /// The SPIR-V was built from another source, include or set of flags.
    Stale { shader: String },
    /// A source has no line in `MANIFEST`.
    Unlisted { shader: String },
    /// A line in `MANIFEST` has no SPIR-V.
    Missing { shader: String },
    /// The SPIR-V differs from the one that `MANIFEST` records.
    Altered {
        shader: String,
        found: Hash,
        recorded: Hash,
    },
    /// The file is not a SPIR-V module.
    NotSpirv { shader: String, bytes: usize },
    /// A SPIR-V file or a line in `MANIFEST` has no source.
    Orphan { what: String },
    /// The compiler rejected the source. The text is the compiler's.
    #[cfg(feature = "shaderc")]
    Compile { messages: String },
    /// A comparison with the committed output failed.
    #[cfg(feature = "shaderc")]
    Differs { shader: String, compiler: String },
    /// The environment requests something impossible.
    Setting { why: &'static str },
}

/// Advice for most errors of this module.
const REMEDY: &str = "run scripts/compile-shaders";

impl fmt::Display for ShaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "{path}: {source}"),
            Self::BadName { shader } => {
                write!(
                    f,
                    "shaders/{shader}: a shader's name is made of a-z, 0-9 and _, and starts with a letter"
                )
            }
            Self::MissingInclude {
                file,
                line,
                include,
            } => {
                write!(
                    f,
                    "shaders/{file}:{line}: there is no \"{include}\" beside it or in shaders/"
                )
            }
            Self::DeepInclude { file, depth } => {
                write!(
                    f,
                    "shaders/{file}: includes nest {depth} deep; does it include itself?"
                )
            }
            Self::NoManifest => write!(f, "there is no shaders/spv/MANIFEST; {REMEDY}"),
            Self::Manifest { line, why } => {
                write!(f, "shaders/spv/MANIFEST:{line}: {why}; {REMEDY}")
            }
            Self::Stale { shader } => {
                write!(
                    f,
                    "shaders/{shader} is stale: its SPIR-V was made from other text or flags; {REMEDY}"
                )
            }
            Self::Unlisted { shader } => {
                write!(
                    f,
                    "shaders/{shader} is not in shaders/spv/MANIFEST: it was never compiled; {REMEDY}"
                )
            }
            Self::Missing { shader } => {
                write!(f, "shaders/spv/{shader}.spv is missing; {REMEDY}")
            }
            Self::Altered {
                shader,
                found,
                recorded,
            } => write!(
                f,
                "shaders/spv/{shader}.spv has the hash {found}, but shaders/spv/MANIFEST records {recorded}; {REMEDY}"
            ),
            Self::NotSpirv { shader, bytes } => {
                write!(
                    f,
                    "shaders/spv/{shader}.spv ({bytes} bytes) is not a SPIR-V module; {REMEDY}"
                )
            }
            Self::Orphan { what } => {
                write!(
                    f,
                    "{what} has no source in shaders/; {REMEDY}, which removes it"
                )
            }
            #[cfg(feature = "shaderc")]
            Self::Compile { messages } => f.write_str(messages.trim_end()),
            #[cfg(feature = "shaderc")]
            Self::Differs { shader, compiler } => write!(
                f,
                "shaders/spv/{shader}.spv is not what {compiler} makes of shaders/{shader}; {REMEDY}"
            ),
            Self::Setting { why } => f.write_str(why),
        }
    }
}

impl std::error::Error for ShaderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Adds the file, relative to the shader folder, to an error of the file system.
pub(crate) fn io_error(file: &str) -> impl FnOnce(io::Error) -> ShaderError {
    move |source| ShaderError::Io {
        path: format!("shaders/{file}"),
        source,
    }
}
