//! Bytes of a file, kept in 4 KiB pages that exist only where something was written or reserved.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Blocks of the simulated device: what is taken and given back.
pub(super) const PAGE: u64 = 4096;
const PAGE_BYTES: usize = 4096;

/// Pages are shared between copies of a disk until one of them writes.
#[derive(Clone, Debug)]
enum Page {
    /// Taken from the device and never written: reads as zeros.
    Reserved,
    Data(Arc<[u8; PAGE_BYTES]>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    pages: BTreeMap<u64, Page>,
}

/// A length in memory. No range here is longer than a buffer that exists.
pub(super) fn size(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// The pages that a range of bytes touches.
fn touched(range: &Range<u64>) -> Range<u64> {
    if range.is_empty() {
        0..0
    } else {
        range.start / PAGE..range.end.div_ceil(PAGE)
    }
}

/// The pages wholly inside a range of bytes.
fn inside(range: &Range<u64>) -> Range<u64> {
    let (start, end) = (range.start.div_ceil(PAGE), range.end / PAGE);
    start..end.max(start)
}

impl Pages {
    /// Pages taken from the device.
    pub(super) fn count(&self) -> u64 {
        self.pages.len() as u64
    }

    /// Pages that must be taken before the whole range can be written.
    pub(super) fn missing(&self, range: &Range<u64>) -> u64 {
        let pages = touched(range);
        let there = self.pages.range(pages.clone()).count() as u64;
        pages.end - pages.start - there
    }

    /// Holes read as zeros.
    pub(super) fn read(&self, position: u64, buf: &mut [u8]) {
        let mut done = 0;
        while done < buf.len() {
            let at = position + done as u64;
            let start = size(at % PAGE);
            let take = (buf.len() - done).min(PAGE_BYTES - start);
            let target = &mut buf[done..done + take];
            match self.pages.get(&(at / PAGE)) {
                Some(Page::Data(bytes)) => target.copy_from_slice(&bytes[start..start + take]),
                _ => target.fill(0),
            }
            done += take;
        }
    }

    pub(super) fn write(&mut self, position: u64, data: &[u8]) {
        let mut done = 0;
        while done < data.len() {
            let at = position + done as u64;
            let start = size(at % PAGE);
            let take = (data.len() - done).min(PAGE_BYTES - start);
            self.page(at / PAGE)[start..start + take].copy_from_slice(&data[done..done + take]);
            done += take;
        }
    }

    pub(super) fn reserve(&mut self, range: &Range<u64>) {
        for page in touched(range) {
            self.pages.entry(page).or_insert(Page::Reserved);
        }
    }

    /// Zeros a range; pages wholly inside it are given back.
    pub(super) fn punch(&mut self, range: &Range<u64>) {
        let freed = inside(range);
        let gone: Vec<u64> = self
            .pages
            .range(freed.clone())
            .map(|(page, _)| *page)
            .collect();
        for page in gone {
            self.pages.remove(&page);
        }
        if freed.is_empty() {
            self.zero(range);
        } else {
            self.zero(&(range.start..freed.start * PAGE));
            self.zero(&(freed.end * PAGE..range.end));
        }
    }

    /// Forgets everything from `len` on.
    pub(super) fn truncate(&mut self, len: u64) {
        drop(self.pages.split_off(&len.div_ceil(PAGE)));
        self.zero(&(len..len.next_multiple_of(PAGE)));
    }

    fn zero(&mut self, range: &Range<u64>) {
        for page in touched(range) {
            if let Some(Page::Data(bytes)) = self.pages.get_mut(&page) {
                let start = size(range.start.saturating_sub(page * PAGE));
                let end = size((range.end - page * PAGE).min(PAGE));
                Arc::make_mut(bytes)[start..end].fill(0);
            }
        }
    }

    fn page(&mut self, page: u64) -> &mut [u8; PAGE_BYTES] {
        let page = self.pages.entry(page).or_insert(Page::Reserved);
        if matches!(page, Page::Reserved) {
            *page = Page::Data(Arc::new([0; PAGE_BYTES]));
        }
        match page {
            Page::Data(bytes) => Arc::make_mut(bytes),
            Page::Reserved => unreachable!("filled above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pages: &Pages, range: Range<u64>) -> Vec<u8> {
        let mut buf = vec![9; size(range.end - range.start)];
        pages.read(range.start, &mut buf);
        buf
    }

    #[test]
    fn a_write_across_pages_reads_back_between_zeros() {
        let mut pages = Pages::default();
        pages.write(PAGE - 2, &[1, 2, 3, 4]);
        assert_eq!(read(&pages, PAGE - 3..PAGE + 3), [0, 1, 2, 3, 4, 0]);
        assert_eq!(pages.count(), 2);
        assert_eq!(pages.missing(&(0..4 * PAGE)), 2);
    }

    #[test]
    fn punching_frees_whole_pages_and_zeros_the_edges() {
        let mut pages = Pages::default();
        pages.write(0, &[7; 4 * PAGE_BYTES]);
        pages.punch(&(PAGE - 1..3 * PAGE + 1));
        assert_eq!(pages.count(), 2);
        assert_eq!(read(&pages, PAGE - 2..PAGE + 1), [7, 0, 0]);
        assert_eq!(read(&pages, 3 * PAGE - 1..3 * PAGE + 2), [0, 0, 7]);
        pages.punch(&(10..12));
        assert_eq!(read(&pages, 9..13), [7, 0, 0, 7]);
        assert_eq!(pages.count(), 2);
    }

    #[test]
    fn a_cut_file_holds_nothing_beyond_its_end() {
        let mut pages = Pages::default();
        pages.write(0, &[7; 3 * PAGE_BYTES]);
        pages.truncate(PAGE + 5);
        assert_eq!(pages.count(), 2);
        assert_eq!(read(&pages, PAGE + 4..PAGE + 7), [7, 0, 0]);
        pages.truncate(PAGE);
        assert_eq!(pages.count(), 1);
    }

    #[test]
    fn a_copy_does_not_see_later_writes() {
        let mut pages = Pages::default();
        pages.write(0, &[1]);
        let copy = pages.clone();
        pages.write(0, &[2]);
        assert_eq!(read(&copy, 0..1), [1]);
        assert_eq!(read(&pages, 0..1), [2]);
    }
}
