//! What was learned of the runtimes at one time.

use crate::protocol::{Actions, Lease, Problem, Question, Receipt, Source, State};

/// The runtimes that live, and what is wrong with them and with others.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Those that live, the newest first, then by id.
    pub runtimes: Vec<Runtime>,
    /// What could not be read, or did not answer as it should.
    pub troubles: Vec<Trouble>,
    /// Which look it was: of two the one that began later counts.
    pub number: u64,
}

/// A problem, and the conversation that it is about, where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The problem.
    pub problem: Problem,
    /// Whose runtime it is.
    pub source: Option<Source>,
}

/// A runtime that lives.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// How it is published.
    pub receipt: Receipt,
    /// What it does.
    pub state: State,
    /// What it waits for, where it waits for a person and says so.
    pub waiting_for: Option<String>,
    /// The open request that it describes.
    pub question: Option<Question>,
    /// When its state began, in epoch milliseconds, where it reports that.
    pub since_ms: Option<i64>,
    /// Its title of the conversation, where it says one.
    pub title: Option<String>,
    /// What the agent calls itself, where the runtime hosts one and says so.
    pub agent: Option<String>,
    /// The model that it names.
    pub model: Option<String>,
    /// The profile that it names.
    pub profile: Option<String>,
    /// What it can do for one who only looks, as it says itself.
    pub actions: Actions,
    /// Who drives and who looks, where it said so.
    pub lease: Option<Lease>,
}

impl Observed {
    /// Those that answered.
    pub fn answering(self) -> impl Iterator<Item = Runtime> {
        self.runtimes.into_iter().filter(Runtime::answers)
    }
}

impl Runtime {
    /// Whether it answered, and does not only live.
    pub fn answers(&self) -> bool {
        self.receipt.reachable == Some(true)
    }

    /// Whether nothing but clocks tells the two apart.
    pub fn is_as(&self, other: &Self) -> bool {
        let who = |runtime: &Self| {
            runtime.lease.as_ref().map(|lease| {
                let controller = lease.controller.as_ref().map(|controller| controller.client_id.clone());
                let observers: Vec<String> = lease.observers.iter().map(|one| one.client_id.clone()).collect();
                (controller, observers)
            })
        };
        self.receipt == other.receipt
            && (&self.title, &self.agent) == (&other.title, &other.agent)
            && (self.since_ms, &self.question) == (other.since_ms, &other.question)
            && (self.state, &self.waiting_for, &self.model, &self.profile, self.actions)
                == (other.state, &other.waiting_for, &other.model, &other.profile, other.actions)
            && who(self) == who(other)
    }
}
