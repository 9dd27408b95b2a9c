//! Numbers at their places in a format: how a target puts checksums right, so that its inputs reach
//! what lies behind them.

/// The `len` bytes at `at`, where the bytes have them.
pub fn slice(bytes: &[u8], at: u64, len: u64) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(usize::try_from(len).ok()?)?)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// The number at `at`.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

/// The number at `at`.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

/// The number at `at`.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

/// Puts a field to `at`, where the bytes reach so far.
pub fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    let end = at.saturating_add(field.len());
    if let Some(place) = bytes.get_mut(at..end) {
        place.copy_from_slice(field);
    }
}

/// Puts the CRC-32C of `[from, end)` to `at`, where the bytes reach so far.
pub fn put_crc(bytes: &mut [u8], at: usize, from: usize, end: usize) {
    if let Some(covered) = bytes.get(from..end) {
        let crc = record::crc32c(covered);
        put(bytes, at, &crc.to_le_bytes());
    }
}
