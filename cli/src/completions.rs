//! `throng completions`: scripts for shells.

use crate::failure::Failure;
use clap_complete::Shell;
use std::io::Write;

/// Print the completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  throng completions bash > ~/.local/share/bash-completion/completions/throng
  throng completions zsh > ~/.zfunc/_throng
  throng completions fish > ~/.config/fish/completions/throng.fish")]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(
    args: &Args,
    mut command: clap::Command,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    // To memory first, because the generator panics if its output cannot be written.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "throng", &mut text);
    Ok(out.write_all(&text)?)
}
