//! What each connection does, decided before the load starts.

use std::collections::BTreeMap;

use kafka::wire::{ApiKey, ErrorCode};

use super::ProduceBench;
use super::request::PRODUCE_VERSION;
use crate::client::{ClientError, NewTopic, Producer, by_leader};

/// One connection: where it goes and what it writes.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) server: String,
    pub(super) partitions: Vec<i32>,
    pub(super) producer: Option<Producer>,
    /// Its place among all connections.
    pub(super) number: u32,
    /// Records that it sends at most.
    pub(super) records: u64,
}

/// Makes the topic if need be and shares its partitions out to the connections.
pub(super) async fn prepare(args: &ProduceBench) -> anyhow::Result<Vec<Plan>> {
    let client = args.server.connect().await?;
    let new = NewTopic {
        name: args.topic.clone(),
        partitions: Some(args.partitions),
        replication_factor: None,
        configs: args.configs.clone(),
    };
    match client.create_topic(&new).await {
        Err(error) if error.code() == Some(ErrorCode::TOPIC_ALREADY_EXISTS) => {}
        other => other?,
    }
    // A broker that just made a topic may not know it for a moment.
    let topic = client.topic(&args.topic, true).await?;
    let all: Vec<_> = topic.partitions.iter().map(|p| p.partition_index).collect();
    let leaders = by_leader(&topic, &all);
    let places = places(&leaders, usize::try_from(args.connections)?);
    let connections = u32::try_from(places.len())?;
    let mut plans = Vec::new();
    for (number, (leader, partitions)) in (0..).zip(places) {
        let connection = client.broker(leader).await?;
        let version = connection.version(ApiKey::Produce, PRODUCE_VERSION)?;
        if version != PRODUCE_VERSION {
            let server = connection.server().to_owned();
            return Err(ClientError::Unsupported {
                server,
                api: ApiKey::Produce,
            }
            .into());
        }
        let producer = if args.idempotent {
            Some(client.init_producer().await?)
        } else {
            None
        };
        let server = client.address(leader).await?;
        let records = part(args.records, number, connections);
        plans.push(Plan {
            server,
            partitions,
            producer,
            number,
            records,
        });
    }
    Ok(plans)
}

/// Connection `number`'s part of a total.
pub(super) fn part(total: Option<u64>, number: u32, connections: u32) -> u64 {
    let Some(total) = total else { return u64::MAX };
    let (number, connections) = (u64::from(number), u64::from(connections));
    total / connections + u64::from(number < total % connections)
}

/// For each connection a leader and partitions of it: disjoint ones while they last, all of the
/// leader's when there are more connections than that. Each leader has one at least, so that all
/// partitions are loaded.
fn places(leaders: &BTreeMap<i32, Vec<i32>>, connections: usize) -> Vec<(i32, Vec<i32>)> {
    let connections = connections.max(leaders.len());
    let per_leader = |nth: usize| (connections - nth).div_ceil(leaders.len());
    let mut places = Vec::new();
    for (nth, (leader, partitions)) in leaders.iter().enumerate() {
        let count = per_leader(nth);
        for place in 0..count {
            let own: Vec<_> = partitions
                .iter()
                .copied()
                .skip(place)
                .step_by(count)
                .collect();
            places.push((
                *leader,
                if own.is_empty() {
                    partitions.clone()
                } else {
                    own
                },
            ));
        }
    }
    places
}

/// Shares connections out to threads.
pub(super) fn share(plans: Vec<Plan>, threads: usize) -> Vec<Vec<Plan>> {
    let mut shares = vec![Vec::new(); threads];
    for (plan, i) in plans.into_iter().zip((0..threads).cycle()) {
        if let Some(share) = shares.get_mut(i) {
            share.push(plan);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_has_a_connection_and_none_is_idle() {
        let leaders = BTreeMap::from([(1, vec![0, 2, 4]), (2, vec![1, 3])]);
        // One connection for two leaders left the other's partitions without load.
        for connections in 1..10 {
            let places = places(&leaders, connections);
            assert_eq!(places.len(), connections.max(2));
            assert!(places.iter().all(|(leader, p)| {
                !p.is_empty() && p.iter().all(|p| leaders[leader].contains(p))
            }));
            let mut seen: Vec<_> = places.iter().flat_map(|(_, p)| p.clone()).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen, [0, 1, 2, 3, 4], "{connections}");
        }
    }

    #[test]
    fn parts_add_up_to_the_total() {
        let parts: Vec<_> = (0..3).map(|n| part(Some(8), n, 3)).collect();
        assert_eq!(parts, [3, 3, 2]);
        assert_eq!(part(None, 0, 3), u64::MAX);
    }
}
