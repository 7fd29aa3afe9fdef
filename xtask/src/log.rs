//! Output of commands, shown and kept, and the counts of `cargo test`.

use crate::result::Result;
use std::fs::File;
use std::io::{BufRead, BufReader, Write, pipe};
use std::path::Path;
use std::process::Command;
use xshell::Cmd;

/// Runs a command, shows its output line by line, and appends it to a file. Returns the output.
pub(crate) fn tee(command: Cmd<'_>, file: &Path) -> Result<String> {
    let name = command.to_string();
    println!("$ {name}");
    let (reader, writer) = pipe()?;
    let mut command = Command::from(command);
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The writing ends in this process, without which the reader would never end.
    drop(command);
    let mut kept = File::options().create(true).append(true).open(file)?;
    let mut all = String::new();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        std::io::stdout().write_all(&line)?;
        kept.write_all(&line)?;
        all.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{name}: {status}").into());
    }
    Ok(all)
}

/// Prints the counts of `cargo test` in a log, each after the program that it belongs to.
pub(crate) fn print_test_counts(file: &Path) {
    let Ok(log) = std::fs::read_to_string(file) else {
        return;
    };
    let mut name = "";
    let mut sums = [0; 3];
    for line in log.lines() {
        let trimmed = line.trim_start();
        if let Some(rest) = ["Running ", "Doc-tests "]
            .iter()
            .find_map(|it| trimmed.strip_prefix(it))
        {
            name = rest;
        }
        let Some(result) = line.strip_prefix("test result: ") else {
            continue;
        };
        println!("  {name}: {result}");
        for (sum, count) in sums.iter_mut().zip(counts(result)) {
            *sum += count;
        }
    }
    let [passed, failed, ignored] = sums;
    println!("cargo test: {passed} passed, {failed} failed, {ignored} ignored");
}

/// Counts of tests that passed, failed and were ignored, in a line such as
/// `ok. 3 passed; 0 failed; 1 ignored; …`.
fn counts(result: &str) -> [u64; 3] {
    ["passed", "failed", "ignored"].map(|word| {
        let (before, _) = result.split_once(&format!(" {word}")).unwrap_or_default();
        let number = before.rsplit(' ').next().unwrap_or_default();
        number.parse().unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        let line = "FAILED. 12 passed; 3 failed; 4 ignored; 0 measured; 5 filtered out";
        assert_eq!(counts(line), [12, 3, 4]);
        assert_eq!(counts(""), [0, 0, 0]);
    }
}
