//! A checked value.

use std::path::PathBuf;
use std::str::FromStr;

use tracing_subscriber::filter::{LevelFilter, Targets};

use super::key::{Key, Kind};
use super::listen::{Advertise, Listen};

/// A value that its key allows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Left empty, which the key allows.
    Unset,
    Bool(bool),
    Int(i64),
    Text(String),
    Path(PathBuf),
    Listen(Listen),
    Advertise(Advertise),
    Levels(Targets),
}

impl Value {
    /// Checks `text` against what `key` allows; the error is the allowed range.
    pub(crate) fn parse(key: &Key, text: &str) -> Result<Self, String> {
        if text.is_empty() && key.default.is_empty() {
            return Ok(Self::Unset);
        }
        Self::parse_kind(key.kind, text).ok_or_else(|| key.kind.range())
    }

    fn parse_kind(kind: Kind, text: &str) -> Option<Self> {
        match kind {
            Kind::Bool => text.to_ascii_lowercase().parse().ok().map(Self::Bool),
            Kind::Int { min, max } => {
                let number: i64 = text.parse().ok()?;
                (min..=max).contains(&number).then_some(Self::Int(number))
            }
            Kind::Choice(words) => words.contains(&text).then(|| Self::Text(text.to_owned())),
            Kind::Text { max_bytes } => {
                let printable = !text.chars().any(char::is_control);
                (printable && text.len() <= max_bytes).then(|| Self::Text(text.to_owned()))
            }
            // Kafka's key takes a list: a comma is never part of a name.
            Kind::Path => {
                let one = !text.is_empty() && !text.contains(',');
                one.then(|| Self::Path(PathBuf::from(text)))
            }
            Kind::Listen => Listen::parse(text).map(Self::Listen),
            Kind::Advertise => Advertise::parse(text).map(Self::Advertise),
            Kind::Levels => levels(text).map(Self::Levels),
        }
    }
}

/// A word alone must be a level: `Targets` would take it for the name of a module.
fn levels(text: &str) -> Option<Targets> {
    let alone = text.split(',').filter(|part| !part.contains('='));
    let known = alone
        .map(str::trim)
        .all(|word| LevelFilter::from_str(word).is_ok());
    known.then(|| Targets::from_str(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::table::find;

    fn parse(name: &str, text: &str) -> Result<Value, String> {
        Value::parse(find(name).expect("a known key"), text)
    }

    #[test]
    fn numbers_are_held_to_their_bounds() {
        assert_eq!(parse("num.partitions", "1"), Ok(Value::Int(1)));
        assert_eq!(parse("num.partitions", "100000"), Ok(Value::Int(100_000)));
        let range = Err("1 to 100000".to_owned());
        assert_eq!(parse("num.partitions", "0"), range);
        assert_eq!(parse("num.partitions", "100001"), range);
        assert_eq!(parse("num.partitions", "99999999999999999999"), range);
        assert_eq!(parse("num.partitions", "1k"), range);
        assert_eq!(parse("num.partitions", ""), range);
    }

    #[test]
    fn an_empty_value_unsets_only_what_is_unset_by_default() {
        assert_eq!(parse("log.retention.ms", ""), Ok(Value::Unset));
        assert!(parse("log.retention.hours", "").is_err());
    }

    #[test]
    fn words_booleans_paths_and_levels_are_checked() {
        assert_eq!(
            parse("log.durability", "async"),
            Ok(Value::Text("async".into()))
        );
        assert_eq!(parse("log.durability", "fast"), Err("sync, async".into()));
        assert_eq!(
            parse("delete.topic.enable", "FALSE"),
            Ok(Value::Bool(false))
        );
        assert!(parse("delete.topic.enable", "yes").is_err());
        assert_eq!(parse("log.dirs", "/a b"), Ok(Value::Path("/a b".into())));
        assert!(parse("log.dirs", "").is_err());
        assert_eq!(
            parse("log.dirs", "/a, /b"),
            Err("one directory; this version takes no list".into())
        );
        assert!(parse("log.level", "info,millrace_log=debug").is_ok());
        assert!(parse("log.level", "loud").is_err());
    }
}
