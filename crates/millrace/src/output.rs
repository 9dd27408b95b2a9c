//! Output for people and for programs.

use std::io::{self, IsTerminal, Write};

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use serde::Serialize;

/// Writes one line to standard output.
pub(crate) fn line(text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// Writes a value as JSON, indented, to standard output.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// Writes a table to standard output, wrapped to the width of a terminal.
pub(crate) fn table<R: IntoIterator<Item = String>>(
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> io::Result<()> {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(header.iter().copied());
    if io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout()) {
            table.set_width(size.ws_col);
        }
    }
    for row in rows {
        table.add_row(row);
    }
    // Names in the first column are for copying: they are not cut.
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    let text = table.to_string();
    let mut out = io::stdout().lock();
    text.lines()
        .try_for_each(|l| writeln!(out, "{}", l.trim_end()))
}

/// A count of bytes as people read it.
pub(crate) fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let step = (u64::BITS - 1).saturating_sub(count.leading_zeros()) / 10;
    let Some(unit) = units.get(step as usize).filter(|_| step > 0) else {
        return format!("{count} B");
    };
    // Tenths by whole numbers: 1.0 to 1023.9 of each unit.
    let tenths = u128::from(count) * 10 / (1 << (step * 10));
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// A time span as people read it.
pub(crate) fn duration(span_ms: u64) -> String {
    let (seconds, rest_ms) = (span_ms / 1000, span_ms % 1000);
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}.{rest_ms:03} s"),
        (0, 0, _) => format!("{minutes} min {seconds} s"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// A count for a rate: counts stay far below 2^53, and rates are printed with few digits.
pub(crate) fn float(count: u64) -> f64 {
    let high = u32::try_from(count >> 32).unwrap_or(u32::MAX);
    let low = u32::try_from(count & 0xffff_ffff).unwrap_or(u32::MAX);
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts_are_rounded_down_to_one_digit() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1023.9 KiB");
        assert_eq!(bytes(u64::MAX), "15.9 EiB");
    }

    #[test]
    fn spans_show_their_two_largest_units() {
        assert_eq!(duration(1_250), "1.250 s");
        assert_eq!(duration(61_000), "1 min 1 s");
        assert_eq!(duration(3_661_000), "1 h 1 min");
        assert_eq!(duration(90_000_000), "1 d 1 h");
    }
}
