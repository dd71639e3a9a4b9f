//! A live runtime for tests: it speaks the contract as real ones do, or badly where a test says so. It stands alone, so
//! that a bench can include it, too.

#![allow(dead_code, unused_imports, reason = "several programs include it, and none uses all of it")]

mod bad;
mod descriptor;
mod door;
mod fault;
mod lease;
mod options;
mod process;
mod receipt;
mod ring;
mod rpc;
mod script;
mod state;
mod stream;

pub use bad::{Bad, Route};
pub use options::{Flavour, Options, SENTINEL_TOKEN, Source};
pub use process::{Process, serve_if_asked};
pub use receipt::Receipt;
pub use script::Step;
pub use state::{Seen, State};

use bad::Rule;
use serde_json::Value;
use socket2::{Domain, Socket, Type};
use state::Shared;
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// After this long a wait has failed. A guard against waiting for ever, never a measure of anything.
const GUARD: Duration = Duration::from_secs(30);

/// A runtime that listens; its end closes all that it has open and removes its receipts.
pub struct Runtime {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Never listens: it keeps the port ours while the runtime refuses.
    _port: Socket,
}

impl Runtime {
    pub fn start(options: Options) -> Self {
        let host = if options.ipv6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
        let port = bound(SocketAddr::new(host, 0));
        let address = port.local_addr().expect("an address").as_socket().expect("an internet address");
        let runtime = Self { shared: Arc::new(Shared::new(options)), address, _port: port };
        runtime.listen();
        runtime
    }

    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its receipt, to be made crooked.
    pub fn receipt(&self) -> Receipt {
        Receipt::new(&self.shared.options, &self.base_url())
    }

    /// Writes a receipt of its own; the endpoint.
    pub fn publish(&self, receipts: &Path) -> String {
        let receipt = self.receipt();
        let path = receipt.write(receipts);
        self.shared.change(|state| state.receipts.push(path));
        receipt.endpoint()
    }

    /// Removes the receipts that it published.
    pub fn retract(&self) {
        self.shared.retract();
    }

    // What happens in it.

    /// Says what prompts that begin so do from now on.
    pub fn on(&self, prompt: &str, steps: impl IntoIterator<Item = Step>) {
        let script = (prompt.to_owned(), steps.into_iter().collect());
        self.shared.change(|state| state.scripts.insert(0, script));
    }

    /// Begins a turn, as its own user would.
    pub fn prompt(&self, prompt: &str) {
        self.shared.change(|state| self.shared.begin_turn(state, prompt)).expect("an idle runtime");
    }

    /// Publishes an event; `members` are its payload's beside `type`.
    pub fn emit(&self, kind: &str, members: Value) {
        self.shared.change(|state| self.shared.publish(state, kind, members));
    }

    /// Publishes an event with a text of so many bytes.
    pub fn emit_sized(&self, bytes: usize) {
        self.emit("text_delta", serde_json::json!({ "text": "x".repeat(bytes) }));
    }

    /// Publishes so many small events, their texts counted from `from`, no faster than they are written.
    pub fn stream(&self, from: usize, count: usize) {
        for number in from..from + count {
            self.emit("text_delta", serde_json::json!({ "text": number.to_string() }));
            if number % 256 == 0 {
                self.wait_drained();
            }
        }
        self.wait_drained();
    }

    /// Waits until all that was published is written, but to those who do not read.
    #[track_caller]
    pub fn wait_drained(&self) {
        self.wait_until("what was published to be written", |state| state.streams.values().all(|one| one.is_drained()));
    }

    /// Sends an event to who listens as it is: it is neither numbered nor kept.
    pub fn send_event(&self, event: Value) {
        self.shared.change(|state| state.streams.values_mut().for_each(|stream| stream.tell(&event)));
    }

    /// Sends bytes to who listens.
    pub fn send_bytes(&self, bytes: impl AsRef<[u8]>) {
        self.shared.change(|state| state.streams.values_mut().for_each(|stream| stream.push(bytes.as_ref().to_vec())));
    }

    /// Sends the comment that keeps streams alive.
    pub fn keep_alive(&self) {
        self.send_bytes(": keep-alive\n\n");
    }

    /// Leaves sequence numbers out.
    pub fn skip(&self, count: u64) {
        self.shared.change(|state| state.ring.skip(count));
    }

    /// Makes it busy without a turn.
    pub fn set_busy(&self, is_busy: bool) {
        self.shared.change(|state| state.is_busy = is_busy);
    }

    /// Lets what is held under this name go on, now and later.
    pub fn release(&self, name: &str) {
        self.shared.change(|state| state.released.insert(name.to_owned()));
    }

    /// Lets so much time pass.
    pub fn advance(&self, ms: u64) {
        self.shared.advance(ms);
    }

    // What it does wrong.

    /// Answers so from now on; of several rules for a request the first counts.
    pub fn misbehave(&self, route: Route, bad: Bad) {
        self.rule(Rule { route, times: None, bad });
    }

    /// Answers so the next times.
    pub fn misbehave_times(&self, route: Route, times: usize, bad: Bad) {
        self.rule(Rule { route, times: Some(times), bad });
    }

    /// Answers rightly from now on.
    pub fn behave(&self) {
        self.shared.change(|state| {
            state.rules.clear();
            state.echoes_token = false;
        });
    }

    fn rule(&self, rule: Rule) {
        self.shared.change(|state| state.rules.push(rule));
    }

    /// Gives the token back in each answer: in a header, and in what is wrong.
    pub fn echo_token(&self) {
        self.shared.change(|state| state.echoes_token = true);
    }

    /// Lets slow answers write so many bytes more.
    pub fn let_through(&self, bytes: u64) {
        self.shared.change(|state| state.allowance = state.allowance.saturating_add(bytes));
    }

    /// Refuses connections; the port stays its own.
    pub fn refuse(&self) {
        self.shared.refuse();
    }

    /// Accepts connections again.
    pub fn listen(&self) {
        let socket = bound(self.address);
        socket.listen(128).expect("a free port");
        let own = socket.try_clone().expect("a duplicate");
        self.shared.change(|state| state.listener = Some(own));
        let shared = self.shared.clone();
        thread::spawn(move || {
            while let Ok((connection, _)) = socket.accept() {
                shared.accept(connection.into());
            }
        });
    }

    /// Closes every connection.
    pub fn cut(&self) {
        self.shared.change(|state| state.sockets.values().for_each(|socket| drop(socket.shutdown(Shutdown::Both))));
    }

    /// Does nothing any more, as a stopped process: the system accepts connections, and nobody answers.
    pub fn suspend(&self) {
        self.shared.change(|state| state.is_suspended = true);
    }

    pub fn resume(&self) {
        self.shared.change(|state| state.is_suspended = false);
    }

    // What it has seen.

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.change(|state| state.seen.clone())
    }

    /// The requests so far for one method of the envelope, without `frontend.v2.`.
    pub fn seen_rpc(&self, method: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.rpc.as_deref() == Some(method)).collect()
    }

    /// How many connections there have been.
    pub fn connections(&self) -> u64 {
        self.shared.change(|state| state.connections)
    }

    pub fn open_connections(&self) -> usize {
        self.shared.change(|state| state.sockets.len())
    }

    /// The clients whose streams are open.
    pub fn streams(&self) -> Vec<String> {
        self.shared.change(|state| state.streams.values().map(|stream| stream.client.clone()).collect())
    }

    pub fn observers(&self) -> Vec<String> {
        self.shared.change(|state| state.leases.observers())
    }

    pub fn controller(&self) -> Option<String> {
        self.shared.change(|state| state.leases.controller(self.shared.now_ms(state)))
    }

    /// The number of the newest event.
    pub fn last_sequence(&self) -> u64 {
        self.shared.change(|state| state.ring.last())
    }

    /// What was steered into the running turn.
    pub fn steered(&self) -> Vec<String> {
        self.shared.change(|state| state.turn.as_ref().map(|turn| turn.steered.clone()).unwrap_or_default())
    }

    /// How much of endless and oversize answers was written.
    pub fn excess(&self) -> u64 {
        self.shared.change(|state| state.excess)
    }

    // What a test waits for.

    /// Waits until `look` finds something.
    #[track_caller]
    pub fn wait<R>(&self, what: &str, look: impl FnMut(&mut State) -> Option<R>) -> R {
        self.shared.wait_for(GUARD, look).unwrap_or_else(|| panic!("not within {GUARD:?}: {what}"))
    }

    #[track_caller]
    fn wait_until(&self, what: &str, mut holds: impl FnMut(&mut State) -> bool) {
        self.wait(what, |state| holds(state).then_some(()));
    }

    #[track_caller]
    pub fn wait_streams(&self, count: usize) {
        self.wait_until("so many streams", |state| state.streams.len() == count);
    }

    #[track_caller]
    pub fn wait_observers(&self, count: usize) {
        self.wait_until("so many observers", |state| state.leases.observers().len() == count);
    }

    #[track_caller]
    pub fn wait_open_connections(&self, count: usize) {
        self.wait_until("so many open connections", |state| state.sockets.len() == count);
    }

    /// Waits until a method of the envelope was called so often.
    #[track_caller]
    pub fn wait_seen(&self, method: &str, times: usize) {
        self.wait_until("a request", |state| {
            state.seen.iter().filter(|seen| seen.rpc.as_deref() == Some(method)).count() >= times
        });
    }

    /// Waits until something is held under this name.
    #[track_caller]
    pub fn wait_held(&self, name: &str) {
        self.wait_until("something held", |state| state.held.contains(name));
    }

    /// Waits until somebody must answer something: its id.
    #[track_caller]
    pub fn wait_request(&self) -> u64 {
        self.wait("a request to answer", |state| {
            state.requests.iter().find(|(_, request)| request.response.is_none()).map(|(id, _)| *id)
        })
    }

    /// Waits until so many turns have ended and none runs.
    #[track_caller]
    pub fn wait_turns(&self, count: u64) {
        self.wait_until("so many turns", |state| state.turns == count && state.turn.is_none());
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.refuse();
        self.shared.change(|state| state.is_stopped = true);
        self.cut();
        self.retract();
    }
}

/// A connection while it is open.
struct Open {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(socket) = self.shared.change(|state| state.sockets.remove(&self.number)) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, socket: TcpStream) {
        let shared = self.clone();
        let _ = socket.set_nodelay(true);
        let number = self.change(|state| {
            state.connections += 1;
            let own = socket.try_clone().ok().filter(|_| !state.is_stopped)?;
            state.sockets.insert(state.connections, own);
            Some(state.connections)
        });
        let Some(number) = number else { return };
        thread::spawn(move || {
            // Closed even where a test's order makes the thread panic: its client must not wait for nothing.
            let open = Open { shared, number };
            door::serve(&open.shared, number, &socket);
        });
    }

    fn refuse(&self) {
        if let Some(listener) = self.change(|state| state.listener.take()) {
            let _ = listener.shutdown(Shutdown::Both);
        }
    }

    fn retract(&self) {
        for path in self.change(|state| std::mem::take(&mut state.receipts)) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// The end that a client asked for: streams still get what is on its way to them.
    fn shut_down(&self) {
        self.refuse();
        self.retract();
        self.change(|state| {
            let idle = state.sockets.iter().filter(|(number, _)| !state.streams.contains_key(number));
            idle.for_each(|(_, socket)| drop(socket.shutdown(Shutdown::Read)));
        });
    }
}

fn bound(address: SocketAddr) -> Socket {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).expect("a socket");
    socket.set_reuse_address(true).expect("an option");
    socket.bind(&address.into()).expect("a free port");
    socket
}
