//! Opening a node: from a data directory to the machines that run it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;
use log::background::{Background, JobQueue};
use log::checkpoint::{Checkpoint, CheckpointHeader, CheckpointWriter, Loaded, ReplayPosition};
use log::file::{LogFile, Provisioner, Spare, Writer};
use log::read::Reader;
use log::recovery::{self, ChainedFile, Continuation, FoundFiles, Survey};
use log::segment::DataFile;
use log::{
    AssemblerMachine, CommitLog, DataDir, Error, SyncerMachine, Tail, WriterMachine, error_chain,
};
use types::{Clock, ErrorKind, FileEpoch, FileSequence, FrameNumber, Random, SeededRandom};

use crate::fit::fit_to_disk;
use crate::inbox::Inbox;
use crate::owner::{Applied, Kept, KeptCheckpoint, Loading, Owner, OwnerConfig, OwnerParts};
use crate::shared::Shared;

/// Settings of a node's storage and owner.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// The data directory.
    pub root: PathBuf,
    /// Size of a new log file.
    pub log_file_bytes: u64,
    /// Memory for the newest frames.
    pub tail_bytes: u64,
    /// Memory for indexes of segments.
    pub extents_bytes: usize,
    /// Settings of the owner.
    pub owner: OwnerConfig,
}

/// What runs a node. Each machine is stepped by a thread, or by a simulation on one.
#[derive(Debug)]
pub struct Machines {
    /// Decides and applies.
    pub owner: Owner,
    /// Writes frames.
    pub writer: WriterMachine,
    /// Makes them while others are written.
    pub assembler: AssemblerMachine,
    /// Syncs them.
    pub syncer: SyncerMachine,
    /// Seals, checkpoints, frees.
    pub background: Background,
    /// The way to the owner.
    pub inbox: Arc<Inbox>,
    /// The readers' view.
    pub shared: Arc<Shared>,
    /// Reads partitions.
    pub reader: Arc<Reader>,
    /// The log.
    pub log: Arc<CommitLog>,
    /// The way to the background.
    pub jobs: Arc<JobQueue>,
    /// Holds the lock of the data directory.
    pub dir: DataDir,
}

/// The log as it was found, or made.
struct Opened {
    state: Applied,
    writer: Writer,
    last: FrameNumber,
    /// Nothing in the log proves the last frame yet.
    needs_proof: bool,
    kept: Kept,
    next_checkpoint: u64,
    spares: Vec<Spare>,
    provisioner: Arc<Provisioner>,
    clean: bool,
    damage: Option<String>,
    ended: Vec<(Arc<LogFile>, u64)>,
}

/// Opens the node of a data directory, or makes one.
///
/// # Errors
/// A directory that is in use, of a newer format, or damaged where nothing can be served; and
/// those of the device.
pub fn open(
    config: &NodeConfig,
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    mut random: Box<dyn Random>,
) -> Result<Machines, Error> {
    let dir = DataDir::open(disk, &config.root, random.as_mut())?;
    open_dir(config, dir, clock, random)
}

/// Opens the node of a data directory that is locked already.
///
/// # Errors
/// As [`open`].
pub fn open_dir(
    config: &NodeConfig,
    dir: DataDir,
    clock: Arc<dyn Clock>,
    mut random: Box<dyn Random>,
) -> Result<Machines, Error> {
    let config = &fit_to_disk(config, &dir);
    let disk = Arc::clone(&dir.disk);
    let state = Applied::empty(&dir, config.owner.defaults.clone());
    let opened = if dir.fresh {
        create(config, &dir, state, random.as_mut(), clock.as_ref())?
    } else {
        recover(config, &dir, state, random.as_mut())?
    };
    let (last, needs_proof) = (opened.last, opened.needs_proof);
    let log = Arc::new(CommitLog::new(
        &opened.writer,
        last,
        needs_proof,
        Arc::clone(&clock),
    ));
    opened
        .spares
        .into_iter()
        .for_each(|spare| log.add_spare(spare));
    if let Some(damage) = &opened.damage {
        log.poison(damage);
    }
    let tail = Arc::new(Tail::new(config.tail_bytes));
    let reader = Arc::new(Reader::new(Arc::clone(&tail), config.extents_bytes));
    let (jobs, inbox) = (Arc::new(JobQueue::default()), Arc::new(Inbox::default()));
    let shared = Arc::clone(opened.state.shared());
    let owner = Owner::new(OwnerParts {
        config: config.owner.clone(),
        clock: Arc::clone(&clock),
        random: fork(random.as_mut()),
        log: Arc::clone(&log),
        jobs: Arc::clone(&jobs),
        tail,
        inbox: Arc::clone(&inbox),
        applied: opened.state,
        kept: opened.kept,
        next_checkpoint: opened.next_checkpoint,
        synced: opened.last,
        ended: opened.ended,
        clean: opened.clean,
    });
    let background = Background::new(
        disk,
        config.root.clone(),
        Arc::clone(&log),
        clock,
        opened.provisioner,
        Arc::clone(&jobs),
    );
    let writer = WriterMachine::new(Arc::clone(&log), opened.writer);
    Ok(Machines {
        owner,
        assembler: writer.assembler(),
        writer,
        syncer: SyncerMachine::new(Arc::clone(&log)),
        background,
        inbox,
        shared,
        reader,
        log,
        jobs,
        dir,
    })
}

/// A source of its own for a part that must not share one.
fn fork(random: &mut dyn Random) -> Box<dyn Random> {
    Box::new(SeededRandom::new(random.next_u64()))
}

/// Makes the first file and the first checkpoint, then the format file: only with it does the
/// directory count.
fn create(
    config: &NodeConfig,
    dir: &DataDir,
    state: Applied,
    random: &mut dyn Random,
    clock: &dyn Clock,
) -> Result<Opened, Error> {
    let provisioner = Arc::new(Provisioner::new(
        Arc::clone(&dir.disk),
        dir.log(),
        dir.id,
        config.log_file_bytes,
        0,
        0,
    ));
    let spare = provisioner.make()?;
    let first = FrameNumber(1);
    let writer = Writer::start(Arc::clone(&provisioner), fork(random), spare, None, first)?;
    let header = CheckpointHeader {
        number: 1,
        directory: dir.id,
        created_ms: clock.now_ms(),
        replay: ReplayPosition {
            sequence: writer.file().sequence,
            epoch: writer.file().epoch,
            position: 0,
            frame: first,
        },
        proven: FrameNumber(0),
        shards: Vec::new(),
    };
    let mut checkpoint = CheckpointWriter::begin(Arc::clone(&dir.disk), &dir.root, &header, None)?;
    checkpoint.add(&state.node_row());
    let finished = checkpoint.finish()?;
    prepare_checkpoint(dir, finished.file_bytes)?;
    dir.finish()?;
    let kept = Kept::new(vec![KeptCheckpoint::of(&header)]);
    let mut state = state;
    state.adopt_files(&[], writer.file());
    Ok(Opened {
        state,
        writer,
        last: FrameNumber(0),
        needs_proof: false,
        kept,
        next_checkpoint: 2,
        spares: Vec::new(),
        provisioner,
        clean: true,
        damage: None,
        ended: Vec::new(),
    })
}

fn recover(
    config: &NodeConfig,
    dir: &DataDir,
    state: Applied,
    random: &mut dyn Random,
) -> Result<Opened, Error> {
    let loaded = Checkpoint::load_newest(dir.disk.as_ref(), &dir.root)?
        .ok_or_else(|| no_checkpoint(&dir.root))?;
    if let Some(damaged) = &loaded.damaged {
        let error = error_chain(damaged);
        tracing::error!(
            error,
            "the newest checkpoint is damaged, the older one serves"
        );
    }
    let header = loaded.checkpoint.header.clone();
    let mut loading = Loading::new(state, &header);
    for row in loaded.checkpoint.rows() {
        loading.row(&row?, &dir.root)?;
    }
    let mut found = find_files(dir, &header, &loading)?;
    let (files, mut survey) = survey_log(dir, &header, &found, &mut loading)?;
    let unfinished = recovery::lost_files(&found, &files, &mut survey)?;
    recovery::replay(&files, &mut survey, &mut loading)?;
    for info in loading.state.known_segments() {
        found.keep_name(&info.data);
    }
    let provisioner = Arc::new(Provisioner::new(
        Arc::clone(&dir.disk),
        dir.log(),
        dir.id,
        config.log_file_bytes,
        found.last_name,
        found.last_generation,
    ));
    if survey.damage.is_none() {
        prepare_checkpoint(dir, loaded.checkpoint.file_bytes())?;
    }
    let (next, damage) = go_on(
        dir,
        &files,
        &survey,
        &provisioner,
        &mut found,
        random,
        &mut loading,
    )?;
    let clean = loading.clean;
    let mut state = loading.state;
    let ended = ended_files(&files, &survey);
    state.adopt_files(&files, next.writer.file());
    if damage.is_none() {
        remove_unfinished(dir, &unfinished, &state, &provisioner);
        state.adopt_orphans(&found, &files, dir, header.number)?;
        state.punch_all_dead_runs();
    }
    Ok(Opened {
        state,
        writer: next.writer,
        last: next.last,
        needs_proof: next.needs_proof,
        kept: kept(dir, &loaded)?,
        next_checkpoint: loaded.next_number,
        spares: found.spares,
        provisioner,
        clean,
        damage,
        ended,
    })
}

/// Reads the headers of the log files, but of those that were sealed before the replay begins.
fn find_files(
    dir: &DataDir,
    header: &CheckpointHeader,
    loading: &Loading,
) -> Result<FoundFiles, Error> {
    let segments = loading.state.known_segments().map(|info| &info.data);
    let sealed = segments.filter(|data| data.sequence < header.replay.sequence);
    let sealed = sealed.filter_map(DataFile::number).collect();
    FoundFiles::read_but(dir.disk.as_ref(), &dir.log(), dir.id, &sealed)
}

/// Finds how far the log goes. Without its first file what the checkpoint holds is served.
fn survey_log(
    dir: &DataDir,
    header: &CheckpointHeader,
    found: &FoundFiles,
    loading: &mut Loading,
) -> Result<(Vec<ChainedFile>, Survey), Error> {
    let first = (header.replay.sequence, header.replay.epoch);
    match recovery::chain(found, &dir.log(), first) {
        Ok(files) => {
            let survey = recovery::survey(&files, header.proven)?;
            Ok((files, survey))
        }
        Err(Error::Corrupt(corruption)) => {
            loading.state.lose_unsealed(&corruption);
            Ok((Vec::new(), Survey::lost(header.proven, corruption)))
        }
        Err(error) => Err(error),
    }
}

/// Removes spares that were never finished. A file that a segment goes by is none, whatever is left
/// of it.
fn remove_unfinished(dir: &DataDir, paths: &[PathBuf], state: &Applied, from: &Provisioner) {
    let segments = state.known_segments();
    let data: BTreeSet<_> = segments.map(|info| info.data_path(&dir.root)).collect();
    for path in paths.iter().filter(|path| !data.contains(*path)) {
        if let Err(error) = from.remove(path) {
            tracing::warn!(error = %error, "an unfinished spare stays behind");
        }
    }
}

/// Makes the log take the next frame, or says why it cannot.
fn go_on(
    dir: &DataDir,
    files: &[ChainedFile],
    survey: &Survey,
    provisioner: &Arc<Provisioner>,
    found: &mut FoundFiles,
    random: &mut dyn Random,
    loading: &mut Loading,
) -> Result<(Continuation, Option<String>), Error> {
    let stuck = |last: FrameNumber, why: String, random: &mut dyn Random| {
        let writer = stuck_writer(&dir.log(), files, survey, provisioner, random);
        let stuck = Continuation {
            writer,
            last,
            needs_proof: false,
        };
        Ok((stuck, Some(why)))
    };
    if let Some(damage) = &survey.damage {
        tracing::error!(error = %damage.corruption, "confirmed entries cannot be read");
        let why = format!("confirmed entries cannot be read: {}", damage.corruption);
        return stuck(survey.last, why, random);
    }
    dir.confirm()?;
    let bytes = survey.rewrite_bytes();
    let fitting = found
        .spares
        .iter()
        .rposition(|spare| spare.file_bytes >= bytes);
    let spare = match fitting {
        Some(at) => Ok(found.spares.remove(at)),
        None => provisioner.make_sized(bytes),
    };
    match spare {
        Ok(spare) => {
            let random = fork(random);
            let next = recovery::rewrite(files, survey, provisioner, random, spare, loading)?;
            Ok((next, None))
        }
        Err(error) if error.kind() == ErrorKind::Full => {
            tracing::error!("the device is full: what is synced can be read, nothing is taken");
            let why = "the device has no room for a log file at the start".to_owned();
            stuck(survey.proven, why, random)
        }
        Err(error) => Err(error),
    }
}

/// The files of the chain and where each ends.
fn ended_files(files: &[ChainedFile], survey: &Survey) -> Vec<(Arc<LogFile>, u64)> {
    let end = |chained: &ChainedFile| chained.end.unwrap_or(survey.proven_end);
    files
        .iter()
        .map(|chained| (Arc::clone(&chained.file), end(chained)))
        .collect()
}

/// A writer for a log that is stopped before it begins.
fn stuck_writer(
    dir: &Path,
    files: &[ChainedFile],
    survey: &Survey,
    provisioner: &Arc<Provisioner>,
    random: &mut dyn Random,
) -> Writer {
    let file = match files.last() {
        Some(last) => Arc::clone(&last.file),
        // What the checkpoint holds is served even so.
        None => Arc::new(LogFile::missing(dir, FileSequence(0), FileEpoch(0))),
    };
    let provisioner = Arc::clone(provisioner);
    Writer::resume(
        provisioner,
        fork(random),
        file,
        survey.end,
        survey.last.next(),
    )
}

/// Sets space aside for the next checkpoint, which may be larger than one of `file_bytes`: without
/// it nothing is ever freed. A full device must do without.
fn prepare_checkpoint(dir: &DataDir, file_bytes: u64) -> Result<(), Error> {
    let bytes = file_bytes + file_bytes / 4;
    match CheckpointWriter::prepare_next(dir.disk.as_ref(), &dir.root, bytes) {
        Err(error) if error.kind() == ErrorKind::Full => Ok(()),
        prepared => prepared,
    }
}

/// The checkpoints that are kept: the loaded one and the good one before it.
fn kept(dir: &DataDir, loaded: &Loaded) -> Result<Kept, Error> {
    let number = loaded.checkpoint.number();
    let before = match Checkpoint::load_before(dir.disk.as_ref(), &dir.root, number) {
        Err(error @ Error::Disk(_)) => {
            let error = error_chain(&error);
            tracing::error!(error, "the older checkpoint cannot be read");
            None
        }
        before => before?,
    };
    let both = before.iter().chain([&loaded.checkpoint]);
    Ok(Kept::new(
        both.map(|c| KeptCheckpoint::of(&c.header)).collect(),
    ))
}

fn no_checkpoint(root: &Path) -> Error {
    Error::Corrupt(log::Corruption {
        path: root.join("checkpoints"),
        position: 0,
        what: "checkpoints",
        expected: "one or two".to_owned(),
        found: "none".to_owned(),
    })
}
