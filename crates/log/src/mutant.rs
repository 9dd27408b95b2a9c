//! Faults put into the engine on purpose: tests show that each would be seen. Without the feature
//! `mutants` there are none.

/// A fault of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A file is rolled to before the frames of the one before it are synced (against I3).
    RollUnsynced,
    /// Recovery goes on in the old file, behind what it cut away.
    AppendBehindCut,
    /// Bytes of a former life of a file pass for frames.
    FormerLife,
    /// Of two headers of a file the older one counts.
    OldHeader,
    /// A copy of a batch in flight is answered at once.
    EarlyDuplicate,
    /// A file is reused though a reader holds it (against I5).
    ReuseUnderReader,
    /// No idle frame proves the last one.
    NoIdleFrame,
    /// A checkpoint holds what the log has not synced.
    CheckpointAhead,
    /// What a failed checkpoint would have set free is freed.
    FreeAfterFailure,
    /// A sync that failed for lack of space is tried again (against I4).
    RetryFullSync,
    /// Dead payloads, which may be punched out, are checked.
    CheckPunched,
}

#[cfg(feature = "mutants")]
thread_local! {
    static PRESENT: std::cell::Cell<Option<Mutant>> = const { std::cell::Cell::new(None) };
}

/// Puts a fault into everything that runs on this thread, or takes it out.
#[cfg(feature = "mutants")]
pub fn set(mutant: Option<Mutant>) {
    PRESENT.set(mutant);
}

/// Whether this fault is in.
#[cfg(feature = "mutants")]
#[must_use]
pub fn is(mutant: Mutant) -> bool {
    PRESENT.get() == Some(mutant)
}

/// Whether this fault is in: never.
#[cfg(not(feature = "mutants"))]
#[must_use]
pub const fn is(_mutant: Mutant) -> bool {
    false
}
