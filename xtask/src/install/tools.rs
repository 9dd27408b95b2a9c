//! What the clients are built and run with. Where it is missing it is installed by Debian's package manager; where
//! that cannot be done, the error says what to install.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{command, run};

const PROBE_LIMIT: Duration = Duration::from_secs(120);
const LIMIT: Duration = Duration::from_secs(1800);

/// A program of the system.
#[derive(Debug)]
struct Tool {
    name: &'static str,
    /// A call that succeeds where it is there, and prints its version.
    probe: &'static [&'static str],
    /// Major and minor version that it must have.
    least: (u32, u32),
    packages: &'static [&'static str],
}

const TOOLS: [Tool; 11] = [
    Tool {
        name: "kcat",
        probe: &["kcat", "-V"],
        least: (0, 0),
        packages: &["kcat"],
    },
    Tool {
        name: "strace",
        probe: &["strace", "-V"],
        least: (5, 0),
        packages: &["strace"],
    },
    Tool {
        name: "Python with venv",
        probe: &[
            "python3",
            "-c",
            "import ensurepip, sys, venv; print(sys.version)",
        ],
        least: (3, 10),
        packages: &["python3", "python3-venv"],
    },
    // Apache Kafka's tools and broker need 17.
    Tool {
        name: "a JDK's javac",
        probe: &["javac", "-version"],
        least: (17, 0),
        packages: &["default-jdk-headless"],
    },
    Tool {
        name: "java",
        probe: &["java", "--version"],
        least: (17, 0),
        packages: &["default-jdk-headless"],
    },
    Tool {
        name: "Maven",
        probe: &["mvn", "-B", "--version"],
        least: (3, 6),
        packages: &["maven"],
    },
    Tool {
        name: "Node.js",
        probe: &["node", "--version"],
        least: (18, 0),
        packages: &["nodejs"],
    },
    Tool {
        name: "npm",
        probe: &["npm", "--version"],
        least: (0, 0),
        packages: &["npm"],
    },
    // From this version on it fetches the one that go.mod asks for.
    Tool {
        name: "Go",
        probe: &["go", "version"],
        least: (1, 21),
        packages: &["golang-go"],
    },
    // librdkafka is built from its source by rskafka's tests.
    Tool {
        name: "a C++ compiler",
        probe: &["c++", "--version"],
        least: (0, 0),
        packages: &["g++"],
    },
    Tool {
        name: "make",
        probe: &["make", "--version"],
        least: (0, 0),
        packages: &["make"],
    },
];

/// Sees to it that every tool is there.
pub(super) fn install() -> Result<()> {
    let missing: Vec<_> = TOOLS.iter().filter(|tool| tool.check().is_err()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = missing.iter().map(|tool| tool.name).collect();
    let mut packages: Vec<&str> = missing
        .iter()
        .flat_map(|tool| tool.packages)
        .copied()
        .collect();
    packages.sort_unstable();
    packages.dedup();
    println!("install {}", names.join(", "));
    let words = [["install", "--no-install-recommends"].as_slice(), &packages].concat();
    let installed = apt(&["update"]).and_then(|()| apt(&words));
    let by_hand = || {
        format!(
            "{} cannot be installed here; install by hand",
            names.join(", ")
        )
    };
    installed.with_context(by_hand)?;
    missing.into_iter().try_for_each(Tool::check)
}

/// What a tool says of its version, for what depends on it.
pub(super) fn version(words: &[&str]) -> Result<String> {
    Ok(run(&mut command(words), PROBE_LIMIT)?.trim().to_owned())
}

fn apt(words: &[&str]) -> Result<()> {
    // Another one may be at work: the system's own, or that of another run.
    let mut apt = command(["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=600"]);
    apt.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    run(&mut apt, LIMIT).map(|_| ())
}

impl Tool {
    fn check(&self) -> Result<()> {
        let said = run(command(self.probe).env("LC_ALL", "C"), PROBE_LIMIT)
            .with_context(|| format!("{} is needed", self.name))?;
        if self.least == (0, 0) {
            return Ok(());
        }
        let Some(found) = first_version(&said) else {
            bail!("{} does not say its version: {said}", self.name);
        };
        let ((major, minor), (least_major, least_minor)) = (found, self.least);
        ensure!(
            found >= self.least,
            "{} {major}.{minor} is too old: {least_major}.{least_minor} or later is needed",
            self.name
        );
        Ok(())
    }
}

/// The first major and minor version in a text.
fn first_version(text: &str) -> Option<(u32, u32)> {
    let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    numbers
        .filter(|number| number.contains('.'))
        .find_map(|number| {
            let mut parts = number.split('.').map(str::parse);
            Some((parts.next()?.ok()?, parts.next()?.ok()?))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_tools_say() {
        for (text, version) in [
            ("javac 17.0.15", (17, 0)),
            ("openjdk 21.0.2 2024-01-16", (21, 0)),
            ("go version go1.26.8 linux/amd64", (1, 26)),
            ("v20.20.2", (20, 20)),
            (
                "\u{1b}[1mApache Maven 3.8.7\u{1b}[m\nMaven home: /usr/share/maven",
                (3, 8),
            ),
            (
                "strace -- version 6.1\nCopyright (c) 1991-2022 <https://strace.io>.",
                (6, 1),
            ),
            ("3.11.7 (main, Jan  1 2025, 00:00:00) [GCC 12.2.0]", (3, 11)),
        ] {
            assert_eq!(first_version(text), Some(version), "{text}");
        }
        assert_eq!(first_version("no version."), None);
    }

    #[test]
    fn a_tool_that_is_missing_or_too_old_is_named() {
        let tool = |probe, least| Tool {
            name: "the tool",
            probe,
            least,
            packages: &[],
        };
        let missing = tool(&["/nonexistent/tool"], (0, 0)).check();
        let missing = format!("{:#}", missing.expect_err("missing"));
        assert!(missing.starts_with("the tool is needed"), "{missing}");
        let old = tool(&["echo", "tool 1.19.8"], (1, 21)).check();
        assert_eq!(
            format!("{:#}", old.expect_err("too old")),
            "the tool 1.19 is too old: 1.21 or later is needed"
        );
        tool(&["echo", "tool 1.21"], (1, 21))
            .check()
            .expect("new enough");
    }
}
