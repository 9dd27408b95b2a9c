//! Waiting for records that are not there yet.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use broker::Waiter;
use tokio::time::Instant;

use super::{Fetch, Look};

/// Waits until there may be `missing_bytes` more than a look gave, at most until `deadline`.
pub(super) async fn for_more(fetch: &Fetch<'_>, look: Look, deadline: Instant) {
    let node = fetch.call.session.node();
    let missing_bytes = fetch.bytes_min.saturating_sub(look.bytes);
    let mut waiter = Waiter::new(i64::try_from(missing_bytes).unwrap_or(i64::MAX));
    for asked in fetch.partitions() {
        if let Ok(partition) = &asked.partition {
            waiter.wait_at(partition);
            // Readers do not wait for the latest moment at which a topic is synced.
            node.broker.hurry(partition);
        }
    }
    // What arrived after the look and before the waiter woke nobody.
    let is_outdated = fetch
        .partitions()
        .zip(look.found.iter().flatten())
        .any(|(asked, found)| asked.has_moved(found.seen_end));
    // Its records need not be kept meanwhile.
    drop(look);
    if !is_outdated {
        let woken = async {
            let mut waiting = pin!(waiter.wait());
            // A node that closes polls all its connections.
            poll_fn(|cx| match waiting.as_mut().poll(cx) {
                Poll::Pending if !node.is_closing() => Poll::Pending,
                _ => Poll::Ready(()),
            })
            .await;
        };
        let _timed_out = tokio::time::timeout_at(deadline, woken).await.is_err();
    }
}
