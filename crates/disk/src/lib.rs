//! The disk trait, the real disk and the simulated disk.
