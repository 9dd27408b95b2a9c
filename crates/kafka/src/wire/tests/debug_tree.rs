//! The `Debug` text of a structure as a tree, so that two implementations can be compared field by
//! field, by name: bytes alone do not tell two swapped fields of one type.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tree {
    Fields(BTreeMap<String, Tree>),
    Elements(Vec<Tree>),
    Leaf(String),
}

impl Tree {
    pub(super) fn of(value: &impl std::fmt::Debug) -> Self {
        let text = format!("{value:?}");
        let mut chars = text.chars().peekable();
        let tree = tree(&mut chars);
        assert_eq!(chars.next(), None, "{text}");
        tree
    }
}

type Input<'a> = Peekable<Chars<'a>>;

fn tree(input: &mut Input<'_>) -> Tree {
    match input.peek().expect("a value") {
        '[' => Tree::Elements(list(input, ']')),
        '{' => {
            assert!(list(input, '}').is_empty(), "maps are expected to be empty");
            Tree::Fields(BTreeMap::new())
        }
        '"' => Tree::Leaf(quoted(input)),
        _ => named(input),
    }
}

/// A number, a UUID, `Name`, `Name(value)`, which is the value, or `Name { fields }`.
fn named(input: &mut Input<'_>) -> Tree {
    let mut name = String::new();
    while let Some(&c) = input.peek() {
        match c {
            ',' | ')' | ']' | '}' => break,
            '(' => {
                let mut values = list(input, ')');
                assert_eq!(values.len(), 1, "{name}");
                return values.remove(0);
            }
            '{' => return Tree::Fields(fields(input)),
            '"' => return Tree::Leaf(quoted(input)),
            _ => name.push(c),
        }
        input.next();
    }
    Tree::Leaf(name.trim_end().to_owned())
}

fn list(input: &mut Input<'_>, close: char) -> Vec<Tree> {
    input.next();
    let mut elements = Vec::new();
    loop {
        match input.peek().expect("an element or the end") {
            &c if c == close => break,
            ',' | ' ' => {}
            _ => {
                elements.push(tree(input));
                continue;
            }
        }
        input.next();
    }
    input.next();
    elements
}

fn fields(input: &mut Input<'_>) -> BTreeMap<String, Tree> {
    input.next();
    let mut fields = BTreeMap::new();
    let mut name = String::new();
    loop {
        match input.next().expect("a field or the end") {
            '}' => return fields,
            ':' => {
                input.next();
                fields.insert(std::mem::take(&mut name), tree(input));
            }
            ',' | ' ' => {}
            c => name.push(c),
        }
    }
}

fn quoted(input: &mut Input<'_>) -> String {
    input.next();
    let mut text = String::new();
    loop {
        match input.next().expect("the end of a string") {
            '"' => return text,
            '\\' => {
                text.push('\\');
                text.extend(input.next());
            }
            c => text.push(c),
        }
    }
}

#[test]
fn debug_text_becomes_a_tree() {
    #[derive(Debug)]
    #[expect(dead_code, reason = "read through Debug only")]
    struct Inner {
        text: Option<&'static str>,
        bytes: bytes::Bytes,
    }
    #[derive(Debug)]
    #[expect(dead_code, reason = "read through Debug only")]
    struct Outer {
        number: i32,
        list: Vec<Inner>,
        none: Option<i8>,
    }
    let inner = Inner {
        text: Some("a, \"b\"}"),
        bytes: bytes::Bytes::from_static(b"\x01"),
    };
    let tree = Tree::of(&Outer {
        number: -1,
        list: vec![inner],
        none: None,
    });
    let leaf = |text: &str| Tree::Leaf(text.to_owned());
    let inner = [
        ("text".to_owned(), leaf("a, \\\"b\\\"}")),
        ("bytes".to_owned(), leaf("\\x01")),
    ];
    let outer = [
        ("number".to_owned(), leaf("-1")),
        (
            "list".to_owned(),
            Tree::Elements(vec![Tree::Fields(inner.into())]),
        ),
        ("none".to_owned(), leaf("None")),
    ];
    assert_eq!(tree, Tree::Fields(outer.into()));
}
