//! Records as lines.

use std::io::{self, BufWriter, StdoutLock, Write};

use record::Record;
use serde_json::{Map, Value, json};

use super::ConsumeArgs;
use super::encode::base64;

/// Writes records to standard output in the form that was asked for.
pub(super) struct Printer<'a> {
    out: BufWriter<StdoutLock<'static>>,
    topic: &'a str,
    json: bool,
    verbose: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(args: &'a ConsumeArgs) -> Self {
        let out = BufWriter::new(io::stdout().lock());
        Self {
            out,
            topic: &args.topic,
            json: args.json,
            verbose: args.verbose,
        }
    }

    /// Writes one record.
    pub(super) fn record(&mut self, partition: i32, record: &Record<'_>) -> io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut self.out, &to_json(self.topic, partition, record))?;
        } else {
            if self.verbose {
                self.place(partition, record)?;
            }
            self.out.write_all(record.value.unwrap_or_default())?;
        }
        self.out.write_all(b"\n")
    }

    fn place(&mut self, partition: i32, record: &Record<'_>) -> io::Result<()> {
        let time = jiff::Timestamp::from_millisecond(record.timestamp_ms);
        let time = time.map_or_else(|_| record.timestamp_ms.to_string(), |time| time.to_string());
        write!(self.out, "{partition}\t{}\t{time}\t", record.offset)?;
        self.out.write_all(record.key.unwrap_or_default())?;
        self.out.write_all(b"\t")?;
        for (i, header) in record.headers.enumerate() {
            self.out.write_all(if i == 0 { b"" } else { b"," })?;
            self.out.write_all(header.key)?;
            self.out.write_all(b"=")?;
            self.out.write_all(header.value.unwrap_or_default())?;
        }
        self.out.write_all(b"\t")
    }

    /// Makes what was written visible; called when no more is at hand.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()
    }
}

fn to_json(topic: &str, partition: i32, record: &Record<'_>) -> Value {
    let mut object = Map::new();
    object.insert("topic".into(), json!(topic));
    object.insert("partition".into(), json!(partition));
    object.insert("offset".into(), json!(record.offset.0));
    object.insert("timestamp_ms".into(), json!(record.timestamp_ms));
    put(&mut object, "key", record.key);
    put(&mut object, "value", record.value);
    let headers = record.headers.map(|header| {
        let mut object = Map::new();
        put(&mut object, "key", Some(header.key));
        put(&mut object, "value", header.value);
        Value::Object(object)
    });
    object.insert("headers".into(), headers.collect());
    Value::Object(object)
}

/// `name` with the text or null, or `name_base64` where the bytes are no text.
fn put(object: &mut Map<String, Value>, name: &str, bytes: Option<&[u8]>) {
    match bytes.map(std::str::from_utf8) {
        None => object.insert(name.into(), Value::Null),
        Some(Ok(text)) => object.insert(name.into(), json!(text)),
        Some(Err(_)) => {
            let text = base64(bytes.unwrap_or_default());
            object.insert(format!("{name}_base64"), json!(text))
        }
    };
}

#[cfg(test)]
mod tests {
    use record::{BatchBuilder, Codec, Records};

    use super::*;

    #[test]
    fn json_tells_null_empty_text_and_bytes_apart() {
        let mut builder = BatchBuilder::new();
        let headers: [(&[u8], Option<&[u8]>); 3] =
            [(b"h", None), (b"h", Some(b"")), (b"h", Some(b"\xff"))];
        builder
            .append(5, None, Some(b"\xff\xfe"), &headers)
            .expect("a record");
        builder
            .append(6, Some(b""), Some("tëxt".as_bytes()), &[])
            .expect("a record");
        let batch = builder.build(Codec::None).expect("a batch");
        let mut scratch = Vec::new();
        let records = Records::read(&batch, &mut scratch).expect("readable");
        let said: Vec<_> = records
            .map(|r| to_json("t", 3, &r.expect("a record")).to_string())
            .collect();
        let expected = [
            json!({
                "topic": "t", "partition": 3, "offset": 0, "timestamp_ms": 5, "key": null,
                "value_base64": "//4=",
                "headers": [
                    {"key": "h", "value": null},
                    {"key": "h", "value": ""},
                    {"key": "h", "value_base64": "/w=="},
                ],
            }),
            json!({
                "topic": "t", "partition": 3, "offset": 1, "timestamp_ms": 6, "key": "",
                "value": "tëxt", "headers": [],
            }),
        ];
        assert_eq!(said, expected.map(|value| value.to_string()));
    }
}
