//! Settings that the size of the disk bounds.

use log::DataDir;
use types::limits::{BLOCK_BYTES, DISK_LOG_FILES_MIN, DISK_UNSEALED_SHARE, LOG_FILE_BYTES_MIN};

use crate::open::NodeConfig;

/// The settings as they hold on the disk of the data directory; those that are smaller than what was
/// asked for are said. A disk that does not tell its size bounds nothing.
pub(crate) fn fit_to_disk(config: &NodeConfig, dir: &DataDir) -> NodeConfig {
    let total_bytes = match dir.disk.space(&dir.root) {
        Ok(space) => space.total_bytes,
        Err(error) => {
            tracing::warn!(error = %error, "the size of the disk is not known");
            return config.clone();
        }
    };
    let fitting = fit(config, total_bytes);
    let (files, unsealed) = ("log.file.bytes", "log.unsealed.bytes");
    warn_of(files, config.log_file_bytes, fitting.log_file_bytes);
    let bounds = [config, &fitting].map(|config| config.owner.unsealed_bytes_max);
    warn_of(unsealed, bounds[0], bounds[1]);
    fitting
}

fn warn_of(setting: &str, configured: u64, used: u64) {
    if used < configured {
        tracing::warn!(
            setting,
            configured,
            used,
            "the disk is too small for a setting"
        );
    }
}

/// A log file takes at most a 64th of the disk, what is not sealed at most an eighth.
fn fit(config: &NodeConfig, total_bytes: u64) -> NodeConfig {
    let mut fitting = config.clone();
    let most = total_bytes / DISK_LOG_FILES_MIN / BLOCK_BYTES * BLOCK_BYTES;
    let asked = config.log_file_bytes;
    fitting.log_file_bytes = asked.min(most.max(LOG_FILE_BYTES_MIN));
    let owner = &mut fitting.owner;
    if fitting.log_file_bytes < asked {
        // Entries keep their share of a file.
        let share = owner.entry_bytes_max as u128 * u128::from(fitting.log_file_bytes);
        owner.entry_bytes_max = usize::try_from(share / u128::from(asked)).unwrap_or(usize::MAX);
    }
    // One file is written while another one is sealed.
    let least = 2 * fitting.log_file_bytes;
    let most = (total_bytes / DISK_UNSEALED_SHARE).max(least);
    owner.unsealed_bytes_max = owner.unsealed_bytes_max.min(most);
    fitting
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::owner::OwnerConfig;
    use crate::topic_config::BrokerDefaults;

    fn config(log_file_bytes: u64, unsealed_bytes_max: u64) -> NodeConfig {
        NodeConfig {
            root: PathBuf::new(),
            log_file_bytes,
            tail_bytes: 0,
            extents_bytes: 0,
            owner: OwnerConfig {
                defaults: BrokerDefaults::default(),
                retention_check: Duration::ZERO,
                producer_expiration_ms: 0,
                entry_bytes_max: usize::try_from(log_file_bytes / 4).unwrap(),
                unsealed_bytes_max,
                unsealed_batches_max: 1_000_000,
                checkpoint_bytes: 0,
                node_id: 1,
                partitions_default: 1,
            },
        }
    }

    #[test]
    fn files_take_a_64th_of_the_disk_and_unsealed_log_an_eighth() {
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        // Size of the disk, then file and bound as asked for, then as used.
        let table = [
            (1_000 * GIB, (256 * MIB, 2 * GIB), (256 * MIB, 2 * GIB)),
            (16 * GIB, (256 * MIB, 2 * GIB), (256 * MIB, 2 * GIB)),
            (8 * GIB, (256 * MIB, 2 * GIB), (128 * MIB, GIB)),
            (8 * GIB, (64 * MIB, 300 * MIB), (64 * MIB, 300 * MIB)),
            (GIB, (256 * MIB, 2 * GIB), (16 * MIB, 128 * MIB)),
            // Never below what the format takes, nor below two files.
            (MIB, (256 * MIB, 2 * GIB), (64 << 10, 128 << 10)),
            (0, (64 << 10, 128 << 10), (64 << 10, 128 << 10)),
        ];
        for (disk, (file, unsealed), used) in table {
            let fitting = fit(&config(file, unsealed), disk);
            let found = (fitting.log_file_bytes, fitting.owner.unsealed_bytes_max);
            assert_eq!(
                found, used,
                "disk of {disk}, file {file}, unsealed {unsealed}"
            );
            let entry = fitting.owner.entry_bytes_max as u64;
            assert_eq!(entry, fitting.log_file_bytes / 4);
        }
    }

    #[test]
    fn a_file_size_stays_a_whole_number_of_blocks() {
        let fitting = fit(&config(256 << 20, 2 << 30), 64 * ((1 << 20) + 5_000));
        assert_eq!(fitting.log_file_bytes, (1 << 20) + BLOCK_BYTES);
    }
}
