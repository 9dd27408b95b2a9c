//! An allocator that counts what each thread asks for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that this thread allocates in `work`, freed ones included.
pub(crate) fn allocated_by(work: impl FnOnce()) -> usize {
    let before = ALLOCATED.get();
    work();
    ALLOCATED.get() - before
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
        ALLOCATED.set(ALLOCATED.get() + layout.size());
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + size);
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
