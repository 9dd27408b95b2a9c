//! Golden bytes of each format version.

use types::SegmentId;

use super::super::*;
use super::fixture::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Two partitions with batches that no encoder changes.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new(1, 64 << 10);
    fixture.frame(vec![
        raw(3, 10, 1, 70),
        metadata(),
        raw(8, 0, 2, 30),
        raw(3, 11, 4, 20),
    ]);
    fixture.frame(vec![raw(3, 15, 1, 500)]);
    fixture
}

#[test]
fn footer_version_1_stays_what_it_is() {
    let fixture = fixture();
    let info = run(fixture.sealer()).unwrap();
    let bytes = fixture.disk.contents(&fixture.footer_path()).unwrap();
    assert_eq!(hex(&bytes), include_str!("golden/footer_v1.hex").trim());
    assert_eq!(parse_footer(&bytes).unwrap().info(), info);
}

#[test]
fn swap_version_1_stays_what_it_is() {
    let sealed = SwapEntry::Sealed(run(fixture().sealer()).unwrap());
    let dropped = SwapEntry::Dropped(vec![SegmentId(1), SegmentId(300)]);
    assert_eq!(
        hex(&sealed.encode()),
        include_str!("golden/swap_sealed_v1.hex").trim()
    );
    assert_eq!(
        hex(&dropped.encode()),
        include_str!("golden/swap_dropped_v1.hex").trim()
    );
}

#[test]
fn names_tell_what_a_file_is() {
    assert_eq!(
        footer_name(SegmentId(5)),
        "segments/00000000000000000005.footer"
    );
    let of = FooterFile::from_name;
    assert_eq!(
        of("00000000000000000005.footer"),
        Some(FooterFile::Whole(SegmentId(5)))
    );
    assert_eq!(
        of("00000000000000000005.footer.new"),
        Some(FooterFile::Unfinished(SegmentId(5)))
    );
    for name in ["x.footer", "5.checkpoint", ".footer", "footer"] {
        assert_eq!(of(name), None, "{name}");
    }
}
