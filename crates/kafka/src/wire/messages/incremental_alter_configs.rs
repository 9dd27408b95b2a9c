use super::AlterConfigsResourceResponse;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Changes single settings of resources (KIP-339).
    pub struct IncrementalAlterConfigsRequest {
        resources: Vec<IncrementalAlterConfigsResource> [0..],
        validate_only: bool [0..],
    }

    /// A resource whose settings are changed.
    pub struct IncrementalAlterConfigsResource {
        /// As in [`DescribeConfigsResource`](super::DescribeConfigsResource).
        resource_type: i8 [0..],
        resource_name: String [0..],
        configs: Vec<IncrementalAlterableConfig> [0..],
    }

    /// A change of one setting.
    pub struct IncrementalAlterableConfig {
        name: String [0..],
        /// 0 set, 1 delete, 2 append to a list, 3 take from a list.
        config_operation: i8 [0..],
        value: Option<String> [0..] = Some(String::new()),
    }

    /// What became of the resources.
    pub struct IncrementalAlterConfigsResponse {
        throttle_time_ms: i32 [0..],
        responses: Vec<AlterConfigsResourceResponse> [0..],
    }
}
