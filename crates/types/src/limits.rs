//! Every bound of the product that is not a setting, in one place. Units stand in the names.

/// Frames and other blocks of the log start and end on this boundary.
pub const BLOCK_BYTES: u64 = 4096;
/// A frame holds this much at most, unless one entry alone is larger.
pub const FRAME_BYTES_MAX: u64 = 8 << 20;
/// A frame is filled up to this size: what is copied into it is still in the processor's cache when
/// it is written, and a virtio disk takes it in one request, whose 256 descriptors are two more than
/// its blocks.
pub const FRAME_BYTES_USUAL: u64 = 254 * BLOCK_BYTES;
/// In a small file a frame is full earlier: so many full ones fit into any file.
pub const FRAMES_PER_FILE_MIN: u64 = 8;
/// Frames that came longer ago leave the memory for the newest records.
pub const TAIL_AGE_MS_MAX: u64 = 2_000;
/// Frames that leave for their age when one comes: the owner's step stays short.
pub const TAIL_AGED_LEAVE_MAX: usize = 16;
/// What stays there however old it is: this part of its size.
pub const TAIL_AGED_PART: u64 = 8;
/// Huge pages of the system, and their boundaries.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Frames are laid into pieces of memory of so many bytes.
pub const FRAME_SLAB_BYTES: usize = 2 << 20;
/// Such pieces that are remembered for their next use; more belong to who reads in them.
pub const FRAME_SLABS_MAX: usize = 64;
/// The memory of so many windows that nobody reads any more is kept for the next ones.
pub const READ_WINDOWS_FREE_MAX: usize = 8;
/// Partitions that are read together go through so much of a file and no more before those of them
/// that are behind get their turn: they stay side by side, and meet in the same windows.
pub const READ_SPAN_BYTES: u64 = 8 << 20;
/// Windows behind the one where a read begins that are read ahead: those that the read goes through,
/// and half as many again.
pub const READ_AHEAD_WINDOWS: u64 = 3 * READ_SPAN_BYTES / 2 / READ_WINDOW_BYTES;
/// Windows that had to go and are remembered: those of 8 GiB.
pub const READ_WINDOWS_GONE_MAX: usize = 8 << 10;
/// Windows that are kept for the next reader.
pub const READ_WINDOWS_BYTES: usize = 24 << 20;
/// Memory of requests that is kept for the next ones.
pub const KAFKA_REQUEST_POOL_BYTES: usize = 4 << 20;
/// Buffers from this size on are kept for others; sizes are multiples of it.
pub const POOLED_BUFFER_BYTES_MIN: usize = 64 << 10;
/// Buffers up to this size are kept for others.
pub const POOLED_BUFFER_BYTES_MAX: usize = 2 << 20;
/// Entries in one frame.
pub const FRAME_ENTRIES_MAX: usize = 65_536;
/// The batches of one request take at most the log space of so many largest entries: what the spare
/// files for data hold in any case.
pub const REQUEST_ENTRIES_MAX: u64 = 3;
/// One entry's payload.
pub const ENTRY_BYTES_MAX: u64 = 128 << 20;
/// Smallest size of a log file (simulations use it).
pub const LOG_FILE_BYTES_MIN: u64 = 64 << 10;
/// Largest size of a log file.
pub const LOG_FILE_BYTES_MAX: u64 = 4 << 30;
/// A disk holds at least so many log files: they are made smaller where it would not.
pub const DISK_LOG_FILES_MIN: u64 = 64;
/// The part of a disk that log which is not sealed takes at most: one divided by this.
pub const DISK_UNSEALED_SHARE: u64 = 8;
/// Batches in log that is not sealed: each has 40 bytes in the memory of the index, and up to 56 more
/// in what is gathered for the footer of its file.
pub const UNSEALED_BATCHES_MAX: u64 = 2_500_000;
/// A log file ends early once it holds this part of them, so that it can be sealed: one divided by
/// this.
pub const FILE_BATCHES_SHARE: u64 = 4;
/// A log file ends early once a partition's oldest record in it is this part of `retention.ms` old,
/// one divided by this: what is sealed together expires together.
pub const FILE_RETENTION_SHARE: i64 = 8;
/// But not before that record is so old: one topic does not cut the files of all into small ones.
pub const FILE_AGE_MS_MIN: i64 = 3_600_000;
/// Quarters of the bound on unsealed log from which on producers are slowed.
pub const PACE_BEGIN_QUARTERS: u64 = 3;
/// In this time slowed producers add at most what is left to the bound.
pub const PACE_HORIZON_MS: u64 = 1_000;
/// Numbers that only grow (of files, frames, headers) stay below; what claims more is damage.
pub const LOG_NUMBER_MAX: u64 = 1 << 62;
/// Writes of background jobs go in steps of this size, each with its own sync.
pub const JOB_STEP_BYTES: usize = 1 << 20;
/// A block CRC of a segment covers at most this much.
pub const SEGMENT_CRC_BLOCK_BYTES: u64 = 256 << 10;

/// Losses that the status lists; more are only counted.
pub const STATUS_DAMAGES_MAX: usize = 100;
/// Holes of a partition that are told apart; what lies between the last ones counts as lost then.
pub const PARTITION_HOLES_MAX: usize = 64;

/// Records in one batch.
pub const BATCH_RECORDS_MAX: usize = 1 << 20;
/// Bytes that one batch may unpack to while it is checked.
pub const UNPACKED_BATCH_BYTES_MAX: usize = 128 << 20;
/// `max.message.bytes` by default: the largest batch of a topic, as compressed.
pub const BATCH_BYTES_DEFAULT: usize = 1_048_588;
/// Bytes unpacked ahead of the reader while compressed records are walked through.
pub const UNPACK_STEP_BYTES: usize = 64 << 10;
/// Power of two of the largest window that a zstd frame may ask for (what its levels go up to).
pub const ZSTD_WINDOW_LOG_MAX: u32 = 27;
/// A zstd context larger than this is freed after its use instead of being kept by its thread.
pub const ZSTD_CONTEXT_KEPT_BYTES: usize = 4 << 20;
/// Faulty records listed when a batch is refused.
pub const RECORD_ERRORS_MAX: usize = 1_000;
/// Headers of one record.
pub const RECORD_HEADERS_MAX: usize = 10_000;

/// Batches kept per producer and partition to recognise duplicates (KIP-98).
pub const PRODUCER_BATCHES_KEPT: usize = 5;
/// Producers that a partition remembers; beyond it those that were silent longest are forgotten.
pub const PRODUCERS_PER_PARTITION_MAX: usize = 16_384;
/// Stretches of a partition that retention judges in one call.
pub const RETENTION_RUNS_MAX: usize = 65_536;
/// Partitions of the node: numbers have 24 bits.
pub const PARTITIONS_MAX: u32 = 1 << 24;
/// Length of a topic name in bytes.
pub const TOPIC_NAME_BYTES_MAX: usize = 249;
/// Partitions that one request may ask for.
pub const TOPIC_PARTITIONS_MAX: i32 = 100_000;
/// Settings of one topic in a request.
pub const TOPIC_CONFIGS_MAX: usize = 1_000;
/// Bytes of the value of one.
pub const CONFIG_VALUE_BYTES_MAX: usize = 4_096;

/// Entries of one array in a Kafka request.
pub const KAFKA_ARRAY_MAX: usize = 1_000_000;
/// Tagged fields of one structure in a Kafka request.
pub const KAFKA_TAGS_MAX: usize = 10_000;
/// Elements allocated ahead for an array, whatever it claims.
pub const KAFKA_PREALLOCATED_MAX: usize = 1_000;
/// Memory that the arrays and strings of one decoded Kafka message take together.
pub const KAFKA_DECODED_BYTES_MAX: usize = 64 << 20;
/// Pieces of records up to this size are copied into a Kafka frame, larger ones are referred to:
/// below it a copy costs less than one more piece of a vectored write.
pub const KAFKA_COPIED_CHUNK_BYTES_MAX: usize = 1_024;
/// Requests of one connection that may be under way at once.
pub const KAFKA_IN_FLIGHT_MAX: usize = 128;
/// Bytes of requests of one connection that may be under way at once, the last one aside.
pub const KAFKA_IN_FLIGHT_BYTES_MAX: usize = 16 << 20;
/// Bytes of answers that wait for a slow client, the last answer aside; then no more are made.
pub const KAFKA_OUTPUT_BYTES_MAX: usize = 256 << 10;
/// Record bytes in answers to fetches of all connections together; beyond it an answer holds the
/// one batch of each fetch that is always sent.
pub const KAFKA_FETCH_MEMORY_BYTES: usize = 32 << 20;
/// Requests above [`KAFKA_TRUSTED_FRAME_BYTES_MAX`] of all connections together; a larger one is
/// taken alone. What is over it waits in the clients' sockets.
pub const KAFKA_LARGE_REQUESTS_BYTES: usize = 128 << 20;
/// A request that holds a share of them must go on by one of so many parts of its size...
pub const KAFKA_LARGE_FRAME_PARTS: usize = 32;
/// ... within this time or `connections.max.idle.ms`, where that is less, or its connection is closed.
pub const KAFKA_LARGE_FRAME_PART_MS: u64 = 30_000;
/// Record bytes in one answer to a fetch that asks for no more at least: read and sent while they
/// are in the processor's cache, and the first of them leave soon.
pub const KAFKA_FETCH_ANSWER_BYTES: usize = 8 << 20;
/// A partition with more records gets at least so many bytes of an answer: partitions that are read
/// together go through the log side by side, as they stand in it.
pub const KAFKA_FETCH_SHARE_BYTES: usize = 32 << 10;
/// Partitions that one fetch reads between two looks at what else waits.
pub const KAFKA_FETCH_STEP: usize = 64;
/// Reads of which a reader's thread finds the beginnings before others get their turn.
pub const READ_BEGINNINGS_STEP: usize = 64;
/// How long a fetch whose request is large waits for records.
pub const KAFKA_LARGE_FETCH_WAIT_MS_MAX: i32 = 500;
/// How long batches are checked between two looks at what else waits.
pub const CHECK_STEP_US: u64 = 500;
/// Refused batches of a request that are explained, and faulty records of them all that are named.
pub const KAFKA_REFUSALS_MAX: usize = 1_000;
/// The least that a batch or a change of metadata is given, whatever its request allows: some clients
/// allow nothing, and mean that they do not wait for other nodes.
pub const KAFKA_CHANGE_MS_MIN: u64 = 1_000;
/// How long a change waits whose request says nothing of it.
pub const KAFKA_CHANGE_MS: u64 = 10_000;
/// Bytes buffered ahead for a frame, whatever its length claims.
pub const READ_BUFFER_BYTES: usize = 32 << 10;
/// A frame longer than any before gets so many times the room of what has arrived of it.
pub const READ_GROWTH_FACTOR: usize = 4;
/// A frame up to this size gets its room at once on a connection that has sent such a one before.
pub const KAFKA_TRUSTED_FRAME_BYTES_MAX: usize = 1 << 20;
/// Pieces that one vectored write takes.
pub const WRITE_PIECES_MAX: usize = 64;
/// Produce requests that one connection sends together are written together, up to so many: as many
/// as Apache Kafka's producer keeps in flight (`max.in.flight.requests.per.connection`).
pub const KAFKA_GATHER_REQUESTS_MAX: usize = 5;
/// A thread that stays with a connection sleeps until so many bytes have arrived, at most.
pub const KAFKA_GATHER_BYTES_MAX: usize = 64 << 10;
/// After a wait in vain a connection waits for no more than came then for so many writes.
pub const KAFKA_GATHER_PAUSE: usize = 8;
/// After so many waits in which a client sent nothing at all, no thread waits for it.
pub const KAFKA_GATHER_SILENCES_MAX: usize = 3;
/// A thread that stays with a connection waits so long for the next request, and what was proposed
/// waits no longer to be written.
pub const KAFKA_STAY_MS_MAX: u64 = 1;
/// Connections that a thread stays with at once.
pub const KAFKA_STAY_CONNECTIONS_MAX: usize = 1;
/// What a client leaves unread for so long is copied, so that it keeps nothing larger in memory.
pub const KAFKA_OUTPUT_SHARED_MS_MAX: u64 = 100;
/// Rounds that a connection goes before others get their turn.
pub const CONNECTION_STEPS_MAX: usize = 32;
/// A thread that stays with a connection waits so often, for the client or the device, before others
/// may have a thread that stays.
pub const CONNECTION_WAITS_MAX: usize = 256;
/// A listener that cannot accept tries again after this.
pub const ACCEPT_RETRY_MS: u64 = 50;
/// Answers under way when the node stops may take this long.
pub const STOP_ANSWERS_MS: u64 = 500;

/// Connections that one admin listener serves at once; more wait to be accepted.
pub const ADMIN_CONNECTIONS_MAX: usize = 64;
/// A connection of the admin listener lives this long at most: one request and its answer.
pub const ADMIN_CONNECTION_MS: u64 = 10_000;

/// Proposals that the owner takes in one step.
pub const OWNER_STEP_MAX: usize = 64;
/// Proposals and entries under way from which on the processor time of a step is measured.
pub const OWNER_TIMED_MIN: usize = 16;
/// Steps of the owner that a thread does which only brings it something.
pub const SEAT_STEPS_MAX: usize = 4;
/// A frame up to this size that somebody waits for is synced by the writer itself: to write the
/// next one meanwhile would gain less than a hand-over costs.
pub const WRITER_SYNC_BYTES_MAX: u64 = 128 << 10;
/// Where the last sync took longer, no other thread than the writer's waits for one.
pub const QUICK_SYNC_MS_MAX: u64 = 2;
/// After this much idleness an empty frame proves the last confirmed one.
pub const IDLE_PROOF_MS: u64 = 50;
/// Nothing written stays unsynced for longer, whatever its topic says.
pub const UNSYNCED_MS_MAX: u64 = 50;
/// Spare log files that data may not take: two as ballast for metadata, one for recovery.
pub const SPARES_RESERVED: usize = 3;
/// Of these, the ones that no entry takes: a recovery on a full device needs one.
pub const SPARES_FOR_RECOVERY: usize = 1;
/// So many single blocks of a new spare are written at its end. ext4 keeps up to four extents of a
/// file in its inode: where a file comes back to so few after each write, it frees the block of its
/// extent tree each time, and may tell the device so (docs/decisions/0014).
pub const SPARE_MARKS: u64 = 6;
/// They are so far apart: ext4 fills smaller gaps with zeros instead.
pub const SPARE_MARK_BYTES: u64 = 1 << 20;
/// Smaller files are over too soon for that.
pub const SPARE_MARKED_BYTES_MIN: u64 = 16 << 20;
/// Zeros are written into spares in steps of so many bytes, so that the log's writes never queue
/// behind them for long.
pub const FILL_STEP_BYTES: u64 = 1 << 20;
/// Ranges of a segment that are punched out in one step: each may be told to the device.
pub const PUNCH_STEP_RANGES: usize = 64;
/// No spare is filled while the log grows faster.
pub const FILL_PAUSE_BYTES_PER_S: u64 = 128 << 20;
/// How often the growth of the log is judged for that.
pub const FILL_SAMPLE_MS: u64 = 250;
/// Spare log files kept ready.
pub const SPARES_WANTED: usize = 5;

/// Batches of a partition that stand next to each other make one extent up to this size.
pub const EXTENT_BYTES_MAX: u32 = 64 << 10;
/// Length of the name of a segment's data file.
pub const SEGMENT_NAME_BYTES_MAX: usize = 255;
/// Sections of a footer.
pub const FOOTER_SECTIONS_MAX: usize = 64;
/// Damages that one verification lists; more are only counted.
pub const VERIFY_DAMAGES_MAX: usize = 1_000;
/// Checkpoints that are kept: the newest may turn out to be damaged.
pub const CHECKPOINTS_KEPT: usize = 2;
/// Size of a block of a checkpoint.
pub const CHECKPOINT_BLOCK_BYTES: usize = 64 << 10;
/// Shards in the header of a checkpoint.
pub const CHECKPOINT_SHARDS_MAX: usize = 1_024;
/// A background job that could not be done is tried again after this.
pub const JOB_RETRY_MS: u64 = 200;
/// Entries that the owner decides in one step, one proposal more at the most.
pub const OWNER_DECIDE_MAX: usize = 64;
/// Entries that the owner applies in one step.
pub const OWNER_APPLY_MAX: usize = 64;
/// It looks at the clock after so many, and applies no more in that step after this time.
pub const OWNER_APPLY_PIECE: usize = 8;
/// The time.
pub const OWNER_APPLY_US: u64 = 400;
/// Rows that the owner hands to a checkpoint in one step.
pub const CHECKPOINT_ROWS_MAX: usize = 64;
/// Bytes of rows after which it hands over no more in that step.
pub const CHECKPOINT_ROWS_BYTES_MAX: usize = 64 << 10;
/// Slices of a checkpoint that may wait for the background.
pub const CHECKPOINT_SLICES_WAITING_MAX: usize = 8;
/// How soon the owner looks whether the background takes more slices.
pub const CHECKPOINT_SLICE_MS: u64 = 1;
/// Rest between two checkpoints that only free space.
pub const CHECKPOINT_PAUSE_MS: u64 = 1_000;
/// Segments whose dead runs wait for the background to punch them out: sealing waits behind them.
pub const PUNCHES_MAX: usize = 4;
/// How often the owner looks at what is due by the clock.
pub const UPKEEP_MS: u64 = 100;
/// Partitions whose retention the owner judges in one step.
pub const RETENTION_PARTITIONS_MAX: usize = 4;
/// Producer ids that are taken from the log at once.
pub const PRODUCER_ID_BLOCK: i64 = 1_000;
/// What the device has to be waited for is read in windows of so many bytes.
pub const READ_WINDOW_BYTES: u64 = 1 << 20;
/// How often idle threads look whether they are to stop, at the latest.
pub const STOP_CHECK_MS: u64 = 100;
/// Cold reads that may wait for a reader thread.
pub const READS_WAITING_MAX: usize = 256;
/// Reads ahead that may wait; more are forgotten.
pub const READS_AHEAD_WAITING_MAX: usize = 4;
