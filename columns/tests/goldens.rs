//! The tables of all golden logs: what they hold is what the log and its turns say, and a table of events gives back what the log would have
//! given.

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use agentglot_adapters::convert::{Converter, Options};
use agentglot_adapters::{Dialect, Format, Source, turns};
use agentglot_columns::{Builder, Container, EventLines, Logs, RecordBatch, Table, TableReader, Writer};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, StringArray};

/// A golden log: its name, its format, and whether it is damaged on purpose.
struct Golden {
    name: String,
    format: Format,
    hostile: bool,
    bytes: Vec<u8>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden")
}

fn goldens() -> Vec<Golden> {
    let manifest = fs::read_to_string(folder().join("MANIFEST.toml")).expect("the manifest is part of the repository");
    let value = |entry: &str, key: &str| {
        let line = entry.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.unwrap_or_default().trim_matches('"').to_owned()
    };
    let entries = manifest.split("[[file]]\n").skip(1).filter(|entry| value(entry, "side") != "model");
    let goldens: Vec<Golden> = entries
        .map(|entry| {
            let name = value(entry, "path");
            Golden {
                format: value(entry, "dialect").parse().unwrap_or_else(|error| panic!("{name}: {error}")),
                hostile: value(entry, "hostile") == "true",
                bytes: fs::read(folder().join(&name)).unwrap_or_else(|error| panic!("{name}: {error}")),
                name,
            }
        })
        .collect();
    assert!(goldens.len() > 200, "only {} goldens", goldens.len());
    goldens
}

fn convert(from: Format, to: Format, log: &[u8], keep: bool) -> Vec<u8> {
    let mut options = Options::new(from, to);
    options.keep_spelling = keep;
    let mut converter = Converter::new(options);
    let mut out = Vec::new();
    converter.feed(log, &mut out);
    converter.finish(&mut out);
    out
}

/// The batches of a table, small ones so that there are several.
fn batches(log: &Golden, table: Table) -> Vec<RecordBatch> {
    let logs = [(log.name.clone(), log.bytes.as_slice())];
    let logs = Logs::new(logs, Builder::new(&[table]).with_rows(7).with_json(true)).from(log.format);
    logs.map(|(_, batch)| batch).collect()
}

fn file(batches: &[RecordBatch], table: Table, container: Container) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), container, table).expect("a `Vec` takes everything");
    for batch in batches {
        writer.write(batch).expect("a `Vec` takes everything");
    }
    writer.finish().expect("a `Vec` takes everything")
}

fn read_back(file: Vec<u8>, container: Container) -> Result<Vec<u8>, String> {
    let mut lines = match container {
        Container::Parquet => EventLines::parquet(bytes::Bytes::from(file)),
        Container::Arrow => EventLines::arrow(Cursor::new(file)),
    }
    .map_err(|error| error.to_string())?;
    let mut read = Vec::new();
    lines.read_to_end(&mut read).map_err(|error| error.to_string())?;
    Ok(read)
}

/// The text of a column in all rows.
fn texts(batches: &[RecordBatch], column: &str) -> Vec<Option<String>> {
    let arrays = batches
        .iter()
        .map(|batch| batch.column_by_name(column).unwrap_or_else(|| panic!("{column}")).as_string::<i32>());
    arrays
        .flat_map(|array: &StringArray| array.iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>())
        .collect()
}

fn numbers(batches: &[RecordBatch], column: &str) -> Vec<Option<i64>> {
    let arrays = batches
        .iter()
        .map(|batch| batch.column_by_name(column).unwrap_or_else(|| panic!("{column}")));
    arrays
        .flat_map(|array| array.as_primitive::<Int64Type>().iter().collect::<Vec<_>>())
        .collect()
}

/// Some sources count what was thought beside what was written.
#[test]
fn what_was_thought_is_among_what_was_written() {
    for golden in goldens()
        .iter()
        .filter(|golden| golden.name.starts_with("gemini/chat_") && !golden.hostile)
    {
        let turns = turns(golden.bytes.as_slice(), golden.format).map(|turn| turn.expect("it is not damaged"));
        let wanted: Vec<Option<i64>> = turns.map(|turn| i64::try_from(turn.usage.as_ref()?.written_tokens()?).ok()).collect();
        let found: Vec<Option<i64>> = batches(golden, Table::Turns)
            .iter()
            .flat_map(|batch| {
                let usage = batch.column_by_name("usage").expect("turns have it").as_struct().clone();
                let output = usage.column_by_name("output").expect("a usage has it").as_primitive::<Int64Type>();
                output.iter().collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(found, wanted, "{}", golden.name);
    }
}

#[test]
fn a_table_of_events_gives_back_what_the_log_would_have_given() {
    let targets: Vec<Format> = Format::all()
        .filter(|&format| format.is_writable() && format != Dialect::CANONICAL.into())
        .collect();
    assert!(targets.len() > 15, "{targets:?}");
    let events: Format = Dialect::CANONICAL.into();
    for log in goldens() {
        let batches = batches(&log, Table::Events);
        let stored = convert(log.format, events, &log.bytes, true);
        for container in Container::ALL {
            let read = read_back(file(&batches, Table::Events, container), container).unwrap_or_else(|error| panic!("{}: {error}", log.name));
            assert!(read == stored, "{} by way of {container} is another log of events", log.name);
        }
        for &to in &targets {
            // Another format of the same dialect: stored events do not say of themselves whether they were a document.
            if to.dialect == log.format.dialect && to != log.format {
                continue;
            }
            // An array of sessions is read, and a session a line is written.
            if to == log.format && log.bytes.starts_with(b"[") {
                continue;
            }
            let (straight, back) = (convert(log.format, to, &log.bytes, false), convert(events, to, &stored, false));
            assert!(
                straight == back,
                "{} to {to}:\n{}\n---\n{}",
                log.name,
                String::from_utf8_lossy(&straight),
                String::from_utf8_lossy(&back)
            );
        }
    }
}

#[test]
fn turns_calls_and_messages_are_those_of_the_log() {
    for log in goldens() {
        let read: Vec<_> = turns(log.bytes.as_slice(), Source::Is(log.format)).collect();
        let turns: Vec<_> = read.into_iter().filter_map(Result::ok).collect();
        let rows = batches(&log, Table::Turns);
        let is_turn: Vec<bool> = texts(&rows, "damage").iter().map(Option::is_none).collect();
        let of_turns = |column: &str| -> Vec<Option<String>> {
            let texts = texts(&rows, column).into_iter().zip(&is_turn);
            texts.filter_map(|(text, is_turn)| is_turn.then_some(text)).collect()
        };
        let wanted: Vec<_> = turns.iter().map(|turn| turn.session.clone()).collect();
        assert_eq!(of_turns("session"), wanted, "{}", log.name);
        let wanted: Vec<_> = turns.iter().map(|turn| Some(turn.outcome.as_ref()?.kind.as_str().to_owned())).collect();
        assert_eq!(of_turns("outcome"), wanted, "{}", log.name);
        let wanted: Vec<_> = turns.iter().map(|turn| Some(turn.text()).filter(|text| !text.is_empty())).collect();
        assert_eq!(of_turns("text"), wanted, "{}", log.name);

        let calls: Vec<_> = turns
            .iter()
            .flat_map(|turn| turn.calls().into_iter().cloned().collect::<Vec<_>>())
            .collect();
        let rows = batches(&log, Table::ToolCalls);
        let mut found: Vec<_> = texts(&rows, "tool")
            .into_iter()
            .zip(texts(&rows, "status"))
            .zip(texts(&rows, "result"))
            .collect();
        let damaged = texts(&rows, "damage");
        found.retain({
            let mut damaged = damaged.iter();
            move |_| damaged.next().is_some_and(Option::is_none)
        });
        let wanted: Vec<_> = calls
            .iter()
            .map(|call| {
                let result = call.result.as_ref();
                let name = Some(call.name.clone()).filter(|name| !name.is_empty());
                (
                    (name, result.map(|result| result.status.as_str().to_owned())),
                    result.map(|result| result.content.text()),
                )
            })
            .collect();
        assert_eq!(found, wanted, "{}", log.name);

        let rows = batches(&log, Table::Messages);
        let roles = texts(&rows, "role");
        let count = |role: &str| roles.iter().filter(|found| found.as_deref() == Some(role)).count();
        let main: usize = turns.iter().map(|turn| turn.thread.rounds.len()).sum();
        assert!(count("assistant") >= main, "{}: {} replies of {main}", log.name, count("assistant"));
        let prompts: usize = turns.iter().map(|turn| turn.thread.prompts.len()).sum();
        assert!(count("user") >= prompts, "{}", log.name);
    }
}

/// The line that a row names is the line that says it.
#[test]
fn rows_name_the_lines_of_their_origin() {
    let mut seen = 0;
    for log in goldens().into_iter().filter(|log| log.format.mode.layout.is_lines() && !log.hostile) {
        let lines: Vec<&[u8]> = log.bytes.split(|byte| *byte == b'\n').collect();
        let line_of = |line: i64| String::from_utf8_lossy(lines[usize::try_from(line).unwrap() - 1]).into_owned();
        let rows = batches(&log, Table::ToolCalls);
        let ids = texts(&rows, "id").into_iter().zip(numbers(&rows, "result_line"));
        for (id, line) in ids.filter_map(|(id, line)| id.zip(line)) {
            // Ids that a dialect does not have are made up; those that are said stand in the line.
            if String::from_utf8_lossy(&log.bytes).contains(&format!("\"{id}\"")) {
                assert!(line_of(line).contains(&id), "{}:{line}: {id}", log.name);
                seen += 1;
            }
        }
        let rows = batches(&log, Table::Events);
        let ids = texts(&rows, "id").into_iter().zip(numbers(&rows, "line"));
        for (id, line) in ids.filter_map(|(id, line)| id.zip(line)) {
            assert!(line_of(line).contains(&id), "{}:{line}: {id}", log.name);
            seen += 1;
        }
    }
    assert!(seen > 500, "only {seen} rows were looked at");
}

#[test]
fn what_is_not_known_is_null() {
    let log = r#"{"type":"assistant","session_id":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/a.rs","old_string":"x","new_string":"y\nz"}}]}}
{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","total_cost_usd":0.5,"duration_ms":12.6}
{"type":"assistant","session_id":"s","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"Hi"}]}}
{"type":"assistant","session_id":
{"type":"result","subtype":"success","is_error":false,"result":"Hi","session_id":"s","total_cost_usd":0.75}
"#;
    let golden = Golden {
        name: "x.jsonl".to_owned(),
        format: Dialect::Claude.into(),
        hostile: false,
        bytes: log.as_bytes().to_vec(),
    };
    let rows = batches(&golden, Table::Turns);
    let costs: Vec<Option<f64>> = rows[0].column_by_name("cost_usd").unwrap().as_primitive::<Float64Type>().iter().collect();
    assert_eq!(costs, [Some(0.5), None, Some(0.25)], "the source says the cost of the session so far");
    assert_eq!(numbers(&rows, "duration_ms"), [Some(13), None, None]);
    assert_eq!(numbers(&rows, "turn"), [Some(1), None, Some(2)]);
    assert_eq!(numbers(&rows, "line"), [Some(1), Some(4), Some(3)]);
    assert_eq!(numbers(&rows, "last_line"), [Some(2), None, Some(5)]);
    assert_eq!(rows[0].column_by_name("usage").unwrap().null_count(), 3);
    assert!(
        texts(&rows, "damage")[1]
            .as_ref()
            .is_some_and(|damage| damage.starts_with(char::is_numeric))
    );
    let rows = batches(&golden, Table::ToolCalls);
    assert_eq!(texts(&rows, "changes")[0].as_deref(), Some("/a.rs"));
    assert_eq!(numbers(&rows, "lines_added")[0], Some(2));
    assert_eq!((&texts(&rows, "status")[0], numbers(&rows, "result_line")[0]), (&None, None));
}

#[test]
fn each_reply_and_call_can_be_had_as_json() {
    let log = goldens()
        .into_iter()
        .find(|log| log.name == "claude/cli_edit.out.jsonl")
        .expect("it is a golden");
    for table in [Table::Messages, Table::ToolCalls, Table::Turns] {
        let rows = texts(&batches(&log, table), "json");
        assert!(!rows.is_empty());
        for json in rows {
            let json = json.unwrap_or_else(|| panic!("{table} without JSON"));
            assert!(
                serde_json::from_str::<serde_json::Value>(&json).is_ok_and(|json| json.is_object()),
                "{json}"
            );
        }
        let logs = [(log.name.clone(), log.bytes.as_slice())];
        let without: Vec<_> = Logs::new(logs, Builder::new(&[table])).map(|(_, batch)| batch).collect();
        assert!(texts(&without, "json").iter().all(Option::is_none), "{table}");
    }
}

/// Stopped in the middle, or changed in one place: an error, or the rows that are sound; never a panic.
#[test]
fn damaged_files_are_told() {
    let log = goldens()
        .into_iter()
        .find(|log| log.name == "claude/cli_edit.out.jsonl")
        .expect("it is a golden");
    for container in Container::ALL {
        let whole = file(&batches(&log, Table::Events), Table::Events, container);
        assert_eq!(Container::of(&whole), Some(container));
        for end in [0, 3, 8, whole.len() / 2, whole.len() - 5] {
            let why = read_back(whole[..end].to_vec(), container).expect_err("it is cut off");
            assert!(why.contains("damaged or cut off"), "{container} of {end} bytes: {why}");
        }
        let mut seed = 7_u64;
        for _ in 0..400 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut broken = whole.clone();
            let at = (seed >> 33) as usize % broken.len();
            broken[at] ^= 1 << (seed >> 61);
            let read = std::panic::catch_unwind(|| read_back(broken, container));
            assert!(read.is_ok(), "{container}: a panic with byte {at} changed");
        }
    }
}

#[test]
fn other_tables_and_versions_are_refused() {
    let log = goldens()
        .into_iter()
        .find(|log| log.name == "claude/cli_edit.out.jsonl")
        .expect("it is a golden");
    for container in Container::ALL {
        let turns = file(&batches(&log, Table::Turns), Table::Turns, container);
        let why = read_back(turns, container).expect_err("turns are no events");
        assert!(why.contains("the table turns"), "{why}");
        for (about, wanted) in [(Some("0"), "of version 0"), (Some("2"), "of version 2"), (None, "")] {
            let batches = batches(&log, Table::Events);
            let schema = batches[0].schema();
            let mut metadata = schema.metadata().clone();
            match about {
                Some(version) => metadata.insert("agentglot.columns".to_owned(), version.to_owned()),
                None => {
                    metadata.clear();
                    None
                }
            };
            let schema = std::sync::Arc::new(arrow_schema::Schema::new_with_metadata(schema.fields().clone(), metadata));
            let written = rewritten(&batches, &schema, container);
            match read_back(written, container) {
                Ok(_) => assert!(about.is_none(), "{container}: version {about:?} was read"),
                Err(why) => assert!(about.is_some() && why.contains(wanted), "{container}: {why}"),
            }
        }
    }
}

/// A file as another program writes it.
fn rewritten(batches: &[RecordBatch], schema: &agentglot_columns::SchemaRef, container: Container) -> Vec<u8> {
    let batches = batches
        .iter()
        .map(|batch| RecordBatch::try_new(schema.clone(), batch.columns().to_vec()).unwrap());
    match container {
        Container::Parquet => {
            let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), schema.clone(), None).unwrap();
            batches.for_each(|batch| writer.write(&batch).unwrap());
            writer.into_inner().unwrap()
        }
        Container::Arrow => {
            let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), schema).unwrap();
            batches.for_each(|batch| writer.write(&batch).unwrap());
            writer.into_inner().unwrap()
        }
    }
}

#[test]
fn batches_have_the_rows_that_are_wanted() {
    let log = goldens()
        .into_iter()
        .find(|log| log.name == "claude/cli_edit_partial.out.jsonl")
        .expect("it is a golden");
    let batches = batches(&log, Table::Events);
    assert!(batches.len() > 2);
    let (last, full) = batches.split_last().unwrap();
    assert!(full.iter().all(|batch| batch.num_rows() == 7) && last.num_rows() <= 7);
    assert_eq!(
        batches[0].schema().metadata()["agentglot.columns"],
        agentglot_columns::VERSION.to_string()
    );
    let seq: Vec<i64> = numbers(&batches, "seq").into_iter().flatten().collect();
    assert_eq!(seq, (1..=seq.len() as i64).collect::<Vec<_>>());
}

/// What another language sees through Arrow's interface for streams is what there is.
#[test]
fn a_reader_hands_its_batches_over_without_a_copy() {
    use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
    let logs: Vec<(String, Cursor<Vec<u8>>)> = goldens()
        .into_iter()
        .filter(|log| log.name.starts_with("claude/cli_"))
        .map(|log| (log.name, Cursor::new(log.bytes)))
        .collect();
    let names = logs.len();
    assert!(names > 20);
    for table in Table::ALL {
        let straight: Vec<RecordBatch> = Logs::new(logs.clone(), Builder::new(&[table])).map(|(_, batch)| batch).collect();
        let reader = TableReader::new(table, logs.clone(), Source::Auto, false).expect("there is room for a thread");
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        let taken = RecordBatchStreamReader::try_new(stream).expect("the stream is sound");
        let taken: Vec<RecordBatch> = taken.map(|batch| batch.expect("no batch fails")).collect();
        assert_eq!(taken, straight, "{table}");
        assert_eq!(taken[0].schema(), table.schema());
    }
    // Who takes no more lets the thread go.
    drop(TableReader::new(Table::Events, logs, Source::Auto, false).expect("there is room for a thread"));
}

/// A reader that fails in the middle, and a log of nothing that is known: rows that say so, beside what the other logs say.
#[test]
fn logs_that_cannot_be_read_are_rows() {
    struct Fails(usize);
    impl Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let log = b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Hi\",\"session_id\":\"s\"}\n";
            self.0 += 1;
            match self.0 {
                1 => (&log[..]).read(buffer),
                _ => Err(std::io::Error::other("the disk is gone")),
            }
        }
    }
    let sound = goldens().swap_remove(0).bytes;
    let logs: Vec<(String, Box<dyn Read>)> = vec![
        ("failing".to_owned(), Box::new(Fails(0))),
        ("strange".to_owned(), Box::new(&b"[1,2]\nwhat is this\n"[..])),
        ("empty".to_owned(), Box::new(&b""[..])),
        ("sound".to_owned(), Box::new(Cursor::new(sound))),
    ];
    let rows: Vec<_> = Logs::new(logs, Builder::new(&[Table::Turns])).map(|(_, batch)| batch).collect();
    let (files, damage) = (texts(&rows, "file"), texts(&rows, "damage"));
    let told: Vec<_> = files
        .iter()
        .zip(&damage)
        .filter_map(|(file, damage)| Some((file.as_deref()?, damage.as_deref()?)))
        .collect();
    assert!(told.contains(&("failing", "reading failed: the disk is gone")), "{told:?}");
    assert!(told.iter().any(|(file, _)| *file == "strange"), "{told:?}");
    assert!(
        files
            .iter()
            .zip(&damage)
            .any(|(file, damage)| file.as_deref() == Some("sound") && damage.is_none()),
        "{files:?} {damage:?}"
    );
    assert!(!files.iter().any(|file| file.as_deref() == Some("empty")));
}
