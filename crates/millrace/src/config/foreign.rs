//! Keys of Kafka, RabbitMQ and RocketMQ that have no meaning here.
//!
//! A key whose author expects an effect is refused with the reason. A key that stock files carry
//! whether or not anybody thought about it is accepted with one warning.

/// What happens to such a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Starting without its effect would surprise whoever wrote it.
    Refused(&'static str),
    /// Nothing is lost by going on without it.
    Ignored(&'static str),
}

use Verdict::{Ignored, Refused};

const LISTEN: &str = "set kafka.listen (host:port entries) instead";
const ADVERTISE: &str = "set kafka.advertise (host:port) instead";
const NO_ZOOKEEPER: &str = "there is no ZooKeeper and no other coordinator";
const ONE_NODE: &str = "this version runs on one node";
const THREADS: &str = "threads follow the number of cores";
const SYSTEM_BUFFERS: &str = "the operating system sizes socket buffers";
const NO_TLS: &str = "this version has no TLS and no authentication";
const NO_GROUPS: &str = "this version has no consumer groups and no transactions";
const NO_AMQP: &str = "this version does not speak AMQP";
const NO_ROCKETMQ: &str = "this version does not speak RocketMQ's protocol";
const NO_COMPACTION: &str = "this version does not compact topics";
const NO_TIERS: &str = "this version has no remote tier";
const LEVELS: &str = "a level is a setting of topics only; set it for each topic";
const DURABILITY: &str = "set log.durability (sync or async) instead";

/// Names, or starts of names where a `*` ends them.
static FOREIGN: &[(&str, Verdict)] = &[
    // Kafka.
    ("listeners", Refused(LISTEN)),
    ("advertised.listeners", Refused(ADVERTISE)),
    ("port", Refused(LISTEN)),
    ("host.name", Refused(LISTEN)),
    ("advertised.host.name", Refused(ADVERTISE)),
    ("advertised.port", Refused(ADVERTISE)),
    ("zookeeper.*", Refused(NO_ZOOKEEPER)),
    ("broker.id", Refused("set node.id instead")),
    ("broker.rack", Refused(ONE_NODE)),
    ("log.dir", Refused("set log.dirs instead")),
    (
        "metadata.log.dir",
        Refused("metadata is part of the log; set log.dirs"),
    ),
    ("log.flush.interval.messages", Refused(DURABILITY)),
    ("log.cleanup.policy", Refused(NO_COMPACTION)),
    ("log.cleaner.*", Refused(NO_COMPACTION)),
    ("remote.log.*", Refused(NO_TIERS)),
    ("log.local.retention.*", Refused(NO_TIERS)),
    ("compression.gzip.level", Refused(LEVELS)),
    ("compression.lz4.level", Refused(LEVELS)),
    ("compression.zstd.level", Refused(LEVELS)),
    ("ssl.*", Refused(NO_TLS)),
    ("sasl.*", Refused(NO_TLS)),
    ("super.users", Refused(NO_TLS)),
    ("authorizer.class.name", Refused(NO_TLS)),
    ("security.inter.broker.protocol", Refused(ONE_NODE)),
    ("quota.*", Refused("this version has no quotas")),
    (
        "max.connections.per.ip",
        Refused("set max.connections instead"),
    ),
    (
        "max.connections.per.ip.overrides",
        Refused("set max.connections instead"),
    ),
    ("offsets.topic.replication.factor", Ignored(ONE_NODE)),
    (
        "transaction.state.log.replication.factor",
        Ignored(ONE_NODE),
    ),
    ("transaction.state.log.min.isr", Ignored(ONE_NODE)),
    (
        "share.coordinator.state.topic.replication.factor",
        Ignored(ONE_NODE),
    ),
    ("share.coordinator.state.topic.min.isr", Ignored(ONE_NODE)),
    ("offsets.*", Refused(NO_GROUPS)),
    ("group.initial.rebalance.delay.ms", Ignored(NO_GROUPS)),
    ("group.*", Refused(NO_GROUPS)),
    ("transaction.*", Refused(NO_GROUPS)),
    ("transactional.id.expiration.ms", Refused(NO_GROUPS)),
    (
        "process.roles",
        Ignored("every node is broker and controller in one"),
    ),
    (
        "controller.*",
        Ignored("every node is broker and controller in one"),
    ),
    ("inter.broker.listener.name", Ignored(ONE_NODE)),
    ("inter.broker.protocol.version", Ignored(ONE_NODE)),
    (
        "listener.security.protocol.map",
        Ignored("a listener's protocol is in the name of its key"),
    ),
    ("num.network.threads", Ignored(THREADS)),
    ("num.io.threads", Ignored(THREADS)),
    ("num.recovery.threads.per.data.dir", Ignored(THREADS)),
    ("num.replica.fetchers", Ignored(ONE_NODE)),
    ("background.threads", Ignored(THREADS)),
    (
        "queued.max.requests",
        Ignored("requests are bounded by queued.max.request.bytes"),
    ),
    ("socket.send.buffer.bytes", Ignored(SYSTEM_BUFFERS)),
    ("socket.receive.buffer.bytes", Ignored(SYSTEM_BUFFERS)),
    (
        "socket.listen.backlog.size",
        Ignored("the backlog is as long as the system allows"),
    ),
    ("default.replication.factor", Ignored(ONE_NODE)),
    ("min.insync.replicas", Ignored(ONE_NODE)),
    ("replica.*", Ignored(ONE_NODE)),
    ("unclean.leader.election.enable", Ignored(ONE_NODE)),
    ("auto.leader.rebalance.enable", Ignored(ONE_NODE)),
    ("leader.imbalance.*", Ignored(ONE_NODE)),
    ("log.index.*", Ignored("indexes are sized by the data")),
    (
        "log.preallocate",
        Ignored("files of the log are always allocated ahead"),
    ),
    (
        "log.segment.delete.delay.ms",
        Ignored("a file is freed with its last reader"),
    ),
    (
        "log.flush.scheduler.interval.ms",
        Ignored("see log.durability"),
    ),
    (
        "log.flush.offset.checkpoint.interval.ms",
        Ignored("checkpoints follow the log's growth"),
    ),
    (
        "log.flush.start.offset.checkpoint.interval.ms",
        Ignored("a trim is an entry of the log"),
    ),
    (
        "log.roll.jitter.*",
        Ignored("files of the log are shared by all partitions"),
    ),
    (
        "log.message.format.version",
        Ignored("records are stored in format 2 only"),
    ),
    (
        "log.message.downconversion.enable",
        Ignored("records are stored in format 2 only"),
    ),
    (
        "log.message.timestamp.difference.max.ms",
        Ignored("see log.message.timestamp.before.max.ms and after.max.ms"),
    ),
    ("metric.reporters", Ignored("see admin.listen")),
    ("metrics.*", Ignored("see admin.listen")),
    ("kafka.metrics.*", Ignored("see admin.listen")),
    ("auto.include.jmx.reporter", Ignored("see admin.listen")),
    (
        "confluent.*",
        Ignored("it belongs to a product built on Kafka"),
    ),
    // RabbitMQ.
    ("listeners.*", Refused(NO_AMQP)),
    ("num_acceptors.*", Ignored(THREADS)),
    ("amqp.*", Refused(NO_AMQP)),
    ("rabbitmq.*", Refused(NO_AMQP)),
    (
        "management.*",
        Refused("this version has no management API; see admin.listen"),
    ),
    (
        "prometheus.*",
        Refused("this version has no Prometheus listener; see admin.listen"),
    ),
    ("default_vhost", Refused(NO_AMQP)),
    ("default_user", Refused(NO_TLS)),
    ("default_pass", Refused(NO_TLS)),
    ("loopback_users*", Refused(NO_TLS)),
    ("auth_backends.*", Refused(NO_TLS)),
    ("ssl_options.*", Refused(NO_TLS)),
    ("cluster_formation.*", Refused(ONE_NODE)),
    ("cluster_name", Refused("set cluster.id instead")),
    (
        "vm_memory_high_watermark*",
        Refused("set log.tail.bytes and queued.max.request.bytes"),
    ),
    (
        "disk_free_limit*",
        Refused("this version has no free-space levels of its own"),
    ),
    ("consumer_timeout", Refused(NO_AMQP)),
    ("heartbeat", Refused(NO_AMQP)),
    ("channel_max", Refused(NO_AMQP)),
    ("frame_max", Refused(NO_AMQP)),
    ("max_message_size", Refused("set message.max.bytes instead")),
    (
        "log.console*",
        Refused("logs go to standard error; set log.level and log.format"),
    ),
    (
        "log.file",
        Refused("logs go to standard error; set log.level and log.format"),
    ),
    ("log.file.level", Refused("set log.level instead")),
    // RocketMQ.
    (
        "listenPort",
        Refused("set kafka.listen instead; this version does not speak RocketMQ's protocol"),
    ),
    ("namesrvAddr", Refused("a node is its own name server")),
    ("rocketmq.*", Refused(NO_ROCKETMQ)),
    ("brokerClusterName", Ignored(NO_ROCKETMQ)),
    ("brokerName", Ignored(NO_ROCKETMQ)),
    ("brokerId", Ignored(ONE_NODE)),
    ("brokerRole", Ignored(ONE_NODE)),
    ("brokerIP1", Refused(ADVERTISE)),
    ("brokerIP2", Refused(ONE_NODE)),
    ("flushDiskType", Refused(DURABILITY)),
    (
        "deleteWhen",
        Ignored("expired data is deleted when it expires"),
    ),
    (
        "fileReservedTime",
        Refused("set log.retention.hours instead"),
    ),
    ("storePathRootDir", Refused("set log.dirs instead")),
    ("storePath*", Refused("set log.dirs instead")),
    ("mapedFileSize*", Refused("set log.file.bytes instead")),
    ("mappedFileSize*", Refused("set log.file.bytes instead")),
    ("maxMessageSize", Refused("set message.max.bytes instead")),
    (
        "autoCreateTopicEnable",
        Refused("set auto.create.topics.enable instead"),
    ),
    (
        "defaultTopicQueueNums",
        Refused("set num.partitions instead"),
    ),
    ("messageDelayLevel", Refused(NO_ROCKETMQ)),
];

/// What is known of a foreign key; exact names before patterns.
pub(crate) fn find(name: &str) -> Option<Verdict> {
    let exact = FOREIGN.iter().find(|(known, _)| *known == name);
    let pattern = || {
        FOREIGN.iter().find(|(known, _)| {
            known
                .strip_suffix('*')
                .is_some_and(|start| name.starts_with(start))
        })
    };
    exact.or_else(pattern).map(|&(_, verdict)| verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_name_wins_over_a_pattern() {
        assert_eq!(
            find("offsets.topic.replication.factor"),
            Some(Ignored(ONE_NODE))
        );
        assert_eq!(find("offsets.retention.minutes"), Some(Refused(NO_GROUPS)));
        assert_eq!(find("zookeeper.connect"), Some(Refused(NO_ZOOKEEPER)));
        assert_eq!(find("log.retention.ms"), None);
        assert_eq!(find("num.partitions"), None);
    }

    #[test]
    fn keys_of_kafka_whose_effect_is_missing_are_refused_with_the_reason() {
        for (name, reason) in [
            ("log.local.retention.ms", NO_TIERS),
            ("log.local.retention.bytes", NO_TIERS),
            ("compression.gzip.level", LEVELS),
            ("compression.lz4.level", LEVELS),
            ("compression.zstd.level", LEVELS),
            (
                "max.connections.per.ip.overrides",
                "set max.connections instead",
            ),
        ] {
            assert_eq!(find(name), Some(Refused(reason)), "{name}");
        }
    }

    #[test]
    fn reasons_name_only_keys_that_exist() {
        for (name, verdict) in FOREIGN {
            let (Refused(reason) | Ignored(reason)) = verdict;
            let named = reason
                .strip_prefix("set ")
                .and_then(|rest| rest.split([' ', ';']).next());
            if let Some(key) = named {
                assert!(crate::config::table::find(key).is_some(), "{name}: {key}");
            }
        }
    }
}
