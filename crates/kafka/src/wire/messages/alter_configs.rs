use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Replaces all settings of resources; what is not named goes back to its default.
    pub struct AlterConfigsRequest {
        resources: Vec<AlterConfigsResource> [0..],
        validate_only: bool [0..],
    }

    /// A resource whose settings are replaced.
    pub struct AlterConfigsResource {
        /// As in [`DescribeConfigsResource`](super::DescribeConfigsResource).
        resource_type: i8 [0..],
        resource_name: String [0..],
        configs: Vec<AlterableConfig> [0..],
    }

    /// A setting.
    pub struct AlterableConfig {
        name: String [0..],
        value: Option<String> [0..] = Some(String::new()),
    }

    /// What became of the resources.
    pub struct AlterConfigsResponse {
        throttle_time_ms: i32 [0..],
        responses: Vec<AlterConfigsResourceResponse> [0..],
    }

    /// What became of one resource.
    pub struct AlterConfigsResourceResponse {
        error_code: ErrorCode [0..],
        error_message: Option<String> [0..] = Some(String::new()),
        resource_type: i8 [0..],
        resource_name: String [0..],
    }
}
