//! `tackroom resume`: back into a session with its own program.

use super::named::find;
use super::output::{self, Failure, note, plain};
use super::{FAILED, LookArgs, own_config};
use crate::platform::exec;
use crate::protocol::{Entry, Harness, Relation, Resume, State};
use crate::service::Local;
use clap::Args;
use std::path::Path;
use std::process::{Command, ExitCode};

#[derive(Args)]
pub struct ResumeArgs {
    /// An entry's id, a session's id, or the beginning of one (4 characters or more) that only one has
    id: String,
    /// Print the command for a POSIX shell instead of running it
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    look: LookArgs,
}

pub fn run(args: &ResumeArgs) -> Result<ExitCode, Failure> {
    let local = Local::new(own_config(&args.look))?;
    let entry = find(&local, &args.id)?;
    let resume = entry.resume.as_ref().ok_or_else(|| Failure::new(FAILED, why_not(&entry)))?;
    if args.print {
        output::write(&(command_line(resume) + "\n"))?;
        return Ok(ExitCode::SUCCESS);
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
                    format!("{id} leads to a session of another program: `tackroom resume {}`", plain(worker))
                }
                None => format!("{id} leads to no session yet"),
            }
        }
        Some(parent) if parent.relation == Relation::Subagent => match &parent.session_id {
            Some(parent) => {
                let parent = plain(parent);
                format!("{id} is a subagent and goes on only with its session: `tackroom resume {parent}`")
            }
            None => format!("{id} is a subagent and goes on only with its session"),
        },
        _ if entry.location.is_none() => {
            format!("{id} is running and has written nothing yet; go to the terminal that it runs in")
        }
        _ if entry.harness == Harness::Gemini && entry.workspace.is_none() => {
            format!("{id} is opened only in its directory, and nothing here says which that is")
        }
        _ => format!("{id} is of a format that {name} itself does not open any more"),
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
            let message =
                format!("the session works in {directory}, which is not there; make it again, or use --print");
            return Err(Failure::new(FAILED, message));
        }
        command.current_dir(directory);
    }
    if entry.state != State::Persisted {
        let pid = entry.activity.as_ref().and_then(|activity| activity.pid);
        let who = pid.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
        note(&format!("tackroom: {who} has this session open already"));
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

fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
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
}
