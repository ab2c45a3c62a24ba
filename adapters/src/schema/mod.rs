//! JSON Schemas (2020-12) of the lines of every dialect, made from types that say what each line has.
//!
//! Every line is an object. What kind of line it is stands in it (`Line::when`); a kind has the members of its type, and others are
//! allowed, as are kinds that nobody has described: programs grow. A member that a type has without `Option` must be there.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

pub(crate) mod parts;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::codec::{Dialect, Format};
use crate::vendor::Vendor;

/// The lines of one side.
#[derive(Debug)]
pub struct Side {
    /// The kinds of line that are described.
    pub(crate) lines: &'static [Line],
    /// Members of which every line has one.
    pub(crate) tags: &'static [&'static str],
}

/// What a vendor says of its lines.
#[derive(Debug)]
pub struct Sides {
    /// What its agents write.
    pub(crate) agent: Side,
    /// What its hosts write, where they speak in lines of JSON.
    pub(crate) host: Option<Side>,
}

/// One kind of line, or of a part of one.
#[derive(Debug)]
pub(crate) struct Line {
    /// Members that say that it is this kind, and what they say; `""` stands for any value.
    pub(crate) when: &'static [(&'static str, &'static str)],
    /// Its schema.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

pub(crate) const fn line<T: JsonSchema>(when: &'static [(&'static str, &'static str)]) -> Line {
    Line {
        when,
        schema: SchemaGenerator::subschema_for::<T>,
    }
}

/// The formats that have schemas of their own: each dialect's first one, whose schema is that of all its streams, and its stores.
pub fn formats() -> impl Iterator<Item = Format> {
    Dialect::readable().flat_map(|dialect| {
        let stores = dialect.vendor().stores.iter().map(move |store| Format { dialect, mode: store.mode });
        std::iter::once(Format::from(dialect)).chain(stores)
    })
}

/// The schema of every line that the agents of a dialect write, or, with `input`, their hosts. `None` if there is none: not all hosts
/// speak in lines of JSON, and nobody speaks to a store.
pub fn schema(format: Format, input: bool) -> Option<Value> {
    let Vendor { schema: sides, stores, .. } = format.dialect.vendor();
    let store = stores.iter().find(|store| store.mode == format.mode);
    let Side { lines, tags } = match (store, input) {
        (Some(store), false) => store.schema,
        (Some(_), true) => return None,
        (None, false) => &sides.agent,
        (None, true) => sides.host.as_ref()?,
    };
    let name = if store.is_some() { format } else { format.dialect.into() };
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    let who = if input { "hosts write to" } else { "is written by" };
    whole.insert("title".to_owned(), json!(format!("A line that {who} {name}")));
    whole.insert("description".to_owned(), json!(format.dialect.about()));
    let tagged: Vec<Value> = tags.iter().map(|member| json!({"required": [member]})).collect();
    whole.extend(choice(&mut generator, lines));
    match tagged.as_slice() {
        [one] => whole.insert("required".to_owned(), one["required"].clone()),
        several => whole.insert("anyOf".to_owned(), json!(several)),
    };
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        whole.insert("$defs".to_owned(), Value::Object(definitions.into_iter().collect()));
    }
    Some(Value::Object(whole))
}

/// An object of one of these kinds, or of another one.
fn choice(generator: &mut SchemaGenerator, lines: &[Line]) -> Map<String, Value> {
    let kinds: Vec<Value> = lines
        .iter()
        .map(|line| {
            let names: Vec<&str> = line.when.iter().map(|(name, _)| *name).collect();
            let said = line.when.iter().filter(|(_, value)| !value.is_empty());
            let said: Map<String, Value> = said.map(|(name, value)| ((*name).to_owned(), json!({"const": value}))).collect();
            let then = (line.schema)(generator);
            json!({"if": {"properties": said, "required": names}, "then": then})
        })
        .collect();
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    let tags = lines.iter().flat_map(|line| line.when).filter(|(_, value)| !value.is_empty());
    let tags: Map<String, Value> = tags.map(|(name, _)| ((*name).to_owned(), json!({"type": "string"}))).collect();
    object.insert("properties".to_owned(), Value::Object(tags));
    object.insert("allOf".to_owned(), Value::Array(kinds));
    object
}

/// The same as the schema of a member.
pub(crate) fn one_of(generator: &mut SchemaGenerator, lines: &[Line]) -> Schema {
    Schema::from(choice(generator, lines))
}
