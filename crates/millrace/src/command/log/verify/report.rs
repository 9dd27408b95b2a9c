//! What was looked at and what is wrong.

use std::fmt::Display;

use log::segment::VerifyReport;
use log::{Error, error_chain};
use serde::Serialize;
use types::SegmentId;

use crate::output;

/// The report, as programs get it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) checkpoints_count: u64,
    pub(super) log_files_count: u64,
    pub(super) frames_count: u64,
    pub(super) entries_count: u64,
    pub(super) segments_count: u64,
    /// All damage; of a segment with very much of it `damages` has the first.
    damages_count: u64,
    damages: Vec<String>,
}

impl Report {
    /// How many places are damaged.
    pub(super) const fn damages_count(&self) -> u64 {
        self.damages_count
    }

    /// The places that are listed.
    #[cfg(test)]
    pub(super) fn damages(&self) -> &[String] {
        &self.damages
    }

    /// Notes a damaged place.
    pub(super) fn damage(&mut self, damage: impl Display) {
        self.damages_count += 1;
        self.damages.push(damage.to_string());
    }

    /// Notes what keeps a part of the directory from being read.
    ///
    /// # Errors
    /// The error itself where it says nothing of the directory: what comes next would fail alike.
    pub(super) fn error(&mut self, error: Error) -> anyhow::Result<()> {
        match error {
            Error::Corrupt(corruption) => self.damage(corruption),
            Error::Disk(error) if !error.is_shortage() && !error.is_power_cut() => {
                self.damage(error_chain(&error));
            }
            error => return Err(error.into()),
        }
        Ok(())
    }

    /// Takes what was found in a segment.
    pub(super) fn segment(&mut self, id: SegmentId, found: &VerifyReport) {
        self.frames_count += found.frames;
        self.entries_count += found.good_payloads + found.dead_payloads;
        self.damages_count += found.damage_count;
        let listed = found.damages.iter();
        self.damages
            .extend(listed.map(|damage| format!("segment {id}: {}", damage.corruption)));
    }

    /// Prints it for people.
    pub(super) fn print(&self) -> anyhow::Result<()> {
        let rows = [
            ("checkpoints", self.checkpoints_count),
            ("log files", self.log_files_count),
            ("frames", self.frames_count),
            ("entries", self.entries_count),
            ("segments", self.segments_count),
            ("damaged places", self.damages_count),
        ];
        let rows = rows.map(|(name, count)| [name.to_owned(), count.to_string()]);
        output::table(&["CHECKED", "COUNT"], rows)?;
        for damage in &self.damages {
            output::line(damage)?;
        }
        match self.damages_count - self.damages.len() as u64 {
            0 => Ok(()),
            more => Ok(output::line(format_args!("and {more} more, not listed"))?),
        }
    }
}
