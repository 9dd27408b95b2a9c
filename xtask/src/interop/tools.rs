//! Apache Kafka's own command-line tools, with their output asserted.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::command::{command, run_on};
use crate::install::Clients;

const LIMIT: Duration = Duration::from_secs(60);
const TOPIC: &str = "tools";
const CONSOLE: &str = "console";

/// The tools and the broker that they talk to.
struct Tools<'a> {
    installed: &'a Clients,
    bootstrap: &'a str,
}

pub(super) fn run(installed: &Clients, bootstrap: &str) -> Result<()> {
    let tools = Tools {
        installed,
        bootstrap,
    };
    tools.topics()?;
    tools.configs()?;
    tools.console()?;
    tools.offsets()?;
    tools.cluster()?;
    tools.delete()
}

impl Tools<'_> {
    /// Runs a tool with these words, and returns what it printed.
    fn call(&self, class: &str, words: &[&str], input: &str) -> Result<String> {
        let mut java = command(["java", "-cp"]);
        java.arg(&self.installed.class_path)
            .arg(format!("org.apache.kafka.tools.{class}"));
        java.args(words)
            .args(["--bootstrap-server", self.bootstrap]);
        run_on(&mut java, input, LIMIT)
    }

    /// Runs a tool that must print all of these.
    fn expect(&self, class: &str, words: &[&str], printed: &[&str]) -> Result<()> {
        let output = self.call(class, words, "")?;
        for text in printed {
            ensure!(
                output.contains(text),
                "{class} {words:?} printed no {text:?}:\n{output}"
            );
        }
        Ok(())
    }

    fn listed(&self, topic: &str) -> Result<bool> {
        let output = self.call("TopicCommand", &["--list"], "")?;
        Ok(output.lines().any(|line| line == topic))
    }

    fn topics(&self) -> Result<()> {
        let with = ["--partitions", "3", "--config", "retention.ms=3600000"];
        let create = [&["--create", "--topic", TOPIC], with.as_slice()].concat();
        self.expect("TopicCommand", &create, &["Created topic tools."])?;
        ensure!(self.listed(TOPIC)?, "the new topic is not listed");
        let describe = ["--describe", "--topic", TOPIC];
        let settings = ["PartitionCount: 3", "retention.ms=3600000"];
        self.expect("TopicCommand", &describe, &settings)?;
        let alter = ["--alter", "--topic", TOPIC, "--partitions", "5"];
        self.expect("TopicCommand", &alter, &[])?;
        self.expect(
            "TopicCommand",
            &describe,
            &["PartitionCount: 5", "Partition: 4"],
        )
    }

    fn configs(&self) -> Result<()> {
        let entity = ["--entity-type", "topics", "--entity-name", TOPIC];
        let with = |words: &[&'static str]| [words, entity.as_slice()].concat();
        let set = with(&["--alter", "--add-config", "max.message.bytes=200000"]);
        self.expect(
            "ConfigCommand",
            &set,
            &["Completed updating config for topic tools."],
        )?;
        let both = ["max.message.bytes=200000", "retention.ms=3600000"];
        self.expect("ConfigCommand", &with(&["--describe"]), &both)?;
        let unset = with(&["--alter", "--delete-config", "retention.ms"]);
        self.expect("ConfigCommand", &unset, &["Completed updating config"])?;
        let left = self.call("ConfigCommand", &with(&["--describe"]), "")?;
        ensure!(
            !left.contains("retention.ms=3600000"),
            "retention.ms is still set:\n{left}"
        );
        Ok(())
    }

    fn console(&self) -> Result<()> {
        let create = ["--create", "--topic", CONSOLE, "--partitions", "1"];
        self.expect("TopicCommand", &create, &["Created topic console."])?;
        let keyed = [
            "--reader-property",
            "parse.key=true",
            "--reader-property",
            "key.separator=:",
        ];
        let produce = [&["--topic", CONSOLE], keyed.as_slice()].concat();
        self.call("ConsoleProducer", &produce, "a:one\nb:two\nc:three\n")?;
        let place = ["--topic", CONSOLE, "--partition", "0", "--offset", "1"];
        let shown = [
            "--max-messages",
            "2",
            "--formatter-property",
            "print.key=true",
        ];
        let consume = [place.as_slice(), shown.as_slice()].concat();
        let output = self.call("consumer.ConsoleConsumer", &consume, "")?;
        ensure!(
            output == "b\ttwo\nc\tthree\n",
            "the console consumer printed {output:?}"
        );
        Ok(())
    }

    fn offsets(&self) -> Result<()> {
        let end = ["--topic", CONSOLE];
        let start = ["--topic", CONSOLE, "--time", "earliest"];
        self.expect("GetOffsetShell", &end, &["console:0:3"])?;
        self.expect("GetOffsetShell", &start, &["console:0:0"])?;
        let file = tempfile::NamedTempFile::new()?;
        let partitions = r#"{"partitions": [{"topic": "console", "partition": 0, "offset": 2}]}"#;
        std::fs::write(file.path(), partitions)?;
        let path = file
            .path()
            .to_str()
            .context("a temporary name that is no text")?;
        let words = ["--offset-json-file", path];
        self.expect(
            "DeleteRecordsCommand",
            &words,
            &["partition: console-0\tlow_watermark: 2"],
        )?;
        self.expect("GetOffsetShell", &start, &["console:0:2"])
    }

    fn cluster(&self) -> Result<()> {
        self.expect("ClusterTool", &["cluster-id"], &["Cluster ID: "])?;
        self.expect(
            "BrokerApiVersionsCommand",
            &[],
            &["Produce(0): 0 to 1", "Fetch(1): 4 to 1"],
        )
    }

    fn delete(&self) -> Result<()> {
        self.expect("TopicCommand", &["--delete", "--topic", TOPIC], &[])?;
        ensure!(!self.listed(TOPIC)?, "the deleted topic is listed");
        Ok(())
    }
}
