//! What the programs' own tools take, as docs/tools.md says it.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a value has to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    String,
    Integer,
    Boolean,
    Object,
    Word(Vec<String>),
    List(Box<Self>),
    Members(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub name: String,
    pub required: bool,
    pub of: Type,
}

/// The members that each tool takes, by dialect and name.
pub type Tools = BTreeMap<(String, String), Type>;

/// Reads the page.
pub fn tools() -> Tools {
    let text = std::fs::read_to_string(super::golden_folder().join("../docs/tools.md")).expect("docs/tools.md is part of the repository");
    let (_, table) = text.split_once("<!-- arguments:start -->").expect("the table begins");
    let (table, _) = table.split_once("<!-- arguments:end -->").expect("the table ends");
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let (dialect, name) = cells.first()?.split_once(" `")?;
        let members = cells.get(1)?.trim_matches('`');
        let mut rest = members;
        let of = Type::Members(parse_members(&mut rest));
        assert!(rest.is_empty(), "{members}: {rest:?} is left");
        Some(((dialect.to_owned(), name.trim_matches('`').to_owned()), of))
    };
    let tools: Tools = table.lines().filter_map(row).collect();
    assert!(tools.len() > 50, "only {} tools", tools.len());
    tools
}

fn parse_members(rest: &mut &str) -> Vec<Member> {
    let mut members = Vec::new();
    loop {
        let (name, after) = rest.split_once(' ').expect("a name, then its type");
        *rest = after;
        members.push(Member {
            name: name.trim_end_matches('!').to_owned(),
            required: name.ends_with('!'),
            of: parse(rest),
        });
        match rest.strip_prefix(", ") {
            Some(after) => *rest = after,
            None => return members,
        }
    }
}

fn parse(rest: &mut &str) -> Type {
    if let Some(after) = rest.strip_prefix('[') {
        *rest = after;
        let of = parse(rest);
        *rest = rest.strip_prefix(']').expect("the end of a list");
        return Type::List(Box::new(of));
    }
    if let Some(after) = rest.strip_prefix('{') {
        *rest = after;
        let members = parse_members(rest);
        *rest = rest.strip_prefix('}').expect("the end of an object");
        return Type::Members(members);
    }
    let end = rest.find([',', ']', '}']).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    match word {
        "string" => Type::String,
        "integer" => Type::Integer,
        "boolean" => Type::Boolean,
        "object" => Type::Object,
        words => Type::Word(words.split('/').map(str::to_owned).collect()),
    }
}

impl Type {
    /// What is wrong with a value, and where.
    pub fn wrong(&self, value: &Value, at: &str) -> Vec<String> {
        let fits = match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_u64() || value.is_i64(),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Word(words) => value.as_str().is_some_and(|word| words.iter().any(|known| known == word)),
            Self::List(of) => {
                let Some(list) = value.as_array() else {
                    return vec![format!("{at} is no list")];
                };
                return list.iter().enumerate().flat_map(|(n, one)| of.wrong(one, &format!("{at}/{n}"))).collect();
            }
            Self::Members(members) => {
                let Some(object) = value.as_object() else {
                    return vec![format!("{at} is no object")];
                };
                let mut wrong: Vec<String> = members
                    .iter()
                    .flat_map(|member| match object.get(&member.name) {
                        Some(value) => member.of.wrong(value, &format!("{at}/{}", member.name)),
                        None if member.required => vec![format!("{at}/{} is missing", member.name)],
                        None => Vec::new(),
                    })
                    .collect();
                let unknown = object.keys().filter(|key| members.iter().all(|member| member.name != **key));
                wrong.extend(unknown.map(|key| format!("{at}/{key} is unknown")));
                return wrong;
            }
        };
        if fits {
            Vec::new()
        } else {
            vec![format!("{at} is {value}, not {self:?}")]
        }
    }
}
