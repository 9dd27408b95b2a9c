//! Every fuzz target has a corpus, and a test of a crate replays it.

use std::path::Path;

use super::SourceFile;

const TARGETS: &str = "fuzz/fuzz_targets";
const CORPORA: &str = "fuzz/corpus";

pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    let targets = files.iter().filter(|file| file.path.starts_with(TARGETS));
    let names = targets.filter_map(|file| file.path.file_stem()?.to_str());
    names.flat_map(|name| faults(name, files)).collect()
}

fn faults(target: &str, files: &[SourceFile]) -> Vec<String> {
    let quoted = format!("\"{target}\"");
    let replays =
        |file: &SourceFile| file.path.starts_with("crates") && file.text.contains(&quoted);
    let corpus = Path::new(CORPORA).join(target);
    let mut faults = Vec::new();
    if !crate::paths::root().join(&corpus).is_dir() {
        faults.push(format!(
            "{}: fuzz target {target} has no corpus",
            corpus.display()
        ));
    }
    if !files.iter().any(replays) {
        faults.push(format!(
            "{TARGETS}/{target}.rs: no test of a crate replays {quoted}"
        ));
    }
    faults
}
