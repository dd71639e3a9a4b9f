//! A hosted agent, as its host meets it: an agent's process behind `tackroom::host::agent`.

mod ends;
mod files;
mod permissions;
mod start;
mod terminals;
mod turns;

use crate::support::DEADLINE;
use crate::support::agent::{Setup, command};
use serde_json::Value;
use std::path::Path;
use tackroom::host::agent::{
    Agent, Approval, Ask, Elicitation, Error, Event, Gone, Options, Prompt, Told, TurnEnd, start,
};
use tempfile::TempDir;
use tokio::time::timeout;

/// An agent in a workspace of its own.
struct Hosted {
    agent: Agent,
    home: TempDir,
}

/// Waits, but not for ever.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(DEADLINE, what).await.expect("it should have happened by now")
}

fn options(setup: &Setup, workspace: &Path) -> Options {
    Options {
        command: command(setup),
        workspace: workspace.canonicalize().expect("a directory"),
        load: None,
        files: true,
        terminals: true,
    }
}

impl Hosted {
    async fn start(setup: Setup) -> Self {
        Self::start_with(setup, |_| {}).await.expect("an agent")
    }

    async fn start_with(setup: Setup, change: impl FnOnce(&mut Options)) -> Result<Self, Error> {
        let home = tempfile::tempdir().expect("a directory");
        let workspace = home.path().join("workspace");
        std::fs::create_dir(&workspace).expect("a directory");
        let mut options = options(&setup, &workspace);
        change(&mut options);
        let mut hosted = Self { agent: soon(start(&options)).await?, home };
        if options.load.is_none() {
            // What is told of a new session before anything is asked.
            assert_eq!(event(hosted.told().await).expect("an event").payload["kind"], "available_commands_update");
        }
        Ok(hosted)
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.home.path().canonicalize().expect("a directory").join("workspace")
    }

    async fn ask(&self, ask: Ask) {
        soon(self.agent.asks.send(ask)).await.expect("an agent that is there");
    }

    async fn prompt(&self, text: &str) {
        self.ask(Ask::Prompt(Prompt { text: text.to_owned(), images: vec![] })).await;
    }

    async fn told(&mut self) -> Told {
        soon(self.agent.told.recv()).await.expect("more is told")
    }

    /// What is told until the turn ends, and how it does.
    async fn rest(&mut self) -> (Vec<Told>, TurnEnd) {
        let mut all = Vec::new();
        loop {
            match self.told().await {
                Told::TurnEnded(end) => return (all, end),
                told => all.push(told),
            }
        }
    }

    /// The events of a whole turn that ends as it should.
    async fn turn(&mut self, text: &str) -> Vec<Event> {
        self.prompt(text).await;
        let (all, end) = self.rest().await;
        assert_eq!(end, TurnEnd::Done("end_turn".to_owned()));
        all.into_iter().filter_map(event).collect()
    }

    /// What it says in a turn.
    async fn says(&mut self, text: &str) -> String {
        texts(&self.turn(text).await)
    }

    /// The next question.
    async fn approval(&mut self) -> Approval {
        loop {
            if let Told::Approval(approval) = self.told().await {
                return approval;
            }
        }
    }

    /// The next form.
    async fn elicitation(&mut self) -> Elicitation {
        loop {
            if let Told::Elicitation(elicitation) = self.told().await {
                return elicitation;
            }
        }
    }

    async fn gone(&mut self) -> Gone {
        loop {
            if let Told::Gone(gone) = self.told().await {
                assert!(soon(self.agent.told.recv()).await.is_none(), "nothing follows");
                return gone;
            }
        }
    }
}

fn event(told: Told) -> Option<Event> {
    if let Told::Event(event) | Told::Outside(event) = told { Some(event) } else { None }
}

fn texts(events: &[Event]) -> String {
    let said = events.iter().filter(|event| event.kind == "text_delta");
    said.map(|event| event.payload["text"].as_str().expect("a text")).collect()
}

/// An event without what the agent itself sent.
fn plain(event: &Event) -> (&'static str, Value) {
    let mut payload = event.payload.clone();
    payload.remove("raw").expect("what the agent sent");
    (event.kind, payload.into())
}
