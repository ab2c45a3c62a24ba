//! Parts of what was said in a thread: some turns, or some items.

use super::requests::most;
use super::words::{Wrong, text};
use crate::conduct::quoted;
use crate::json::{Raw, Str};

/// Turns, and items, where nobody says how many.
const TURNS: usize = 25;
const ITEMS: usize = 100;

/// A part that is wanted.
#[derive(Debug)]
pub(super) struct Page {
    of: Of,
    most: usize,
    /// Beyond how many from the beginning it begins; in the other direction, below how many.
    from: Option<usize>,
    ascending: bool,
}

/// A part of what.
#[derive(Debug)]
enum Of {
    /// Turns, with so much of their items.
    Turns(View),
    /// Items, perhaps those of one turn.
    Items(Option<String>),
}

/// How much of its items a turn shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    None,
    /// What it was asked and what it answered.
    Ends,
    All,
}

impl Page {
    /// What a request wants.
    pub(super) fn wanted(method: &str, params: Raw<'_>) -> Result<Self, Wrong> {
        let items = method == "thread/items/list";
        let of = if items {
            Of::Items(text(params, "turnId")?)
        } else {
            Of::Turns(match text(params, "itemsView")?.as_deref() {
                None | Some("summary") => View::Ends,
                Some("notLoaded") => View::None,
                Some("full") => View::All,
                Some(other) => {
                    return Err(Wrong::params(&format!(
                        "unknown variant `{other}`, expected one of `notLoaded`, `summary`, `full`"
                    )));
                }
            })
        };
        let from = text(params, "cursor")?.map(|cursor| match cursor.parse() {
            Ok(from) => Ok(from),
            Err(_) => Err(Wrong::request(format!("invalid cursor: {cursor}"))),
        });
        let direction = text(params, "sortDirection")?;
        Ok(Self {
            of,
            most: most(params, if items { ITEMS } else { TURNS })?,
            from: from.transpose()?,
            // The turn that came last is the first of its list, as the program has it.
            ascending: direction.map_or(items, |word| word == "asc"),
        })
    }

    /// The answer, of all turns.
    pub(super) fn of(&self, turns: &str) -> String {
        let turns: Vec<Raw<'_>> = Raw::trusted(turns).elements().collect();
        let all: Vec<String> = match &self.of {
            Of::Turns(view) => turns.iter().map(|turn| with_view(*turn, *view)).collect(),
            Of::Items(wanted) => {
                let is_wanted = |turn: &&Raw<'_>| wanted.as_ref().is_none_or(|wanted| id(**turn) == *wanted);
                turns.iter().filter(is_wanted).flat_map(|turn| items(*turn)).collect()
            }
        };
        let (first, end) = match (self.ascending, self.from) {
            (true, from) => (from.unwrap_or(0).min(all.len()), all.len()),
            (false, from) => (0, from.unwrap_or(all.len()).min(all.len())),
        };
        let (first, end, next) = if self.ascending {
            let last = end.min(first.saturating_add(self.most));
            (first, last, (last < end).then_some(last))
        } else {
            let start = end.saturating_sub(self.most);
            (start, end, (start > first).then_some(start))
        };
        let mut page: Vec<&str> = all[first..end].iter().map(String::as_str).collect();
        if !self.ascending {
            page.reverse();
        }
        // The other way from the first of these on, which is part of it.
        let back = (!page.is_empty()).then(|| if self.ascending { first + 1 } else { end - 1 });
        let cursor = |at: Option<usize>| at.map_or_else(|| "null".to_owned(), |at| format!("\"{at}\""));
        format!(
            "{{\"data\":[{}],\"nextCursor\":{},\"backwardsCursor\":{}}}",
            page.join(","),
            cursor(next),
            cursor(back)
        )
    }
}

fn id(turn: Raw<'_>) -> String {
    turn.get("id").and_then(Raw::string).map_or("", Str::as_escaped).to_owned()
}

fn kind(item: Raw<'_>) -> &str {
    item.get("type").and_then(Raw::string).map_or("", Str::as_escaped)
}

fn items(turn: Raw<'_>) -> Vec<String> {
    let turn_id = quoted(&id(turn));
    let items = turn.get("items").into_iter().flat_map(Raw::elements);
    items.map(|item| format!("{{\"turnId\":{turn_id},\"item\":{}}}", item.as_str())).collect()
}

fn with_view(turn: Raw<'_>, view: View) -> String {
    let items: Vec<Raw<'_>> = turn.get("items").into_iter().flat_map(Raw::elements).collect();
    let (shown, name): (Vec<Raw<'_>>, _) = match view {
        View::All => return turn.as_str().to_owned(),
        View::None => (Vec::new(), "notLoaded"),
        View::Ends => {
            let first = items.iter().find(|item| kind(**item) == "userMessage");
            let last = items.iter().rfind(|item| kind(**item) == "agentMessage");
            (first.into_iter().chain(last).copied().collect(), "summary")
        }
    };
    let shown: Vec<&str> = shown.iter().map(|item| item.as_str()).collect();
    let members = turn.members().map(|(key, value)| match key.as_escaped() {
        "items" => format!("\"items\":[{}]", shown.join(",")),
        "itemsView" => format!("\"itemsView\":\"{name}\""),
        key => format!("\"{key}\":{}", value.as_str()),
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
