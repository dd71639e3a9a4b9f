//! Starting a server, over what an editor may give it.

use super::{Framing, Home, Server};
use serde_json::json;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What the server's standard input and output are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Pipes,
    /// A pair of sockets for each, as Node gives its children.
    Sockets,
    /// One socket for both, as some agent hosts do.
    OneSocket,
}

/// How a server is to be started.
pub struct Spawn {
    home: Home,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    framing: Framing,
    transport: Transport,
    unread: bool,
    keep_ends: bool,
    user: Option<u32>,
}

impl Spawn {
    pub fn new(home: Home) -> Self {
        let env = vec![("HOME".into(), home.path().into())];
        let (framing, transport) = (Framing::Lines, Transport::Pipes);
        Self { home, args: vec![], env, framing, transport, unread: false, keep_ends: false, user: None }
    }

    pub fn empty() -> Self {
        Self::new(Home::new())
    }

    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The whole environment; none is inherited.
    pub fn only_env(mut self, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.env = env.into_iter().collect();
        self
    }

    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    pub fn transport(mut self, transport: Transport) -> Self {
        self.transport = transport;
        self
    }

    /// The client does not read until it is told to.
    pub fn unread(mut self) -> Self {
        self.unread = true;
        self
    }

    /// The client keeps duplicates of the server's own ends, so that it shares their open file descriptions.
    pub fn keep_ends(mut self) -> Self {
        self.keep_ends = true;
        self
    }

    /// The server runs as this user; needs root.
    pub fn user(mut self, user: u32) -> Self {
        self.user = Some(user);
        self
    }

    /// Starts it and opens the conversation.
    pub fn open(self) -> Server {
        let mut server = self.start();
        server.initialize(json!({}));
        server
    }

    /// Starts it, and says nothing.
    pub fn start(self) -> Server {
        let (theirs, input, output) = ends(self.transport);
        let kept = self.keep_ends.then(|| theirs.each_ref().map(|end| end.try_clone().expect("a duplicate")));
        let [stdin, stdout] = theirs;
        let stderr = tempfile::tempfile().expect("a file for the log");
        let program = env!("CARGO_BIN_EXE_tackroom");
        // Another user may not come through to where this was built; an open file needs no way to it.
        let opened = self.user.map(|_| File::open(program).expect("the program"));
        let mut command = match &opened {
            Some(file) => Command::new(format!("/proc/self/fd/{}", file.as_raw_fd())),
            None => Command::new(program),
        };
        command.arg("serve").args(&self.args).env_clear().envs(self.env).current_dir(self.home.path());
        command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout));
        command.stderr(Stdio::from(stderr.try_clone().expect("a duplicate")));
        if let Some(user) = self.user {
            command.uid(user);
        }
        let child = command.spawn().expect("the server starts");
        // The command holds the server's ends; ours must see them close.
        drop(command);
        let mut server = Server::new(self.home, child, input, output, stderr, self.framing);
        server.kept = kept;
        if !self.unread {
            server.read();
        }
        server
    }
}

/// The client's end of the server's standard input.
pub enum Input {
    Pipe(io::PipeWriter),
    Socket(UnixStream),
}

impl Input {
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Pipe(pipe) => pipe.as_fd(),
            Self::Socket(socket) => socket.as_fd(),
        }
    }

    pub fn end(&mut self) -> &mut dyn Write {
        match self {
            Self::Pipe(pipe) => pipe,
            Self::Socket(socket) => socket,
        }
    }

    /// Bytes that were sent and that the server has not read.
    pub fn untaken(&self) -> usize {
        let question = if matches!(self, Self::Pipe(_)) { libc::FIONREAD } else { libc::TIOCOUTQ };
        bytes_in(self.as_fd(), question)
    }

    /// Says that nothing more comes; where the answers come over the same socket, they still do.
    pub fn close(self) {
        match self {
            Self::Socket(socket) => socket.shutdown(Shutdown::Write).expect("an open socket"),
            Self::Pipe(pipe) => drop(pipe),
        }
    }
}

/// How many bytes wait in a pipe or a socket: to be read here (`FIONREAD`), or there (`TIOCOUTQ`).
pub fn bytes_in(descriptor: BorrowedFd<'_>, question: libc::Ioctl) -> usize {
    let mut count: libc::c_int = 0;
    // SAFETY: both questions answer one `c_int` about the descriptor, which is open.
    let result = unsafe { libc::ioctl(descriptor.as_raw_fd(), question, &mut count) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
    count as usize
}

/// The server's two ends, and the client's.
fn ends(transport: Transport) -> ([OwnedFd; 2], Input, OwnedFd) {
    let pair = || UnixStream::pair().expect("a pair of sockets");
    match transport {
        Transport::Pipes => {
            let (stdin, input) = io::pipe().expect("a pipe");
            let (output, stdout) = io::pipe().expect("a pipe");
            ([stdin.into(), stdout.into()], Input::Pipe(input), output.into())
        }
        Transport::Sockets => {
            let ((stdin, input), (stdout, output)) = (pair(), pair());
            ([stdin.into(), stdout.into()], Input::Socket(input), output.into())
        }
        Transport::OneSocket => {
            let (theirs, ours) = pair();
            let both = [theirs.try_clone().expect("a duplicate").into(), theirs.into()];
            (both, Input::Socket(ours.try_clone().expect("a duplicate")), ours.into())
        }
    }
}
