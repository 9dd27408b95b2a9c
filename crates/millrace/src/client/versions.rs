//! Which version of each API a broker and this client share.

use std::collections::BTreeMap;

use kafka::wire::ApiKey;
use kafka::wire::messages::ApiVersion;

/// Ranges that a broker advertised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions(BTreeMap<i16, (i16, i16)>);

impl Versions {
    /// From an ApiVersions response.
    pub(crate) fn new(advertised: &[ApiVersion]) -> Self {
        let ranges = advertised
            .iter()
            .map(|v| (v.api_key, (v.min_version, v.max_version)));
        Self(ranges.collect())
    }

    /// The highest version that both serve, `cap` at most.
    pub(crate) fn pick(&self, api: ApiKey, cap: i16) -> Option<i16> {
        let &(min, max) = self.0.get(&api.code())?;
        let ours = api.served();
        let version = max.min(*ours.end()).min(cap);
        (version >= min && version >= *ours.start()).then_some(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_shared_version_is_picked() {
        let range = |min_version, max_version| ApiVersion {
            api_key: 1,
            min_version,
            max_version,
        };
        let pick = |min, max, cap| Versions::new(&[range(min, max)]).pick(ApiKey::Fetch, cap);
        let ours = ApiKey::Fetch.served();
        assert_eq!(pick(0, 11, i16::MAX), Some(11));
        assert_eq!(pick(0, 99, i16::MAX), Some(*ours.end()));
        assert_eq!(pick(0, 99, 12), Some(12));
        assert_eq!(pick(13, 99, 12), None);
        assert_eq!(pick(0, *ours.start() - 1, i16::MAX), None);
        assert_eq!(Versions::default().pick(ApiKey::Fetch, 12), None);
    }
}
