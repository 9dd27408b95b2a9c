//! How the process holds its memory.

/// Asks the kernel for no huge pages. An idle broker then holds half the memory (9 instead of
/// 16 MiB) and a loaded one a quarter less, for no processor time that could be measured: its
/// buffers are short-lived and of all sizes, so a huge page of them is never quite free.
pub(super) fn refuse_huge_pages() {
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(%error, "cannot turn off huge pages");
    }
}
