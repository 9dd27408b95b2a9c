//! Processor time of this process, to show when the load generator is what limits a run.

/// Seconds spent in user and system mode, as `/proc/self/stat` counts them in ticks of 10 ms.
pub(crate) fn seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    // The name in parentheses may hold spaces; fields 14 and 15 stand 11 and 12 behind it.
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|t| t.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
}
