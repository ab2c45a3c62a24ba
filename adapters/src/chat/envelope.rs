use super::calls::CallPiece;
use super::members::{FieldList, Members, field, inner};
use super::usage::read_usage;
use crate::codec::Cx;
use crate::event::{At, Field, Usage};
use crate::json::{Cursor, Error, Raw, Shape, Str};

/// Which of the two objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// `chat.completion`.
    Completion,
    /// `chat.completion.chunk`.
    Chunk,
}

impl Object {
    /// Its name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Completion => "chat.completion",
            Self::Chunk => "chat.completion.chunk",
        }
    }
}

/// A line, opened. If it turns out to be something else, [`Self::give_back`] makes members of everything again.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    /// `id`.
    pub(crate) id: Option<Raw<'a>>,
    /// `object`, where it is one of the two.
    pub(crate) object: Option<Object>,
    object_raw: Option<Raw<'a>>,
    /// `created`: seconds since 1970, a number as a rule.
    pub(crate) created: Option<Raw<'a>>,
    /// `model`.
    pub(crate) model: Option<Raw<'a>>,
    /// The first choice.
    pub(crate) choice: Option<Choice<'a>>,
    /// Whether there is a list of choices, even if it is empty.
    pub(crate) has_choices: bool,
    /// `usage`.
    pub(crate) usage: Option<Usage<'a>>,
    /// Everything else.
    pub(crate) rest: Members<'a>,
    /// What the choices hold besides.
    pub(crate) fields: FieldList<'a>,
}

/// One choice, its `message` or `delta` in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Choice<'a> {
    /// Its `index`; absent is 0.
    pub(crate) index: u64,
    /// What it holds.
    pub(crate) form: Form,
    /// `role`.
    pub(crate) role: Option<Str<'a>>,
    /// `content`; the texts of a list of parts are put together.
    pub(crate) content: Option<Str<'a>>,
    /// `reasoning_content` (or `reasoning`, as some servers call it).
    pub(crate) reasoning: Option<Str<'a>>,
    /// `tool_calls`.
    pub(crate) calls: &'a [CallPiece<'a>],
    /// `finish_reason`.
    pub(crate) finish: Option<Str<'a>>,
}

/// What a choice holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Neither.
    #[default]
    Nothing,
    /// `message`.
    Message,
    /// `delta`.
    Delta,
}

/// Reads one line's objects.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'c, 'a> {
    /// Arena and ledger.
    pub(crate) cx: &'c Cx<'a>,
    /// Whether the dialect's page names a member.
    pub(crate) knows: fn(&str) -> bool,
}

/// Takes the `annotations` of the first choice; the cursor stands at an array and is to be left behind it.
pub(crate) type TakeAnnotations<'n, 'a> = &'n mut dyn FnMut(&mut Cursor<'a>) -> Result<(), Error>;

const CHOICE: &str = "/choices/0";
const MESSAGE: &str = "/choices/0/message";
const DELTA: &str = "/choices/0/delta";

impl<'a> Reader<'_, 'a> {
    /// Reads the object at the cursor.
    pub(crate) fn envelope(&self, at: &mut Cursor<'a>, annotations: TakeAnnotations<'_, 'a>) -> Result<Envelope<'a>, Error> {
        let mut line = Envelope {
            id: None,
            object: None,
            object_raw: None,
            created: None,
            model: None,
            choice: None,
            has_choices: false,
            usage: None,
            rest: Members::new(self.cx),
            fields: FieldList::new_in(self.cx.arena),
        };
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let mut name = key.as_escaped();
            if key.has_escapes() {
                name = self.cx.arena.alloc_str(&key.unescape());
            }
            match name {
                "id" if line.id.is_none() && at.peek() == Some(b'"') => line.id = Some(at.raw()?),
                "model" if line.model.is_none() && at.peek() == Some(b'"') => line.model = Some(at.raw()?),
                "created" if line.created.is_none() => line.created = Some(at.raw()?),
                "object" if line.object.is_none() => {
                    let value = at.raw()?;
                    line.object = match inner(value).map(Str::unescape).as_deref() {
                        Some("chat.completion") => Some(Object::Completion),
                        Some("chat.completion.chunk") => Some(Object::Chunk),
                        _ => None,
                    };
                    match line.object {
                        Some(_) => line.object_raw = Some(value),
                        None => line.rest.push(key, value),
                    }
                }
                "choices" if !line.has_choices && at.peek() == Some(b'[') => {
                    line.has_choices = true;
                    self.choices(at, &mut line, annotations)?;
                }
                "usage" if line.usage.is_none() => {
                    let value = at.raw()?;
                    line.usage = read_usage(value);
                    match line.usage {
                        Some(_) => {}
                        None if value.is_null() => self.cx.took(value.as_str()),
                        None => line.rest.push(key, value),
                    }
                }
                _ => {
                    let value = at.raw()?;
                    line.rest.push(key, value);
                }
            }
        }
        Ok(line)
    }

    fn choices(&self, at: &mut Cursor<'a>, line: &mut Envelope<'a>, annotations: TakeAnnotations<'_, 'a>) -> Result<(), Error> {
        let mut array = at.array()?;
        let mut n = 0;
        while array.more(at)? {
            if n == 0 {
                let choice = self.choice(at, &mut line.fields, annotations)?;
                line.choice = Some(choice);
            } else {
                at.peek();
                let before = at.rest();
                let mut fields = FieldList::new_in(self.cx.arena);
                let choice = self.choice(at, &mut fields, &mut |at| at.skip().map(|_| ()))?;
                let raw = Raw::trusted(&before[..before.len() - at.rest().len()]);
                if choice.says_nothing() && fields.is_empty() {
                    self.cx.took(raw.as_str());
                } else {
                    let key = self.cx.text(&n.to_string());
                    line.fields.push(Field {
                        at: At::Part("/choices"),
                        key,
                        value: raw,
                        known: fields.iter().all(|field| field.known),
                    });
                }
            }
            n += 1;
        }
        Ok(())
    }

    fn choice(&self, at: &mut Cursor<'a>, fields: &mut FieldList<'a>, annotations: TakeAnnotations<'_, 'a>) -> Result<Choice<'a>, Error> {
        let mut choice = Choice::default();
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let shape = at.shape()?;
            match (&*key.unescape(), shape) {
                ("message", Shape::Object) if choice.form == Form::Nothing => {
                    choice.form = Form::Message;
                    self.body(at, &mut choice, MESSAGE, fields, annotations)?;
                }
                ("delta", Shape::Object) if choice.form == Form::Nothing => {
                    choice.form = Form::Delta;
                    self.body(at, &mut choice, DELTA, fields, annotations)?;
                }
                ("delta", Shape::Null) if choice.form == Form::Nothing => {
                    choice.form = Form::Delta;
                    self.cx.took(at.skip()?.as_str());
                }
                // An empty one is none, as some servers write it in each chunk but the last.
                ("finish_reason", Shape::String) if choice.finish.is_none() => {
                    let word = at.string()?;
                    if word.is_empty() {
                        self.cx.took(word.as_escaped());
                    } else {
                        choice.finish = Some(word);
                    }
                }
                ("index", Shape::Number) => {
                    let value = at.skip()?;
                    match value.u64() {
                        Some(index) => {
                            choice.index = index;
                            // Of one choice, which is the first.
                            if index == 0 {
                                self.cx.took(value.as_str());
                            }
                        }
                        None => fields.push(Field {
                            at: At::Part(CHOICE),
                            key,
                            value,
                            known: false,
                        }),
                    }
                }
                (_, Shape::Null) => self.cx.took(at.skip()?.as_str()),
                _ => {
                    let value = at.skip()?;
                    fields.push(field(At::Part(CHOICE), key, value, self.knows));
                }
            }
        }
        Ok(choice)
    }

    fn body(
        &self,
        at: &mut Cursor<'a>,
        choice: &mut Choice<'a>,
        place: &'static str,
        fields: &mut FieldList<'a>,
        annotations: TakeAnnotations<'_, 'a>,
    ) -> Result<(), Error> {
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let shape = at.shape()?;
            match (&*key.unescape(), shape) {
                ("content", Shape::String) if choice.content.is_none() => choice.content = Some(at.string()?),
                ("content", Shape::Array) if choice.content.is_none() => {
                    let value = at.raw()?;
                    choice.content = Some(self.parts(value));
                }
                ("reasoning_content" | "reasoning", Shape::String) if choice.reasoning.is_none() => choice.reasoning = Some(at.string()?),
                ("tool_calls", Shape::Array) if choice.calls.is_empty() => choice.calls = self.calls(at)?,
                ("annotations", Shape::Array) => annotations(at)?,
                ("role", Shape::String) if choice.role.is_none() => {
                    let role = at.string()?;
                    if matches!(role.as_escaped(), "assistant" | "user" | "tool" | "system") {
                        self.cx.took(role.as_escaped());
                    }
                    choice.role = Some(role);
                }
                (_, Shape::Null) => self.cx.took(at.skip()?.as_str()),
                (name, _) => {
                    let value = at.skip()?;
                    // A member that OpenAI defines, but of another type, is not known as what it is.
                    let typed = matches!(name, "content" | "reasoning_content" | "tool_calls" | "annotations" | "role");
                    let known = !typed && (self.knows)(name);
                    fields.push(Field {
                        at: At::Part(place),
                        key,
                        value,
                        known,
                    });
                }
            }
        }
        Ok(())
    }

    /// The texts of a list of content parts, put together.
    fn parts(&self, list: Raw<'a>) -> Str<'a> {
        let mut texts = list
            .elements()
            .filter(|part| part.get("type").and_then(inner).is_some_and(|t| t.is("text")))
            .filter_map(|part| part.get("text").and_then(inner));
        let Some(first) = texts.next() else { return Str::EMPTY };
        let rest: Vec<_> = texts.collect();
        if rest.is_empty() {
            return first;
        }
        let mut whole = first.as_escaped().to_owned();
        self.cx.took(first.as_escaped());
        for text in rest {
            self.cx.took(text.as_escaped());
            whole.push_str(text.as_escaped());
        }
        Str::trusted(self.cx.arena.alloc_str(&whole))
    }
}

impl<'a> Envelope<'a> {
    /// Marks what stands in every such line as structure.
    pub(crate) fn took_object(&self, cx: &Cx<'a>) {
        if let Some(raw) = self.object_raw {
            cx.took(raw.as_str());
        }
    }

    /// The line is no chat object: its members, all of them.
    pub(crate) fn give_back(mut self) -> Members<'a> {
        let parts = [
            ("id", self.id),
            ("object", self.object_raw),
            ("created", self.created),
            ("model", self.model),
            ("usage", self.usage.and_then(|u| u.raw)),
        ];
        for (key, value) in parts {
            if let Some(value) = value {
                self.rest.push(Str::trusted(key), value);
            }
        }
        self.rest
    }
}

impl Choice<'_> {
    /// Whether nothing is in it but, perhaps, a role.
    pub(crate) fn says_nothing(&self) -> bool {
        self.content.is_none_or(Str::is_empty) && self.reasoning.is_none_or(Str::is_empty) && self.calls.is_empty()
    }
}
