//! What clients believe the leader's epoch to be (KIP-320).

use types::LeaderEpoch;

use crate::wire::ErrorCode;

/// Compares a client's epoch with the leader's; -1 is not checked.
pub(super) fn check_leader_epoch(claimed: i32, current: LeaderEpoch) -> Result<(), ErrorCode> {
    if claimed < 0 || claimed == current.0 {
        Ok(())
    } else if claimed < current.0 {
        Err(ErrorCode::FENCED_LEADER_EPOCH)
    } else {
        Err(ErrorCode::UNKNOWN_LEADER_EPOCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_epochs_are_fenced_and_newer_ones_unknown() {
        let current = LeaderEpoch(3);
        assert_eq!(check_leader_epoch(-1, current), Ok(()));
        assert_eq!(check_leader_epoch(3, current), Ok(()));
        assert_eq!(check_leader_epoch(2, current), Err(ErrorCode(74)));
        assert_eq!(check_leader_epoch(4, current), Err(ErrorCode(75)));
    }
}
