//! The setting that somebody may have meant.

use super::SETTINGS;

/// Names longer than this are nobody's typing error.
const NAME_BYTES_MAX: usize = 64;

/// The setting whose name is closest, if it is close at all.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let distances = SETTINGS
        .iter()
        .map(|setting| (distance(name, setting.name), setting.name));
    let (steps, closest) = distances.min()?;
    (steps <= name.len() / 3).then_some(closest)
}

/// Bytes to insert, remove or replace to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, byte) in a.bytes().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        let mut left = i + 1;
        next.push(left);
        for (other, pair) in b.bytes().zip(row.windows(2)) {
            let [diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(byte != other))
                .min(above + 1)
                .min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_steps_between_two_words() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("retention.ms", "retention.ms"), 0);
    }

    #[test]
    fn proposes_what_is_close_and_nothing_else() {
        assert_eq!(nearest("retentions.ms"), Some("retention.ms"));
        assert_eq!(nearest("max.messages.bytes"), Some("max.message.bytes"));
        assert_eq!(nearest("x"), None);
        assert_eq!(nearest("entirely.different.thing"), None);
        assert_eq!(nearest(&"retention.ms".repeat(10)), None);
    }
}
