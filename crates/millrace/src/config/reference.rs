//! The reference page, made from the table.

use std::fmt::Write;

use super::environment;
use super::key::Scope;
use super::table::KEYS;

const INTRODUCTION: &str = "\
# Configuration

<!-- Made by `millrace config --markdown`; a test holds it against the table of keys. -->

Settings have one flat key space. A key is looked for in this order; the first that has it wins:

1. the command line: `--set KEY=VALUE`, and `--data-dir DIR` for `log.dirs`;
2. the environment: `MILLRACE_` and the key in upper case, `__` for each dot;
3. the file given with `--config`: `key = value` lines, lines that start with `#` are comments;
4. the default.

Of settings that say one thing in several units (`log.retention.*`, `log.roll.*`) the one that was
found first in this order counts, and where one place has several the finest unit.

`millrace config` prints every key with the value in force and where it came from. An unknown key,
a value out of range or a contradiction keeps the broker from starting, with exit code 2 and all
faults listed. Keys of Kafka, RabbitMQ and RocketMQ that have no meaning here are refused with the
reason, or accepted with a warning where their stock files always carry them.

Keys with a topic key in the column *scope* are defaults: a topic that sets that key itself keeps
its own value. All keys are read at start.

| key | type | unit | default | allowed | scope | environment | meaning |
|---|---|---|---|---|---|---|---|
";

/// The page as markdown.
pub(crate) fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for key in KEYS {
        let scope = match key.scope {
            Scope::Node => "node".to_owned(),
            Scope::TopicDefault(topic_key) => format!("`{topic_key}`"),
        };
        let default = match key.default {
            "" => "unset".to_owned(),
            text => format!("`{text}`"),
        };
        let row = writeln!(
            page,
            "| `{}` | {} | {} | {default} | {} | {scope} | `{}` | {} |",
            key.name,
            key.kind.name(),
            key.unit,
            key.kind.range(),
            environment::variable(key.name),
            key.help,
        );
        debug_assert!(row.is_ok(), "writing to a string cannot fail");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_docs_is_the_one_made_from_the_table() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/operations/configuration.md"
        );
        let page = std::fs::read_to_string(path).expect("docs/operations/configuration.md");
        assert!(
            page == reference(),
            "docs/operations/configuration.md is out of date: write the output of \
             `millrace config --markdown` there"
        );
    }
}
