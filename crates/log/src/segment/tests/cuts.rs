use disk::{Disk, Fault, FaultKind, Op, When};

use super::super::*;
use super::fixture::*;
use crate::Error;

/// Cuts the power before and after every operation of a seal.
#[test]
fn after_a_cut_anywhere_there_is_no_footer_or_a_whole_one_and_sealing_again_works() {
    let mut operations = 0;
    let (mut with, mut without) = (0, 0);
    for seed in 0..10 {
        for when in [When::Before, When::After] {
            for step in 1.. {
                let mut fixture = Fixture::new(seed, 256 << 10);
                fixture.frame((0..40).map(|p| raw(p, 0, 3, 900)).collect());
                fixture.frame((0..40).map(|p| raw(p, 3, 1, 900)).collect());
                let sealer = fixture.sealer();
                fixture.disk.cut_at(fixture.disk.op_count() + step, when);
                if run(sealer).is_ok() {
                    operations = operations.max(step);
                    break;
                }
                fixture.disk.crash();
                match Footer::load(&fixture.disk, dir(), ID) {
                    Ok(footer) => {
                        with += 1;
                        assert_eq!(footer.rows.len(), 40);
                    }
                    Err(Error::Disk(error)) if error.is_not_found() => without += 1,
                    Err(error) => panic!("seed {seed} step {step} {when:?}: {error:?}"),
                }
                for name in fixture.disk.list(&dir().join(FOLDER)).unwrap() {
                    let known = FooterFile::from_name(&name);
                    let expected = [FooterFile::Whole(ID), FooterFile::Unfinished(ID)];
                    assert!(
                        known.is_some_and(|known| expected.contains(&known)),
                        "{name}"
                    );
                }
                let segment = fixture.seal();
                fixture.disk.crash();
                let footer = Footer::load(&fixture.disk, dir(), ID).unwrap();
                assert_eq!(&footer.info(), segment.info());
                let segment = fixture.segment(footer.info());
                assert_eq!(verify(&segment, nothing_is_dead()).damage_count, 0);
            }
        }
    }
    assert!(operations >= 10, "{operations} operations were cut");
    assert!(
        with > 0 && without > 0,
        "{with} with and {without} without a footer"
    );
}

#[test]
fn a_failed_write_or_sync_leaves_no_footer_and_the_next_try_works() {
    for (op, kind) in [
        (Op::Write, FaultKind::NoSpace),
        (Op::Write, FaultKind::Io),
        (Op::SyncData, FaultKind::Io),
        (Op::Rename, FaultKind::Io),
    ] {
        let fixture = small();
        fixture.disk.inject(Fault::new(op, kind).on("footer"));
        assert!(run(fixture.sealer()).is_err(), "{op:?}");
        let segment = fixture.seal();
        fixture.disk.crash();
        let footer = Footer::load(&fixture.disk, dir(), ID).unwrap();
        assert_eq!(&footer.info(), segment.info());
    }
}

#[test]
fn a_footer_larger_than_a_step_is_written_in_steps_with_a_sync_each() {
    let mut fixture = Fixture::new(1, 8 << 20);
    fixture.frame((0..20_000).map(|p| raw(p, 0, 1, 10)).collect());
    fixture.disk.record_operations(true);
    let segment = fixture.seal();
    let operations = fixture.disk.operations();
    let footer: Vec<_> = operations
        .iter()
        .filter(|op| op.path.to_str().unwrap().contains("footer"))
        .collect();
    let writes: Vec<_> = footer.iter().filter(|op| op.op == Op::Write).collect();
    let syncs = footer.iter().filter(|op| op.op == Op::SyncData).count();
    assert!(writes.len() > 3, "{} writes", writes.len());
    assert_eq!(writes.len(), syncs);
    let step = types::limits::JOB_STEP_BYTES as u64;
    assert!(
        operations
            .iter()
            .all(|op| op.len <= step || op.op == Op::Allocate)
    );
    assert_eq!(segment.info().rows.len(), 20_000);
    let footer = Footer::load(&fixture.disk, dir(), ID).unwrap();
    assert_eq!(&footer.info(), segment.info());
}
