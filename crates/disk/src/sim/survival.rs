//! What of the unsynced changes survives a power cut.

use types::{Random, SeededRandom};

/// How a cut treats the changes of one file or the names of the disk. Several ways, because
/// choosing every sector alone would hardly ever keep or lose a large write whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum Survival {
    Nothing,
    Everything,
    /// As if they reached the device in order: the one under way is torn, the later ones are lost.
    Prefix(usize),
    /// Each write whole or not at all, in eighths of chance: reordered, not torn.
    Whole(u64),
    /// Each sector of each write alone, in eighths of chance: reordered and torn.
    Sectors(u64),
}

/// What survives of one change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Portion {
    Nothing,
    Everything,
    /// The sectors before this share of it, in 1/256.
    First(u64),
    /// Each sector with this chance, in eighths.
    Some(u64),
}

impl Survival {
    pub(super) fn choose(changes: usize, random: &mut SeededRandom) -> Self {
        let eighths = 1 + 2 * random.below(4);
        match random.below(8) {
            0 => Self::Nothing,
            1 => Self::Everything,
            2 | 3 => Self::Prefix(index_below(changes, random)),
            4 => Self::Whole(eighths),
            _ => Self::Sectors(eighths),
        }
    }

    /// Of how many changes, from the first on, the new file length and the reserved blocks
    /// survive: file systems journal those in order.
    pub(super) fn sizes(self, changes: usize, random: &mut SeededRandom) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Everything => changes,
            Self::Prefix(torn) => torn + one_or_none(random),
            Self::Whole(_) | Self::Sectors(_) => index_below(changes + 1, random),
        }
    }

    /// What survives of the change with this index.
    pub(super) fn portion(self, index: usize, random: &mut SeededRandom) -> Portion {
        match self {
            Self::Nothing => Portion::Nothing,
            Self::Everything => Portion::Everything,
            Self::Prefix(torn) if index < torn => Portion::Everything,
            Self::Prefix(torn) if index > torn => Portion::Nothing,
            Self::Prefix(_) => Portion::torn(random),
            Self::Whole(eighths) if random.chance(eighths, 8) => Portion::Everything,
            Self::Whole(_) => Portion::Nothing,
            Self::Sectors(eighths) => Portion::Some(eighths),
        }
    }
}

impl Portion {
    /// Any part of one write.
    pub(super) fn torn(random: &mut SeededRandom) -> Self {
        if random.chance(1, 2) {
            Self::First(random.below(257))
        } else {
            Self::Some(1 + 2 * random.below(4))
        }
    }

    /// Whether sector `index` of `count` survives.
    pub(super) fn keeps(self, index: u64, count: u64, random: &mut SeededRandom) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::First(share) => index * 256 < count * share,
            Self::Some(eighths) => random.chance(eighths, 8),
        }
    }
}

fn index_below(bound: usize, random: &mut SeededRandom) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap_or(0)
}

fn one_or_none(random: &mut SeededRandom) -> usize {
    usize::from(random.chance(1, 2))
}
