//! Frames, commit log, sealing, segments, indexes, checkpoint, recovery.
