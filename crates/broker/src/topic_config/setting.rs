//! One row of the table of settings.

use types::limits::CONFIG_VALUE_BYTES_MAX;

use super::error::shortened;
use super::{ConfigError, ConfigWarning, Kind};

/// A setting of topics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What holds where neither topic nor broker says otherwise.
    pub default: &'static str,
    /// The broker's setting that gives the default of all topics; empty if there is none.
    pub broker_key: &'static str,
    /// What follows from it.
    pub effect: Effect,
    /// One line for people.
    pub help: &'static str,
}

/// What follows from a setting. All settings can be changed while the broker runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It does what its help says.
    Honoured,
    /// It can only say what is the case anyway: any other value is refused.
    Fixed {
        /// What may be set, in stored form.
        allowed: &'static [&'static str],
        /// Why nothing else may.
        reason: &'static str,
    },
    /// It is kept, reported and has no effect: tools written for older Kafkas send it without
    /// being asked. Setting it gives a warning; it is not listed unless it is set.
    Ignored {
        /// Why it has no effect.
        reason: &'static str,
    },
}

/// A value that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The setting's name.
    pub name: &'static str,
    /// The value as it is stored.
    pub value: String,
    /// What to tell an operator.
    pub warning: Option<ConfigWarning>,
}

impl Setting {
    /// Checks a value.
    ///
    /// # Errors
    ///
    /// The value is none of the setting's, or nothing would follow from it.
    pub fn accept(&self, text: &str) -> Result<Accepted, ConfigError> {
        self.check_length(text)?;
        let Some(value) = self.kind.normalize(text) else {
            return Err(ConfigError::Value {
                name: self.name,
                value: shortened(text),
                kind: self.kind,
            });
        };
        let warning = self.check_effect(&value)?;
        Ok(Accepted {
            name: self.name,
            value,
            warning,
        })
    }

    /// Refuses what the owner would look at for long.
    pub(crate) fn check_length(&self, text: &str) -> Result<(), ConfigError> {
        let bytes = text.len();
        if bytes > CONFIG_VALUE_BYTES_MAX {
            let name = self.name;
            return Err(ConfigError::TooLong { name, bytes });
        }
        Ok(())
    }

    fn check_effect(&self, value: &str) -> Result<Option<ConfigWarning>, ConfigError> {
        match self.effect {
            Effect::Honoured => Ok(None),
            Effect::Ignored { reason } => Ok(Some(ConfigWarning {
                name: self.name,
                reason,
            })),
            Effect::Fixed { allowed, .. } if allowed.contains(&value) => Ok(None),
            Effect::Fixed { allowed, reason } => Err(ConfigError::Unsupported {
                name: self.name,
                value: shortened(value),
                allowed,
                reason,
            }),
        }
    }

    /// Whether it is reported for topics that do not set it.
    #[must_use]
    pub const fn is_listed(&self) -> bool {
        !matches!(self.effect, Effect::Ignored { .. })
    }
}
