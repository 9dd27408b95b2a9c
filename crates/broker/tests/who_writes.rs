//! Appends of threads that write them, and of one that does not.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

mod node;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use disk::SimDisk;
use millrace_broker as broker;

use broker::Broker;
use broker::metadata::CreateTopicRequest;
use broker::owner::{AppendPart, AppendResults};
use node::{batch, start, start_at};
use tokio::sync::oneshot::Receiver;
use types::ManualClock;

async fn create(broker: &Broker) {
    let request = CreateTopicRequest::with_defaults("orders");
    broker.create_topic(request, false).await.unwrap();
}

fn append(broker: &Broker) -> Receiver<AppendResults> {
    let topic = broker.shared().topic("orders").unwrap();
    let part = AppendPart {
        partition: topic.partition(0).unwrap().id,
        batch: batch(&[7; 100], 10),
        origin: log::Origin::Kafka,
    };
    broker.append(vec![part], None)
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_brought_little_writes_it() {
    // By this clock no sync takes long, however busy the machine is.
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let (running, broker) = start_at(Path::new("/data"), Arc::new(SimDisk::new(1)), clock);
    create(&broker).await;
    let mut written_here = 0;
    for _ in 0..100 {
        let (mut first, mut second) = (append(&broker), append(&broker));
        if broker.write() {
            written_here += u32::from(first.try_recv().is_ok() && second.try_recv().is_ok());
        } else {
            // The writer's thread was at it.
            first.await.unwrap()[0].as_ref().unwrap();
            second.await.unwrap()[0].as_ref().unwrap();
        }
    }
    assert!(written_here > 50, "{written_here} of 100 pairs");
    tokio::task::block_in_place(|| running.stop()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_writes_is_written_all_the_same() {
    let (running, broker) = start(Path::new("/data"), Arc::new(SimDisk::new(2)));
    create(&broker).await;
    let answer = tokio::time::timeout(Duration::from_secs(10), append(&broker));
    answer.await.unwrap().unwrap()[0].as_ref().unwrap();
    tokio::task::block_in_place(|| running.stop()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn many_threads_bring_and_write_at_once() {
    let (running, broker) = start(Path::new("/data"), Arc::new(SimDisk::new(3)));
    create(&broker).await;
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let broker = broker.clone();
            tokio::spawn(async move {
                for _ in 0..200 {
                    let answer = append(&broker);
                    broker.write();
                    let answer = tokio::time::timeout(Duration::from_secs(10), answer);
                    answer.await.unwrap().unwrap()[0].as_ref().unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let topic = broker.shared().topic("orders").unwrap();
    assert_eq!(topic.partition(0).unwrap().end().0, 8 * 200 * 10);
    tokio::task::block_in_place(|| running.stop()).unwrap();
}
