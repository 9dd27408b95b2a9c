//! Waiting for several answers of the owner at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Futures under way at once. A request may name a million things, and a future is larger than a
/// name.
const AT_ONCE: usize = 1_024;

/// The items in pieces, for each of which futures are [joined](join_all).
pub(super) fn pieces<T>(items: Vec<T>) -> Pieces<T> {
    Pieces(items.into_iter())
}

/// What [`pieces`] gives.
#[derive(Debug)]
pub(super) struct Pieces<T>(std::vec::IntoIter<T>);

impl<T> Iterator for Pieces<T> {
    type Item = Vec<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece: Vec<_> = self.0.by_ref().take(AT_ONCE).collect();
        (!piece.is_empty()).then_some(piece)
    }
}

/// Polls all futures until each is done: what they propose is proposed at once and in order, so
/// that one sync serves all of it.
pub(super) async fn join_all<T>(
    futures: impl IntoIterator<Item = impl Future<Output = T>>,
) -> Vec<T> {
    let mut running: Vec<_> = futures
        .into_iter()
        .map(|future| State::Running(Box::pin(future)))
        .collect();
    poll_fn(|cx| {
        let mut pending = false;
        for state in &mut running {
            if let State::Running(future) = state {
                match future.as_mut().poll(cx) {
                    Poll::Ready(value) => *state = State::Done(value),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    let done = running.into_iter().filter_map(|state| match state {
        State::Done(value) => Some(value),
        State::Running(_) => None,
    });
    done.collect()
}

enum State<F: Future> {
    Running(Pin<Box<F>>),
    Done(F::Output),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_come_in_the_order_of_the_questions() {
        let (late, answer) = tokio::sync::oneshot::channel();
        let first = async move { answer.await.expect("sent") };
        let both = join_all([
            Box::pin(first) as Pin<Box<dyn Future<Output = i32>>>,
            Box::pin(async {
                late.send(1).expect("somebody waits");
                2
            }),
        ]);
        assert_eq!(both.await, [1, 2]);
    }

    #[test]
    fn pieces_are_bounded_and_lose_nothing() {
        let items: Vec<_> = (0..2 * AT_ONCE + 1).collect();
        let pieces: Vec<_> = pieces(items.clone()).collect();
        let lengths: Vec<_> = pieces.iter().map(Vec::len).collect();
        assert_eq!(lengths, [AT_ONCE, AT_ONCE, 1]);
        assert_eq!(pieces.concat(), items);
    }
}
