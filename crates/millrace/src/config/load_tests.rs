use super::*;

fn with_file(text: &str) -> (tempfile::TempDir, Inputs) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("millrace.conf");
    std::io::Write::write_all(
        &mut std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .expect("a file"),
        text.as_bytes(),
    )
    .expect("written");
    (
        dir,
        Inputs {
            file: Some(path),
            ..Inputs::default()
        },
    )
}

fn faults(inputs: &Inputs) -> Vec<String> {
    load(inputs)
        .expect_err("faults")
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_flag_wins_over_environment_over_file_over_default() {
    let (_dir, mut inputs) = with_file("num.partitions = 2\nnode.id = 2\nmax.connections = 2\n");
    let value = |inputs: &Inputs, name: &str| load(inputs).expect("valid").get(name).text.clone();
    assert_eq!(value(&Inputs::default(), "num.partitions"), "1");
    assert_eq!(value(&inputs, "num.partitions"), "2");
    inputs.environment = vec![
        ("MILLRACE_NUM__PARTITIONS".into(), " 3 ".into()),
        ("MILLRACE_NODE__ID".into(), "3".into()),
        ("UNRELATED".into(), "x".into()),
    ];
    assert_eq!(value(&inputs, "num.partitions"), "3");
    inputs.set = vec!["num.partitions=4".into(), "num.partitions = 5".into()];
    assert_eq!(value(&inputs, "num.partitions"), "5");
    assert_eq!(value(&inputs, "node.id"), "3");
    assert_eq!(value(&inputs, "max.connections"), "2");
}

#[test]
fn every_setting_tells_its_source() {
    let (dir, mut inputs) = with_file("# first\nnum.partitions = 2\n");
    inputs.environment = vec![("MILLRACE_NODE__ID".into(), "3".into())];
    inputs.set = vec!["max.connections=9".into()];
    inputs.data_dir = Some("/data".into());
    let settings = load(&inputs).expect("valid");
    let source = |name: &str| settings.get(name).source.to_string();
    assert_eq!(
        source("num.partitions"),
        format!("{}/millrace.conf:2", dir.path().display())
    );
    assert_eq!(source("node.id"), "MILLRACE_NODE__ID");
    assert_eq!(source("max.connections"), "--set");
    assert_eq!(source("log.dirs"), "--data-dir");
    assert_eq!(source("log.level"), "default");
}

#[test]
fn the_data_directory_is_log_dirs() {
    let dirs = |inputs: &Inputs| load(inputs).expect("valid").get("log.dirs").text.clone();
    let (_dir, mut inputs) = with_file("log.dirs = /a\n");
    assert_eq!(dirs(&inputs), "/a");
    inputs.data_dir = Some("/c,d".into());
    assert_eq!(dirs(&inputs), "/c,d");
    inputs.file = None;
    assert_eq!(dirs(&inputs), "/c,d");
    inputs.data_dir = None;
    assert_eq!(dirs(&inputs), "./millrace-data");
}

#[test]
fn a_list_of_data_directories_is_a_fault_with_value_range_and_source() {
    let (dir, inputs) = with_file("log.dirs = /a, /b\n");
    let file = format!("{}/millrace.conf", dir.path().display());
    assert_eq!(
        faults(&inputs),
        [format!(
            "{file}:1: log.dirs = /a, /b is not allowed; \
             allowed: one directory; this version takes no list"
        )]
    );
}

#[test]
fn a_variable_that_is_not_text_is_a_fault_that_names_it() {
    use std::os::unix::ffi::OsStringExt;
    let not_text = || OsString::from_vec(b"/data/\xff".to_vec());
    let inputs = Inputs {
        environment: vec![
            ("MILLRACE_LOG__DIRS".into(), not_text()),
            ("OTHERS".into(), not_text()),
        ],
        ..Inputs::default()
    };
    assert_eq!(faults(&inputs), ["MILLRACE_LOG__DIRS: is not UTF-8 text"]);
}

#[test]
fn all_faults_are_collected_with_setting_value_range_and_source() {
    let (dir, mut inputs) = with_file("num.partitions = 0\nkafka.lisen = off\nrubbish\n");
    inputs.environment = vec![("MILLRACE_LOG__DURABILITY".into(), "maybe".into())];
    inputs.set = vec!["listeners=PLAINTEXT://:9092".into(), "node.id".into()];
    let file = format!("{}/millrace.conf", dir.path().display());
    assert_eq!(
        faults(&inputs),
        [
            format!("{file}:3: `rubbish` is not of the form key = value"),
            format!("{file}:1: num.partitions = 0 is not allowed; allowed: 1 to 100000"),
            format!("{file}:2: unknown setting kafka.lisen; did you mean kafka.listen?"),
            "MILLRACE_LOG__DURABILITY: log.durability = maybe is not allowed; allowed: sync, async"
                .into(),
            "--set: listeners has no meaning here: set kafka.listen (host:port entries) instead"
                .into(),
            "--set: `node.id` is not of the form key = value".into(),
        ]
    );
}

#[test]
fn what_stock_files_always_carry_is_accepted_with_one_warning_each() {
    let (_dir, inputs) = with_file("process.roles = broker,controller\nnum.io.threads = 8\n");
    let settings = load(&inputs).expect("valid");
    assert_eq!(settings.warnings.len(), 2);
    assert!(
        settings.warnings[0].contains("process.roles is ignored"),
        "{:?}",
        settings.warnings
    );
}

#[test]
fn a_missing_file_is_a_fault() {
    let inputs = Inputs {
        file: Some("/nonexistent/m.conf".into()),
        ..Inputs::default()
    };
    let said = faults(&inputs);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("cannot read /nonexistent/m.conf: "),
        "{said:?}"
    );
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let set = vec![
        "log.file.bytes=268435456".into(),
        "log.unsealed.bytes=268435456".into(),
    ];
    assert_eq!(
        faults(&Inputs {
            set,
            ..Inputs::default()
        }),
        [
            "--set: log.unsealed.bytes = 268435456: must be at least 2 times log.file.bytes, \
             which makes 536870912",
        ]
    );
}
