//! The clients and how their programs are called.

use std::ffi::OsString;
use std::process::Command;

use crate::install::Clients;
use crate::paths;

/// One client's program.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub name: &'static str,
    words: Vec<OsString>,
    node_path: Option<OsString>,
    /// What its writer cannot express: see tests/interop/README.md.
    pub lacks: &'static str,
    pub reads: Reads,
    /// Why it cannot stream with idempotence; empty for one that can.
    pub cannot_stream: &'static str,
}

/// What a client reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    Everything,
    /// It fails on a header whose value is null.
    NoNullHeaders,
    /// Not without a group.
    Nothing,
}

impl Client {
    fn new<W: Into<OsString>>(name: &'static str, words: impl IntoIterator<Item = W>) -> Self {
        Self {
            name,
            words: words.into_iter().map(Into::into).collect(),
            node_path: None,
            lacks: "",
            reads: Reads::Everything,
            cannot_stream: "",
        }
    }

    fn lacks(self, lacks: &'static str) -> Self {
        Self { lacks, ..self }
    }

    fn reads(self, reads: Reads) -> Self {
        Self { reads, ..self }
    }

    fn cannot_stream(self, cannot_stream: &'static str) -> Self {
        Self {
            cannot_stream,
            ..self
        }
    }

    /// Whether this client can read what another wrote.
    pub(super) fn can_read(&self, writer: &Self) -> bool {
        let without_null = ["headers", "map-headers", "null-headers"];
        match self.reads {
            Reads::Everything => true,
            Reads::Nothing => false,
            Reads::NoNullHeaders => writer
                .lacks
                .split(',')
                .any(|lack| without_null.contains(&lack)),
        }
    }

    /// The call of the program, without its arguments.
    pub(super) fn command(&self) -> Command {
        let mut command = crate::command::command(&self.words);
        if let Some(path) = &self.node_path {
            command.env("NODE_PATH", path);
        }
        command
    }
}

/// All clients, in the order of the table.
pub(super) fn all(installed: &Clients) -> Vec<Client> {
    let folder = paths::interop();
    let python = |file: &str| {
        [
            installed.python.clone().into_os_string(),
            folder.join("python").join(file).into_os_string(),
        ]
    };
    let mut kafkajs = Client::new(
        "kafkajs",
        [
            OsString::from("node"),
            folder.join("kafkajs/main.js").into(),
        ],
    );
    kafkajs.node_path = Some(installed.node_path.clone().into());
    vec![
        Client::new("confluent-kafka", python("confluent_client.py")),
        java(installed),
        Client::new("franz-go", [installed.go.clone()]),
        Client::new("kafka-python", python("kafka_python_client.py"))
            .lacks("both-null,null-headers"),
        Client::new("aiokafka", python("aiokafka_client.py")).lacks("both-null"),
        Client::new("rskafka", [installed.rskafka.clone()])
            .lacks("map-headers")
            .reads(Reads::NoNullHeaders)
            .cannot_stream("it has no idempotent producer"),
        Client::new("kcat", python("kcat_client.py"))
            .lacks("headers,timestamps,null-values,keyless-empty"),
        kafkajs.lacks("null-headers").reads(Reads::Nothing),
    ]
}

/// The Java client, which also verifies what others streamed.
pub(super) fn java(installed: &Clients) -> Client {
    let words = [
        "java".into(),
        "-cp".into(),
        installed.class_path.clone(),
        "Interop".into(),
    ];
    Client::new("Java", words)
}
