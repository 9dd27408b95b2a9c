use crate::wire::structure::wire_struct;
use crate::wire::{ApiKey, ErrorCode};

wire_struct! {
    /// Asks which APIs and versions the broker speaks; the first request of most connections.
    pub struct ApiVersionsRequest {
        client_software_name: String [3..],
        client_software_version: String [3..],
    }

    /// Which APIs and versions the broker speaks.
    pub struct ApiVersionsResponse {
        error_code: ErrorCode [0..],
        api_keys: Vec<ApiVersion> [0..],
        throttle_time_ms: i32 [1..],
        /// For versions before 4, without features whose minimum is 0: old clients fail on them.
        supported_features: Vec<SupportedFeatureKey> [tag 0, 3..],
        finalized_features_epoch: i64 [tag 1, 3..] = -1,
        finalized_features: Vec<FinalizedFeatureKey> [tag 2, 3..],
        zk_migration_ready: bool [tag 3, 3..],
    }

    /// Versions of one API.
    pub struct ApiVersion {
        api_key: i16 [0..],
        min_version: i16 [0..],
        max_version: i16 [0..],
    }

    /// Versions that a feature may take (KIP-584).
    pub struct SupportedFeatureKey {
        name: String [3..],
        min_version: i16 [3..],
        max_version: i16 [3..],
    }

    /// The version that a feature has in this cluster (KIP-584).
    pub struct FinalizedFeatureKey {
        name: String [3..],
        max_version_level: i16 [3..],
        min_version_level: i16 [3..],
    }
}

impl ApiVersion {
    /// The versions that are advertised for an API.
    #[must_use]
    pub fn advertised(api: ApiKey) -> Self {
        let versions = api.advertised();
        Self {
            api_key: api.code(),
            min_version: *versions.start(),
            max_version: *versions.end(),
        }
    }
}

impl ApiVersionsResponse {
    /// The answer to a version of ApiVersions that does not exist here, to be written in version
    /// 0: it names the versions of ApiVersions only (KIP-511).
    #[must_use]
    pub fn unsupported_version() -> Self {
        Self {
            error_code: ErrorCode::UNSUPPORTED_VERSION,
            api_keys: vec![ApiVersion::advertised(ApiKey::ApiVersions)],
            ..Self::default()
        }
    }
}
