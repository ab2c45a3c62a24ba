//! The modes and models of a session, as its agent lists them.

use crate::json::Raw;
use crate::launch::PermissionMode;

/// What agents call their modes. The protocol leaves the names to them.
pub(in crate::acp) const NAMES: &[(&str, PermissionMode)] = &[
    ("default", PermissionMode::Ask),
    ("read-only", PermissionMode::Ask),
    ("build", PermissionMode::Ask),
    ("approve", PermissionMode::Ask),
    ("acceptEdits", PermissionMode::AcceptEdits),
    ("autoEdit", PermissionMode::AcceptEdits),
    ("auto-edit", PermissionMode::AcceptEdits),
    ("workspace-write", PermissionMode::AcceptEdits),
    ("plan", PermissionMode::Plan),
    ("bypassPermissions", PermissionMode::Bypass),
    ("yolo", PermissionMode::Bypass),
    ("full-access", PermissionMode::Bypass),
    ("agent-full-access", PermissionMode::Bypass),
    ("dontAsk", PermissionMode::DontAsk),
    ("auto", PermissionMode::Auto),
    ("agent", PermissionMode::Auto),
    ("smart_approve", PermissionMode::Auto),
];

/// What can be chosen of one kind, and what is. Words are bodies of JSON strings.
#[derive(Debug, Default)]
pub(super) struct Choice {
    words: Vec<String>,
    current: String,
    /// The option of the session that is set for it; without one there is a request of its own.
    option: Option<String>,
}

impl Choice {
    /// Takes what an answer that opens a session says. `list` and `id` are the members of the older form, `category` names the option.
    pub(super) fn read(result: Raw<'_>, list: (&str, &str, &str, &str), category: &str) -> Self {
        let (member, all, id, current) = list;
        let older = result.get(member);
        let mut choice = Self {
            words: words(older.and_then(|older| older.get(all)), id),
            current: word(older.and_then(|older| older.get(current))),
            option: None,
        };
        let option = option(result, category);
        // A request of its own is what more agents know.
        if let Some(option) = option.filter(|_| choice.words.is_empty()) {
            choice.words = values(option.get("options"));
            choice.current = word(option.get("currentValue"));
            choice.option = Some(word(option.get("id")));
        }
        choice
    }

    /// It is this one now.
    pub(super) fn is_now(&mut self, word: &str) {
        word.clone_into(&mut self.current);
    }

    /// The agent says anew what can be set.
    pub(super) fn hear(&mut self, news: Raw<'_>, category: &str) {
        let Some(option) = option(news, category) else { return };
        if let Some(current) = option.get("currentValue").and_then(Raw::string) {
            self.is_now(current.as_escaped());
        }
        let words = values(option.get("options"));
        if self.option.is_some() && !words.is_empty() {
            self.words = words;
        }
    }

    /// What is chosen.
    pub(super) fn current(&self) -> &str {
        &self.current
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.current == word
    }

    /// Whether an answer says that something else is chosen than this, which the list lacks. Some agents take what comes near to it; a name
    /// that stands within the one that was asked for is short for it.
    pub(super) fn another(&self, result: Raw<'_>, category: &str, asked: &str) -> bool {
        let current = option(result, category).and_then(|option| option.get("currentValue")?.string());
        !self.has(asked) && current.is_some_and(|current| !asked.contains(current.as_escaped()))
    }

    /// Whether it can be chosen under this name.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    /// Whether there is anything to choose from.
    pub(super) const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// What the agent calls the one that its host calls so: names may stand behind that of a provider, and then the one that is chosen
    /// already counts first.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> &'a str {
        let of = |word: &&String| word.rsplit_once('/').is_some_and(|(_, bare)| bare == name);
        let provider = self.current.rsplit_once('/').map_or("", |(provider, _)| provider);
        let ours = |word: &&String| word.strip_prefix(provider).is_some_and(|rest| rest.strip_prefix('/') == Some(name));
        if self.words.iter().any(|word| word == name) {
            return name;
        }
        let found = self.words.iter().find(ours).or_else(|| self.words.iter().find(of));
        found.map_or(name, String::as_str)
    }

    /// Whether what is chosen means this mode.
    pub(super) fn means(&self, mode: PermissionMode) -> bool {
        NAMES.iter().any(|(name, means)| self.is(name) && *means == mode)
    }

    /// The mode that means this one.
    pub(super) fn of_mode(&self, mode: PermissionMode) -> Option<&str> {
        let means = |word: &&String| NAMES.iter().any(|(name, means)| name == word && *means == mode);
        self.words.iter().find(means).map(String::as_str)
    }

    /// The method that sets it, and its parameters behind the session.
    pub(super) fn set(&self, own: (&'static str, &str), value: &str) -> (&'static str, String) {
        match &self.option {
            Some(option) => ("session/set_config_option", format!("\"configId\":\"{option}\",\"value\":\"{value}\"")),
            None => (own.0, format!("\"{}\":\"{value}\"", own.1)),
        }
    }
}

/// The option of a category.
fn option<'a>(from: Raw<'a>, category: &str) -> Option<Raw<'a>> {
    let is = |option: &Raw<'_>| option.get("category").and_then(Raw::string).is_some_and(|word| word.is(category));
    from.get("configOptions")?.elements().find(is)
}

/// The values of an option: groups of them may stand in between.
fn values(options: Option<Raw<'_>>) -> Vec<String> {
    let mut all = words(options, "value");
    for group in options.into_iter().flat_map(Raw::elements) {
        all.append(&mut words(group.get("options"), "value"));
    }
    all
}

fn words(list: Option<Raw<'_>>, member: &str) -> Vec<String> {
    let words = list.into_iter().flat_map(Raw::elements).filter_map(|one| one.get(member)?.string());
    words.map(|word| word.as_escaped().to_owned()).collect()
}

fn word(value: Option<Raw<'_>>) -> String {
    value.and_then(Raw::string).map_or_else(String::new, |word| word.as_escaped().to_owned())
}
