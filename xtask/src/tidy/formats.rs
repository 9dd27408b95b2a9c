//! Every file format of ours is documented: the four letters that a file or block starts with stand in docs/formats.

use super::SourceFile;

const FOLDER: &str = "docs/formats";
/// What the magic of our own formats starts with; others' formats have documents elsewhere.
const OURS: &str = "b\"ML";
const MAGIC_CHARS: usize = 4;

pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    let documents: Vec<_> = files
        .iter()
        .filter(|file| file.path.starts_with(FOLDER))
        .collect();
    let mut faults = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.path.starts_with("crates") && file.is_rust())
    {
        for magic in file
            .code()
            .lines()
            .filter(|line| line.contains("MAGIC"))
            .filter_map(magic)
        {
            if !documents
                .iter()
                .any(|document| document.text.contains(magic))
            {
                faults.push(format!(
                    "{}: format {magic} is not in {FOLDER}",
                    file.path.display()
                ));
            }
        }
    }
    faults
}

fn magic(line: &str) -> Option<&str> {
    let start = line.find(OURS)? + "b\"".len();
    line.get(start..start + MAGIC_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_format_without_a_document() {
        let file = |path: &str, text: &str| SourceFile {
            path: path.into(),
            text: text.into(),
        };
        let code = "pub const MAGIC: u32 = u32::from_le_bytes(*b\"MLZZ\");\n";
        let with = |document| {
            vec![
                file("crates/log/src/format.rs", code),
                file("docs/formats/a.md", document),
            ]
        };
        assert_eq!(check(&with("Starts with `MLYY`.")).len(), 1);
        assert_eq!(check(&with("Starts with `MLZZ`.")).len(), 0);
    }
}
