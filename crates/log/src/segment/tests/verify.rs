use disk::{Disk, Fault, FaultKind, Op};
use types::PartitionId;

use super::super::*;
use super::fixture::*;

fn hurt(report: &VerifyReport) -> Vec<(Option<u32>, &'static str)> {
    report
        .damages
        .iter()
        .map(|d| (d.partition.map(|p| p.0), d.corruption.what))
        .collect()
}

#[test]
fn a_good_segment_verifies() {
    let fixture = small();
    let report = verify(&fixture.seal(), nothing_is_dead());
    assert_eq!(hurt(&report), []);
    assert_eq!(
        (report.frames, report.good_payloads, report.good_blocks),
        (2, 5, 1)
    );
}

#[test]
fn a_flipped_bit_of_a_payload_is_found_with_its_partition() {
    let fixture = small();
    let segment = fixture.seal();
    let position = fixture.of(8)[0].position + 100;
    assert!(fixture.disk.corrupt(&fixture.file.path, position, 0x10));
    let report = verify(&segment, nothing_is_dead());
    assert_eq!(hurt(&report), [(Some(8), "payload"), (None, "block CRC")]);
}

#[test]
fn a_flipped_bit_of_a_header_is_found_and_what_follows_is_still_looked_at() {
    let fixture = small();
    let segment = fixture.seal();
    assert!(fixture.disk.corrupt(&fixture.file.path, 8192 + 40, 1));
    let report = verify(&segment, nothing_is_dead());
    assert_eq!(hurt(&report), [(None, "frame header"), (None, "block CRC")]);
    assert_eq!(report.frames, 1);
}

#[test]
fn a_flipped_bit_of_padding_is_found() {
    let fixture = small();
    let segment = fixture.seal();
    assert!(fixture.disk.corrupt(&fixture.file.path, fixture.end - 1, 1));
    let report = verify(&segment, nothing_is_dead());
    assert_eq!(hurt(&report), [(None, "block CRC")]);
}

#[test]
fn a_damaged_footer_is_found_and_the_data_is_still_looked_at() {
    let fixture = small();
    let segment = fixture.seal();
    assert!(fixture.disk.corrupt(&fixture.footer_path(), 400, 1));
    let report = verify(&segment, nothing_is_dead());
    assert_eq!(report.damage_count, 1, "{report:?}");
    assert_eq!(report.good_payloads, 5);
}

#[test]
fn a_row_that_says_something_else_than_the_footer_is_found() {
    let fixture = small();
    let mut info = run(fixture.sealer()).unwrap();
    info.rows[1].stored_bytes += 1;
    let report = verify(&fixture.segment(info), nothing_is_dead());
    assert_eq!(hurt(&report), [(Some(8), "directory row of the footer")]);
}

#[test]
fn a_directory_that_lost_rows_is_no_damage() {
    let fixture = small();
    let mut info = run(fixture.sealer()).unwrap();
    info.rows.remove(0);
    let segment = fixture.segment(info);
    assert_eq!(hurt(&verify(&segment, nothing_is_dead())), []);
    assert!(segment.extents(PartitionId(3)).unwrap().is_empty());
}

#[test]
fn a_data_file_that_was_cut_is_found() {
    let fixture = small();
    let segment = fixture.seal();
    fixture.file.file.set_len(fixture.end - 4096).unwrap();
    let report = verify(&segment, nothing_is_dead());
    assert!(
        hurt(&report).contains(&(None, "length of the file")),
        "{report:?}"
    );
}

#[test]
fn a_missing_footer_is_damage_and_the_data_is_still_looked_at() {
    let fixture = small();
    let segment = fixture.seal();
    fixture.disk.remove(&fixture.footer_path()).unwrap();
    let position = fixture.of(8)[0].position + 100;
    assert!(fixture.disk.corrupt(&fixture.file.path, position, 0x10));
    let report = verify(&segment, nothing_is_dead());
    assert_eq!(
        hurt(&report),
        [(None, "footer of a segment"), (Some(8), "payload")]
    );
    assert_eq!(report.good_payloads, 4);
}

#[test]
fn a_block_that_cannot_be_read_is_damage_and_the_rest_is_still_looked_at() {
    let fixture = small();
    let segment = fixture.seal();
    let unreadable = Fault::new(Op::Read, FaultKind::Io).on(".log").times(2);
    fixture.disk.inject(unreadable);
    let report = verify(&segment, nothing_is_dead());
    assert_eq!(
        hurt(&report),
        [
            (None, "frame header"),
            (None, "data file of a segment"),
            (None, "block CRC")
        ]
    );
    assert_eq!(report.frames, 1);
}
