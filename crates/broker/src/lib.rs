//! Protocol-neutral services over the log: topics, partitions, producers, retention.

pub mod topic_config;
