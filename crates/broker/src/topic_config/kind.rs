//! What values a setting takes.

use std::collections::BTreeSet;
use std::fmt;

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number of 32 bits.
    Int {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// A whole number of 32 bits, or one that stands apart from the range.
    IntOr {
        /// The one apart.
        other: i64,
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// A whole number of 64 bits.
    Long {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// A number.
    Double {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// One word of these.
    Choice(&'static [&'static str]),
    /// Words of these, separated by commas; any words if none is named.
    List(&'static [&'static str]),
    /// Free text.
    Text {
        /// The longest.
        max_bytes: usize,
    },
}

/// The types that Kafka's `DescribeConfigs` knows; the number is what it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum ConfigType {
    /// `true` or `false`.
    Boolean = 1,
    /// Text.
    String = 2,
    /// 32 bits.
    Int = 3,
    /// 64 bits.
    Long = 5,
    /// A number with a point.
    Double = 6,
    /// Words with commas between.
    List = 7,
}

impl ConfigType {
    /// The number that `DescribeConfigs` sends.
    #[must_use]
    pub const fn number(self) -> i8 {
        self as i8
    }
}

impl Kind {
    /// The type that Kafka knows it by.
    #[must_use]
    pub const fn config_type(self) -> ConfigType {
        match self {
            Self::Bool => ConfigType::Boolean,
            Self::Int { .. } | Self::IntOr { .. } => ConfigType::Int,
            Self::Long { .. } => ConfigType::Long,
            Self::Double { .. } => ConfigType::Double,
            Self::Choice(_) | Self::Text { .. } => ConfigType::String,
            Self::List(_) => ConfigType::List,
        }
    }

    /// The value in the form in which it is stored; `None` if it is no such value.
    #[must_use]
    pub fn normalize(self, text: &str) -> Option<String> {
        let text = text.trim();
        match self {
            Self::Bool => ["true", "false"]
                .into_iter()
                .find(|word| text.eq_ignore_ascii_case(word))
                .map(str::to_owned),
            Self::Int { min, max } | Self::Long { min, max } => {
                let number = text.parse::<i64>().ok()?;
                (min..=max).contains(&number).then(|| number.to_string())
            }
            Self::IntOr { other, min, max } => {
                let number = text.parse::<i64>().ok()?;
                let fits = number == other || (min..=max).contains(&number);
                fits.then(|| number.to_string())
            }
            Self::Double { min, max } => {
                let number = text.parse::<f64>().ok()?;
                (min..=max).contains(&number).then(|| number.to_string())
            }
            Self::Choice(words) => words.contains(&text).then(|| text.to_owned()),
            Self::List(words) => normalize_list(text, words),
            Self::Text { max_bytes } => (text.len() <= max_bytes).then(|| text.to_owned()),
        }
    }
}

fn normalize_list(text: &str, allowed: &[&str]) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for word in list_words(text) {
        if !allowed.is_empty() && !allowed.contains(&word) {
            return None;
        }
        if seen.insert(word) {
            words.push(word);
        }
    }
    Some(words.join(","))
}

/// The words of a list, in order.
pub(crate) fn list_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("true or false"),
            Self::Int { min, max } | Self::Long { min, max } => {
                write!(f, "a whole number from {min} to {max}")
            }
            Self::IntOr { other, min, max } => {
                write!(f, "{other} or a whole number from {min} to {max}")
            }
            Self::Double { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::List([]) => f.write_str("words separated by commas"),
            Self::List(words) => write!(f, "a list of {}", words.join(", ")),
            Self::Text { max_bytes } => write!(f, "text of at most {max_bytes} bytes"),
        }
    }
}
