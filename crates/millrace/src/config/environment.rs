//! Environment variables: `MILLRACE_` + key in upper case, `__` for a dot.

use super::table::KEYS;

/// Start of every variable that is ours.
pub(crate) const PREFIX: &str = "MILLRACE_";

/// The variable of a key.
pub(crate) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

/// The key that a variable names: a known one, or how it would be spelt.
///
/// Variables are matched against the table rather than taken apart, so that keys with capitals
/// or with underscores of their own have one as well.
pub(crate) fn key(name: &str) -> Option<String> {
    let rest = name.strip_prefix(PREFIX)?;
    if is_service_link(rest) {
        return None;
    }
    let known = KEYS.iter().find(|key| variable(key.name) == name);
    Some(known.map_or_else(
        || rest.replace("__", ".").to_ascii_lowercase(),
        |k| k.name.to_owned(),
    ))
}

/// Kubernetes puts `MILLRACE_PORT`, `MILLRACE_PORT_9092_TCP_ADDR`, `MILLRACE_SERVICE_HOST` and the
/// like into every container beside a service that is called `millrace`; nobody set them.
fn is_service_link(rest: &str) -> bool {
    let is_link = |name: &str, word: &str| {
        name.strip_prefix(word)
            .is_some_and(|tail| tail.is_empty() || tail.starts_with('_'))
    };
    !rest.contains("__")
        && (is_link(rest, "PORT") || is_link(rest, "SERVICE_PORT") || rest == "SERVICE_HOST")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_becomes_two_underscores_and_back() {
        assert_eq!(variable("num.partitions"), "MILLRACE_NUM__PARTITIONS");
        assert_eq!(
            key("MILLRACE_NUM__PARTITIONS").as_deref(),
            Some("num.partitions")
        );
        assert_eq!(
            variable("vm_memory.relative"),
            "MILLRACE_VM_MEMORY__RELATIVE"
        );
        assert_eq!(
            key("MILLRACE_NUM__PARTITION").as_deref(),
            Some("num.partition")
        );
        assert_eq!(key("PATH"), None);
    }

    #[test]
    fn service_links_of_kubernetes_are_not_settings() {
        for name in [
            "MILLRACE_PORT",
            "MILLRACE_PORT_9092_TCP_ADDR",
            "MILLRACE_SERVICE_HOST",
            "MILLRACE_SERVICE_PORT",
            "MILLRACE_SERVICE_PORT_KAFKA",
        ] {
            assert_eq!(key(name), None, "{name}");
        }
        assert_eq!(key("MILLRACE_PORTS").as_deref(), Some("ports"));
    }
}
