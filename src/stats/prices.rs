use super::Tokens;

/// What tokens cost, and where that is known from.
#[derive(Clone, Debug)]
pub struct Prices {
    #[cfg(all(unix, feature = "agent"))]
    table: Option<std::sync::Arc<crate::agent::model::Catalog>>,
    source: String,
}

/// When the program's own prices were looked up: its table says the same.
#[cfg(all(unix, feature = "agent"))]
const LOOKED_UP: &str = "November 2026";

impl Prices {
    /// None: only what logs say is counted.
    pub fn none() -> Self {
        Self {
            #[cfg(all(unix, feature = "agent"))]
            table: None,
            source: "only what logs say".to_owned(),
        }
    }

    /// The program's own, with a table of the user's before them. This is known where there are agents.
    ///
    /// # Errors
    /// When the table is none.
    #[cfg(all(unix, feature = "agent"))]
    pub fn known(own: Option<(&str, &str)>) -> Result<Self, String> {
        use crate::agent::model::Catalog;
        let (table, before) = match own {
            Some((name, text)) => (Catalog::over(text).map_err(|error| format!("{name}: {error}"))?, format!("{name}, then ")),
            None => (Catalog::builtin(), String::new()),
        };
        Ok(Self {
            table: Some(table.into()),
            source: format!("{before}list prices of {LOOKED_UP}"),
        })
    }

    /// Where they are known from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What tokens of a model cost in US dollars; `None` if that is not known.
    pub(super) fn cost(&self, model: &str, tokens: &Tokens) -> Option<f64> {
        #[cfg(all(unix, feature = "agent"))]
        {
            use agentglot_adapters::raw::event::{Count, Usage};
            let count = |n| Some(Count::derived(n));
            let usage = Usage {
                input: count(tokens.input),
                cache_read: count(tokens.cache_read),
                cache_write: count(tokens.cache_write),
                output: count(tokens.output),
                ..Usage::default()
            };
            self.table.as_ref()?.cost(model, &usage)
        }
        #[cfg(not(all(unix, feature = "agent")))]
        {
            let _ = (model, tokens);
            None
        }
    }
}

#[cfg(all(test, unix, feature = "agent"))]
mod tests {
    #[test]
    fn the_date_of_the_prices_is_the_one_of_their_table() {
        let table = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("agent/src/model/models.toml");
        let head = std::fs::read_to_string(table).unwrap();
        assert!(head.lines().take(4).any(|line| line.contains(super::LOOKED_UP)));
    }
}
