//! Log files as a stop or a cut leaves them, in the pieces that the target lays out.

use bytes::Bytes;
use log::file::{FileHeader, FileState, Predecessor};
use log::frame::FrameBuilder;
use log::{Entry, Payload};
use record::Codec;
use types::{FileEpoch, FileSequence, FrameNumber, LogIndex};

use super::log_files::records;

/// The first bytes of the header that are not all zeros, and those of a frame's.
const HEADER_BYTES: usize = 136;

/// Files under construction, as pieces of them.
struct Layout {
    pieces: Vec<u8>,
    file: u8,
    block: u8,
    next_frame: u64,
    next_index: u64,
}

impl Layout {
    fn piece(&mut self, block: u8, bytes: &[u8]) {
        let len = u16::try_from(bytes.len()).unwrap();
        self.pieces.extend([self.file, block]);
        self.pieces.extend(len.to_le_bytes());
        self.pieces.extend(bytes);
    }

    fn epoch(file: u8) -> FileEpoch {
        FileEpoch(0x1122_3344_5566_7700 + u64::from(file))
    }

    /// Ends the present file and begins the next one.
    fn roll(&mut self) {
        let (old, end) = (self.file, u64::from(self.block) * 4_096);
        self.file += 1;
        self.header(Some((old, end)));
    }

    fn header(&mut self, before: Option<(u8, u64)>) {
        let predecessor = before.map(|(file, end)| Predecessor {
            sequence: FileSequence(u64::from(file) + 1),
            epoch: Self::epoch(file),
            end,
        });
        let header = FileHeader {
            state: FileState::Live,
            sequence: FileSequence(u64::from(self.file) + 1),
            epoch: Self::epoch(self.file),
            generation: u64::from(self.file) + 1,
            predecessor,
            first_frame: FrameNumber(self.next_frame),
            file_bytes: 16 * 4_096,
            directory: *b"0123456789abcdef",
        };
        let bytes = header.encode();
        self.piece(0, &bytes[..HEADER_BYTES]);
        self.piece(1, &bytes[..HEADER_BYTES]);
        self.block = 2;
    }

    /// A frame that knows of so many synced ones.
    fn frame(&mut self, entries: u32, synced: u64) {
        let mut builder = FrameBuilder::default();
        for entry in 0..entries {
            let base = i64::try_from(self.next_index).unwrap();
            let (mut header, body) = records(entry % 2, base, Codec::None, &[base]);
            header.index = LogIndex(self.next_index);
            self.next_index += 1;
            builder.push(Entry {
                header,
                payload: Payload::from_body(body),
            });
        }
        let (sequence, epoch) = (FileSequence(1), Self::epoch(self.file));
        let position = u64::from(self.block) * 4_096;
        let number = FrameNumber(self.next_frame);
        let frame = builder.build(sequence, epoch, position, number, FrameNumber(synced));
        let bytes = &frame.bytes;
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        self.piece(self.block, &bytes[..used]);
        self.next_frame += 1;
        self.block += u8::try_from(frame.frame_bytes / 4_096).unwrap();
    }
}

fn layout(make: impl FnOnce(&mut Layout)) -> Vec<u8> {
    let mut layout = Layout {
        pieces: Vec::new(),
        file: 0,
        block: 2,
        next_frame: 1,
        next_index: 1,
    };
    layout.header(None);
    make(&mut layout);
    layout.pieces
}

/// Names, how many frames are known to be synced, and the pieces.
pub(crate) fn directories() -> Vec<(&'static str, u8, Bytes)> {
    let of = |name, proven, make: fn(&mut Layout)| (name, proven, layout(make).into());
    vec![
        of("empty", 0, |_| {}),
        of("proven", 0, |l| {
            (1..5).for_each(|n| l.frame(u32::try_from(n).unwrap(), n - 1));
            l.frame(0, 4);
        }),
        of("unproven", 1, |l| {
            l.frame(2, 0);
            l.frame(30, 1);
            l.frame(1, 1);
        }),
        of("rolled", 0, |l| {
            l.frame(3, 0);
            l.roll();
            l.frame(2, 1);
            l.roll();
            l.frame(1, 2);
            l.frame(0, 3);
        }),
        of("torn", 0, |l| {
            l.frame(1, 0);
            l.frame(2, 1);
            // The last byte of the last payload.
            *l.pieces.last_mut().unwrap() ^= 1;
        }),
        of("damaged", 3, |l| {
            l.frame(1, 0);
            l.frame(1, 1);
            l.next_frame += 1;
            l.frame(1, 3);
        }),
    ]
}
