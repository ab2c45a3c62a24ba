//! Lines that differ in one value only, of every kind that may stand there: what a line that was learnt must not be taken for.

use std::collections::{BTreeMap, BTreeSet};

use agentglot_adapters::raw::json::{Raw, Shape};

use super::Chance;

/// A value of a line, and the key that it stands under.
#[derive(Clone, Copy, Debug)]
pub struct Site<'l> {
    pub key: Option<&'l str>,
    pub value: &'l str,
}

/// What stands under each key, in all logs of a dialect.
#[derive(Debug, Default)]
pub struct Dictionary(BTreeMap<String, Vec<String>>);

/// Numbers on each border that a reader may draw.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "7",
    "90",
    "200",
    "0.5",
    "1.0",
    "2e1",
    "-1",
    "-0",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "01",
];

const TEXTS: [&str; 12] = [
    "\"\"",
    "\"x\"",
    "\"5\"",
    "\"null\"",
    "\"a\\n\\\"\\ud83d\"",
    "\"\\u0074ext\"",
    "\"end_turn\"",
    "\"success\"",
    "\"error\"",
    "\"unknown\"",
    "\"[API Error: 400 x]\"",
    "\"bad\\x\"",
];

impl Dictionary {
    /// Learns what a line has.
    pub fn add(&mut self, sites: &[Site<'_>]) {
        for site in sites {
            let Some(key) = site.key else { continue };
            if site.value.len() > 400 {
                continue;
            }
            let known = self.0.entry(key.to_owned()).or_default();
            if known.len() < 24 && !known.iter().any(|value| value == site.value) {
                known.push(site.value.to_owned());
            }
        }
    }

    fn value(&self, key: &str, chance: &mut Chance) -> Option<&str> {
        self.0.get(key).map(|values| chance.pick(values).as_str())
    }

    /// A member that an object of the dialect may have, as it is spelled.
    fn member(&self, chance: &mut Chance) -> String {
        let at = chance.below(self.0.len().max(1));
        let Some((key, values)) = self.0.iter().nth(at) else {
            return "\"new\":1".to_owned();
        };
        format!("\"{key}\":{}", chance.pick(values))
    }
}

/// Nothing that any dialect says stands deeper.
const DEEPEST: usize = 16;

/// Every value of a line.
pub fn sites(line: &str) -> Vec<Site<'_>> {
    fn walk<'l>(key: Option<&'l str>, value: Raw<'l>, depth: usize, into: &mut Vec<Site<'l>>) {
        if depth > DEEPEST {
            return;
        }
        into.push(Site { key, value: value.as_str() });
        match value.shape() {
            Some(Shape::Array) => value.elements().for_each(|element| walk(None, element, depth + 1, into)),
            Some(Shape::Object) => value
                .members()
                .for_each(|(key, member)| walk(Some(key.as_escaped()), member, depth + 1, into)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if Raw::trusted(line).shape() == Some(Shape::Object) && serde_json::from_str::<&serde_json::value::RawValue>(line).is_ok() {
        walk(None, Raw::trusted(line), 0, &mut found);
        found.remove(0);
    }
    found
}

/// The same line again and again, but for one of its values: another one of that type or of another, none, or two.
pub fn siblings(line: &str, count: usize, dictionary: &Dictionary, chance: &mut Chance) -> Vec<String> {
    let all = sites(line);
    if all.is_empty() {
        return vec![line.to_owned(); count];
    }
    // Lists are long, and what stands in them has the same names again and again: each name counts once.
    let keys: BTreeSet<_> = all.iter().map(|site| site.key).collect();
    let key = *chance.pick(&keys.into_iter().collect::<Vec<_>>());
    let named: Vec<_> = all.iter().filter(|site| site.key == key).collect();
    let site = **chance.pick(&named);
    let first = other(site.value, site.key, dictionary, chance);
    (0..count)
        .map(|n| {
            let alike = if n > 0 && chance.below(4) > 0 { first.as_str() } else { site.value };
            match chance.below(12) {
                0 => without(line, site),
                1 => line.to_owned(),
                2 => {
                    let twice = other(alike, site.key, dictionary, chance);
                    with(line, site, &format!("{twice},\"{}\":{}", site.key.unwrap_or("x"), site.value))
                }
                _ if n == 0 => with(line, site, &first),
                _ => with(line, site, &other(alike, site.key, dictionary, chance)),
            }
        })
        .collect()
}

/// Another value, of the same type as a rule.
fn other(value: &str, key: Option<&str>, dictionary: &Dictionary, chance: &mut Chance) -> String {
    if let Some(known) = key.filter(|_| chance.below(4) == 0).and_then(|key| dictionary.value(key, chance)) {
        return known.to_owned();
    }
    let shape = Raw::trusted(value).shape();
    match if chance.below(4) == 0 { None } else { shape } {
        Some(Shape::Number) => (*chance.pick(&NUMBERS)).to_owned(),
        Some(Shape::String) => (*chance.pick(&TEXTS)).to_owned(),
        Some(Shape::Bool) => (*chance.pick(&["true", "false"])).to_owned(),
        Some(Shape::Object) => object(value, dictionary, chance),
        Some(Shape::Array) => match (chance.below(4), Raw::trusted(value).elements().next()) {
            (1, Some(first)) => format!("[{}]", first.as_str()),
            (2, Some(first)) => format!("[{},{}]", first.as_str(), first.as_str()),
            (3, _) => format!("[{}]", chance.pick(&NUMBERS)),
            _ => "[]".to_owned(),
        },
        Some(Shape::Null) | None => {
            let others = ["null", "0", "1.5", "\"\"", "\"x\"", "[]", "{}", "true", "{\"type\":null}", "[{}]"];
            (*chance.pick(&others)).to_owned()
        }
    }
}

/// An object with one member more, less or another.
fn object(value: &str, dictionary: &Dictionary, chance: &mut Chance) -> String {
    let members: Vec<(&str, &str)> = Raw::trusted(value)
        .members()
        .map(|(key, value)| (key.as_escaped(), value.as_str()))
        .collect();
    let at = chance.below(members.len().max(1));
    let mut new: Vec<String> = Vec::new();
    let how = chance.below(6);
    for (n, (key, value)) in members.into_iter().enumerate() {
        new.push(match how {
            0 if n == at => continue,
            1 if n == at => format!("\"{key}\":null"),
            2 | 3 if n == at => format!("\"{key}\":{}", other(value, Some(key), dictionary, chance)),
            _ => format!("\"{key}\":{value}"),
        });
    }
    match how {
        4 => new.clear(),
        5 => new.insert(at.min(new.len()), dictionary.member(chance)),
        _ => {}
    }
    format!("{{{}}}", new.join(","))
}

fn place(line: &str, part: &str) -> usize {
    part.as_ptr() as usize - line.as_ptr() as usize
}

/// The line with another value in this place.
fn with(line: &str, site: Site<'_>, new: &str) -> String {
    let at = place(line, site.value);
    format!("{}{new}{}", &line[..at], &line[at + site.value.len()..])
}

/// The line without this member or element.
fn without(line: &str, site: Site<'_>) -> String {
    let from = site.key.map_or_else(|| place(line, site.value), |key| place(line, key) - 1);
    let (before, behind) = (&line[..from], &line[place(line, site.value) + site.value.len()..]);
    match (behind.trim_start().strip_prefix(','), before.trim_end().strip_suffix(',')) {
        (Some(behind), _) => format!("{before}{behind}"),
        (None, Some(before)) => format!("{before}{behind}"),
        (None, None) => format!("{before}{behind}"),
    }
}
