use std::ops::RangeInclusive;

use super::Format;

/// Calls `$then` with the table of all APIs, one row each:
/// `Name = key: advertised versions, served from, flexible from, request type, response type;`
///
/// Advertised versions below the served ones are there because old clients read ranges as
/// feature flags (KAFKA-18659). A row here and a file in `messages` are all that an API needs.
macro_rules! for_each_api {
    ($then:ident) => {
        $then! {
            Produce = 0: 0..=12, 3, 9, ProduceRequest, ProduceResponse;
            Fetch = 1: 4..=17, 4, 12, FetchRequest, FetchResponse;
            ListOffsets = 2: 1..=10, 1, 6, ListOffsetsRequest, ListOffsetsResponse;
            Metadata = 3: 0..=13, 0, 9, MetadataRequest, MetadataResponse;
            OffsetFetch = 9: 1..=9, 1, 6, OffsetFetchRequest, OffsetFetchResponse;
            FindCoordinator = 10: 0..=6, 0, 3, FindCoordinatorRequest, FindCoordinatorResponse;
            ApiVersions = 18: 0..=4, 0, 3, ApiVersionsRequest, ApiVersionsResponse;
            CreateTopics = 19: 2..=7, 2, 5, CreateTopicsRequest, CreateTopicsResponse;
            DeleteTopics = 20: 1..=6, 1, 4, DeleteTopicsRequest, DeleteTopicsResponse;
            DeleteRecords = 21: 0..=2, 0, 2, DeleteRecordsRequest, DeleteRecordsResponse;
            InitProducerId = 22: 0..=5, 0, 2, InitProducerIdRequest, InitProducerIdResponse;
            OffsetForLeaderEpoch = 23: 2..=4, 2, 4,
                OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse;
            DescribeConfigs = 32: 1..=4, 1, 4, DescribeConfigsRequest, DescribeConfigsResponse;
            AlterConfigs = 33: 0..=2, 0, 2, AlterConfigsRequest, AlterConfigsResponse;
            CreatePartitions = 37: 0..=3, 0, 2, CreatePartitionsRequest, CreatePartitionsResponse;
            IncrementalAlterConfigs = 44: 0..=1, 0, 1,
                IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse;
            DescribeCluster = 60: 0..=2, 0, 0, DescribeClusterRequest, DescribeClusterResponse;
        }
    };
}
pub(super) use for_each_api;

macro_rules! api_key {
    ($($name:ident = $key:literal: $advertised:expr, $served_from:literal, $flexible_from:literal,
        $request:ident, $response:ident;)+) => {
        /// The APIs that the codec knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum ApiKey {
            $(
                #[doc = concat!("Key ", stringify!($key), ".")]
                $name = $key,
            )+
        }

        impl ApiKey {
            /// All of them, by key.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The API of a key.
            #[must_use]
            pub const fn from_code(key: i16) -> Option<Self> {
                match key {
                    $($key => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// The key on the wire.
            #[must_use]
            pub const fn code(self) -> i16 {
                match self {
                    $(Self::$name => $key,)+
                }
            }

            /// Versions that ApiVersions tells clients.
            #[must_use]
            pub const fn advertised(self) -> RangeInclusive<i16> {
                match self {
                    $(Self::$name => $advertised,)+
                }
            }

            /// The first version that is served; the last one is the last advertised.
            #[must_use]
            pub const fn served_from(self) -> i16 {
                match self {
                    $(Self::$name => $served_from,)+
                }
            }

            /// The first version with compact lengths and tagged fields (KIP-482).
            #[must_use]
            pub const fn flexible_from(self) -> i16 {
                match self {
                    $(Self::$name => $flexible_from,)+
                }
            }
        }
    };
}

for_each_api!(api_key);

impl ApiKey {
    /// Versions that are served.
    #[must_use]
    pub const fn served(self) -> RangeInclusive<i16> {
        self.served_from()..=*self.advertised().end()
    }

    /// Whether a version is served.
    #[must_use]
    pub fn serves(self, version: i16) -> bool {
        self.served().contains(&version)
    }

    /// Layout of a version's bodies. Its request header is flexible if they are.
    #[must_use]
    pub const fn format(self, version: i16) -> Format {
        Format {
            version,
            flexible: version >= self.flexible_from(),
        }
    }

    /// Whether a version's response header ends in tagged fields. That of ApiVersions never does:
    /// clients read it before they know what the broker speaks (KIP-511).
    #[must_use]
    pub const fn response_header_is_flexible(self, version: i16) -> bool {
        self.format(version).flexible && !matches!(self, Self::ApiVersions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ascend_and_come_back_from_their_codes() {
        assert!(ApiKey::ALL.is_sorted());
        for &api in ApiKey::ALL {
            assert_eq!(ApiKey::from_code(api.code()), Some(api));
            assert_eq!(api as i16, api.code());
        }
        assert_eq!(ApiKey::from_code(-1), None);
        assert_eq!(ApiKey::from_code(4), None);
    }

    #[test]
    fn served_versions_are_advertised() {
        for &api in ApiKey::ALL {
            assert!(api.advertised().contains(&api.served_from()), "{api:?}");
            assert!(*api.advertised().start() <= api.served_from(), "{api:?}");
        }
        assert_eq!(ApiKey::Produce.advertised(), 0..=12);
        assert!(!ApiKey::Produce.serves(2));
        assert!(ApiKey::Produce.serves(3) && ApiKey::Produce.serves(12));
    }

    #[test]
    fn the_response_header_of_api_versions_is_never_flexible() {
        assert!(ApiKey::ApiVersions.format(3).flexible);
        assert!(!ApiKey::ApiVersions.response_header_is_flexible(4));
        assert!(ApiKey::Metadata.response_header_is_flexible(9));
        assert!(!ApiKey::Metadata.response_header_is_flexible(8));
    }
}
