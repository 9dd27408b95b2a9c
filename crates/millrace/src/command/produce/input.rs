//! Where the records come from.

use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::{Context, bail};
use tokio::sync::mpsc;

use super::ProduceArgs;

/// Lines read ahead of what is sent.
const LINES_AHEAD: usize = 10_000;
/// Longest line or file that is taken: what the largest batch of a broker could hold.
const VALUE_BYTES_MAX: u64 = 128 << 20;

/// One record to produce.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) key: Option<Vec<u8>>,
    pub(super) value: Vec<u8>,
}

/// Records, one after another.
#[derive(Debug)]
pub(super) struct Input {
    messages: mpsc::Receiver<anyhow::Result<Message>>,
}

impl Input {
    /// One record from the flags, or the lines of standard input.
    pub(super) fn open(args: &ProduceArgs) -> anyhow::Result<Self> {
        let key = args.key.clone().map(String::into_bytes);
        let value = match (&args.value, &args.file) {
            (Some(text), _) => Some(text.clone().into_bytes()),
            (None, Some(path)) => Some(read_file(path)?),
            (None, None) => None,
        };
        if let Some(value) = value {
            return Ok(Self::single(Message { key, value }));
        }
        let separator = args.key_separator.clone();
        Self::lines(move |sender| {
            let input = &mut io::stdin().lock();
            read_lines(input, key.as_deref(), separator.as_deref(), &sender);
        })
    }

    /// What a thread of its own reads: nothing else can wait for standard input without blocking.
    #[expect(clippy::disallowed_methods, reason = "the shell of a command")]
    fn lines(
        read: impl FnOnce(mpsc::Sender<anyhow::Result<Message>>) + Send + 'static,
    ) -> anyhow::Result<Self> {
        let (sender, messages) = mpsc::channel(LINES_AHEAD);
        std::thread::Builder::new()
            .name("stdin".into())
            .spawn(move || read(sender))
            .context("cannot start a thread")?;
        Ok(Self { messages })
    }

    fn single(message: Message) -> Self {
        let (sender, messages) = mpsc::channel(1);
        let sent = sender.try_send(Ok(message));
        debug_assert!(
            sent.is_ok(),
            "the channel is empty and its receiver is alive"
        );
        Self { messages }
    }

    /// The next record, waiting for it; none at the end.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<Message>> {
        self.messages.recv().await.transpose()
    }

    /// The next record if there is one already.
    pub(super) fn try_next(&mut self) -> anyhow::Result<Option<Message>> {
        self.messages.try_recv().ok().transpose()
    }
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = || format!("--file {}", path.display());
    let file = std::fs::OpenOptions::new()
        .read(true)
        .open(path)
        .with_context(name)?;
    let mut bytes = Vec::new();
    file.take(VALUE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(name)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > VALUE_BYTES_MAX) {
        bail!(
            "{} is larger than a record may be: {VALUE_BYTES_MAX} bytes",
            name()
        );
    }
    Ok(bytes)
}

fn read_lines(
    input: &mut impl BufRead,
    key: Option<&[u8]>,
    separator: Option<&str>,
    to: &mpsc::Sender<anyhow::Result<Message>>,
) {
    for number in 1_u64.. {
        let mut line = Vec::new();
        let read = input
            .by_ref()
            .take(VALUE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        let message = match read {
            Ok(0) => return,
            Ok(_) => split_line(line, key, separator)
                .with_context(|| format!("line {number} of standard input")),
            Err(error) => Err(error).context("cannot read standard input"),
        };
        let failed = message.is_err();
        if to.blocking_send(message).is_err() || failed {
            return;
        }
    }
}

/// Takes the line end off, and the key when there is a separator.
fn split_line(
    mut line: Vec<u8>,
    key: Option<&[u8]>,
    separator: Option<&str>,
) -> anyhow::Result<Message> {
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    let Some(separator) = separator.map(str::as_bytes) else {
        return Ok(Message {
            key: key.map(<[u8]>::to_vec),
            value: line,
        });
    };
    let at = line
        .windows(separator.len())
        .position(|window| window == separator);
    let at = at.context("does not contain the --key-separator")?;
    let value = line.split_off(at).split_off(separator.len());
    Ok(Message {
        key: Some(line),
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(key: Option<&str>, value: &str) -> Message {
        Message {
            key: key.map(|k| k.as_bytes().to_vec()),
            value: value.as_bytes().to_vec(),
        }
    }

    #[test]
    fn a_line_is_a_value_or_a_key_and_a_value() {
        let split = |line: &str, key: Option<&str>, separator| {
            split_line(line.as_bytes().to_vec(), key.map(str::as_bytes), separator)
        };
        assert_eq!(
            split("v\r\n", None, None).expect("split"),
            message(None, "v")
        );
        assert_eq!(
            split("v", Some("k"), None).expect("split"),
            message(Some("k"), "v")
        );
        assert_eq!(
            split("k::v:w\n", None, Some("::")).expect("split"),
            message(Some("k"), "v:w")
        );
        assert_eq!(
            split("::\n", None, Some("::")).expect("split"),
            message(Some(""), "")
        );
        assert!(split("kv\n", None, Some("::")).is_err());
    }

    #[test]
    fn the_first_bad_line_ends_the_input_and_is_named() {
        let (sender, mut messages) = mpsc::channel(10);
        read_lines(&mut &b"a=1\nb\nc=3\n"[..], None, Some("="), &sender);
        assert_eq!(
            messages.try_recv().expect("one").expect("good"),
            message(Some("a"), "1")
        );
        let error = messages.try_recv().expect("two").expect_err("bad");
        assert!(format!("{error:#}").contains("line 2"), "{error:#}");
        assert!(messages.try_recv().is_err());
    }
}
