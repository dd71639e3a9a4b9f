//! The signals that end the program, and those that say its terminal has changed.

use std::io;

/// SIGTERM, SIGHUP, SIGINT and SIGQUIT, or what stands for them. Must be made within a runtime.
pub struct Signals {
    #[cfg(unix)]
    signals: [(tokio::signal::unix::Signal, u8); 4],
}

impl Signals {
    /// Takes the signals from now on.
    pub fn new() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let take = |kind: SignalKind| Ok::<_, io::Error>((signal(kind)?, kind.as_raw_value() as u8));
            Ok(Self {
                signals: [
                    take(SignalKind::terminate())?,
                    take(SignalKind::hangup())?,
                    take(SignalKind::interrupt())?,
                    take(SignalKind::quit())?,
                ],
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next one; answers its number.
    pub async fn next(&mut self) -> u8 {
        #[cfg(unix)]
        {
            let [(terminate, t), (hangup, h), (interrupt, i), (quit, q)] = &mut self.signals;
            tokio::select! {
                _ = terminate.recv() => *t,
                _ = hangup.recv() => *h,
                _ = interrupt.recv() => *i,
                _ = quit.recv() => *q,
            }
        }
        #[cfg(not(unix))]
        {
            // An error means that the signal can never come.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            2
        }
    }
}

/// SIGWINCH and SIGCONT: what is on the terminal may not be what was drawn. Must be made within a runtime.
pub struct Redraws {
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 2],
}

impl Redraws {
    /// Takes the signals from now on.
    pub fn new() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let goes_on = SignalKind::from_raw(nix::libc::SIGCONT);
            Ok(Self { signals: [signal(SignalKind::window_change())?, signal(goes_on)?] })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        {
            let [resized, goes_on] = &mut self.signals;
            tokio::select! {
                _ = resized.recv() => {}
                _ = goes_on.recv() => {}
            }
        }
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}
