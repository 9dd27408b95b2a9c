//! An allocator that knows how much each thread holds, and the bound that decoders are held to.
//! What C libraries allocate is not counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// What decoding may hold whatever the bytes.
pub const FIXED_BYTES_MAX: usize = 64 << 10;

/// Runs `work`, which at no time may hold more than [`FIXED_BYTES_MAX`], and `per_byte` more for
/// each of the `len` bytes that it reads.
#[track_caller]
pub fn bounded<T>(len: usize, per_byte: usize, work: impl FnOnce() -> T) -> T {
    within(FIXED_BYTES_MAX + per_byte * len, work)
}

/// Runs `work`, which at no time may hold more than `most` bytes.
#[track_caller]
pub fn within<T>(most: usize, work: impl FnOnce() -> T) -> T {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    let peak = usize::try_from(PEAK.get() - before).unwrap_or(0);
    assert!(
        peak <= most,
        "held {peak} bytes, at most {most} are justified"
    );
    result
}

fn note(bytes: usize, freed: usize) {
    let change = isize::try_from(bytes).unwrap_or(isize::MAX);
    let held = HELD.get().saturating_add(change);
    PEAK.set(PEAK.get().max(held));
    HELD.set(held.saturating_sub(isize::try_from(freed).unwrap_or(isize::MAX)));
}

#[derive(Debug)]
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(
    unsafe_code,
    reason = "an allocator cannot be had otherwise; it passes everything on"
)]
// SAFETY: the system's allocator does all; counting neither allocates nor touches the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are held while the bytes are moved.
        note(size, layout.size());
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
