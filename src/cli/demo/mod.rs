//! `tackroom demo`: the real server at work on a built-in sample home, shown message by message.

mod agent;
mod hosted;
mod sample;
mod shown;
mod talk;

pub(super) use agent::run as agent;

use super::output::{self, Colour, Failure, Screen};
use super::{FAILED, words};
use crate::platform::signals::Signals;
use clap::Args;
use sample::Sample;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

#[derive(Args)]
pub(super) struct DemoArgs {}

/// The demo takes a fraction of this.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the demo beside the wait for a signal, so that the sample is removed however it ends.
pub(super) fn run(_: &DemoArgs) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let sample = Sample::unpack(words::now_ms())?;
        let home = sample.home().to_owned();
        let show = tokio::task::spawn_blocking(move || show(&home));
        let result = tokio::select! {
            shown = show => shown?,
            signal = signals.next() => Ok(ExitCode::from(128 + signal)),
            () = tokio::time::sleep(PATIENCE) => Err(Failure::new(FAILED, "the server does not respond; please report this")),
        };
        sample.remove()?;
        result
    });
    // The thread that shows may wait for a terminal, and cannot be cancelled.
    runtime.shutdown_timeout(Duration::ZERO);
    result
}

fn show(home: &Path) -> Result<ExitCode, Failure> {
    let screen = Screen::of_stdout();
    output::write(&format!(
        "A sample home with sessions of two programs is in {} for as long as this runs.\n\
         What follows is the conversation of a client with the real server, answers shortened.\n",
        home.display()
    ))?;
    talk::talk(home, &screen)?;
    hosted::show(home, &screen)?;
    let heading = "The same for people: `tackroom list`";
    output::write(&format!("\n{}\n\n", screen.paint(heading, Colour::Bold)))?;
    let mut list = tackroom(home)?;
    list.arg("list").envs(["TERM", "NO_COLOR"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    if !list.status()?.success() {
        return Err(Failure::new(FAILED, "`tackroom list` failed"));
    }
    output::write(
        "\nNext, with your own sessions: run `tackroom list`, or `tackroom doctor` to see where it looks.\n",
    )?;
    Ok(ExitCode::SUCCESS)
}

/// This program again, at home in the sample: of the environment it gets nothing else, so it can see nothing else.
fn tackroom(home: &Path) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env_clear().env("HOME", home);
    Ok(command)
}
