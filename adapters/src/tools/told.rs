//! What became of each argument of a call that goes over in other words, for the ledger.
//!
//! No table says it a second time: an argument is lost when the call reads the same in the target's words without it and with
//! another value in its place (a text already with another one in its place), and what no argument has any influence on was made up. The call is tried in short, with the
//! beginnings of its texts, and each element of a list as if it were the only one: what is long costs no more than its parts.

use std::fmt::Write;

use bumpalo::Bump;

use super::Translate;
use crate::event::{DetailShape, Fate, ToolCall, ToolKind};
use crate::json::{Cursor, Error, Out, Raw, Shape, Str};
use crate::trace::Kept;

/// Arguments below so many others are not looked at one by one.
const DEPTH: usize = 16;
/// The arguments of a call with more of them than this are not tried one by one.
const MOST: usize = 512;
/// So many bytes of a text are tried.
const SHORT: usize = 64;

impl Translate {
    /// Tells the ledger what became of a call that goes over as `made`. `pieces` is where its arguments came in pieces.
    pub(crate) fn tell(&self, call: &ToolCall<'_>, made: &ToolCall<'_>, pieces: Option<&Kept>, out: &Out) {
        self.tell_but(call, made, &mut |part, note| out.lost(part, pieces, note), out);
    }

    /// The form of results that may say what such calls have no place for: what an edit has replaced.
    pub(crate) fn results_say(&self, call: &ToolCall<'_>) -> Option<DetailShape> {
        let (_, to) = self.ends()?;
        to.form
            .filter(|_| !to.names_old && matches!(call.kind, ToolKind::Edit | ToolKind::MultiEdit))
    }

    /// The same but for what has no place, which `lose` is called with.
    pub(crate) fn tell_but<'c>(&self, call: &ToolCall<'c>, made: &ToolCall<'_>, lose: &mut dyn FnMut(&'c str, &str), out: &Out) {
        if !out.traced() {
            return;
        }
        if call.name == made.name {
            out.used(call.name.as_escaped());
        } else {
            out.renamed(call.name.as_escaped(), "the target's own tool name");
        }
        if call.input == made.input {
            return out.goes_in_words(call.input.as_str());
        }
        let words = |input: &str| {
            let arena = Bump::new();
            let (_, (name, input)) = self.words(call.name, Raw::trusted(input), call.id, &arena)?;
            Some(Made::new(name.as_escaped(), input.as_str()))
        };
        let mut lose = |slice, name: &str| lose(slice, &format!("no place in {}: {name}", self.to.name()));
        if let Some((base, moved)) = tell_arguments(call, &words, &mut lose, out) {
            let is_said = |key: Str<'_>, _: Raw<'_>| moved.iter().any(|moved| key.is(moved));
            self.tell_invented(made, Raw::trusted(&base.input), is_said, out);
        }
    }

    /// Tells the ledger of the arguments of a call in the target's words that the source does not say.
    pub(crate) fn tell_invented(&self, made: &ToolCall<'_>, input: Raw<'_>, is_said: impl Fn(Str<'_>, Raw<'_>) -> bool, out: &Out) {
        let at = self.to.vendor().logs.arguments_at.replace("NAME", made.name.as_escaped());
        for (key, value) in input.members() {
            let says_nothing = matches!(value.as_str(), "false" | "[]" | "{}") || value.string() == Some(made.id);
            if !says_nothing && !is_said(key, value) {
                let pointer = format!("{at}/{}", key.as_escaped());
                out.note(Fate::Invented, &pointer, "the source does not say it; the target's tool needs it");
            }
        }
    }
}

/// Tells the ledger what became of a call's arguments, of which `words` makes the target's. `lose` is called with what has no place, and its
/// name. Returns the call as it was tried, and those of the target's arguments that the source's decide.
pub(crate) fn tell_arguments<'c>(
    call: &ToolCall<'c>,
    words: &dyn Fn(&str) -> Option<Made>,
    lose: &mut dyn FnMut(&'c str, &str),
    out: &Out,
) -> Option<(Made, Vec<String>)> {
    const RENAMED: &str = "the target's own arguments";
    let input = call.input.as_str();
    if has_more_values(call.input, MOST) {
        out.renamed(
            input,
            "the target's own arguments; there are too many to tell which of them have no place",
        );
        return None;
    }
    let root = Part::read(&mut Cursor::new(input), 0);
    let Some((root, base)) = root.ok().and_then(|root| {
        let base = words(&root.text)?;
        Some((root, base))
    }) else {
        // The result says what the call asks for.
        out.renamed(input, RENAMED);
        return None;
    };
    if root.is_leaf() {
        out.used(input);
    }
    let mut trial = Trial {
        words,
        id: call.id,
        fates: Vec::new(),
        moved: Vec::new(),
    };
    trial.judge_parts(&root, &|text| text.unwrap_or("{}").to_owned(), &base, &Place::default());
    let Trial { fates, moved, .. } = trial;
    for (slice, became, name) in fates {
        match became {
            Became::Same => out.goes_in_words(slice),
            Became::Other => out.renamed_in_words(slice, RENAMED),
            Became::Nothing => lose(slice, &name),
        }
    }
    Some((base, moved))
}

/// Whether there are more than so many keys and elements in a value.
fn has_more_values(value: Raw<'_>, most: usize) -> bool {
    // There is a comma behind each but the last, and perhaps in texts.
    let commas = |text: &str| memchr::memchr_iter(b',', text.as_bytes()).take(most).count();
    fn count(value: Raw<'_>, depth: usize, left: &mut usize) -> bool {
        let mut inside = |value: Raw<'_>| {
            *left = left.saturating_sub(1);
            *left > 0 && (depth == 0 || count(value, depth - 1, left))
        };
        match value.shape() {
            Some(Shape::Object) => value.members().all(|(_, member)| inside(member)),
            Some(Shape::Array) => value.elements().all(inside),
            _ => true,
        }
    }
    commas(value.as_str()) == most && !count(value, DEPTH, &mut (most + 1))
}

/// An argument, or a part of one.
#[derive(Debug)]
struct Part<'s> {
    /// As it stands in the source.
    slice: &'s str,
    /// As it is tried.
    text: String,
    inner: Inner<'s>,
}

#[derive(Debug)]
enum Inner<'s> {
    Leaf,
    Object(Vec<(&'s str, Part<'s>)>),
    Array(Vec<Part<'s>>),
}

/// Where a part stands.
#[derive(Clone, Debug, Default)]
struct Place<'s> {
    /// The keys on the way to it; `None` is the only element of a list.
    keys: Vec<Option<&'s str>>,
    /// Its name for people: the pointer within the arguments, without its first slash.
    name: String,
    /// It is tried without its neighbours.
    alone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Became {
    Same,
    Other,
    Nothing,
}

/// A call in the target's words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Made {
    name: String,
    input: String,
}

struct Trial<'t, 's> {
    words: &'t dyn Fn(&str) -> Option<Made>,
    id: Str<'t>,
    fates: Vec<(&'s str, Became, String)>,
    /// The target's arguments that were others, or missing, when one of the source's was.
    moved: Vec<String>,
}

/// The arguments as a whole with a part of them in other words, or without it.
type Whole<'w> = &'w dyn Fn(Option<&str>) -> String;

impl<'s> Trial<'_, 's> {
    fn made(&self, input: &str) -> Option<Made> {
        (self.words)(input)
    }

    fn judge(&mut self, part: &Part<'s>, whole: Whole<'_>, base: &Made, place: &Place<'s>) {
        let is_leaf = part.is_leaf();
        let another = is_leaf.then(|| whole(Some(&other(&part.text))));
        // Without an argument that every call needs there is none: what it has influence on shows in a call with another one.
        let without = whole(None);
        let needed = another
            .as_ref()
            .filter(|another| self.made(&without).is_none() && self.made(another).is_some());
        let nothing = match needed {
            Some(another) => self.is_same(another, base, place),
            None => {
                let gone = self.is_same(&without, base, place);
                // A text that may as well be another one is lost, though its being there may mean something.
                let may_be_lost = gone || is_leaf && part.text.starts_with('"');
                may_be_lost && another.is_none_or(|another| self.is_same(&another, base, place))
            }
        };
        // The call's own id may stand among its arguments too.
        let is_id = !self.id.is_empty() && Raw::trusted(part.slice).string() == Some(self.id);
        let became = if is_id {
            Became::Same
        } else if nothing {
            Became::Nothing
        } else if base.says(&place.keys, &part.text) {
            Became::Same
        } else if is_leaf || base.input.contains(&part.text) {
            Became::Other
        } else {
            return self.judge_parts(part, whole, base, place);
        };
        self.fates.push((part.slice, became, place.name.clone()));
    }

    fn judge_parts(&mut self, part: &Part<'s>, whole: Whole<'_>, base: &Made, place: &Place<'s>) {
        let before = self.fates.len();
        match &part.inner {
            Inner::Leaf => {}
            Inner::Object(members) => {
                for (at, (key, member)) in members.iter().enumerate() {
                    let whole = |text: Option<&str>| whole(Some(&object(members, Some((at, text)))));
                    self.judge(member, &whole, base, &place.below(Some(key), key, place.alone));
                }
            }
            Inner::Array(elements) => {
                for (at, element) in elements.iter().enumerate() {
                    let whole = |text: Option<&str>| whole(Some(&format!("[{}]", text.unwrap_or_default())));
                    let place = place.below(None, &at.to_string(), true);
                    match self.made(&whole(Some(&element.text))) {
                        Some(base) => self.judge(element, &whole, &base, &place),
                        None => self.fates.push((element.slice, Became::Other, place.name)),
                    }
                }
            }
        }
        // What went over as a whole is told as a whole.
        let parts = &self.fates[before..];
        if !place.keys.is_empty() && !parts.is_empty() && parts.iter().all(|(_, became, _)| *became == Became::Other) {
            self.fates.truncate(before);
            self.fates.push((part.slice, Became::Other, place.name.clone()));
        }
    }

    /// Whether these arguments say what `base` does.
    fn is_same(&mut self, input: &str, base: &Made, place: &Place<'_>) -> bool {
        let made = self.made(input);
        if made.as_ref() == Some(base) {
            return true;
        }
        if !place.alone {
            let made = made.map(|made| made.input).unwrap_or_default();
            for (key, value) in Raw::trusted(&base.input).members() {
                let now = Raw::trusted(&made).get(key.as_escaped());
                if now.is_none_or(|now| now.as_str() != value.as_str()) {
                    self.moved.push(key.as_escaped().to_owned());
                }
            }
        }
        false
    }
}

impl Made {
    /// A call of the tool `name`.
    pub(crate) fn new(name: &str, input: &str) -> Self {
        Self {
            name: name.to_owned(),
            input: input.to_owned(),
        }
    }

    /// Whether it says `text` at a place.
    fn says(&self, keys: &[Option<&str>], text: &str) -> bool {
        let mut value = Some(Raw::trusted(&self.input));
        for key in keys {
            value = value.and_then(|value| match key {
                Some(key) => value.members().find(|(name, _)| name.as_escaped() == *key).map(|(_, value)| value),
                None => value.elements().next(),
            });
        }
        value.is_some_and(|value| value.as_str() == text)
    }
}

impl<'s> Place<'s> {
    fn below(&self, key: Option<&'s str>, name: &str, alone: bool) -> Self {
        let slash = if self.name.is_empty() { "" } else { "/" };
        let mut keys = self.keys.clone();
        keys.push(key);
        Self {
            keys,
            name: format!("{}{slash}{name}", self.name),
            alone,
        }
    }
}

impl<'s> Part<'s> {
    fn read(at: &mut Cursor<'s>, depth: usize) -> Result<Self, Error> {
        let mut walk = *at;
        let slice = at.skip()?.as_str();
        let (mut members, mut elements) = (Vec::new(), Vec::new());
        match walk.shape()? {
            Shape::Object if depth < DEPTH => {
                let mut object = walk.object()?;
                while let Some(key) = object.key(&mut walk)? {
                    members.push((key.as_escaped(), Self::read(&mut walk, depth + 1)?));
                }
            }
            Shape::Array if depth < DEPTH => {
                let mut array = walk.array()?;
                while array.more(&mut walk)? {
                    elements.push(Self::read(&mut walk, depth + 1)?);
                }
            }
            _ => {}
        }
        let (text, inner) = match (members.is_empty(), elements.is_empty()) {
            (false, _) => (object(&members, None), Inner::Object(members)),
            (_, false) => {
                let texts: Vec<&str> = elements.iter().map(|element| element.text.as_str()).collect();
                (format!("[{}]", texts.join(",")), Inner::Array(elements))
            }
            _ => (short(slice), Inner::Leaf),
        };
        Ok(Self { slice, text, inner })
    }

    const fn is_leaf(&self) -> bool {
        matches!(self.inner, Inner::Leaf)
    }
}

/// The text of an object; `instead` is what stands for one of its members, or that it is left out.
fn object(members: &[(&str, Part<'_>)], instead: Option<(usize, Option<&str>)>) -> String {
    let mut text = String::from("{");
    for (at, (key, member)) in members.iter().enumerate() {
        let value = match instead {
            Some((of, value)) if of == at => value,
            _ => Some(member.text.as_str()),
        };
        if let Some(value) = value {
            let comma = if text.len() > 1 { "," } else { "" };
            let _ = write!(text, "{comma}\"{key}\":{value}");
        }
    }
    text.push('}');
    text
}

/// A value without parts, in short.
fn short(value: &str) -> String {
    let Some(body) = value.strip_prefix('"').filter(|body| body.len() > SHORT) else {
        return if value.len() > SHORT && value.starts_with(['{', '[']) {
            format!("{}{}", &value[..1], if value.starts_with('{') { '}' } else { ']' })
        } else {
            value.to_owned()
        };
    };
    // No escape is cut: the first one ends it.
    let plain = body.find('\\').unwrap_or(body.len());
    let end = (0..=SHORT.min(plain)).rev().find(|end| body.is_char_boundary(*end)).unwrap_or(0);
    format!("\"{}~\"", &body[..end])
}

/// Another value of the same type.
fn other(value: &str) -> String {
    match value.as_bytes() {
        [b'"', ..] => format!("{}~\"", &value[..value.len() - 1]),
        b"true" => "false".to_owned(),
        b"false" => "true".to_owned(),
        [b'0'..=b'9' | b'-', ..] => match value.parse::<u64>() {
            Ok(number) => number.checked_add(1).unwrap_or(0).to_string(),
            Err(_) => "7".to_owned(),
        },
        _ => "{\"~\":7}".to_owned(),
    }
}
