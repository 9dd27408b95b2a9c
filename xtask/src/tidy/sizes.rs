//! Files and functions stay small. What is over the mark today is listed with its size and may only shrink.

use super::SourceFile;

const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_MAX: usize = 70;

/// Functions over the mark: file, name, lines. An entry goes when its function is under the mark.
const RATCHET: [(&str, &str, usize); 0] = [];

pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    let code = files
        .iter()
        .filter(|file| file.is_rust() && !file.is_test());
    let mut faults = Vec::new();
    for file in code {
        let path = file.path.display().to_string();
        let lines = file.code().lines().count();
        if lines > FILE_LINES_MAX {
            faults.push(format!("{path}: {lines} lines, at most {FILE_LINES_MAX}"));
        }
        for (name, lines) in functions(file.code()) {
            if lines > allowed(&path, name) {
                let most = allowed(&path, name);
                faults.push(format!(
                    "{path}: function {name} has {lines} lines, at most {most}"
                ));
            }
        }
    }
    faults
}

fn allowed(path: &str, name: &str) -> usize {
    let listed = RATCHET
        .iter()
        .find(|(file, function, _)| *file == path && *function == name);
    listed.map_or(FUNCTION_LINES_MAX, |(_, _, lines)| *lines)
}

/// The functions of formatted code with the lines of their bodies: a body ends at the brace below its `fn`.
fn functions(code: &str) -> Vec<(&str, usize)> {
    let lines: Vec<_> = code.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let rest = lines.iter().skip(start);
        let open = rest.clone().position(|line| line.ends_with('{'));
        let close = rest.clone().position(|line| *line == end);
        if let Some((open, close)) = open.zip(close) {
            found.push((name, close.saturating_sub(open + 1)));
        }
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.trim_start().split_once("fn ")?;
    let qualifier = |word| {
        matches!(
            word,
            "pub" | "pub(crate)" | "pub(super)" | "const" | "async" | "unsafe"
        )
    };
    let plain = before.split_whitespace().all(qualifier);
    let name = after.split(['(', '<']).next()?;
    let one_line = line.ends_with('}') || line.ends_with(';');
    (plain && !one_line).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_lines_of_a_body() {
        let code = "fn one() {\n    a();\n}\n\nimpl X {\n    pub(crate) fn two<T>(\n        t: T,\n    ) -> u8 {\n        if t {\n            b();\n        }\n    }\n    fn none(self);\n}\n";
        assert_eq!(functions(code), [("one", 1), ("two", 3)]);
    }

    #[test]
    fn finds_a_function_that_is_too_long() {
        let long = "    step();\n".repeat(FUNCTION_LINES_MAX + 1);
        let text = format!("fn long() {{\n{long}}}\n");
        let file = |path: &str| SourceFile {
            path: path.into(),
            text: text.clone(),
        };
        assert_eq!(check(&[file("crates/log/src/a.rs")]).len(), 1);
        assert_eq!(check(&[file("crates/log/src/tests.rs")]).len(), 0);
    }
}
