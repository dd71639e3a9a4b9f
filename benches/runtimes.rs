//! What live runtimes cost, beside a bare client that asks the same of them in the same run.
//!
//!     cargo bench --bench runtimes
//!     cargo bench --bench runtimes -- --runtimes 200 --silent 20 --events 50000 --text 200
//!
//! The runtimes are those of the tests, threads of this process. The floor of a list sends the two requests of a probe to
//! each runtime that answers, to all at once, over connections that it keeps; the floor of events reads the same streams.
#![allow(unreachable_pub, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../tests/it/support/runtime/mod.rs"]
mod runtime;
mod support;

use runtime::{Bad, Options, Route, Runtime, SENTINEL_TOKEN};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};
use support::{Args, Server, figure, header, median, row, rows, timed};
use tempfile::TempDir;

const ROUNDS: usize = 5;
const LATER: usize = 20;
/// Events that a runtime sends at a time when it sends as fast as it can.
const BLOCK: usize = 128;
/// Events that are sent one by one, and how far apart.
const SINGLE: usize = 2_000;
const PAUSE: Duration = Duration::from_micros(500);
const LEASES: usize = 1_000;
const FLOODING: &str = "flooding";
const QUIET: &str = "quiet";

/// What the times in events are counted from.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn main() {
    let args = Args::of_process();
    let (count, silent) = (args.number("--runtimes", 50), args.number("--silent", 5));
    header();
    lists(0, 0);
    lists(count, 0);
    lists(count, silent);
    let text = "x".repeat(args.number("--text", 20));
    let one = Flood { events: SINGLE, block: 1, pause: PAUSE, text: text.clone() };
    one.run("one event at a time", 1, 1);
    let flood = Flood { events: args.number("--events", 100_000), block: BLOCK, pause: Duration::ZERO, text };
    for (servers, attachments) in [(1, 1), (1, 10), (10, 1)] {
        flood.run("as fast as it can", servers, attachments);
    }
}

/// Runtimes that are published in a home of their own.
struct Fleet {
    home: TempDir,
    runtimes: Vec<Runtime>,
}

impl Fleet {
    fn start(names: impl IntoIterator<Item = String>) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let receipts = home.path().join(".config/supercode/live-runtimes");
        let start = |name: String| {
            let runtime = Runtime::start(Options::main(&name, "/proj/live"));
            runtime.publish(&receipts);
            runtime
        };
        let runtimes = names.into_iter().map(start).collect();
        Self { home, runtimes }
    }

    fn path(&self) -> PathBuf {
        self.home.path().to_owned()
    }
}

/// A connection to a runtime, and nothing more.
struct Bare {
    socket: BufReader<TcpStream>,
    head: String,
}

impl Bare {
    fn connect(address: SocketAddr, client: &str) -> Self {
        let socket = TcpStream::connect(address).expect("it listens");
        socket.set_nodelay(true).expect("an option");
        let head = format!(
            "Host: {address}\r\nAuthorization: Bearer {SENTINEL_TOKEN}\r\nX-Supercode-Client-Id: {client}\r\n\
             X-Supercode-Permissions: observe\r\n"
        );
        Self { socket: BufReader::new(socket), head }
    }

    fn send(&mut self, method: &str) {
        let body = json!({ "id": 1, "method": method, "params": {} }).to_string();
        let request = format!(
            "POST /rpc HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        );
        self.socket.get_ref().write_all(request.as_bytes()).expect("it reads");
    }

    /// Reads an answer to its end.
    fn receive(&mut self) {
        let mut length = 0;
        for header in self.head_lines() {
            if let Some((name, value)) = header.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.parse().expect("a number");
            }
        }
        let mut body = vec![0; length];
        self.socket.read_exact(&mut body).expect("a body");
    }

    fn call(&mut self, method: &str) {
        self.send(method);
        self.receive();
    }

    fn head_lines(&mut self) -> Vec<String> {
        let lines = (&mut self.socket).lines().map(|line| line.expect("a line"));
        lines.take_while(|line| !line.is_empty()).collect()
    }

    /// Opens the stream of events.
    fn listen(mut self) -> BufReader<TcpStream> {
        let request = format!("GET /frontend/events HTTP/1.1\r\n{}\r\n", self.head);
        self.socket.get_ref().write_all(request.as_bytes()).expect("it reads");
        self.head_lines();
        self.socket
    }
}

/// What lists cost with so many runtimes, of which so many take connections and say nothing.
fn lists(count: usize, silent: usize) {
    let fleet = Fleet::start((0..count).map(|number| format!("runtime-{number}")));
    for runtime in &fleet.runtimes[..silent] {
        runtime.misbehave(Route::Any, Bad::Silent);
    }
    let answering = || fleet.runtimes[silent..].iter().map(Runtime::address);
    let ask_all = |bare: &mut Vec<Bare>| {
        for method in ["frontend.v2.describe", "frontend.v2.lease"] {
            bare.iter_mut().for_each(|bare| bare.send(method));
            bare.iter_mut().for_each(Bare::receive);
        }
    };
    let (mut first, mut later, mut first_floor, mut later_floor) = (vec![], vec![], vec![], vec![]);
    let mut memory = 0;
    for _ in 0..ROUNDS {
        let mut server = Server::start("HOME", &fleet.path());
        let mut list = || {
            let (time, answer) = timed(|| server.request("registry/list", json!({})));
            assert_eq!(answer["result"]["total"], count - silent, "{answer}");
            time
        };
        first.push(list());
        let mut bare: Vec<Bare> = vec![];
        let connect = || {
            bare = answering().map(|address| Bare::connect(address, "bare")).collect();
            ask_all(&mut bare);
        };
        first_floor.push(timed(connect).0);
        for _ in 0..LATER {
            later.push(list());
            later_floor.push(timed(|| ask_all(&mut bare)).0);
        }
        memory = memory.max(server.peak_kib());
    }
    let name = if silent == 0 { format!("{count} runtimes") } else { format!("{count} runtimes, {silent} silent") };
    if count == 0 {
        figure(&format!("{name}: first list"), format!("{:.2?}", median(first)), "");
        figure(&format!("{name}: later lists"), format!("{:.2?}", median(later)), "");
        return;
    }
    row(&format!("{name}: first list"), median(first), median(first_floor), "silent: + 1 s");
    rows(&format!("{name}: later"), later, later_floor, ["silent: + 50 ms", ""]);
    figure(&format!("{name}: peak memory"), format!("{memory} KiB"), "");
}

/// Events that a runtime sends.
struct Flood {
    /// How many.
    events: usize,
    /// How many at a time, and how long it waits then.
    block: usize,
    pause: Duration,
    /// What each one says.
    text: String,
}

impl Flood {
    /// Events with these numbers, as they cross the wire, and when that was.
    fn block(&self, numbers: Range<usize>) -> Vec<u8> {
        let at = BEGIN.elapsed().as_nanos();
        let event = |number| {
            let text = &self.text;
            let payload = format!(r#"{{"type":"text_delta","text":"{text}","at":{at},"number":{number}}}"#);
            format!("data: {{\"sequence\":{number},\"kind\":\"text_delta\",\"payload\":{payload}}}\n\n")
        };
        numbers.map(event).collect::<String>().into_bytes()
    }

    /// Sends them, no faster than they are written.
    fn send(&self, runtime: &Runtime) {
        for next in (1..=self.events).step_by(self.block) {
            runtime.send_bytes(self.block(next..(next + self.block).min(self.events + 1)));
            runtime.wait_drained();
            thread::sleep(self.pause);
        }
    }

    /// So many servers with so many attachments each, and then as many bare readers.
    fn run(&self, name: &str, servers: usize, attachments: usize) {
        let fleet = Fleet::start([FLOODING, QUIET].map(str::to_owned));
        let (flooding, quiet) = (&fleet.runtimes[0], &fleet.runtimes[1]);
        let mut clients: Vec<Client> = (0..servers).map(|_| Client::attach(&fleet.path(), attachments)).collect();
        let (ours, all) = self.measure(flooding, clients.iter_mut().map(|client| || client.read(self.events)));
        drop(clients);
        flooding.wait_streams(0);
        let listen = |name| Bare::connect(flooding.address(), &format!("bare-{name}")).listen();
        let mut streams: Vec<_> = (0..servers * attachments).map(listen).collect();
        flooding.wait_streams(servers * attachments);
        let (floor, bare) = self.measure(flooding, streams.iter_mut().map(|stream| || read(stream, self.events)));
        let mut quiet = Bare::connect(quiet.address(), "bare");
        let leases = (0..LEASES).map(|_| timed(|| quiet.call("frontend.v2.lease")).0).collect();

        println!("\n{name}: {servers} servers x {attachments} attachments");
        let per_second = |count: usize, time: Duration| count as f64 / time.as_secs_f64();
        let rates = |what, ours: f64, floor: f64| {
            println!("{what:<40} {ours:>12.1} {floor:>12.1} {:>8.2}", ours / floor);
        };
        rates(
            "events a second, thousands",
            per_second(all.delays.len(), ours) / 1e3,
            per_second(bare.delays.len(), floor) / 1e3,
        );
        rates("MB a second", per_second(all.bytes, ours) / 1e6, per_second(bare.bytes, floor) / 1e6);
        rows("runtime's write until read", all.delays, bare.delays, ["", ""]);
        rows("another's lease meanwhile", all.leases, leases, ["floor: at rest, without a server", ""]);
        figure("peak resident memory of a server", format!("{} KiB", all.memory), "<= 40960 KiB");
        figure("attachments that lagged", all.lagged, "0");
    }

    /// Has all read what the runtime sends: how long it took, and what they read.
    fn measure<R: FnOnce() -> Reading + Send>(
        &self,
        runtime: &Runtime,
        readers: impl Iterator<Item = R>,
    ) -> (Duration, Reading) {
        timed(|| {
            thread::scope(|scope| {
                let reading: Vec<_> = readers.map(|read| scope.spawn(read)).collect();
                self.send(runtime);
                reading.into_iter().map(|one| one.join().expect("a reader")).reduce(Reading::and).expect("a reader")
            })
        })
    }
}

/// What was read of events.
#[derive(Default)]
struct Reading {
    bytes: usize,
    /// From when each event was sent.
    delays: Vec<Duration>,
    leases: Vec<Duration>,
    lagged: usize,
    memory: u64,
}

impl Reading {
    fn and(mut self, other: Self) -> Self {
        self.bytes += other.bytes;
        self.delays.extend(other.delays);
        self.leases.extend(other.leases);
        self.lagged += other.lagged;
        self.memory = self.memory.max(other.memory);
        self
    }

    /// Takes a line; the number of its event, if it has one.
    fn take(&mut self, line: &str) -> Option<usize> {
        self.bytes += line.len();
        let at = number(line, "\"at\":")?;
        self.delays.push(BEGIN.elapsed().saturating_sub(Duration::from_nanos(at)));
        number(line, "\"number\":").map(|number| number as usize)
    }
}

/// The number behind a key.
fn number(line: &str, key: &str) -> Option<u64> {
    let digits = &line[line.find(key)? + key.len()..];
    digits[..digits.find(|letter: char| !letter.is_ascii_digit())?].parse().ok()
}

/// Reads a stream up to an event.
fn read(stream: &mut BufReader<TcpStream>, last: usize) -> Reading {
    let (mut reading, mut line) = (Reading::default(), String::new());
    while reading.take(&line) != Some(last) {
        line.clear();
        assert_ne!(stream.read_line(&mut line).expect("a line"), 0, "the stream has ended");
    }
    reading
}

/// A server that is attached to the flooding runtime, several times, and to the quiet one.
struct Client {
    server: Server,
    attached: usize,
    quiet: Value,
}

impl Client {
    fn attach(home: &Path, attached: usize) -> Self {
        let mut server = Server::start("HOME", home);
        let mut attach = |runtime: &str| {
            let mut answer = server.request("runtime/attach", json!({ "runtimeId": runtime }));
            let attachment = answer["result"]["attachment"].take();
            assert!(attachment.is_string(), "{answer}");
            attachment
        };
        let quiet = attach(QUIET);
        (0..attached).for_each(|_| drop(attach(FLOODING)));
        Self { server, attached, quiet }
    }

    /// Reads what comes until each attachment has had its last event, and asks for the other runtime's leases meanwhile.
    fn read(&mut self, last: usize) -> Reading {
        let (mut reading, mut line) = (Reading::default(), String::new());
        let (mut open, mut asked) = (self.attached, self.ask());
        while open > 0 {
            line.clear();
            assert_ne!(self.server.output.read_line(&mut line).expect("a line"), 0, "the server has ended");
            match reading.take(&line) {
                Some(number) => open -= usize::from(number == last),
                None if line.contains("\"lagged\"") => (open, reading.lagged) = (open - 1, reading.lagged + 1),
                None => {
                    reading.leases.push(asked.elapsed());
                    asked = self.ask();
                }
            }
        }
        reading.memory = self.server.peak_kib();
        reading
    }

    fn ask(&mut self) -> Instant {
        let line = self.server.line("runtime/lease", json!({ "attachment": self.quiet }));
        let now = Instant::now();
        self.server.input.write_all(line.as_bytes()).expect("it reads");
        now
    }
}
