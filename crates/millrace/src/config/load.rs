//! Merging of flags, environment, file and defaults.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::environment;
use super::fault::Fault;
use super::file::{self, Assignment};
use super::foreign::{self, Verdict};
use super::key::Key;
use super::source::Source;
use super::suggest;
use super::table::{self, KEYS};
use super::value::Value;

/// Everything that configuration may come from.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// `--config`.
    pub(crate) file: Option<PathBuf>,
    /// `--data-dir`.
    pub(crate) data_dir: Option<PathBuf>,
    /// `--set`, in order; the last one of a key counts.
    pub(crate) set: Vec<String>,
    /// The environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// One key with the value in force.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    pub(crate) text: String,
    pub(crate) value: Value,
    pub(crate) source: Source,
}

/// All keys with the values in force, and what was accepted with a warning.
#[derive(Debug)]
pub(crate) struct Settings {
    by_name: BTreeMap<&'static str, Setting>,
    pub(crate) warnings: Vec<String>,
}

impl Settings {
    /// All settings in the table's order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Setting> {
        KEYS.iter().filter_map(|key| self.by_name.get(key.name))
    }

    /// The setting of a key that stands in the table.
    #[expect(
        clippy::expect_used,
        reason = "a name that is not in the table is a mistake of ours"
    )]
    pub(crate) fn get(&self, name: &str) -> &Setting {
        self.by_name
            .get(name)
            .expect("every key of the table has a setting")
    }
}

/// Merges all inputs, or says all that is wrong with them.
pub(crate) fn load(inputs: &Inputs) -> Result<Settings, Vec<Fault>> {
    let mut merge = Merge::default();
    if let Some(path) = &inputs.file {
        merge.file(path);
    }
    merge.environment(&inputs.environment);
    merge.flags(&inputs.set);
    merge.data_dir(inputs.data_dir.as_deref());
    merge.finish()
}

/// Settings from the weakest source to the strongest; a later one replaces an earlier one.
#[derive(Default)]
struct Merge {
    settings: BTreeMap<&'static str, Setting>,
    warnings: Vec<String>,
    faults: Vec<Fault>,
}

impl Merge {
    fn file(&mut self, path: &Path) {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                let reason = error.to_string();
                return self.faults.push(Fault::Unreadable {
                    path: path.into(),
                    reason,
                });
            }
        };
        let (assignments, faults) = file::parse(path, &text);
        self.faults.extend(faults);
        assignments
            .into_iter()
            .for_each(|assignment| self.assign(assignment));
    }

    fn environment(&mut self, variables: &[(OsString, OsString)]) {
        for (name, value) in variables {
            let text = name.to_string_lossy();
            let Some(key) = environment::key(&text) else {
                continue;
            };
            let source = Source::Environment(text.clone().into_owned());
            match (name.to_str(), value.to_str()) {
                (Some(_), Some(value)) => self.assign(Assignment {
                    key,
                    value: value.trim().to_owned(),
                    source,
                }),
                _ => self.faults.push(Fault::NotText { source }),
            }
        }
    }

    fn flags(&mut self, set: &[String]) {
        for text in set {
            let source = Source::Flag("--set");
            match file::split(text) {
                None => self.faults.push(Fault::Syntax {
                    text: text.clone(),
                    source,
                }),
                Some((key, value)) => {
                    self.assign(Assignment {
                        key: key.into(),
                        value: value.into(),
                        source,
                    });
                }
            }
        }
    }

    /// `--data-dir` is `log.dirs`, whatever characters are in the path.
    fn data_dir(&mut self, dir: Option<&Path>) {
        let Some(dir) = dir else { return };
        if let Some(key) = table::find("log.dirs") {
            let setting = Setting {
                key,
                text: dir.display().to_string(),
                value: Value::Path(dir.to_owned()),
                source: Source::Flag("--data-dir"),
            };
            self.settings.insert(key.name, setting);
        }
    }

    fn assign(
        &mut self,
        Assignment {
            key: name,
            value: text,
            source,
        }: Assignment,
    ) {
        let Some(key) = table::find(&name) else {
            return self.unknown(name, source);
        };
        match Value::parse(key, &text) {
            Ok(value) => {
                self.settings.insert(
                    key.name,
                    Setting {
                        key,
                        text,
                        value,
                        source,
                    },
                );
            }
            Err(allowed) => self.faults.push(Fault::Value {
                key: name,
                value: text,
                allowed,
                source,
            }),
        }
    }

    fn unknown(&mut self, key: String, source: Source) {
        match foreign::find(&key) {
            Some(Verdict::Refused(reason)) => {
                self.faults.push(Fault::Foreign {
                    key,
                    reason,
                    source,
                });
            }
            Some(Verdict::Ignored(reason)) => {
                self.warnings
                    .push(format!("{source}: {key} is ignored: {reason}"));
            }
            None => {
                let nearest = suggest::nearest(&key);
                self.faults.push(Fault::Unknown {
                    key,
                    nearest,
                    source,
                });
            }
        }
    }

    fn finish(mut self) -> Result<Settings, Vec<Fault>> {
        for key in KEYS {
            if !self.settings.contains_key(key.name) {
                match Value::parse(key, key.default) {
                    Ok(value) => {
                        let (text, source) = (key.default.to_owned(), Source::Default);
                        self.settings.insert(
                            key.name,
                            Setting {
                                key,
                                text,
                                value,
                                source,
                            },
                        );
                    }
                    Err(allowed) => self.faults.push(Fault::Value {
                        key: key.name.into(),
                        value: key.default.into(),
                        allowed,
                        source: Source::Default,
                    }),
                }
            }
        }
        self.check_pairs();
        if self.faults.is_empty() {
            Ok(Settings {
                by_name: self.settings,
                warnings: self.warnings,
            })
        } else {
            Err(self.faults)
        }
    }

    /// Settings that are valid alone and not together.
    fn check_pairs(&mut self) {
        self.at_least("log.unsealed.bytes", "log.file.bytes", 2);
        self.at_least("queued.max.request.bytes", "socket.request.max.bytes", 1);
        self.at_least("socket.request.max.bytes", "message.max.bytes", 1);
    }

    fn at_least(&mut self, name: &'static str, other: &str, times: i64) {
        let number = |name: &str| match self.settings.get(name).map(|s| &s.value) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        };
        let (Some(value), Some(floor)) = (number(name), number(other)) else {
            return;
        };
        let floor = floor.saturating_mul(times);
        if value < floor {
            let factor = if times == 1 {
                String::new()
            } else {
                format!("{times} times ")
            };
            let reason = format!("must be at least {factor}{other}, which makes {floor}");
            let source = self
                .settings
                .get(name)
                .map_or(Source::Default, |s| s.source.clone());
            self.faults.push(Fault::Conflict {
                key: name,
                value: value.to_string(),
                reason,
                source,
            });
        }
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
