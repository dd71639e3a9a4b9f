//! `tackroom resume`: back into a session with its own program.

use super::output::{self, Failure, plain};
use super::{FAILED, LookArgs, live, own_config, reference};
use crate::platform::exec;
use crate::protocol::{Entry, Harness, Relation, Resume, State};
use crate::service::Local;
use clap::Args;
use std::path::Path;
use std::process::{Command, ExitCode};

#[derive(Args)]
pub(super) struct ResumeArgs {
    /// Session: an id, its first 4 or more characters, a name, or words of its title
    id: String,
    /// Print the command for a POSIX shell instead of running it
    #[arg(long)]
    print: bool,
    /// Resume even a live session, without asking
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    look: LookArgs,
}

pub(super) fn run(args: &ResumeArgs) -> Result<ExitCode, Failure> {
    let local = Local::new(own_config(&args.look))?;
    let entry = reference::find_to_act(&local, &args.id)?;
    let resume = entry.resume.as_ref().ok_or_else(|| Failure::new(FAILED, why_not(&entry)))?;
    if args.print {
        output::write(&(command_line(resume) + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if entry.state != State::Persisted && !args.force {
        let already = live::already(&entry);
        if !output::confirms(&format!("{already}\nTwo programs would write to the same session. Resume it anyway?"))? {
            return Err(Failure::new(FAILED, format!("{already}; use --force to resume it anyway")));
        }
    }
    start(&entry, resume)
}

/// Why an entry cannot be resumed, and what can be done instead.
fn why_not(entry: &Entry) -> String {
    let id = plain(&entry.id);
    let name = entry.harness.name();
    match &entry.parent {
        parent if entry.harness == Harness::Orchestrator => {
            match parent.as_ref().and_then(|parent| parent.session_id.as_deref()) {
                Some(worker) => {
                    format!("{id} is a record of another program's session: run `tackroom resume {}`", plain(worker))
                }
                None => format!("{id} has no session yet"),
            }
        }
        Some(parent) if parent.relation == Relation::Subagent => match &parent.session_id {
            Some(parent) => {
                let parent = plain(parent);
                format!("{id} is a subagent and continues only with its parent: run `tackroom resume {parent}`")
            }
            None => format!("{id} is a subagent and continues only with its parent"),
        },
        _ if entry.runtime_id.is_some() => live::already(entry),
        _ if entry.location.is_none() => {
            format!("{id} is running and has written nothing yet; go to the terminal that it runs in")
        }
        _ if entry.harness == Harness::Gemini && entry.workspace.is_none() => {
            format!("{id} opens only in its own directory, which is unknown")
        }
        _ => format!("{id} has a format that {name} no longer opens"),
    }
}

fn start(entry: &Entry, resume: &Resume) -> Result<ExitCode, Failure> {
    let [program, arguments @ ..] = resume.argv.as_slice() else {
        return Err(Failure::new(FAILED, why_not(entry)));
    };
    let mut command = Command::new(program);
    command.args(arguments).envs(resume.env.iter().flatten());
    if let Some(directory) = &resume.cwd {
        if !Path::new(directory).is_dir() {
            let directory = plain(directory);
            let message = format!("the session's directory {directory} does not exist; create it, or use --print");
            return Err(Failure::new(FAILED, message));
        }
        command.current_dir(directory);
    }
    exec::become_program(&mut command).map_err(|error| {
        let what = match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("is not in PATH; install {}, or use --print", entry.harness.name())
            }
            _ => format!("cannot be run: {error}"),
        };
        Failure::new(FAILED, format!("`{}` {what}", plain(program)))
    })
}

/// The same as a line for a POSIX shell.
fn command_line(resume: &Resume) -> String {
    let directory = resume.cwd.iter().map(|cwd| format!("cd {} &&", quoted(cwd)));
    let variables = resume.env.iter().flatten().map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = resume.argv.iter().map(|word| quoted(word));
    directory.chain(variables).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a POSIX shell reads it back. What could act on a terminal or reorder its line stands as an octal escape
/// that `printf` undoes. A command substitution drops line ends at its end, so these stand behind it.
fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    if plain(word) == word {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let text = word.trim_end_matches('\n');
    let escaped: String = text.chars().enumerate().map(|(at, c)| printed(at, c)).collect();
    let ends = &word[text.len()..];
    let ends = if ends.is_empty() { String::new() } else { format!("'{ends}'") };
    format!("\"$(printf '{escaped}')\"{ends}")
}

/// A character in the single-quoted format of `printf`, which could take a `-` at its start for an option.
fn printed(at: usize, c: char) -> String {
    let octal = || c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\{byte:03o}")).collect();
    match c {
        '%' => "%%".to_owned(),
        '\\' => r"\\".to_owned(),
        '\'' => octal(),
        '-' if at == 0 => octal(),
        c if plain(c.encode_utf8(&mut [0; 4])) == c.to_string() => c.to_string(),
        _ => octal(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_every_word() {
        assert_eq!(quoted("/home/dev/x"), "/home/dev/x");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted("~/x"), "'~/x'");
        assert_eq!(quoted("a=b"), "'a=b'");
    }

    #[test]
    fn direction_marks_and_control_characters_are_escaped_and_a_shell_reads_them_back() {
        assert_eq!(quoted("/w/\u{202e}x"), r#""$(printf '/w/\342\200\256x')""#);
        for word in
            ["/w/\u{202e}cod\u{2066}", "-n\u{200b}%s\\it's $HOME", "\x1b[31m\ttab", "a\nb\n\n", "\n", "\u{feff}é"]
        {
            let said = quoted(word);
            assert_eq!(plain(said.trim_end_matches(['\'', '\n'])), said.trim_end_matches(['\'', '\n']), "{word:?}");
            let shell = Command::new("sh").arg("-c").arg(format!("printf %s {said}")).output().unwrap();
            assert_eq!(String::from_utf8(shell.stdout).unwrap(), word);
        }
    }
}
