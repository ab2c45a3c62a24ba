//! Takes secrets out of what is kept or shown. What is one is said in one place: by [what it is called](is_secret_name), by how it looks, by being the
//! value of a variable or an argument of ours that is one.

mod arguments;
mod looks;
mod names;
mod pieces;

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memmem::Finder;

pub use arguments::arguments;
pub use names::is_secret_name;
pub use pieces::Pieces;

/// What stands in the place of a secret.
const REDACTED: &[u8] = b"[redacted]";

/// Shorter values of variables are no keys, and would be found everywhere.
const SHORTEST: usize = 8;

/// Passwords are shorter.
const SHORTEST_PASSWORD: usize = 6;

/// The longest key that is looked for by its looks.
const LONGEST: usize = 4 << 10;

/// A line that grows beyond this is dealt with in pieces.
const PIECE: usize = 1 << 20;

/// Whether a variable is a secret: by its name, or by the looks of its value, such as a key of a known kind or an address with a password.
pub fn is_secret(name: &str, value: &str) -> bool {
    is_secret_name(name) || looks::is_secret(value)
}

/// A text without the secrets of this process and without what looks like one.
pub fn clean(text: &str) -> Cow<'_, str> {
    let (bytes, count) = Secrets::ours().redact(text.as_bytes());
    if count == 0 {
        text.into()
    } else {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}

/// The values that are secrets, as they are and as they stand in JSON.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<Finder<'static>>);

impl Secrets {
    /// Those of this process: of its environment and its command line.
    pub fn ours() -> &'static Self {
        static OURS: OnceLock<Secrets> = OnceLock::new();
        OURS.get_or_init(|| {
            let mut secrets = Self::of(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))));
            let args: Vec<String> = std::env::args_os().skip(1).filter_map(|arg| arg.into_string().ok()).collect();
            secrets.add(arguments(&args).1);
            secrets
        })
    }

    /// Those among these variables.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut secrets = Self::default();
        for (name, value) in variables {
            let shortest = if names::is_password(&name) { SHORTEST_PASSWORD } else { SHORTEST };
            let value = value.trim();
            if is_secret_name(&name) && value.len() >= shortest {
                secrets.put(value);
            }
            secrets.add(parts(value));
        }
        secrets
    }

    /// These are secrets too.
    pub fn add(&mut self, secrets: impl IntoIterator<Item = String>) {
        for secret in secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_PASSWORD) {
            self.put(&secret);
        }
    }

    fn put(&mut self, value: &str) {
        let body = |text: &str| {
            let escaped = serde_json::to_string(text).unwrap_or_default();
            // The marks at its ends are not its own.
            escaped.get(1..escaped.len().saturating_sub(1)).unwrap_or_default().to_owned()
        };
        // In a member of JSON, and in JSON that is a text in JSON.
        let escaped = body(value);
        for form in [value.to_owned(), body(&escaped), escaped] {
            if !form.is_empty() && !self.0.iter().any(|known| known.needle() == form.as_bytes()) {
                self.0.push(Finder::new(form.as_bytes()).into_owned());
            }
        }
    }

    /// The places of secrets, in order, without overlap.
    fn places(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize)> = Vec::new();
        for finder in &self.0 {
            let length = finder.needle().len();
            places.extend(finder.find_iter(bytes).map(|start| (start, start + length)));
        }
        looks::places(bytes, &mut places);
        places.retain(|(start, end)| !bytes[*start..*end].starts_with(REDACTED));
        places.sort_unstable();
        let mut apart: Vec<(usize, usize)> = Vec::with_capacity(places.len());
        for (start, end) in places {
            match apart.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => apart.push((start, end)),
            }
        }
        apart
    }

    /// A text without secrets, and how many there were.
    pub fn redact(&self, bytes: &[u8]) -> (Vec<u8>, u64) {
        let mut redactor = Redactor::default();
        let mut out = Vec::new();
        redactor.feed(self, bytes, &mut out);
        redactor.finish(self, &mut out);
        (out, redactor.count)
    }
}

/// What in a value is a secret by itself: a key, the password of an address, the value of a header.
fn parts(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    looks::places(value.as_bytes(), &mut found);
    let mut parts: Vec<String> = found
        .into_iter()
        .filter_map(|(start, end)| Some(value.get(start..end)?.to_owned()))
        .collect();
    // Of the address of a hook the last word is enough.
    let words: Vec<String> = parts.iter().filter_map(|part| Some(part.rsplit_once('/')?.1.to_owned())).collect();
    parts.extend(words.into_iter().filter(|word| word.len() >= SHORTEST));
    // `name=value,name=value` of OpenTelemetry, `Name: value` a line.
    for pair in value.split([',', '\n', ';']) {
        if let Some((name, value)) = pair.split_once(['=', ':']).filter(|(name, _)| is_secret_name(name.trim())) {
            let value = value.trim();
            let bare = value
                .split_once([' ', '%'])
                .filter(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphabetic()));
            parts.extend(
                [value.to_owned()]
                    .into_iter()
                    .filter(|value| value.len() >= SHORTEST || names::is_password(name)),
            );
            parts.extend(
                bare.map(|(_, rest)| rest.trim_start_matches("20").to_owned())
                    .filter(|rest| rest.len() >= SHORTEST),
            );
        }
    }
    let decoded: Vec<String> = parts.iter().filter_map(|part| decoded(part)).collect();
    parts.extend(decoded);
    parts
}

/// What `%40` and its like stand for, if there is any in it.
fn decoded(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    let mut any = false;
    for piece in pieces {
        match piece.get(..2).and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&piece.as_bytes()[2..]);
                any = true;
            }
            None => {
                bytes.push(b'%');
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|_| any)
}

/// Redacts a stream in pieces of any size. Holds at most a line, and of a long line a piece.
#[derive(Debug, Default)]
pub struct Redactor {
    held: Vec<u8>,
    /// A private key has begun in a line before these, and has not ended.
    in_key: bool,
    /// How many secrets there were.
    pub count: u64,
}

impl Redactor {
    /// Takes what comes next; appends what is clean to `out`.
    pub fn feed(&mut self, secrets: &Secrets, bytes: &[u8], out: &mut Vec<u8>) {
        for piece in bytes.chunks(PIECE) {
            let line = memchr::memrchr(b'\n', piece).map(|at| self.held.len() + at + 1);
            self.held.extend_from_slice(piece);
            match line {
                Some(cut) => self.let_go(secrets, cut, out),
                None if self.held.len() >= PIECE => self.let_go(secrets, self.held.len() - LONGEST - 64, out),
                None => {}
            }
        }
    }

    /// Nothing follows.
    pub fn finish(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        self.let_go(secrets, self.held.len(), out);
    }

    /// Lets go of what stands before `cut`, or a little less: no secret is cut in two.
    fn let_go(&mut self, secrets: &Secrets, mut cut: usize, out: &mut Vec<u8>) {
        if self.in_key {
            let end = looks::end_of_pem(&self.held[..cut]);
            self.in_key = end.is_none();
            let gone = end.unwrap_or(cut);
            self.held.drain(..gone);
            cut -= gone;
        }
        let places = secrets.places(&self.held[..]);
        if let Some((start, _)) = places.iter().find(|(start, end)| *start < cut && cut < *end) {
            cut = *start;
        }
        let mut from = 0;
        for (start, end) in places.into_iter().take_while(|(_, end)| *end <= cut) {
            out.extend_from_slice(&self.held[from..start]);
            let secret = &self.held[start..end];
            // Its next lines are still to come.
            self.in_key |= end == cut && looks::is_open(secret);
            if secret.iter().all(u8::is_ascii_digit) {
                // It may be a number: the line has to stay JSON.
                out.resize(out.len() + secret.len(), b'1');
            } else {
                out.extend_from_slice(REDACTED);
            }
            self.count += 1;
            from = end;
        }
        out.extend_from_slice(&self.held[from..cut]);
        self.held.drain(..cut);
    }
}

#[cfg(test)]
mod tests;
