//! The broker's errors as the protocol's codes. The only place that does it: every error has one
//! code, whichever request meets it. What differs by version is done by [`for_version`].

use broker::metadata::{
    AlterConfigError, AssignmentError, CreatePartitionsError, CreateTopicError, DeleteTopicError,
    NameError, TopicRef,
};
use broker::producer::ProducerError;
use broker::topic_config::ConfigError;
use broker::{AppendError, FetchError, Stopped, TrimError};
use record::BatchError;

use crate::wire::{ApiKey, ErrorCode};

/// An error that the protocol has a code for.
pub(crate) trait ToCode {
    /// The code.
    fn code(&self) -> ErrorCode;
}

impl ToCode for BatchError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Corrupt(_) => ErrorCode::CORRUPT_MESSAGE,
            Self::TooLarge { .. } | Self::UnpackedTooLarge { .. } => ErrorCode::MESSAGE_TOO_LARGE,
            Self::InvalidTimestamp(_) | Self::LogAppendTimeClaimed => ErrorCode::INVALID_TIMESTAMP,
            Self::UnsupportedCodec(_) => ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
            Self::InvalidBatch(_) | Self::InvalidRecords(_) => ErrorCode::INVALID_RECORD,
        }
    }
}

impl ToCode for AppendError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownPartition => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            Self::Producer(error) => error.code(),
            Self::TooLarge { .. } => ErrorCode::RECORD_LIST_TOO_LARGE,
            // Clients try again after it, and there may be room then.
            Self::Full | Self::Damaged => ErrorCode::KAFKA_STORAGE_ERROR,
            Self::Stopped(error) => error.code(),
        }
    }
}

impl ToCode for ProducerError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Epoch { .. } => ErrorCode::INVALID_PRODUCER_EPOCH,
            Self::OutOfOrder { .. } => ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
        }
    }
}

impl ToCode for FetchError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownPartition => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            Self::OffsetOutOfRange { .. } => ErrorCode::OFFSET_OUT_OF_RANGE,
            Self::Closing => ErrorCode::NOT_LEADER_OR_FOLLOWER,
            Self::Storage(_) => ErrorCode::KAFKA_STORAGE_ERROR,
        }
    }
}

impl ToCode for TrimError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownPartition => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            Self::OffsetOutOfRange { .. } => ErrorCode::OFFSET_OUT_OF_RANGE,
            Self::Stopped(error) => error.code(),
        }
    }
}

impl ToCode for CreateTopicError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Name(error) => error.code(),
            Self::Collision { .. } => ErrorCode::INVALID_TOPIC_EXCEPTION,
            Self::Reserved { .. } | Self::AssignmentAndCounts => ErrorCode::INVALID_REQUEST,
            Self::Exists { .. } => ErrorCode::TOPIC_ALREADY_EXISTS,
            Self::Partitions { .. } => ErrorCode::INVALID_PARTITIONS,
            Self::OutOfPartitions { .. } | Self::TooLarge(_) => ErrorCode::POLICY_VIOLATION,
            Self::ReplicationFactor { .. } => ErrorCode::INVALID_REPLICATION_FACTOR,
            Self::Assignment(error) => error.code(),
            Self::Config(error) => error.code(),
            Self::Stopped(error) => error.code(),
        }
    }
}

impl ToCode for NameError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Empty | Self::Dots(_) | Self::TooLong { .. } | Self::Characters { .. } => {
                ErrorCode::INVALID_TOPIC_EXCEPTION
            }
        }
    }
}

impl ToCode for AssignmentError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Twice(_) | Self::Missing { .. } | Self::Count { .. } | Self::Nodes { .. } => {
                ErrorCode::INVALID_REPLICA_ASSIGNMENT
            }
        }
    }
}

impl ToCode for ConfigError {
    fn code(&self) -> ErrorCode {
        ErrorCode::INVALID_CONFIG
    }
}

impl ToCode for DeleteTopicError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown(topic) => unknown(topic),
            Self::Stopped(error) => error.code(),
        }
    }
}

impl ToCode for CreatePartitionsError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown(topic) => unknown(topic),
            Self::NotMore { .. } | Self::TooMany { .. } => ErrorCode::INVALID_PARTITIONS,
            Self::OutOfPartitions { .. } | Self::TooLarge(_) => ErrorCode::POLICY_VIOLATION,
            Self::Assignment(error) => error.code(),
            Self::Stopped(error) => error.code(),
        }
    }
}

impl ToCode for AlterConfigError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown(topic) => unknown(topic),
            Self::Twice(_) | Self::Null(_) => ErrorCode::INVALID_REQUEST,
            Self::NotAList(_) => ErrorCode::INVALID_CONFIG,
            Self::TooLarge(_) => ErrorCode::POLICY_VIOLATION,
            Self::Config(error) => error.code(),
            Self::Stopped(error) => error.code(),
        }
    }
}

impl ToCode for Stopped {
    fn code(&self) -> ErrorCode {
        ErrorCode::KAFKA_STORAGE_ERROR
    }
}

fn unknown(topic: &TopicRef) -> ErrorCode {
    match topic {
        TopicRef::Name(_) => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        TopicRef::Id(_) => ErrorCode::UNKNOWN_TOPIC_ID,
    }
}

/// The code that clients of a version understand: those that came before
/// `KAFKA_STORAGE_ERROR` are told to look for another leader, which they do after both.
pub(crate) fn for_version(code: ErrorCode, api: ApiKey, version: i16) -> ErrorCode {
    let knows_storage_error = match api {
        ApiKey::Produce => version >= 4,
        ApiKey::Fetch => version >= 6,
        ApiKey::ListOffsets
        | ApiKey::Metadata
        | ApiKey::OffsetFetch
        | ApiKey::FindCoordinator
        | ApiKey::ApiVersions
        | ApiKey::CreateTopics
        | ApiKey::DeleteTopics
        | ApiKey::DeleteRecords
        | ApiKey::InitProducerId
        | ApiKey::OffsetForLeaderEpoch
        | ApiKey::DescribeConfigs
        | ApiKey::AlterConfigs
        | ApiKey::CreatePartitions
        | ApiKey::IncrementalAlterConfigs
        | ApiKey::DescribeCluster => true,
    };
    if code == ErrorCode::KAFKA_STORAGE_ERROR && !knows_storage_error {
        ErrorCode::NOT_LEADER_OR_FOLLOWER
    } else {
        code
    }
}

#[cfg(test)]
mod tests {
    use broker::{EntryTooLarge, topic_config};
    use record::{Codec, Corruption, Flaw};
    use types::{ProducerEpoch, ProducerId, Sequence, TopicId};

    use super::*;

    fn by_name() -> TopicRef {
        TopicRef::Name("t".to_owned())
    }

    fn by_id() -> TopicRef {
        TopicRef::Id(TopicId([1; 16]))
    }

    fn name() -> String {
        "t".to_owned()
    }

    #[test]
    fn every_error_of_a_batch_has_its_code() {
        let table = [
            (BatchError::Corrupt(Corruption::Magic(1)), 2),
            (
                BatchError::TooLarge {
                    bytes: 2,
                    max_bytes: 1,
                },
                10,
            ),
            (BatchError::UnpackedTooLarge { max_bytes: 1 }, 10),
            (BatchError::InvalidTimestamp(Vec::new()), 32),
            (BatchError::LogAppendTimeClaimed, 32),
            (BatchError::UnsupportedCodec(Codec::Zstd), 76),
            (BatchError::InvalidBatch(Flaw::Missing), 87),
            (BatchError::InvalidRecords(Vec::new()), 87),
        ];
        check(&table);
    }

    #[test]
    fn every_error_of_an_append_has_its_code() {
        let (producer_id, epoch) = (ProducerId(1), ProducerEpoch(0));
        let fenced = ProducerError::Epoch {
            producer_id,
            epoch,
            current: ProducerEpoch(1),
        };
        let (sequence, expected) = (Sequence(2), Sequence(1));
        let gap = ProducerError::OutOfOrder {
            producer_id,
            sequence,
            expected,
        };
        let table = [
            (AppendError::UnknownPartition, 3),
            (AppendError::Producer(fenced), 47),
            (AppendError::Producer(gap), 45),
            (
                AppendError::TooLarge {
                    bytes: 2,
                    bytes_max: 1,
                },
                18,
            ),
            (AppendError::Full, 56),
            (AppendError::Damaged, 56),
            (AppendError::Stopped(Stopped), 56),
        ];
        check(&table);
    }

    #[test]
    fn every_error_of_reading_and_trimming_has_its_code() {
        let out_of_range = FetchError::OffsetOutOfRange {
            offset: 2,
            log_start: 0,
            end: 1,
        };
        check(&[
            (FetchError::UnknownPartition, 3),
            (out_of_range, 1),
            (FetchError::Closing, 6),
        ]);
        check(&[
            (TrimError::UnknownPartition, 3),
            (TrimError::OffsetOutOfRange { offset: 2, end: 1 }, 1),
            (TrimError::Stopped(Stopped), 56),
        ]);
    }

    #[test]
    fn every_error_of_topics_has_its_code() {
        let config = topic_config::accept("no.such.setting", Some("1")).expect_err("unknown");
        let nodes = AssignmentError::Nodes {
            partition: 0,
            node: 1,
        };
        let too_large = EntryTooLarge {
            bytes: 2,
            bytes_max: 1,
        };
        check(&[
            (CreateTopicError::Name(NameError::Empty), 17),
            (CreateTopicError::Name(NameError::Dots(".")), 17),
            (
                CreateTopicError::Name(NameError::TooLong { bytes: 300 }),
                17,
            ),
            (
                CreateTopicError::Name(NameError::Characters { name: name() }),
                17,
            ),
            (
                CreateTopicError::Collision {
                    name: name(),
                    existing: name(),
                },
                17,
            ),
            (CreateTopicError::Reserved { name: name() }, 42),
            (
                CreateTopicError::Exists {
                    name: name(),
                    id: TopicId::ZERO,
                },
                36,
            ),
            (CreateTopicError::Partitions { partitions: 0 }, 37),
            (CreateTopicError::OutOfPartitions { partitions: 1 }, 44),
            (CreateTopicError::TooLarge(too_large.clone()), 44),
            (CreateTopicError::ReplicationFactor { factor: 2 }, 38),
            (CreateTopicError::AssignmentAndCounts, 42),
            (CreateTopicError::Assignment(AssignmentError::Twice(0)), 39),
            (CreateTopicError::Config(config.clone()), 40),
            (CreateTopicError::Stopped(Stopped), 56),
        ]);
        check(&[
            (DeleteTopicError::Unknown(by_name()), 3),
            (DeleteTopicError::Unknown(by_id()), 100),
            (DeleteTopicError::Stopped(Stopped), 56),
        ]);
        check(&[
            (CreatePartitionsError::Unknown(by_name()), 3),
            (
                CreatePartitionsError::NotMore {
                    current: 2,
                    count: 1,
                },
                37,
            ),
            (CreatePartitionsError::TooMany { count: i32::MAX }, 37),
            (CreatePartitionsError::OutOfPartitions { partitions: 1 }, 44),
            (CreatePartitionsError::TooLarge(too_large.clone()), 44),
            (CreatePartitionsError::Assignment(nodes), 39),
            (CreatePartitionsError::Stopped(Stopped), 56),
        ]);
        check(&[
            (AlterConfigError::Unknown(by_name()), 3),
            (AlterConfigError::Twice(name()), 42),
            (AlterConfigError::Null(name()), 42),
            (AlterConfigError::NotAList("retention.ms"), 40),
            (AlterConfigError::Config(config), 40),
            (AlterConfigError::TooLarge(too_large), 44),
            (AlterConfigError::Stopped(Stopped), 56),
        ]);
    }

    #[test]
    fn old_clients_are_sent_elsewhere_after_a_storage_error() {
        let code = ErrorCode::KAFKA_STORAGE_ERROR;
        let elsewhere = ErrorCode::NOT_LEADER_OR_FOLLOWER;
        assert_eq!(for_version(code, ApiKey::Produce, 3), elsewhere);
        assert_eq!(for_version(code, ApiKey::Produce, 4), code);
        assert_eq!(for_version(code, ApiKey::Fetch, 5), elsewhere);
        assert_eq!(for_version(code, ApiKey::Fetch, 6), code);
        let other = ErrorCode::INVALID_RECORD;
        assert_eq!(for_version(other, ApiKey::Produce, 3), other);
    }

    fn check<E: ToCode + std::fmt::Debug>(table: &[(E, i16)]) {
        for (error, code) in table {
            assert_eq!(error.code(), ErrorCode(*code), "{error:?}");
        }
    }
}
