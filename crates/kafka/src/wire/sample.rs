//! Values for tests: each message filled in several ways, fields of other versions left out.

use bytes::Bytes;
use types::TopicId;

use super::{ErrorCode, Records};

/// How a message is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Every field set, all values different, two elements in each array.
    Full,
    /// Null wherever that is allowed, one element in each array, no tagged fields.
    Null,
    /// Arrays, strings and records empty, not null.
    Empty,
    /// The largest and smallest numbers.
    Extreme,
    /// Lengths that need two bytes as varints.
    Long,
}

impl Fill {
    pub(crate) const ALL: [Self; 5] = [
        Self::Full,
        Self::Null,
        Self::Empty,
        Self::Extreme,
        Self::Long,
    ];
}

/// Makes the values of one message.
#[derive(Debug)]
pub(crate) struct Sampler {
    fill: Fill,
    version: i16,
    count: u8,
    depth: usize,
}

pub(crate) trait Sample: Sized {
    fn sample(sampler: &mut Sampler) -> Self;
}

impl Sampler {
    pub(crate) fn new(fill: Fill, version: i16) -> Self {
        Self {
            fill,
            version,
            count: 0,
            depth: 0,
        }
    }

    pub(crate) fn version(&self) -> i16 {
        self.version
    }

    pub(crate) fn wants_tags(&self) -> bool {
        self.fill != Fill::Null
    }

    pub(crate) fn value<T: Sample>(&mut self) -> T {
        T::sample(self)
    }

    pub(crate) fn optional<T: Sample>(&mut self, nullable: bool) -> Option<T> {
        let null = nullable && self.fill == Fill::Null;
        if null { None } else { Some(self.value()) }
    }

    fn next(&mut self) -> u8 {
        self.count = self.count % 100 + 1;
        self.count
    }
}

macro_rules! sample_numbers {
    ($($number:ty: $base:literal),+) => { $(
        impl Sample for $number {
            fn sample(sampler: &mut Sampler) -> Self {
                let next = sampler.next();
                match sampler.fill {
                    Fill::Extreme if next % 2 == 0 => Self::MAX,
                    Fill::Extreme => Self::MIN,
                    _ => $base + Self::try_from(next).unwrap(),
                }
            }
        }
    )+ };
}

sample_numbers!(i8: 0, i16: 1_000, i32: 100_000, i64: 10_000_000_000);

impl Sample for bool {
    fn sample(sampler: &mut Sampler) -> Self {
        sampler.fill != Fill::Null
    }
}

impl Sample for ErrorCode {
    fn sample(sampler: &mut Sampler) -> Self {
        Self(sampler.value())
    }
}

impl Sample for [u8; 16] {
    fn sample(sampler: &mut Sampler) -> Self {
        [sampler.next(); 16]
    }
}

impl Sample for TopicId {
    fn sample(sampler: &mut Sampler) -> Self {
        Self(sampler.value())
    }
}

impl Sample for String {
    fn sample(sampler: &mut Sampler) -> Self {
        match sampler.fill {
            Fill::Empty => Self::new(),
            Fill::Long => "l\u{f6}ng ".repeat(30),
            _ => format!("text \u{fc} {}", sampler.next()),
        }
    }
}

impl Sample for Bytes {
    fn sample(sampler: &mut Sampler) -> Self {
        match sampler.fill {
            Fill::Empty => Self::new(),
            Fill::Long => vec![sampler.next(); 2_000].into(),
            _ => vec![sampler.next(); 61].into(),
        }
    }
}

impl Sample for Records {
    fn sample(sampler: &mut Sampler) -> Self {
        Self(vec![sampler.value(), sampler.value()])
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(sampler: &mut Sampler) -> Self {
        sampler.optional(true)
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(sampler: &mut Sampler) -> Self {
        let count = match sampler.fill {
            Fill::Full | Fill::Extreme => 2,
            Fill::Null => 1,
            Fill::Empty => 0,
            // Only the outer arrays are long, or their product would be.
            Fill::Long if sampler.depth == 0 => 130,
            Fill::Long => 1,
        };
        sampler.depth += 1;
        let elements = (0..count).map(|_| sampler.value()).collect();
        sampler.depth -= 1;
        elements
    }
}
