//! The configuration file: `key = value` lines, `#` starts a comment line.

use std::collections::BTreeMap;
use std::path::Path;

use super::fault::Fault;
use super::source::Source;

/// One assignment as it was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) source: Source,
}

/// Splits `key = value` at the first `=`; none when there is none or no key.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let key = key.trim();
    (!key.is_empty()).then(|| (key, value.trim()))
}

/// All assignments of a file's text, and what is wrong with its lines.
pub(crate) fn parse(path: &Path, text: &str) -> (Vec<Assignment>, Vec<Fault>) {
    let mut assignments: Vec<Assignment> = Vec::new();
    let mut faults = Vec::new();
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (i, raw) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let source = Source::File {
            path: path.to_owned(),
            line: i + 1,
        };
        match split(line) {
            None => faults.push(Fault::Syntax {
                text: line.into(),
                source,
            }),
            Some((key, value)) => match lines.insert(key.into(), i + 1) {
                Some(first_line) => faults.push(Fault::Twice {
                    key: key.into(),
                    first_line,
                    source,
                }),
                None => assignments.push(Assignment {
                    key: key.into(),
                    value: value.into(),
                    source,
                }),
            },
        }
    }
    (assignments, faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_assignments_and_skips_comments() {
        let text = "\u{feff}# comment\n\n num.partitions = 3 \nlog.dirs=/a b,/c=d#e\n\tnode.id =\n";
        let (found, faults) = parse(Path::new("m.conf"), text);
        let pairs: Vec<_> = found
            .iter()
            .map(|a| (a.key.as_str(), a.value.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("num.partitions", "3"),
                ("log.dirs", "/a b,/c=d#e"),
                ("node.id", "")
            ]
        );
        assert_eq!(faults, []);
        assert_eq!(found[1].source.to_string(), "m.conf:4");
    }

    #[test]
    fn names_the_line_of_every_fault() {
        let (found, faults) = parse(Path::new("m.conf"), "a = 1\nnonsense\n= 3\na = 2\n");
        assert_eq!(found.len(), 1);
        let said: Vec<_> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "m.conf:2: `nonsense` is not of the form key = value",
                "m.conf:3: `= 3` is not of the form key = value",
                "m.conf:4: a is already set in line 1",
            ]
        );
    }
}
