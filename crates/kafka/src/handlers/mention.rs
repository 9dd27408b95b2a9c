//! Requests that name a thing more than once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// How an entry of a request stands to the others that name the same thing. Answers hold one entry
/// for each thing: what is told of it may be far longer than its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mention {
    /// No other names it.
    Only,
    /// Others behind it do.
    First,
    /// One before it does: the first of them stands here.
    Again(usize),
}

/// How each of `items` stands to the others.
pub(super) fn mentions<'a, T, K: Ord>(items: &'a [T], key: impl Fn(&'a T) -> K) -> Vec<Mention> {
    let mut first_at = BTreeMap::new();
    let mut mentions = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match first_at.entry(key(item)) {
            Entry::Vacant(entry) => {
                entry.insert(at);
                mentions.push(Mention::Only);
            }
            Entry::Occupied(entry) => {
                if let Some(first) = mentions.get_mut(*entry.get()) {
                    *first = Mention::First;
                }
                mentions.push(Mention::Again(*entry.get()));
            }
        }
    }
    mentions
}

/// The first mention of each thing, in order, and whether there are more.
pub(super) fn firsts<T>(items: Vec<T>, mentions: Vec<Mention>) -> impl Iterator<Item = (T, bool)> {
    let items = items.into_iter().zip(mentions);
    items.filter_map(|(item, mention)| match mention {
        Mention::Only => Some((item, false)),
        Mention::First => Some((item, true)),
        Mention::Again(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_stands_where_it_was_named_first() {
        let names = ["a", "b", "a", "c", "a", "c"];
        let found = mentions(&names, |name| *name);
        let firsts: Vec<_> = firsts(names.to_vec(), found).collect();
        assert_eq!(firsts, [("a", true), ("b", false), ("c", true)]);
        let found = mentions(&names, |name| *name);
        assert_eq!(found[4], Mention::Again(0));
        assert_eq!(found[5], Mention::Again(3));
    }
}
