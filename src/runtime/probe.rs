//! Asking the published runtimes what they do: all at once, each with a deadline, none delaying another.

use super::api::{Api, Descriptor};
use super::error::Error;
use super::http::{Caller, Client};
use super::observed::{Runtime, Trouble};
use super::outage::{Outage, Sign};
use super::receipt::Record;
use crate::limits;
use crate::platform::process;
use crate::protocol::{Actions, Lease, Permission, Problem, Reason, State, presentable};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// A published runtime that this server knows: its connections, and how it answered.
pub struct Known {
    /// Its receipt.
    pub record: Arc<Record>,
    pub(super) client: Arc<Client>,
    state: Mutex<Answers>,
}

/// How it answered.
#[derive(Default)]
struct Answers {
    outage: Outage,
    /// Whether it took the connection and said nothing the last time.
    silent: bool,
    /// Whether it said what it does the last time, and nothing of its leases.
    lease_silent: bool,
    reachable: Option<bool>,
    /// The probe that is on its way.
    probing: Option<watch::Receiver<Option<Outcome>>>,
    /// What the running probe knows already: what the runtime does, but not its leases.
    described: Option<Outcome>,
    /// What the last probe that ended came to.
    last: Option<Outcome>,
}

/// What a probe came to.
pub(super) type Outcome = Arc<Probed>;

/// What a probe came to.
pub struct Probed {
    /// The runtime, if it lives: `receipt.reachable` says whether it answered.
    pub runtime: Option<Runtime>,
    /// What is wrong.
    pub trouble: Option<Trouble>,
    /// Whether its receipt is to be forgotten.
    pub forget: bool,
}

impl Known {
    /// A runtime of which nothing but its receipt is known. Fails where that cannot be used.
    pub fn new(record: Arc<Record>) -> Result<Self, Box<Problem>> {
        let address = &record.address;
        match Client::new(address.candidates().to_vec(), address.authority().to_owned(), record.token.clone()) {
            Ok(client) => Ok(Self { record, client: Arc::new(client), state: Mutex::default() }),
            Err(error) => Err(Box::new(trouble(&record, Some(&error)).problem)),
        }
    }

    /// Whether it answered when it was last asked.
    pub fn reachable(&self) -> Option<bool> {
        self.state().reachable
    }

    /// Whether it failed, and it is not settled yet whether it is to be given up.
    pub fn undecided(&self) -> bool {
        self.state().outage.undecided()
    }

    /// Notes that it answered somebody.
    pub fn contact(&self) {
        self.note(Sign::Contact);
    }

    /// What it says of itself to one who only looks.
    ///
    /// # Errors
    /// Where it does not answer, or is not the one that its receipt names.
    pub async fn describe(&self) -> Result<Descriptor, Error> {
        describe(&self.record, &looking(&self.record, &self.client)).await
    }

    /// Asks it what it does, and waits for the answer, which is noted also when nobody waits any more. One that was silent
    /// the last time, or whose process is stopped, is not waited for.
    pub async fn probe(self: &Arc<Self>) -> Outcome {
        let (mut answer, is_silent) = self.begin();
        let patience = if is_silent { Duration::ZERO } else { limits::PROBE + limits::PROBE_LEASE };
        let answered = timeout(patience, answer.wait_for(Option::is_some)).await;
        let outcome = answered.ok().and_then(|changed| changed.ok().and_then(|outcome| outcome.clone()));
        outcome.unwrap_or_else(|| self.overdue(true))
    }

    /// What is known of one that has not answered in time. `is_silent`: nobody waits for it again until it answers.
    pub fn overdue(&self, is_silent: bool) -> Outcome {
        let mut state = self.state();
        if let Some(described) = &state.described {
            return described.clone();
        }
        state.silent |= is_silent;
        state.reachable = Some(false);
        drop(state);
        Arc::new(self.failed(None))
    }

    /// The same, however long the probe takes; `None` where it failed.
    pub async fn probe_to_its_end(self: &Arc<Self>) -> Option<Outcome> {
        let (mut answer, _) = self.begin();
        answer.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone())
    }

    /// What the last probe that ended came to; `None` before the first one has.
    pub fn last(&self) -> Option<Outcome> {
        self.state().last.clone()
    }

    fn begin(self: &Arc<Self>) -> (watch::Receiver<Option<Outcome>>, bool) {
        let is_stopped = process::is_stopped(self.record.pid);
        let mut state = self.state();
        let is_silent = state.silent || is_stopped;
        if let Some(probing) = state.probing.as_ref().filter(|_| is_silent) {
            return (probing.clone(), is_silent);
        }
        let (tell, answer) = watch::channel(None);
        state.probing = Some(answer.clone());
        let known = self.clone();
        tokio::spawn(async move {
            let outcome = Arc::new(known.ask().await);
            let mut state = known.state();
            (state.probing, state.described, state.last) = (None, None, Some(outcome.clone()));
            drop(state);
            // Nobody may wait any more.
            let _ = tell.send(Some(outcome));
        });
        (answer, is_silent)
    }

    async fn ask(&self) -> Probed {
        let api = looking(&self.record, &self.client);
        match timeout(limits::PROBE, describe(&self.record, &api)).await {
            Ok(Ok(descriptor)) => {
                self.note(Sign::Contact);
                self.state().described = Some(Arc::new(self.answered(descriptor.clone(), Err(None))));
                self.answered(descriptor, self.lease(&api).await)
            }
            Ok(Err(error)) => {
                let forget = self.note(error.sign());
                self.state().reachable = Some(false);
                Probed { forget, ..self.failed(Some(&error)) }
            }
            Err(_) => {
                self.note(Sign::Silence);
                self.failed(None)
            }
        }
    }

    /// Who drives and who looks; `Err(None)` where it does not say in time.
    async fn lease(&self, api: &Api) -> Result<Lease, Option<Error>> {
        let was_silent = self.state().lease_silent;
        let patience = if was_silent { limits::PROBE_LEASE_AGAIN } else { limits::PROBE_LEASE };
        let answer = timeout(patience, api.lease()).await;
        self.state().lease_silent = answer.is_err();
        answer.map_err(|_| None)?.map_err(Some)
    }

    fn note(&self, sign: Sign) -> bool {
        let mut state = self.state();
        state.silent = sign == Sign::Silence;
        state.reachable = Some(sign == Sign::Contact);
        state.outage.note(sign, std::time::Instant::now())
    }

    fn answered(&self, descriptor: Descriptor, lease: Result<Lease, Option<Error>>) -> Probed {
        let receipt = self.record.public(Some(true));
        let profile = descriptor.profile.or_else(|| receipt.metadata.profile.clone());
        let trouble = lease.as_ref().err().map(|error| trouble(&self.record, error.as_ref()));
        let Descriptor { state, waiting_for, question, since_ms, title, agent, model, actions, .. } = descriptor;
        let lease = lease.ok();
        let runtime =
            Runtime { receipt, state, waiting_for, question, since_ms, title, agent, model, profile, actions, lease };
        Probed { runtime: Some(runtime), trouble, forget: false }
    }

    /// It did not say what it does. Its receipt was held against its process, so it lives unless something else is there.
    fn failed(&self, error: Option<&Error>) -> Probed {
        let lives = error.is_none_or(Error::leaves_it_live);
        let runtime = lives.then(|| {
            let receipt = self.record.public(Some(false));
            let profile = receipt.metadata.profile.clone();
            let actions = Actions::default();
            Runtime {
                receipt,
                state: State::Live,
                waiting_for: None,
                question: None,
                since_ms: None,
                title: None,
                agent: None,
                model: None,
                profile,
                actions,
                lease: None,
            }
        });
        Probed { runtime, trouble: Some(trouble(&self.record, error)), forget: false }
    }

    fn state(&self) -> MutexGuard<'_, Answers> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The methods for one who only looks, and never becomes an observer by it.
fn looking(record: &Record, client: &Arc<Client>) -> Api {
    let client_id = format!("registry-{}", record.endpoint.receipt_id());
    Api::new(client.clone(), Caller { client_id, permissions: vec![Permission::Observe] })
}

/// Without an error: it was silent.
fn trouble(record: &Record, error: Option<&Error>) -> Trouble {
    let (reason, message) = match error {
        Some(error) => (error.reason(), presentable(error.to_string())),
        None => (Reason::Timeout, format!("the runtime does not answer; its process {} lives", record.pid)),
    };
    let problem = Problem {
        harness: Some(record.source.harness),
        path: None,
        id: Some(record.runtime_id.clone()),
        endpoint: Some(record.endpoint.to_string()),
        reason: reason.word().to_owned(),
        message,
    };
    Trouble { problem, source: Some(record.source.clone()) }
}

async fn describe(record: &Record, api: &Api) -> Result<Descriptor, Error> {
    let descriptor = api.describe().await?;
    record.agrees(&descriptor)?;
    Ok(descriptor)
}
