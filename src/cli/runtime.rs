//! `tackroom runtime`: what can be asked of live runtimes, one step at a time.

use super::output::{self, Failure, Screen, note, plain};
use super::table::{Cell, Column, Give, render};
use super::{FAILED, LookArgs, NOT_FOUND, USAGE, live, own_config, words};
use crate::protocol::{
    AttachParams, AttachmentParams, DiscoverParams, Empty, Entry, ForgetParams, Harness, ListParams, Notification,
    Permission, Query, ReceiptsResult, RpcError, RuntimeDescribeParams, RuntimeEventParams, Source, SubmitParams,
};
use crate::service::{Local, User};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::sync::mpsc::Receiver;

#[derive(Args)]
pub(super) struct RuntimeArgs {
    #[command(subcommand)]
    command: Command,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    look: LookArgs,
}

/// A runtime is named as for `tackroom attach`.
#[derive(Subcommand)]
enum Command {
    /// List published runtimes, without contacting them
    Receipts,
    /// Print the endpoint of the newest runtime of a session that responds
    Discover {
        /// The program that owns the session
        harness: Harness,
        /// The session's own id
        session: String,
        /// The directory that it works in
        #[arg(long, value_name = "DIR", default_value = ".")]
        workspace: PathBuf,
    },
    /// Show what a runtime reports about itself; --json shows all of it
    Describe { id: String },
    /// Show the controller and the observers of a runtime
    Lease { id: String },
    /// Remove the receipt of a runtime that does not respond
    Forget {
        id: String,
        /// Remove it even if its process is alive
        #[arg(long)]
        force: bool,
    },
    /// Stop the running turn
    Interrupt {
        id: String,
        /// Take control, even from another client
        #[arg(long)]
        take: bool,
    },
    /// Close a runtime for all clients
    Close { id: String },
    /// Run a turn and print its reply. Requests for approval are denied
    Submit {
        id: String,
        /// Prompt. Read from stdin if absent
        prompt: Option<String>,
        /// Take control, even from another client
        #[arg(long)]
        take: bool,
    },
}

pub(super) fn run(args: &RuntimeArgs) -> Result<ExitCode, Failure> {
    let mut local = Local::new(own_config(&args.look))?;
    let (answer, text) = match &args.command {
        Command::Receipts => receipts(&local)?,
        Command::Discover { harness, session, workspace } => discover(&local, *harness, session, workspace)?,
        Command::Describe { id } => describe(&local, id)?,
        Command::Lease { id } => lease(&local, id)?,
        Command::Forget { id, force } => forget(&local, id, *force)?,
        Command::Interrupt { id, take } => interrupt(&mut local, id, *take)?,
        Command::Close { id } => close(&mut local, id)?,
        Command::Submit { id, prompt, take } => submit(&mut local, id, prompt.as_deref(), *take)?,
    };
    match args.json {
        true => output::write_json(&answer)?,
        false => output::write(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What is printed as JSON, and what for a person.
type Told = Result<(Value, String), Failure>;

const COLUMNS: &[Column] = &[
    Column("RUNTIME", Give::Nothing),
    Column("HARNESS", Give::Nothing),
    Column("SESSION", Give::Nothing),
    Column("PID", Give::Nothing),
    Column("AGE", Give::Nothing),
    Column("WORKSPACE", Give::Start),
];

fn receipts(local: &Local) -> Told {
    let found: ReceiptsResult = local.wait(local.user().receipts(Empty {})).map_err(live::failure)?;
    if found.receipts.is_empty() {
        note("No runtimes are published.");
    }
    for problem in &found.problems {
        let what = problem.path.as_deref().or(problem.endpoint.as_deref()).unwrap_or(&problem.reason);
        note(&format!("{}: {}", plain(what), plain(&problem.message)));
    }
    let (now, home) = (words::now_ms(), words::home());
    let row = |receipt: &crate::protocol::Receipt| {
        vec![
            Cell::new(&receipt.runtime_id),
            Cell::new(receipt.source.harness.id()),
            Cell::new(&receipt.source.session_id),
            Cell::new(&receipt.pid.to_string()),
            Cell::new(&words::age(now, i64::try_from(receipt.created_at_ms).ok())),
            Cell::new(&words::path(&receipt.source.workspace, home.as_deref())),
        ]
    };
    let rows: Vec<Vec<Cell>> = found.receipts.iter().map(row).collect();
    let text = if rows.is_empty() { String::new() } else { render(COLUMNS, &rows, &Screen::of_stdout()) };
    Ok((serde_json::to_value(found)?, text))
}

fn discover(local: &Local, harness: Harness, session: &str, workspace: &std::path::Path) -> Told {
    let workspace = std::path::absolute(workspace)?.display().to_string();
    let source = Source { harness, session_id: session.to_owned(), workspace };
    let found = local.wait(local.user().discover(DiscoverParams { source })).map_err(live::failure)?;
    match &found.endpoint {
        Some(endpoint) => Ok((json!(found), format!("{endpoint}\n"))),
        None => Err(Failure::new(NOT_FOUND, "no runtime of this session in this directory responds")),
    }
}

fn describe(local: &Local, id: &str) -> Told {
    let receipt = live::find(local, id)?;
    let params = RuntimeDescribeParams { runtime_id: Some(receipt.runtime_id), ..RuntimeDescribeParams::default() };
    let found = local.wait(local.user().describe_runtime(params)).map_err(live::failure)?;
    let told: Value = serde_json::from_str(found.descriptor.get())?;
    let mut text = String::new();
    for (name, member) in told.as_object().into_iter().flatten() {
        let named = member.as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
        let shown = member.as_str().map_or_else(|| named.collect::<Vec<_>>().join(", "), str::to_owned);
        if !shown.is_empty() {
            text.push_str(&format!("{}: {}\n", plain(name), plain(&shown)));
        }
    }
    Ok((json!(found), text))
}

/// Who drives is known from the probe, which is no observer itself.
fn lease(local: &Local, id: &str) -> Told {
    let receipt = live::find(local, id)?;
    let query = Query { persisted: Some(false), ..Query::default() };
    let found = local.list(ListParams { query: Some(query), cursor: None, limit: Some(i64::MAX) })?;
    let is_meant = |entry: &Entry| entry.endpoint.as_ref() == Some(&receipt.endpoint);
    let entry = found.entries.into_iter().find(is_meant);
    let known = entry.and_then(|entry| Some((entry.owner.and_then(|owner| owner.controller), entry.observers?)));
    let (controller, observers) = known
        .ok_or_else(|| Failure::new(FAILED, "the runtime does not respond, or another runtime has the same id"))?;
    let mut text = match &controller {
        Some(controller) => format!("{} has control\n", plain(&controller.client_id)),
        None => "no client has control\n".to_owned(),
    };
    for observer in &observers {
        let age = words::age(words::now_ms(), i64::try_from(observer.last_seen_ms).ok());
        text.push_str(&format!("{} observes, last seen {age} ago\n", plain(&observer.client_id)));
    }
    let mut answer = json!({ "observers": observers });
    if let Some(controller) = controller {
        answer["controller"] = json!(controller);
    }
    Ok((answer, text))
}

fn forget(local: &Local, id: &str, force: bool) -> Told {
    let endpoint = live::find(local, id)?.endpoint.to_string();
    let text = format!("removed the receipt {endpoint}; its process was not touched\n");
    let params = ForgetParams { endpoint, force: Some(force) };
    let found = local.wait(local.user().forget(params)).map_err(live::failure)?;
    Ok((json!(found), if found.removed { text } else { "the receipt was already removed\n".to_owned() }))
}

fn interrupt(local: &mut Local, id: &str, take: bool) -> Told {
    let found = joined(local, id, take, async |user, own, _| user.interrupt(own).await)?;
    let text = if found.interrupted { "interrupted the turn\n" } else { "no turn is running\n" };
    Ok((json!(found), text.to_owned()))
}

fn close(local: &mut Local, id: &str) -> Told {
    let name = live::find(local, id)?.runtime_id;
    let found = joined(local, id, false, async |user, own, _| user.close(own).await)?;
    Ok((json!(found), format!("closed the runtime {} for all clients\n", plain(&name))))
}

fn submit(local: &mut Local, id: &str, prompt: Option<&str>, take: bool) -> Told {
    let prompt = match prompt {
        Some(prompt) => prompt.to_owned(),
        None if std::io::stdin().is_terminal() => {
            return Err(Failure::new(USAGE, "give a prompt as an argument or on stdin"));
        }
        None => {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            text
        }
    };
    let found = joined(local, id, take, async |user, own, told| {
        let params = SubmitParams { attachment: own.attachment, prompt, images: None };
        tokio::select! {
            answer = user.submit(params) => answer,
            never = deny(&user, told) => match never {},
        }
    })?;
    let text = format!("{}\n", found.reply.lines().map(plain).collect::<Vec<_>>().join("\n"));
    Ok((json!(found), text))
}

/// Denies what is asked: nobody is here to be asked.
async fn deny(user: &User, mut told: Receiver<Notification>) -> std::convert::Infallible {
    while let Some(told) = told.recv().await {
        let Ok(RuntimeEventParams { attachment, event }) = serde_json::from_str(told.params.get()) else { continue };
        if event.kind == "request"
            && let Some(response) = super::attach::refusal(&event)
        {
            note("tackroom: the agent's request is denied: nobody can answer it here");
            // Where this fails somebody else has answered, or the turn waits for who can.
            let _ = user.respond(crate::protocol::RespondParams { attachment, response }).await;
        }
    }
    std::future::pending().await
}

/// Joins a runtime for one step, and leaves it.
fn joined<R>(
    local: &mut Local,
    id: &str,
    take: bool,
    step: impl AsyncFnOnce(User, AttachmentParams, Receiver<Notification>) -> Result<R, RpcError>,
) -> Result<R, Failure> {
    let told = local.notifications().ok_or_else(|| Failure::new(FAILED, "attached already"))?;
    let permissions = vec![Permission::Observe, Permission::Interact, Permission::Approve, Permission::Terminate];
    let params = AttachParams {
        history_limit: Some(0),
        permissions: Some(permissions),
        ..live::joining(&live::find(local, id)?)
    };
    let user = local.user();
    local
        .wait(async {
            let own = AttachmentParams { attachment: user.attach(params).await?.attachment };
            let done = match take.then(|| user.take_control(own.clone())) {
                Some(taken) => taken.await.err(),
                None => None,
            };
            let answer = match done {
                Some(error) => Err(error),
                None => step(user.clone(), own.clone(), told).await,
            };
            // Who cannot be reached needs no farewell.
            let _ = user.detach(own).await;
            answer
        })
        .map_err(live::failure)
}
