//! When a runtime that does not answer is given up. Pure: the clock is the caller's.

use crate::limits::{OUTAGE, OUTAGE_FAILURES};
use std::time::Instant;

/// What an attempt to reach a runtime came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It answered.
    Contact,
    /// It took the connection and said nothing: a debugger, a suspended laptop. It is there, and nothing would announce
    /// it again.
    Silence,
    /// It could not be reached, or something else is there.
    Failure,
    /// It could not be tried: this process may open no connection, or has no room for one.
    Untried,
}

/// The failures in a row of one runtime.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outage(Option<Run>);

#[derive(Clone, Copy, Debug)]
struct Run {
    first: Instant,
    last: Instant,
    failures: u32,
}

impl Outage {
    /// Notes what an attempt came to; whether the runtime is to be given up now.
    pub(super) fn note(&mut self, sign: Sign, now: Instant) -> bool {
        match sign {
            Sign::Failure => {}
            Sign::Untried => return false,
            Sign::Contact | Sign::Silence => {
                self.0 = None;
                return false;
            }
        }
        let goes_on = self.0.filter(|run| now.saturating_duration_since(run.last) <= OUTAGE);
        let run = goes_on.map_or(Run { first: now, last: now, failures: 1 }, |run| Run {
            last: now,
            failures: run.failures.saturating_add(1),
            ..run
        });
        self.0 = Some(run);
        run.failures >= OUTAGE_FAILURES && now.saturating_duration_since(run.first) >= OUTAGE
    }

    /// Whether there were failures that have not come to anything yet.
    pub(super) fn undecided(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn given_up(steps: &[(Sign, u64)]) -> Vec<bool> {
        let (mut outage, mut now) = (Outage::default(), Instant::now());
        let step = |(sign, after): &(Sign, u64)| {
            now += Duration::from_millis(*after);
            outage.note(*sign, now)
        };
        steps.iter().map(step).collect()
    }

    #[test]
    fn three_failures_over_two_seconds_are_the_end_and_less_is_not() {
        use Sign::{Contact, Failure, Silence, Untried};
        assert_eq!(
            given_up(&[(Failure, 0), (Failure, 700), (Failure, 700), (Failure, 700)]),
            [false, false, false, true]
        );
        assert_eq!(given_up(&[(Failure, 0), (Failure, 1000), (Failure, 1000)]), [false, false, true]);
        assert_eq!(given_up(&[(Failure, 0), (Failure, 2000)]), [false, false], "two are no three");
        assert_eq!(given_up(&[(Failure, 0), (Failure, 0), (Failure, 1999)]), [false; 3], "too soon");
        assert_eq!(
            given_up(&[(Failure, 0), (Failure, 2001), (Failure, 2001), (Failure, 2001)]),
            [false; 4],
            "each its own"
        );
        for other in [Contact, Silence] {
            let steps = [(Failure, 0), (Failure, 1000), (other, 500), (Failure, 500), (Failure, 500)];
            assert_eq!(given_up(&steps), [false; 5], "{other:?} ends an outage");
        }
        for never in [Silence, Untried] {
            assert_eq!(given_up(&[(never, 0), (never, 1000), (never, 1000), (never, 1000)]), [false; 4]);
        }
        let steps = [(Failure, 0), (Untried, 700), (Failure, 700), (Untried, 1), (Failure, 700)];
        assert_eq!(given_up(&steps), [false, false, false, false, true], "it is as if it had not been");
    }

    proptest! {
        #[test]
        fn it_is_what_the_last_failures_in_a_row_say(
            steps in prop::collection::vec(
                (prop_oneof![8 => Just(Sign::Failure), 1 => Just(Sign::Contact), 1 => Just(Sign::Silence)], 0_u64..2_600), 0..40
            )
        ) {
            let said = given_up(&steps);
            for (end, said) in said.into_iter().enumerate() {
                // Back from here for as long as there are failures with no long gap between.
                let mut count = 0;
                let mut lasted = 0;
                for at in (0..=end).rev() {
                    if steps[at].0 != Sign::Failure || count > 0 && steps[at + 1].1 > 2_000 {
                        break;
                    }
                    lasted += if count > 0 { steps[at + 1].1 } else { 0 };
                    count += 1;
                }
                prop_assert_eq!(said, count >= 3 && lasted >= 2_000, "step {}", end);
            }
        }
    }
}
