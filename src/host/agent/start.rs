//! From a program to an agent in a session, and what it does from then on.

use super::answer::Answer;
use super::facts::{called, harness};
use super::history::History;
use super::message::value;
use super::process::Process;
use super::session::{Session, said};
use super::words::short;
use super::{Agent, Ask, Error, Gone, Options, Told};
use crate::limits;
use crate::platform::within::Root;
use crate::protocol::Harness;
use agent_client_protocol_schema::{ProtocolVersion, v1};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;

/// See [`super::start`].
pub(super) async fn start(options: &Options) -> Result<Agent, Error> {
    let workspace = &options.workspace;
    if !workspace.is_absolute() || !workspace.is_dir() {
        return Err(Error::Workspace(workspace.display().to_string()));
    }
    let root = Root::open(workspace).map_err(|_| Error::Workspace(workspace.display().to_string()))?;
    let process = Process::start(&options.command, workspace)?;
    let mut session = Session::new(process, options.clone(), root);
    if let Err(error) = begin(&mut session).await {
        // One that ended needs no more; one that refused may have something to put in order.
        if !matches!(error, Error::Exited { .. }) {
            session.process.close().await;
        }
        return Err(error);
    }
    let (asks, asked) = mpsc::channel(limits::AGENT_ASKS);
    let (tell, told) = mpsc::channel(limits::AGENT_TOLD);
    let history = session.history.take().unwrap_or_default().events();
    let (pid, facts) = (session.process.pid(), session.ready());
    tokio::spawn(run(session, asked, tell));
    Ok(Agent { pid, facts, history, asks, told })
}

async fn begin(session: &mut Session) -> Result<(), Error> {
    let agent = initialize(session).await?;
    match enter(session, &agent.agent_capabilities).await {
        Err(Refusal::Login) => {}
        Err(Refusal::Other(error)) => return Err(error),
        Ok(()) => return Ok(()),
    }
    let needed = |hint: &str| {
        let methods = agent.auth_methods.iter().map(|method| short(method.name())).collect();
        Error::AuthenticationNeeded { methods, hint: hint.to_owned() }
    };
    let Some(method) = unattended(&agent.auth_methods) else {
        return Err(needed("log in with the agent's own program, then start it again"));
    };
    let authenticated = step(session, "authenticate", &v1::AuthenticateRequest::new(method.clone())).await?;
    if let Err(error) = authenticated {
        return Err(needed(&format!("its method {} failed: {}", short(&method.0), said(&error))));
    }
    match enter(session, &agent.agent_capabilities).await {
        Err(Refusal::Login) => Err(needed("log in with the agent's own program, then start it again")),
        Err(Refusal::Other(error)) => Err(error),
        Ok(()) => Ok(()),
    }
}

async fn initialize(session: &mut Session) -> Result<v1::InitializeResponse, Error> {
    // Gemini CLI takes the answer that there is no such file for a failure of its own, and could make no new one.
    session.options.files &= harness(None, &session.options.command) != Some(Harness::Gemini);
    let (files, terminals) = (session.options.files, session.options.terminals);
    let files = v1::FileSystemCapabilities::new().read_text_file(files).write_text_file(files);
    let capabilities = v1::ClientCapabilities::new()
        .fs(files)
        .terminal(terminals)
        .meta(shown())
        .elicitation(v1::ElicitationCapabilities::new().form(v1::ElicitationFormCapabilities::new()));
    let client = v1::Implementation::new("tackroom", env!("CARGO_PKG_VERSION"));
    let request = v1::InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities).client_info(client);
    let method = "initialize";
    let answer = step(session, method, &request).await?.map_err(|error| refused(method, &error))?;
    let version = answer.get("protocolVersion").cloned().unwrap_or_default();
    if version != value(&ProtocolVersion::V1) {
        return Err(Error::Protocol(format!(
            "it speaks version {}, and version 1 is spoken here",
            short(&version.to_string())
        )));
    }
    let unclear = |error: serde_json::Error| Error::Protocol(short(&error.to_string()));
    let agent = v1::InitializeResponse::deserialize(&answer).map_err(unclear)?;
    let (info, command) = (agent.agent_info.as_ref(), &session.options.command);
    let facts = &mut session.known.facts;
    (facts.harness, facts.agent) = (harness(info, command), called(info, command));
    facts.version = info.map(|info| short(&info.version)).filter(|version| !version.is_empty());
    session.can_log_in = !agent.auth_methods.is_empty();
    session.known.facts.images = agent.agent_capabilities.prompt_capabilities.image;
    Ok(agent)
}

/// What is shown of extensions that agents only use where the client declares them: the output of commands in `_meta` (see
/// [`super::tools`]). Codex's adapter has both, Claude Code's the first.
fn shown() -> v1::Meta {
    ["terminal_output", "terminal_output_delta"].into_iter().map(|name| (name.to_owned(), true.into())).collect()
}

/// Why there is no session.
enum Refusal {
    Login,
    Other(Error),
}

/// Makes a session, or goes on with one.
async fn enter(session: &mut Session, can: &v1::AgentCapabilities) -> Result<(), Refusal> {
    let workspace = session.options.workspace.clone();
    let (method, answer) = match session.options.load.clone() {
        None => ("session/new", step(session, "session/new", &v1::NewSessionRequest::new(workspace)).await),
        Some(id) if can.load_session => {
            session.known.facts.session_id.clone_from(&id);
            session.history = Some(History::default());
            ("session/load", step(session, "session/load", &v1::LoadSessionRequest::new(id, workspace)).await)
        }
        Some(id) if can.session_capabilities.resume.is_some() => {
            session.known.facts.session_id.clone_from(&id);
            ("session/resume", step(session, "session/resume", &v1::ResumeSessionRequest::new(id, workspace)).await)
        }
        Some(_) => return Err(Refusal::Other(Error::LoadUnsupported)),
    };
    let answer = match answer.map_err(Refusal::Other)? {
        Ok(answer) => answer,
        Err(error) if session.can_log_in && error.code == v1::ErrorCode::AuthRequired => return Err(Refusal::Login),
        Err(error) => return Err(Refusal::Other(refused(method, &error))),
    };
    if let Some(id) = answer.get("sessionId").and_then(Value::as_str) {
        session.known.facts.session_id = id.to_owned();
    }
    if session.known.facts.session_id.is_empty() {
        return Err(Refusal::Other(Error::Protocol("it made a session without an id".to_owned())));
    }
    session.known.session(&answer);
    if session.history.is_some() {
        settle(session).await.map_err(Refusal::Other)?;
    }
    Ok(())
}

/// Some agents (Gemini CLI) answer first and repeat what was said afterwards.
async fn settle(session: &mut Session) -> Result<(), Error> {
    let settled = async {
        while let Ok(went) = tokio::time::timeout(limits::AGENT_SETTLES, session.go_on()).await {
            went?;
        }
        Ok(())
    };
    match tokio::time::timeout(limits::AGENT_START, settled).await {
        Ok(Err(Gone { how, stderr })) => Err(Error::Exited { how, stderr }),
        // One that does not come to an end is taken as it is.
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}

/// The one way to log in that clearly asks nobody: with a key that the agent has from its settings or its environment.
fn unattended(methods: &[v1::AuthMethod]) -> Option<&v1::AuthMethodId> {
    let takes_key = |method: &&v1::AuthMethod| {
        let id = method.id().0.to_lowercase();
        matches!(method, v1::AuthMethod::Agent(_))
            && ["api-key", "api_key", "apikey"].iter().any(|key| id.contains(key))
    };
    let mut found = methods.iter().filter(takes_key);
    let only = found.next()?;
    found.next().is_none().then(|| only.id())
}

fn refused(method: &'static str, error: &v1::Error) -> Error {
    Error::Refused { method, message: said(error) }
}

/// Asks for a step and waits for its answer.
async fn step(session: &mut Session, method: &'static str, params: &impl Serialize) -> Result<Answer, Error> {
    session.step(method, params);
    let answered = async {
        loop {
            if let Some(answer) = session.stepped.take() {
                return Ok(answer);
            }
            session.go_on().await?;
        }
    };
    let answered: Result<Result<Answer, Gone>, _> = tokio::time::timeout(limits::AGENT_START, answered).await;
    match answered {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(gone)) => Err(Error::Exited { how: gone.how, stderr: gone.stderr }),
        Err(_) => Err(Error::Timeout { method, after: limits::AGENT_START, stderr: session.process.last_words() }),
    }
}

/// Does what the host asks and tells it what happens, until one of them is gone.
async fn run(mut session: Session, mut asks: mpsc::Receiver<Ask>, tell: mpsc::Sender<Told>) {
    let gone = loop {
        tokio::select! {
            room = tell.reserve(), if !session.told.is_empty() => match (room, session.told.pop_front()) {
                (Ok(room), Some(told)) => room.send(told),
                _ => break session.process.close().await,
            },
            () = tell.closed() => break session.process.close().await,
            ask = asks.recv() => match ask {
                Some(ask) => session.ask(ask),
                None => break session.process.close().await,
            },
            went = session.go_on() => if let Err(gone) = went {
                break gone;
            },
        }
    };
    session.ended(gone);
    let told = std::mem::take(&mut session.told);
    // With it goes all that it started.
    drop(session);
    for told in told {
        if tell.send(told).await.is_err() {
            break;
        }
    }
}
