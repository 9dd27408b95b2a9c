//! Where reading starts.

use std::collections::BTreeMap;
use std::str::FromStr;

use kafka::wire::messages::MetadataResponseTopic;

use crate::client::{Client, ClientError, EARLIEST, LATEST};

/// A place in every partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Earliest,
    Latest,
    Offset(i64),
    /// This many before the end.
    Last(i64),
    TimeMs(i64),
}

impl FromStr for From {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "earliest" => return Ok(Self::Earliest),
            "latest" => return Ok(Self::Latest),
            _ => {}
        }
        if let Ok(number) = text.parse::<i64>() {
            return Ok(if text.starts_with('-') {
                Self::Last(number.saturating_neg())
            } else {
                Self::Offset(number)
            });
        }
        let time: Result<jiff::Timestamp, _> = text.parse();
        // Brokers take negative times for the start, the end and the like.
        let time_ms = time.map(|t| t.as_millisecond().max(0));
        time_ms.map(Self::TimeMs).map_err(|_| {
            "allowed: earliest, latest, an offset, -N, or a time with its zone such as \
             2030-01-31T12:00:00Z"
                .to_owned()
        })
    }
}

impl From {
    /// The offset to start at in each partition, inside what the partition holds.
    pub(super) async fn resolve(
        self,
        client: &Client,
        topic: &MetadataResponseTopic,
        partitions: &[i32],
        ends: &BTreeMap<i32, i64>,
    ) -> Result<BTreeMap<i32, i64>, ClientError> {
        let starts = client.offsets(topic, partitions, EARLIEST).await?;
        let by_time = match self {
            Self::TimeMs(time_ms) => client.offsets(topic, partitions, time_ms).await?,
            _ => BTreeMap::new(),
        };
        let place = |(&partition, &start): (&i32, &i64)| {
            let end = ends.get(&partition).copied().unwrap_or(start);
            let offset = match self {
                Self::Earliest => start,
                Self::Latest => end,
                Self::Offset(offset) => offset,
                Self::Last(count) => end.saturating_sub(count),
                // Nothing that late: the end.
                Self::TimeMs(_) => by_time
                    .get(&partition)
                    .copied()
                    .filter(|o| *o >= 0)
                    .unwrap_or(end),
            };
            (partition, offset.clamp(start, end.max(start)))
        };
        Ok(starts.iter().map(place).collect())
    }

    /// Ends of all partitions as they are now.
    pub(super) async fn ends(
        client: &Client,
        topic: &MetadataResponseTopic,
        partitions: &[i32],
    ) -> Result<BTreeMap<i32, i64>, ClientError> {
        client.offsets(topic, partitions, LATEST).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_offsets_and_times_are_told_apart() {
        assert_eq!("earliest".parse(), Ok(From::Earliest));
        assert_eq!("latest".parse(), Ok(From::Latest));
        assert_eq!("17".parse(), Ok(From::Offset(17)));
        assert_eq!("-5".parse(), Ok(From::Last(5)));
        assert_eq!("1970-01-01T00:00:01.5Z".parse(), Ok(From::TimeMs(1_500)));
        assert_eq!("1970-01-01T01:00:00+01:00".parse(), Ok(From::TimeMs(0)));
        assert_eq!("1969-12-31T23:59:59.999Z".parse(), Ok(From::TimeMs(0)));
        assert_eq!("1900-01-01T00:00:00Z".parse(), Ok(From::TimeMs(0)));
        assert!("yesterday".parse::<From>().is_err());
        assert!("2030-01-31".parse::<From>().is_err());
    }
}
