use agentglot_adapters::raw::event::{Count, Usage};
use agentglot_models::Catalog;

use super::Tokens;

/// What tokens cost, and where that is known from.
#[derive(Clone, Debug)]
pub struct Prices {
    table: Catalog,
    source: String,
}

/// When the program's own prices were looked up: its table says the same.
const LOOKED_UP: &str = "November 2026";

impl Prices {
    /// None: only what logs say is counted.
    pub fn none() -> Self {
        Self {
            table: Catalog::default(),
            source: "only what logs say".to_owned(),
        }
    }

    /// The program's own, with a table of the user's before them: its name, its text.
    ///
    /// # Errors
    /// When the table is none.
    pub fn known(own: Option<(&str, &str)>) -> Result<Self, String> {
        let (table, before) = match own {
            Some((name, text)) => (Catalog::over(text).map_err(|error| format!("{name}: {error}"))?, format!("{name}, then ")),
            None => (Catalog::builtin(), String::new()),
        };
        Ok(Self {
            table,
            source: format!("{before}list prices of {LOOKED_UP}"),
        })
    }

    /// Where they are known from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What tokens of a model cost in US dollars; `None` if that is not known.
    pub(super) fn cost(&self, model: &str, tokens: &Tokens) -> Option<f64> {
        let count = |n| Some(Count::derived(n));
        let usage = Usage {
            input: count(tokens.input),
            cache_read: count(tokens.cache_read),
            cache_write: count(tokens.cache_write),
            output: count(tokens.output),
            ..Usage::default()
        };
        self.table.cost(model, &usage)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_date_of_the_prices_is_the_one_of_their_table() {
        let table = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("agent/models/src/models.toml");
        let head = std::fs::read_to_string(table).unwrap();
        assert!(head.lines().take(4).any(|line| line.contains(super::LOOKED_UP)));
    }
}
