//! The tests with real clients: the same programs against Millrace or Apache Kafka.

mod background;
mod bounce;
mod clients;
mod contents;
mod first_program;
mod report;
mod rskafka_tests;
mod sync_fault;
mod table;
mod tools;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};

use self::clients::Client;
use crate::broker::{Broker, Kind, Setup};
use crate::install::{Clients, install};

/// Records per second under load, over all clients that stream.
const RATE: u64 = 12_000;

/// What `cargo xtask interop` takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The broker to start
    #[arg(long, value_enum, default_value = "millrace")]
    pub broker: Kind,
    /// Use a broker that runs already; what must restart one is then refused
    #[arg(long, value_name = "HOST:PORT")]
    pub bootstrap: Option<String>,
    /// The parts to run, all by default
    #[arg(long, value_enum, value_delimiter = ',')]
    pub part: Vec<Part>,
    /// The clients to run, all by default
    #[arg(long, value_delimiter = ',')]
    pub client: Vec<String>,
    /// Records per topic
    #[arg(long, default_value_t = 100_000)]
    pub records: u64,
    /// Let every reader read what every writer wrote, not only its own and its neighbour's
    #[arg(long)]
    pub all_pairs: bool,
    /// Orderly restarts under load
    #[arg(long, default_value_t = 3)]
    pub restarts: u32,
    /// Kills with SIGKILL under load
    #[arg(long, default_value_t = 20)]
    pub kills: u32,
    /// Records per second under load, over all clients that stream
    #[arg(long, default_value_t = RATE)]
    pub rate: u64,
}

impl Options {
    /// One part against Millrace, with these counts and defaults elsewhere.
    pub(crate) fn of(part: Part, records: u64, restarts: u32, kills: u32) -> Self {
        Self {
            broker: Kind::Millrace,
            bootstrap: None,
            part: vec![part],
            client: Vec::new(),
            records,
            all_pairs: false,
            restarts,
            kills,
            rate: RATE,
        }
    }

    fn chooses(&self, client: &Client) -> bool {
        self.client.is_empty() || self.client.iter().any(|name| name == client.name)
    }
}

/// A part of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Every client writes and reads the content
    Contents,
    /// A first Java program
    FirstProgram,
    /// Apache Kafka's command-line tools
    Tools,
    /// rskafka's own tests
    RskafkaTests,
    /// Idempotent producers across restarts and kills
    Bounce,
    /// A disk that fails every sync; Millrace only
    SyncFault,
}

/// Runs the parts; the first failure ends it, after the table is printed.
pub(crate) fn run(options: &Options) -> Result<()> {
    let clients = install()?;
    let setup = Setup::new(options.broker, &clients);
    let setup = if options.bootstrap.is_none() {
        setup.build()?
    } else {
        setup
    };
    let parts = if options.part.is_empty() {
        parts_of(options)
    } else {
        options.part.clone()
    };
    for part in parts {
        run_part(part, options, &clients, &setup).with_context(|| format!("{part:?}"))?;
        println!("{part:?} passed");
    }
    Ok(())
}

/// All that can be asked of the broker.
fn parts_of(options: &Options) -> Vec<Part> {
    let starts_one = |part: &Part| matches!(part, Part::Bounce | Part::SyncFault);
    let mut parts = Part::value_variants().to_vec();
    parts.retain(|part| options.bootstrap.is_none() || !starts_one(part));
    parts.retain(|part| options.broker == Kind::Millrace || *part != Part::SyncFault);
    parts
}

fn run_part(part: Part, options: &Options, clients: &Clients, setup: &Setup) -> Result<()> {
    match (part, &options.bootstrap) {
        (Part::Bounce | Part::SyncFault, Some(_)) => {
            bail!("restarts need a broker started here, not --bootstrap")
        }
        (Part::Bounce, None) => bounce::run(options, clients, setup),
        (Part::SyncFault, None) => {
            ensure!(
                setup.kind == Kind::Millrace,
                "this part is for Millrace only"
            );
            sync_fault::run_part(clients, setup)
        }
        (_, Some(bootstrap)) => run_against(part, options, clients, bootstrap),
        (Part::FirstProgram, None) => {
            let broker = Broker::start(first_program::setup(setup.clone()))?;
            run_against(part, options, clients, &broker.bootstrap())
        }
        (Part::RskafkaTests, None) => {
            let broker = Broker::start(rskafka_tests::setup(setup.clone()))?;
            run_against(part, options, clients, &broker.bootstrap())
        }
        (Part::Contents | Part::Tools, None) => {
            let broker = Broker::start(setup.clone())?;
            run_against(part, options, clients, &broker.bootstrap())
        }
    }
}

fn run_against(part: Part, options: &Options, clients: &Clients, bootstrap: &str) -> Result<()> {
    match part {
        Part::Contents => contents::run(options, clients, bootstrap),
        Part::FirstProgram => first_program::run(clients, bootstrap),
        Part::Tools => tools::run(clients, bootstrap),
        Part::RskafkaTests => rskafka_tests::run(clients, bootstrap),
        Part::Bounce | Part::SyncFault => bail!("this part starts its own broker"),
    }
}
