//! A terminal with a program in it, and a person before it.

use super::DEADLINE;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{PipeWriter, Read, Write};
use std::num::NonZero;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

/// What a terminal shows, and what waits for it to change.
type Shown = Arc<(Mutex<vt100::Parser>, Condvar)>;

pub struct Pty {
    keyboard: Option<File>,
    /// The program's end, kept open so that its modes can be looked at after the program.
    inner: OwnedFd,
    shown: Shown,
    child: Child,
    before: Termios,
    /// The window, until it is closed.
    open: Option<PipeWriter>,
    reader: Option<JoinHandle<()>>,
}

impl Pty {
    /// Runs a program in a terminal of its own; its standard error goes there, too.
    pub fn start(mut command: Command, rows: u16, columns: u16) -> Self {
        let (outer, inner) = pair();
        set_size(&outer, rows, columns);
        let before = tcgetattr(&inner).expect("its modes");
        let end = || Stdio::from(inner.try_clone().expect("a duplicate"));
        command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm").env("NO_COLOR", "1");
        // SAFETY: both calls may be made between fork and exec.
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setsid()?;
                if libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().expect("the program");
        // The command holds ends of its own.
        drop(command);
        let shown: Shown = Arc::new((Mutex::new(vt100::Parser::new(some(rows), some(columns), 1_000)), Condvar::new()));
        let (seen, mut output) = (shown.clone(), outer.try_clone().expect("a duplicate"));
        let (closing, open) = std::io::pipe().expect("a pipe");
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                let ends = [output.as_fd(), closing.as_fd()];
                let mut polled = ends.map(|end| PollFd::new(end, PollFlags::POLLIN));
                poll(&mut polled, PollTimeout::NONE).expect("open ends");
                let is_closing = polled[1].any().unwrap_or(true);
                let Ok(count @ 1..) = (if is_closing { Ok(0) } else { output.read(&mut bytes) }) else { return };
                seen.0.lock().unwrap().process(&bytes[..count]);
                seen.1.notify_all();
            }
        });
        Self { keyboard: Some(outer), inner, shown, child, before, open: Some(open), reader: Some(reader) }
    }

    /// Types.
    pub fn type_in(&mut self, keys: &str) {
        self.keyboard.as_mut().expect("an open terminal").write_all(keys.as_bytes()).expect("a terminal that reads");
    }

    /// Waits until the screen shows just this, without room at the ends of lines.
    #[track_caller]
    pub fn expect(&self, expected: &str) {
        self.wait(expected, |screen| contents(screen) == expected.trim_matches('\n'));
    }

    /// Waits until the screen shows this somewhere.
    #[track_caller]
    pub fn expect_part(&self, part: &str) {
        self.wait(part, |screen| contents(screen).contains(part));
    }

    #[track_caller]
    fn wait(&self, what: &str, mut holds: impl FnMut(&vt100::Screen) -> bool) {
        let parser = self.shown.0.lock().unwrap();
        let (parser, late) =
            self.shown.1.wait_timeout_while(parser, DEADLINE, |parser| !holds(parser.screen())).unwrap();
        assert!(!late.timed_out(), "expected:\n{what}\nbut the screen shows:\n{}\n", contents(parser.screen()));
    }

    pub fn contents(&self) -> String {
        contents(self.shown.0.lock().unwrap().screen())
    }

    pub fn pastes_in_brackets(&self) -> bool {
        self.shown.0.lock().unwrap().screen().bracketed_paste()
    }

    /// Whether it shows the screen of a program that takes all of it, or no cursor.
    pub fn has_other_screen(&self) -> bool {
        let parser = self.shown.0.lock().unwrap();
        parser.screen().alternate_screen() || parser.screen().hide_cursor()
    }

    /// Gives the terminal another size, as a window manager does.
    pub fn resize(&self, rows: u16, columns: u16) {
        self.shown.0.lock().unwrap().screen_mut().set_size(some(rows), some(columns));
        set_size(self.keyboard.as_ref().expect("an open terminal"), rows, columns);
    }

    /// Writes over what is shown and sets other modes, as another program may.
    pub fn disturb(&self) {
        nix::unistd::write(&self.inner, b"\x1b[Hwritten over\r\nall of it").expect("an open terminal");
        tcsetattr(&self.inner, SetArg::TCSANOW, &self.before).expect("its modes");
    }

    /// Stops the program, and waits until it is: it draws nothing meanwhile.
    pub fn stop(&self) {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        self.signal(Signal::SIGSTOP);
        let pid = Id::Pid(Pid::from_raw(self.child.id() as i32));
        waitid(pid, WaitPidFlag::WSTOPPED | WaitPidFlag::WNOWAIT).expect("a child");
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("a process not yet reaped");
    }

    /// Whether the modes are not as they were.
    pub fn is_raw(&self) -> bool {
        tcgetattr(&self.inner).expect("its modes") != self.before
    }

    /// Waits for the program's end, which must leave the terminal as it was.
    #[track_caller]
    pub fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().expect("a child");
        assert!(!self.is_raw(), "the terminal was left in another mode");
        // All that the program wrote comes before what is written now.
        nix::unistd::write(&self.inner, b"END").expect("an open terminal");
        self.wait("END", |screen| contents(screen).contains("END"));
        assert!(!self.pastes_in_brackets(), "pastes are still sent in brackets");
        assert!(!self.has_other_screen(), "the terminal was left on its other screen, or without a cursor");
        (status, self.contents().replace("END", "").trim_end().to_owned())
    }

    /// Closes the window, and waits for the program's end.
    pub fn close(mut self) -> ExitStatus {
        drop(self.open.take());
        self.reader.take().expect("an open window").join().expect("a reader");
        drop(self.keyboard.take());
        self.child.wait().expect("a child")
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The two ends of a terminal, of which no other program gets a duplicate: it would keep the window open.
fn pair() -> (File, OwnedFd) {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let outer = posix_openpt(flags).expect("a terminal");
    grantpt(&outer).expect("a terminal of ours");
    unlockpt(&outer).expect("a terminal of ours");
    let inner = open(ptsname_r(&outer).expect("its name").as_str(), flags, Mode::empty()).expect("its other end");
    (File::from(OwnedFd::from(outer)), inner)
}

fn set_size(outer: &File, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the size is read from a structure of the kind that the question is about.
    let result = unsafe { libc::ioctl(outer.as_raw_fd(), libc::TIOCSWINSZ, &size) };
    assert_eq!(result, 0);
}

fn some(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a terminal with room")
}

fn contents(screen: &vt100::Screen) -> String {
    screen.contents().lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}
