//! Words that no file holds: hosts of package registries, which a mirror may replace, and paths of one machine.

use super::SourceFile;

/// Written in pieces, so that this file does not hold them.
const FORBIDDEN: [(&str, &str); 12] = [
    ("registry.npm", "js.org"),
    ("py", "pi.org"),
    ("python", "hosted.org"),
    ("proxy.", "golang.org"),
    ("repo.maven.", "apache.org"),
    ("repo1.", "maven.org"),
    ("index.", "crates.io"),
    ("static.", "crates.io"),
    ("deb.", "debian.org"),
    ("/wo", "rk/"),
    ("/ro", "ot/"),
    ("/ho", "me/"),
];
/// Lock files are written by package managers.
const LOCKS: [&str; 3] = ["Cargo.lock", "package-lock.json", "go.sum"];

pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files {
        let name = file
            .path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if LOCKS.contains(&name) {
            continue;
        }
        for (number, line) in file.text.lines().enumerate() {
            if let Some(word) = forbidden(line) {
                faults.push(format!("{}:{}: {word}", file.path.display(), number + 1));
            }
        }
    }
    faults
}

fn forbidden(line: &str) -> Option<String> {
    FORBIDDEN
        .iter()
        .map(|(a, b)| format!("{a}{b}"))
        .find(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_host_and_names_the_line() {
        let host = format!("url = {}{}", "index.", "crates.io");
        let file = |path: &str| SourceFile {
            path: path.into(),
            text: format!("fine\n{host}\n"),
        };
        assert!(check(&[file("a.toml")])[0].starts_with("a.toml:2: "));
        assert!(check(&[file("fuzz/Cargo.lock")]).is_empty());
    }
}
