//! docs/columns.md describes the columns that there are. `BLESS=1 cargo test -p agentglot-columns --test page` writes it anew.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use agentglot_columns::{Column, Table};
use arrow_schema::{DataType, TimeUnit};

#[test]
fn the_page_describes_the_columns() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/columns.md");
    let old = fs::read_to_string(&path).expect("the page is part of the repository");
    let (begin, end) = ("<!-- columns -->\n", "<!-- /columns -->");
    let (head, rest) = old.split_once(begin).expect("the page has a place for the columns");
    let (_, tail) = rest.split_once(end).expect("the place has an end");
    let mut tables = String::new();
    for table in Table::ALL {
        // A `String` takes everything.
        let _ = writeln!(tables, "### `{table}`\n\n| column | type | means |\n|---|---|---|");
        rows(&table.columns(), "", &mut tables);
        tables.push('\n');
    }
    let new = format!("{head}{begin}\n{tables}{end}{tail}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, new).expect("the page can be written");
    } else {
        assert!(new == old, "docs/columns.md is out of date; BLESS=1 writes it anew");
    }
}

fn rows(columns: &[Column], above: &str, page: &mut String) {
    for column in columns {
        let name = format!("{above}{}", column.name);
        let _ = writeln!(page, "| `{name}` | {} | {} |", type_of(&column.data_type), column.about);
        let inside = if matches!(column.data_type, DataType::List(_)) { "[]." } else { "." };
        rows(&column.members, &format!("{name}{inside}"), page);
    }
}

fn type_of(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 => "text".to_owned(),
        DataType::Int64 => "int64".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Timestamp(TimeUnit::Millisecond, Some(zone)) => format!("timestamp (ms, {zone})"),
        DataType::Struct(_) => "struct".to_owned(),
        DataType::List(item) => format!("list of {}", type_of(item.data_type())),
        other => panic!("{other} has no name on the page"),
    }
}
