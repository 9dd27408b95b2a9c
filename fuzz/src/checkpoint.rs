//! What must hold for any bytes that are taken for a checkpoint.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use disk::{Disk, SimDisk};
use log::checkpoint::{
    Checkpoint, CheckpointHeader, CheckpointWriter, Row, checkpoint_path, parse_checkpoint,
};

use crate::allocated::bounded;
use crate::fields::{put, put_crc, u32_at, u64_at};

const DIR: &str = "/data";
/// Places of fields (docs/formats/checkpoint.md): in the header of the file,
const HEADER_CRC: (usize, usize) = (4, 8);
const HEADER_BYTES_AT: usize = 12;
const NUMBER_AT: usize = 16;
/// and in the header of a block.
const CONTENT_BYTES_AT: usize = 4;
const ROWS_AT: usize = 8;
const CRC_AT: usize = 12;
const BLOCK_HEADER_BYTES: usize = 16;
const BLOCK_END: u8 = 2;

/// A row of four bytes takes a hundred in memory, and twice that while their vector grows.
const ALLOCATED_PER_BYTE_MAX: usize = 64;

/// Reads a checkpoint. The first byte says whether its CRCs and its end are put right before.
/// True when there was one.
pub fn check(input: &Bytes) -> bool {
    let Some((choice, bytes)) = input.split_first() else {
        return false;
    };
    let mut bytes = bytes.to_vec();
    if choice % 2 == 1 {
        put_right(&mut bytes);
    }
    let parsed = bounded(bytes.len(), ALLOCATED_PER_BYTE_MAX, || {
        parse_checkpoint(&bytes)
    });
    let number = u64_at(&bytes, NUMBER_AT).unwrap_or(0);
    let loaded = load(&bytes, number);
    let Ok((header, rows)) = parsed else {
        assert!(loaded.is_none(), "two readers of the same bytes agree");
        return false;
    };
    assert_eq!(loaded.as_ref(), Some(&(header.clone(), rows.clone())));
    let encoded = header.encode();
    assert_eq!(
        CheckpointHeader::parse(&encoded),
        Ok((header.clone(), encoded.len()))
    );
    let written = write(&header, &rows);
    assert_eq!(parse_checkpoint(&written), Ok((header, rows)));
    true
}

/// What the reader of files makes of the bytes.
fn load(bytes: &[u8], number: u64) -> Option<(CheckpointHeader, Vec<Row>)> {
    let disk = SimDisk::new(1);
    let dir = Path::new(DIR);
    let path = checkpoint_path(dir, number);
    disk.create_dir(path.parent()?).ok()?;
    disk.place(&path, bytes);
    let checkpoint = Checkpoint::load(&disk, dir, number).ok()?;
    let rows: Result<Vec<_>, _> = checkpoint.rows().collect();
    let rows = rows.expect("a checkpoint that was read once");
    Some((checkpoint.header, rows))
}

fn write(header: &CheckpointHeader, rows: &[Row]) -> Vec<u8> {
    let sim = SimDisk::new(1);
    let dir = Path::new(DIR);
    let disk: Arc<dyn Disk> = Arc::new(sim.clone());
    let mut writer = CheckpointWriter::begin(disk, dir, header, None).expect("a disk");
    for row in rows {
        writer.add(row);
    }
    writer.finish().expect("a disk");
    sim.contents(&checkpoint_path(dir, header.number))
        .expect("a finished checkpoint")
}

/// Puts right what depends on other bytes: the header's CRC, those of the blocks, and what the end
/// block says of all before it.
fn put_right(bytes: &mut [u8]) {
    let header_bytes = u32_at(bytes, HEADER_BYTES_AT).unwrap_or(0) as usize;
    put_crc(bytes, HEADER_CRC.0, HEADER_CRC.1, header_bytes);
    let Some(header) = bytes.get(..header_bytes) else {
        return;
    };
    let mut crcs = record::crc32c(header);
    let number = u64_at(bytes, NUMBER_AT).unwrap_or(0);
    let (mut at, mut rows) = (header_bytes, 0u64);
    for ordinal in 0u64.. {
        let content_at = at + BLOCK_HEADER_BYTES;
        let Some(len) = u32_at(bytes, at + CONTENT_BYTES_AT) else {
            return;
        };
        if bytes.get(at) == Some(&BLOCK_END) {
            for (index, number) in [ordinal, rows, at as u64].iter().enumerate() {
                put(bytes, content_at + 8 * index, &number.to_le_bytes());
            }
            put(bytes, content_at + 24, &crcs.to_le_bytes());
        }
        let end = content_at.saturating_add(len as usize);
        let (Some(head), Some(content)) = (bytes.get(at..at + CRC_AT), bytes.get(content_at..end))
        else {
            return;
        };
        let place = [number.to_le_bytes(), ordinal.to_le_bytes()].concat();
        let crc = [head, content]
            .iter()
            .fold(record::crc32c(&place), |crc, part| {
                record::crc32c_append(crc, part)
            });
        put(bytes, at + CRC_AT, &crc.to_le_bytes());
        crcs = record::crc32c_append(crcs, &crc.to_le_bytes());
        rows = rows.saturating_add(u32_at(bytes, at + ROWS_AT).unwrap_or(0).into());
        at = end;
    }
}
