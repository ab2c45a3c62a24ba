use crate::event::{At, BlockHead, Fate, Field, Piece};
use crate::ids;
use crate::json::{Raw, Shape, Str};
use crate::trace::Kept;
use crate::weave::{Balance, Voice, Weave};

/// The tool calls of one reply, as their pieces come.
///
/// Providers differ in what names a call: an index, an id, both, neither. A call is told once its id and its name are known; what comes
/// before is held. An id that never comes is made up when the reply ends.
#[derive(Debug, Default)]
pub(super) struct Calls {
    list: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    key: u64,
    index: Option<u64>,
    id: String,
    name: String,
    told: bool,
    /// Arguments from before it was told, as the body of a JSON string, and where the stream says them.
    held: String,
    kept: Kept,
    /// Where the stream says its id and its name.
    named: [Kept; 2],
    /// Members that nobody here knows.
    extra: Vec<(String, String)>,
    arguments: Balance,
    /// It is of a tool that takes a text, which is open: the arguments are an object that holds it.
    text: bool,
}

/// One element of a `tool_calls` list.
#[derive(Debug, Default)]
struct Part<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: Option<Str<'a>>,
    /// The arguments are a text, not JSON.
    is_text: bool,
    extra: Vec<(&'a str, Raw<'a>)>,
}

impl Calls {
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether at least one call is whole. One without arguments is.
    pub(super) fn any_whole(&self) -> bool {
        self.list.iter().any(|call| call.arguments.is_blank() || call.arguments.is_complete())
    }

    /// Whether no call is cut off.
    pub(super) fn all_whole(&self) -> bool {
        self.list.iter().all(|call| call.arguments.is_blank() || call.arguments.is_complete())
    }

    /// Another block is about to begin: calls that are complete are closed.
    pub(super) fn close_complete<'a>(&self, weave: &mut Weave, voice: &mut Voice<'_, 'a>) {
        for call in self.list.iter().filter(|call| call.told && call.arguments.is_complete()) {
            weave.stop(call.key, voice);
        }
    }

    /// Takes a `tool_calls` list, or what stands there without a list around it, or a `function_call`, of which there is one.
    pub(super) fn take<'a>(&mut self, list: Raw<'a>, keys: &mut u64, weave: &mut Weave, voice: &mut Voice<'_, 'a>) {
        if list.shape() == Some(Shape::Object) {
            let part = match list.get("function") {
                Some(_) => Part::read(list, voice),
                None => {
                    let mut part = Part::default();
                    part.function(list, voice);
                    part
                }
            };
            self.part(part, 0, 1, keys, weave, voice);
            return;
        }
        let elements: Vec<Raw<'a>> = list.elements().filter(|element| element.shape() == Some(Shape::Object)).collect();
        for (at, element) in elements.iter().enumerate() {
            let part = Part::read(*element, voice);
            self.part(part, at, elements.len(), keys, weave, voice);
        }
    }

    /// No call is going to say more of its id or name.
    pub(super) fn tell_all<'a>(&mut self, reply: &str, seed: u64, weave: &mut Weave, voice: &mut Voice<'_, 'a>) {
        for call in self.list.iter_mut().filter(|call| call.text) {
            call.text = false;
            call.more(voice.cx.text("\"}"), &[], weave, voice);
        }
        for (at, call) in self.list.iter_mut().enumerate().filter(|(_, call)| !call.told) {
            if call.name.is_empty() && call.arguments.is_blank() {
                continue;
            }
            if call.id.is_empty() {
                let made = ids::fnv(&(at as u64).to_le_bytes(), ids::fnv(reply.as_bytes(), seed ^ ids::FNV_SEED));
                call.id = format!("call_{made:016x}");
            }
            call.tell(weave, voice);
        }
    }

    fn part<'a>(&mut self, part: Part<'a>, at: usize, of: usize, keys: &mut u64, weave: &mut Weave, voice: &mut Voice<'_, 'a>) {
        let found = self.find(&part, at, of);
        let call = match found {
            Some(found) => &mut self.list[found],
            None => {
                self.close_complete(weave, voice);
                *keys += 1;
                self.list.push(Call {
                    key: *keys,
                    index: part.index,
                    id: String::new(),
                    name: String::new(),
                    told: false,
                    held: String::new(),
                    kept: Kept::default(),
                    named: Default::default(),
                    extra: Vec::new(),
                    arguments: Balance::default(),
                    text: false,
                });
                // It was pushed just now.
                self.list.last_mut().expect("a call")
            }
        };
        if !call.told {
            // Empty ones never overwrite; a name that is repeated replaces the one before.
            for ((to, kept), from) in [&mut call.id, &mut call.name].into_iter().zip(&mut call.named).zip([part.id, part.name]) {
                if from.is_empty() {
                    continue;
                }
                from.clone_into(to);
                if let Some(trace) = voice.cx.trace {
                    trace.tell_held(kept, Fate::Merged, "it is said again");
                    trace.hold(kept, from);
                }
            }
        }
        let fields: Vec<Field<'a>> = match call.told {
            true => part.extra.iter().map(|&(key, value)| field(key, value)).collect(),
            false => {
                for (key, value) in &part.extra {
                    if !call.extra.iter().any(|(known, _)| known == key) {
                        call.extra.push(((*key).to_owned(), value.as_str().to_owned()));
                    }
                }
                Vec::new()
            }
        };
        let mut arguments = part.arguments.unwrap_or_default();
        if part.is_text {
            let begin = if std::mem::replace(&mut call.text, true) { "" } else { "{\"input\":\"" };
            let made = voice.cx.text(&format!("{begin}{}", arguments.as_escaped()));
            voice.cx.stands_for(made.as_escaped(), arguments.as_escaped());
            arguments = made;
        }
        call.more(arguments, voice.cx.list(&fields), weave, voice);
    }

    /// Which call a part belongs to; `None`: a new one.
    fn find(&self, part: &Part<'_>, at: usize, of: usize) -> Option<usize> {
        // Another whole call under the name of one that is whole.
        let anew = |call: &Call| call.arguments.is_complete() && !part.name.is_empty() && part.arguments.is_some_and(|text| !text.is_empty());
        if let Some(index) = part.index {
            let found = self.list.iter().rposition(|call| call.index == Some(index))?;
            let call = &self.list[found];
            if part.id.is_empty() || call.id.is_empty() {
                return (!(anew(call) && part.id.is_empty())).then_some(found);
            }
            let same = call.id == part.id || (part.name.is_empty() && !call.arguments.is_complete());
            return same.then_some(found);
        }
        if !part.id.is_empty() {
            if let Some(found) = self.list.iter().rposition(|call| call.id == part.id) {
                return Some(found);
            }
            // A call that began without its id.
            return self.list.iter().rposition(|call| call.id.is_empty() && part.name.is_empty());
        }
        let found = if of > 1 { at } else { self.list.len().checked_sub(1)? };
        let call = self.list.get(found)?;
        (!anew(call) && (part.name.is_empty() || call.name.is_empty() || call.name == part.name)).then_some(found)
    }
}

impl Call {
    /// More of its arguments.
    fn more<'a>(&mut self, arguments: Str<'a>, fields: &'a [Field<'a>], weave: &mut Weave, voice: &mut Voice<'_, 'a>) {
        self.arguments.feed(&arguments.unescape());
        if !self.told {
            self.held.push_str(arguments.as_escaped());
            if let Some(trace) = voice.cx.trace.filter(|_| !arguments.is_empty()) {
                trace.hold(&mut self.kept, arguments.as_escaped());
            }
            if !self.id.is_empty() && !self.name.is_empty() {
                self.tell(weave, voice);
            }
        } else if !arguments.is_empty() || !fields.is_empty() {
            // Closed already: the arguments were whole, and what comes behind them belongs to nothing.
            let _ = weave.piece(self.key, Piece::Input(arguments), fields, voice);
        }
    }

    fn tell<'a>(&mut self, weave: &mut Weave, voice: &mut Voice<'_, 'a>) {
        self.told = true;
        let keep = |text: &str| -> &'a str { voice.cx.arena.alloc_str(text) };
        let [id, name] = [&self.id, &self.name].map(|text| Str::trusted(keep(text)));
        let head = BlockHead::Call { id, name };
        let extra: Vec<Field<'a>> = self
            .extra
            .iter()
            .map(|(key, value)| field(keep(key), Raw::trusted(keep(value))))
            .collect();
        let held = Str::trusted(keep(&std::mem::take(&mut self.held)));
        let fields = voice.cx.list(&extra);
        let trace = voice.cx.trace;
        for (kept, text) in self.named.iter().zip([id, name]) {
            trace.inspect(|trace| trace.watch(text.as_escaped(), kept));
        }
        weave.begin(self.key, head, fields, voice);
        for (kept, text) in self.named.iter_mut().zip([id, name]) {
            trace.inspect(|trace| trace.told_if_said(kept, text.as_escaped(), "no place"));
        }
        if held.is_empty() {
            return;
        }
        if let Some(trace) = voice.cx.trace {
            trace.watch(held.as_escaped(), &self.kept);
        }
        let _ = weave.piece(self.key, Piece::Input(held), &[], voice);
        if let Some(trace) = voice.cx.trace {
            trace.told(&mut self.kept, held.as_escaped(), "the call has no place");
        }
    }
}

impl<'a> Part<'a> {
    fn read(element: Raw<'a>, voice: &Voice<'_, 'a>) -> Self {
        let mut part = Self::default();
        for (key, value) in element.members() {
            match key.as_escaped() {
                "index" => {
                    voice.cx.took(value.as_str());
                    part.index = value.u64();
                }
                "id" => part.id = value.string().map_or("", Str::as_escaped),
                "function" => part.function(value, voice),
                "custom" if value.shape() == Some(Shape::Object) => part.custom(value, voice),
                "type" => voice.cx.took(value.as_str()),
                _ if value.is_null() => voice.cx.took(value.as_str()),
                name => part.extra.push((name, value)),
            }
        }
        part
    }

    /// A call of a tool that takes a text.
    fn custom(&mut self, custom: Raw<'a>, voice: &Voice<'_, 'a>) {
        self.is_text = true;
        for (key, value) in custom.members() {
            match (key.as_escaped(), value.shape()) {
                ("name", _) => self.name = value.string().map_or("", Str::as_escaped),
                ("input", Some(Shape::String)) => self.arguments = value.string(),
                (_, Some(Shape::Null)) => voice.cx.took(value.as_str()),
                (name, _) => self.extra.push((name, value)),
            }
        }
    }

    fn function(&mut self, function: Raw<'a>, voice: &Voice<'_, 'a>) {
        for (key, value) in function.members() {
            match (key.as_escaped(), value.shape()) {
                ("name", _) => self.name = value.string().map_or("", Str::as_escaped),
                ("arguments", Some(Shape::String)) => self.arguments = value.string(),
                // Some servers write the arguments as they are.
                ("arguments", Some(Shape::Object | Shape::Array)) => self.arguments = Some(voice.cx.text(value.as_str())),
                (_, Some(Shape::Null)) => voice.cx.took(value.as_str()),
                (name, _) => self.extra.push((name, value)),
            }
        }
    }
}

/// A member of a call.
fn field<'a>(key: &'a str, value: Raw<'a>) -> Field<'a> {
    Field {
        at: At::Part("/choices/0/delta/tool_calls/0"),
        key: Str::trusted(key),
        value,
        known: super::fields::knows(key),
    }
}
