//! `throng man`: man pages.

use crate::failure::Failure;
use crate::output;
use crate::words::shown;
use clap_mangen::Man;
use std::io::Write;
use std::path::PathBuf;

/// Print the man page, or write one for each subcommand.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  throng man | man -l -                     read it
  throng man ~/.local/share/man/man1        install throng.1, throng-inspect.1, ...")]
pub(crate) struct Args {
    /// The folder to write the pages to. Without it, the main page goes to the standard output.
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print errors only, not the names of the files that are written.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

pub(crate) fn run(
    args: &Args,
    mut command: clap::Command,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    command.build();
    let Some(folder) = &args.folder else {
        return Ok(out.write_all(&page(command)?)?);
    };
    let subcommands: Vec<_> = command.get_subcommands().cloned().collect();
    let mut pages = vec![("throng.1".to_owned(), page(command)?)];
    for subcommand in subcommands
        .into_iter()
        .filter(|one| one.get_name() != "help")
    {
        let name = format!("throng-{}", subcommand.get_name());
        pages.push((format!("{name}.1"), page(subcommand)?));
    }
    for (name, page) in pages {
        let path = folder.join(name);
        output::check(&path, &[], &[])?;
        output::save(&path, &page, out)?;
        if !args.quiet {
            writeln!(out, "wrote {}", shown(&path))?;
        }
    }
    Ok(())
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
