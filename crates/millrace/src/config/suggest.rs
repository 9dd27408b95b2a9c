//! The nearest known key to a misspelt one.

use super::table::KEYS;

/// The known key with the fewest edits, unless that would be more than a third of it.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    KEYS.iter()
        .map(|key| (distance(&lower, key.name), key.name))
        .min()
        .filter(|&(edits, known)| edits * 3 <= known.len().max(lower.len()))
        .map(|(_, known)| known)
}

/// Levenshtein's distance over bytes; names are ASCII.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(b.bytes()) {
            let above = *cell;
            left = (diagonal + usize::from(x != y))
                .min(above + 1)
                .min(left + 1);
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn a_misspelt_key_finds_its_neighbour_and_nonsense_finds_none() {
        assert_eq!(nearest("kafka.lisen"), Some("kafka.listen"));
        assert_eq!(nearest("Num.Partition"), Some("num.partitions"));
        assert_eq!(nearest("log.retention.hour"), Some("log.retention.hours"));
        assert_eq!(nearest("xyzzy"), None);
    }
}
