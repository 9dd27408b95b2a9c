//! Which crate may know which: arrows point down only, and the front ends never see each other.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command::{command, run};
use crate::paths;

const PREFIX: &str = "millrace-";
const LIMIT: Duration = Duration::from_secs(120);

/// Each crate with those it may depend on. A crate that is not here may not exist.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("millrace-types", &[]),
    ("millrace-disk", &["types"]),
    ("millrace-record", &["types"]),
    ("millrace-log", &["types", "disk", "record"]),
    ("millrace-broker", &["types", "disk", "record", "log"]),
    ("millrace-kafka", &["types", "record", "broker"]),
    ("millrace-admin", &["types", "broker"]),
    (
        "millrace",
        &["types", "disk", "record", "log", "broker", "kafka", "admin"],
    ),
    ("simulation", &["types", "disk", "record", "log", "broker"]),
    ("xtask", &[]),
];

/// A crate of ours, by its folder, with all that it may reach.
pub(crate) fn with_those_below(name: &str) -> BTreeSet<&str> {
    let direct = ALLOWED
        .iter()
        .find(|(other, _)| other.strip_prefix(PREFIX) == Some(name))
        .map_or(&[][..], |(_, below)| below);
    let mut reached = BTreeSet::from([name]);
    for below in direct {
        reached.extend(with_those_below(below));
    }
    reached
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

pub(super) fn check() -> Result<Vec<String>> {
    let metadata = [
        "cargo",
        "metadata",
        "--no-deps",
        "--locked",
        "--format-version=1",
    ];
    let metadata = run(command(metadata).current_dir(paths::root()), LIMIT)?;
    let metadata: Metadata = serde_json::from_str(&metadata).context("cargo's metadata")?;
    Ok(metadata.packages.iter().flat_map(faults).collect())
}

/// Tests may use what lies below a crate's own dependencies, but nothing beside or above it.
fn faults(package: &Package) -> Vec<String> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
        return vec![format!(
            "crate {} has no place among the allowed edges",
            package.name
        )];
    };
    let ours = package.dependencies.iter().filter_map(|dependency| {
        let name = dependency.name.strip_prefix(PREFIX)?;
        let below = dependency.kind.is_some() && ["disk", "record", "log"].contains(&name);
        (!allowed.contains(&name) && !below).then_some(name)
    });
    ours.map(|name| format!("{} may not depend on {PREFIX}{name}", package.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependency: &str, kind: Option<&str>) -> Package {
        let kind = kind.map(str::to_owned);
        let dependencies = vec![Dependency {
            name: dependency.to_owned(),
            kind,
        }];
        Package {
            name: name.to_owned(),
            dependencies,
        }
    }

    #[test]
    fn finds_edges_that_point_up_or_sideways() {
        for (name, dependency) in [
            ("millrace-disk", "millrace-record"),
            ("millrace-log", "millrace-broker"),
            ("millrace-kafka", "millrace-admin"),
            ("millrace-kafka", "millrace-log"),
        ] {
            assert_eq!(
                faults(&package(name, dependency, None)).len(),
                1,
                "{name} → {dependency}"
            );
        }
        assert_eq!(
            faults(&package("millrace-amqp", "millrace-broker", None)).len(),
            1
        );
        assert_eq!(
            faults(&package("millrace-kafka", "millrace-admin", Some("dev"))).len(),
            1
        );
    }

    #[test]
    fn tells_what_a_crate_may_reach() {
        let reached = with_those_below("log");
        assert!(reached.into_iter().eq(["disk", "log", "record", "types"]));
        assert!(with_those_below("kafka").contains("disk"), "through broker");
    }

    #[test]
    fn lets_edges_down_and_tests_pass() {
        assert!(faults(&package("millrace-kafka", "millrace-broker", None)).is_empty());
        assert!(faults(&package("millrace-kafka", "millrace-log", Some("dev"))).is_empty());
        assert!(faults(&package("millrace-log", "crc-fast", None)).is_empty());
    }
}
