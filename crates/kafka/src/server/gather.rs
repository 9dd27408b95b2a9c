//! How many produce requests of a connection are written together.

use types::limits::{
    KAFKA_GATHER_BYTES_MAX, KAFKA_GATHER_PAUSE, KAFKA_GATHER_REQUESTS_MAX,
    KAFKA_GATHER_SILENCES_MAX,
};

/// Judges for how many requests the log waits before it writes what one connection brought.
///
/// A client that keeps several requests in flight sends the next one whatever the log does, and a
/// frame costs much more than a request. So the log waits for as many as it found together before,
/// and one more; a wait in vain teaches better. A client that waits for each answer is never kept
/// waiting.
#[derive(Debug)]
pub(super) struct Gather {
    /// Requests that began since the last write.
    begun: usize,
    /// Requests to wait for.
    wanted: usize,
    /// Bytes of the smallest request that began since the last write, and of those before.
    least_bytes: [usize; 2],
    /// The wait is over, though less came than was wanted.
    is_over: bool,
    /// Writes that follow before more is wanted than before.
    pause: usize,
    /// Waits in which nothing came, since requests came together.
    silences: usize,
}

impl Default for Gather {
    fn default() -> Self {
        Self {
            begun: 0,
            wanted: 1,
            least_bytes: [usize::MAX, 0],
            is_over: false,
            pause: 0,
            silences: 0,
        }
    }
}

impl Gather {
    /// Counts a request of so many bytes that began.
    pub(super) fn count(&mut self, bytes: usize) {
        self.begun += 1;
        self.least_bytes[0] = self.least_bytes[0].min(bytes);
    }

    /// Whether the client keeps several requests in flight.
    pub(super) const fn is_on(&self) -> bool {
        self.wanted > 1
    }

    /// Whether to wait for more.
    pub(super) const fn wants_more(&self) -> bool {
        0 < self.begun && self.begun < self.wanted && !self.is_over
    }

    /// Bytes that have arrived when all that is waited for has. Of the last request the first byte
    /// stands for all: a client sends a request at once, and it may be smaller than those before.
    pub(super) fn awaited_bytes(&self) -> usize {
        if self.is_over {
            return 1;
        }
        let before_last = self.wanted.saturating_sub(self.begun + 1);
        let bytes = before_last.saturating_mul(self.least_bytes[1]);
        bytes.min(KAFKA_GATHER_BYTES_MAX) + 1
    }

    /// What began is written.
    pub(super) fn wrote(&mut self) {
        if self.begun == 0 {
            return;
        }
        if self.begun > 1 {
            self.silences = 0;
        }
        if self.is_over {
            self.wanted = self.begun;
            self.pause = KAFKA_GATHER_PAUSE;
        } else if self.pause > 0 {
            self.pause -= 1;
        } else if self.begun > 1 {
            self.wanted = (self.begun + 1).min(KAFKA_GATHER_REQUESTS_MAX);
        }
        self.least_bytes = [usize::MAX, self.least_bytes[0]];
        self.is_over = false;
        self.begun = 0;
    }

    /// Less came for a while than was waited for, or nothing.
    pub(super) fn give_up(&mut self, came: bool) {
        if came || self.begun > 0 {
            self.is_over = true;
            return;
        }
        self.silences += 1;
        if self.silences == KAFKA_GATHER_SILENCES_MAX {
            *self = Self::default();
        }
    }

    /// Others write what began, if it is written at all: there is nothing to wait for.
    pub(super) fn forget(&mut self) {
        if self.begun > 0 {
            *self = Self {
                pause: self.pause,
                silences: self.silences,
                ..Self::default()
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins requests and has them written.
    fn together(gather: &mut Gather, requests: usize) {
        (0..requests).for_each(|_| gather.count(100));
        gather.wrote();
    }

    fn wants_more_than(gather: &Gather, requests: usize) -> bool {
        let begun = requests;
        Gather { begun, ..*gather }.wants_more()
    }

    #[test]
    fn who_sends_one_at_a_time_is_never_kept_waiting() {
        let mut gather = Gather::default();
        for _ in 0..1000 {
            assert!(!wants_more_than(&gather, 1));
            together(&mut gather, 1);
        }
    }

    #[test]
    fn one_more_than_came_together_is_waited_for_up_to_the_bound() {
        let mut gather = Gather::default();
        together(&mut gather, 2);
        assert!(wants_more_than(&gather, 2));
        assert!(!wants_more_than(&gather, 3));
        together(&mut gather, 100);
        assert!(wants_more_than(&gather, KAFKA_GATHER_REQUESTS_MAX - 1));
        assert!(!wants_more_than(&gather, KAFKA_GATHER_REQUESTS_MAX));
    }

    #[test]
    fn after_a_wait_in_vain_no_more_is_wanted_than_came_for_a_while() {
        let mut gather = Gather::default();
        together(&mut gather, 2);
        gather.count(100);
        gather.count(100);
        gather.give_up(false);
        assert!(!gather.wants_more());
        gather.wrote();
        for _ in 0..KAFKA_GATHER_PAUSE {
            together(&mut gather, 2);
            assert!(wants_more_than(&gather, 1));
            assert!(!wants_more_than(&gather, 2));
        }
        together(&mut gather, 2);
        assert!(wants_more_than(&gather, 2));
    }

    #[test]
    fn nothing_is_waited_for_where_others_write() {
        let mut gather = Gather::default();
        together(&mut gather, 2);
        gather.forget();
        assert!(gather.is_on(), "nothing began");
        gather.count(100);
        gather.forget();
        assert!(!gather.is_on());
    }

    #[test]
    fn a_pause_of_the_client_changes_nothing_but_several_do() {
        let mut gather = Gather::default();
        together(&mut gather, 2);
        for _ in 1..KAFKA_GATHER_SILENCES_MAX {
            gather.give_up(false);
            together(&mut gather, 1);
            assert!(wants_more_than(&gather, 2));
        }
        gather.give_up(false);
        assert!(!gather.is_on());
    }

    #[test]
    fn what_others_brought_teaches_nothing() {
        let mut gather = Gather::default();
        together(&mut gather, 2);
        gather.count(100);
        gather.give_up(false);
        gather.wrote();
        for _ in 0..2 * KAFKA_GATHER_PAUSE {
            gather.wrote();
        }
        together(&mut gather, 2);
        assert!(!gather.is_on(), "the pause goes on");
    }

    #[test]
    fn all_but_the_end_of_the_last_request_is_awaited() {
        let mut gather = Gather::default();
        assert_eq!(gather.awaited_bytes(), 1, "nothing is known of the client");
        gather.count(300);
        gather.count(100);
        gather.wrote();
        assert_eq!(gather.awaited_bytes(), 201, "three requests");
        gather.count(500);
        assert_eq!(gather.awaited_bytes(), 101);
        gather.count(500);
        assert_eq!(gather.awaited_bytes(), 1);
        gather.wrote();
        assert_eq!(gather.awaited_bytes(), 1001);
        gather.give_up(true);
        assert_eq!(gather.awaited_bytes(), 1, "not so many come at once");
    }

    #[test]
    fn what_came_late_or_in_part_is_not_waited_for_again() {
        let mut gather = Gather::default();
        together(&mut gather, 4);
        gather.give_up(true);
        gather.count(100);
        assert!(!gather.wants_more());
        gather.count(100);
        gather.wrote();
        assert!(wants_more_than(&gather, 1));
        assert!(!wants_more_than(&gather, 2));
    }

    #[test]
    fn nobody_waits_for_what_does_not_come() {
        let mut gather = Gather::default();
        together(&mut gather, 3);
        gather.count(100);
        gather.give_up(false);
        gather.wrote();
        assert!(!wants_more_than(&gather, 1));
    }
}
