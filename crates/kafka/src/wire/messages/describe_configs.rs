use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Asks for settings.
    pub struct DescribeConfigsRequest {
        resources: Vec<DescribeConfigsResource> [0..],
        include_synonyms: bool [1..],
        include_documentation: bool [3..],
    }

    /// A resource whose settings are asked for.
    pub struct DescribeConfigsResource {
        /// 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group.
        resource_type: i8 [0..],
        resource_name: String [0..],
        /// Null and empty stand for all.
        configuration_keys: Option<Vec<String>> [0..] = Some(Vec::new()),
    }

    /// Settings.
    pub struct DescribeConfigsResponse {
        throttle_time_ms: i32 [0..],
        results: Vec<DescribeConfigsResult> [0..],
    }

    /// Settings of one resource.
    pub struct DescribeConfigsResult {
        error_code: ErrorCode [0..],
        error_message: Option<String> [0..] = Some(String::new()),
        resource_type: i8 [0..],
        resource_name: String [0..],
        configs: Vec<DescribeConfigsResourceResult> [0..],
    }

    /// One setting.
    pub struct DescribeConfigsResourceResult {
        name: String [0..],
        /// Null where the setting is sensitive or has no value.
        value: Option<String> [0..] = Some(String::new()),
        read_only: bool [0..],
        /// 1 topic, 2 this broker, 3 all brokers, 4 configuration file, 5 default, 6 logger,
        /// 7 client metrics, 8 group.
        config_source: i8 [1..] = -1,
        is_sensitive: bool [0..],
        /// In the order in which they apply, the one in force first.
        synonyms: Vec<DescribeConfigsSynonym> [1..],
        /// 1 bool, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password.
        config_type: i8 [3..],
        documentation: Option<String> [3..] = Some(String::new()),
    }

    /// Another place that a setting can come from.
    pub struct DescribeConfigsSynonym {
        name: String [1..],
        value: Option<String> [1..] = Some(String::new()),
        source: i8 [1..],
    }
}
