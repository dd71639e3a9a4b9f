//! `tackroom doctor`: where was looked, what was found, what was passed over and why.

use super::output::{self, Colour, Failure, Screen, plain};
use super::{LookArgs, own_config, words};
use crate::harness::{Homes, store_of};
use crate::protocol::{
    CoverageParams, Empty, Harness, HarnessCoverage, ListParams, Problem, RootCoverage, RootOrigin, Skipped,
};
use crate::service::Local;
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct DoctorArgs {
    /// List every skipped file, not only the first few per reason
    #[arg(long)]
    verbose: bool,
    /// Print the result of `registry/coverage`, the problems and the number of live peers as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: LookArgs,
}

/// Paths that are named of each reason.
const NAMED: usize = 3;

/// All that is told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Findings {
    version: &'static str,
    harnesses: Vec<HarnessCoverage>,
    live_peers: usize,
    problems: Vec<Problem>,
}

pub(super) fn run(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let local = Local::new(own_config(&args.look))?;
    let findings = Findings {
        version: env!("CARGO_PKG_VERSION"),
        harnesses: local.coverage(CoverageParams::default())?.harnesses,
        live_peers: local.peers(Empty {})?.peers.len(),
        problems: local.list(ListParams { limit: Some(0), ..ListParams::default() })?.problems,
    };
    if args.json {
        output::write_json(&findings)?;
    } else {
        let named = if args.verbose { usize::MAX } else { NAMED };
        output::write(&report(&findings, named, words::home().as_deref(), &Screen::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(findings: &Findings, named: usize, home: Option<&str>, screen: &Screen) -> String {
    let mut text = format!("tackroom {} on {}\n", findings.version, std::env::consts::OS);
    for harness in &findings.harnesses {
        let name = screen.paint(harness.id.name(), Colour::Bold);
        text.push_str(&format!("\n{name}\n"));
        if harness.roots.is_empty() {
            text.push_str(match store_of(harness.id) {
                Some(_) => "  nowhere to look: HOME is not set; add a location with --root\n",
                None => "  no store: these agents appear while `tackroom host` runs them\n",
            });
        }
        for root in &harness.roots {
            text.push_str(&of_root(harness.id, root, named, home));
        }
    }
    text.push('\n');
    text.push_str(&match findings.live_peers {
        0 => "No Claude Code session is running.\n".to_owned(),
        live => format!("Claude Code is running {}; see `tackroom peers`.\n", words::count(live, "session")),
    });
    if findings.problems.is_empty() {
        text.push_str("Everything found could be read.\n");
        return text;
    }
    let problems = words::count(findings.problems.len(), "problem");
    text.push_str(&format!("{}\n", screen.paint(&problems, Colour::Alert)));
    for problem in &findings.problems {
        let what = problem.path.as_deref().map(|path| words::path(path, home)).or_else(|| problem.id.clone());
        let what = what.unwrap_or_else(|| problem.reason.clone());
        text.push_str(&format!("  {}: {}\n", plain(&what), plain(&problem.message)));
    }
    text
}

fn of_root(harness: Harness, root: &RootCoverage, named: usize, home: Option<&str>) -> String {
    let path = plain(&words::path(&root.path, home));
    let mut text = format!("  {path}  ({})\n", origin(harness, root.origin));
    if !root.exists {
        text.push_str("    does not exist\n");
        return text;
    }
    let files = words::count(root.files.unwrap_or_default(), "file");
    let sessions = words::count(root.sessions.unwrap_or_default(), "session");
    text.push_str(&format!("    {files}, {sessions}\n"));
    for (reason, skipped) in by_reason(root.skipped.as_deref().unwrap_or_default()) {
        text.push_str(&format!("    {} skipped: {}\n", skipped.len(), plain(reason)));
        for skip in skipped.iter().take(named) {
            let below = skip.path.strip_prefix(&root.path).map(|path| path.trim_start_matches(std::path::is_separator));
            text.push_str(&format!("      {}\n", plain(below.unwrap_or(&skip.path))));
        }
        if skipped.len() > named {
            text.push_str(&format!("      and {} more; --verbose lists them\n", skipped.len() - named));
        }
    }
    if root.truncated == Some(true) {
        text.push_str("    there is more than Tackroom reads\n");
    }
    text
}

fn origin(harness: Harness, origin: RootOrigin) -> String {
    match origin {
        RootOrigin::Default => "default".to_owned(),
        RootOrigin::Environment => Homes::variables(harness).join(", "),
        RootOrigin::Flag => "--root".to_owned(),
        RootOrigin::Client => "named by the client".to_owned(),
    }
}

/// What was passed over for each reason, the most frequent first.
fn by_reason(skipped: &[Skipped]) -> Vec<(&str, Vec<&Skipped>)> {
    let mut groups: Vec<(&str, Vec<&Skipped>)> = Vec::new();
    for skip in skipped {
        match groups.iter_mut().find(|(reason, _)| *reason == skip.reason) {
            Some((_, group)) => group.push(skip),
            None => groups.push((&skip.reason, vec![skip])),
        }
    }
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.len()));
    groups
}
