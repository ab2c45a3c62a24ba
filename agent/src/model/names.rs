//! What hosts call models, and what those are called here.

use std::collections::BTreeMap;

use crate::model::Api;

/// Claude's words for its models, the variables that say what they stand for, and what they stand for otherwise.
const ALIASES: &[(&str, &str, &str)] = &[
    ("haiku", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "claude-haiku-4-5"),
    ("opus", "ANTHROPIC_DEFAULT_OPUS_MODEL", "claude-opus-4-5"),
    ("sonnet", "ANTHROPIC_DEFAULT_SONNET_MODEL", "claude-sonnet-4-5"),
];

/// The names of models that are known.
#[derive(Clone, Debug)]
pub struct Models {
    /// By the host's name: the user's own table.
    names: BTreeMap<String, String>,
    /// By Claude's word, where the model is one of Anthropic's.
    aliases: Vec<(&'static str, Option<String>)>,
    /// The model that is asked where nobody names one.
    usual: String,
}

impl Models {
    /// Those of an API. `names`: what the user calls models otherwise; `usual`: the model where nobody names one.
    pub fn new(api: Api, names: BTreeMap<String, String>, usual: String, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let stands_for = |name: &str, usual: &str| match api {
            Api::Anthropic => variable(name).filter(|value| !value.is_empty()).or_else(|| Some(usual.to_owned())),
            Api::Openai => None,
        };
        Self {
            names,
            aliases: ALIASES.iter().map(|(word, name, usual)| (*word, stands_for(name, usual))).collect(),
            usual,
        }
    }

    /// The model where nobody names one.
    pub fn usual(&self) -> &str {
        &self.usual
    }

    /// The model of a name. `None` for words that stand for no certain model here: for the usual one, for the one in use, or for one that
    /// this API does not have.
    pub fn named(&self, name: &str) -> Option<String> {
        let name = name.trim();
        if let Some(ours) = self.names.get(name) {
            return Some(ours.clone());
        }
        match self.aliases.iter().find(|(word, _)| *word == name) {
            Some((_, stands_for)) => stands_for.clone(),
            None => Some(name.to_owned()).filter(|name| !matches!(name.as_str(), "" | "default" | "inherit")),
        }
    }

    /// The names that a host can choose from, and the models that they stand for.
    pub fn choice(&self) -> Vec<(String, String)> {
        let mut all = vec![("default".to_owned(), self.usual.clone())];
        let aliases = self.aliases.iter().filter_map(|(word, model)| Some(((*word).to_owned(), model.clone()?)));
        for (name, model) in self.names.clone().into_iter().chain(aliases) {
            if !all.iter().any(|(known, _)| *known == name) {
                all.push((name, model));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_models_stand_for_those_of_the_api() {
        let names = BTreeMap::from([("opus".to_owned(), "mine".to_owned())]);
        let variable = |name: &str| (name == "ANTHROPIC_DEFAULT_HAIKU_MODEL").then(|| "small".to_owned());
        let anthropic = Models::new(Api::Anthropic, names.clone(), "usual".to_owned(), &variable);
        let named = |name: &str| anthropic.named(name);
        assert_eq!([named("haiku"), named("opus")], [Some("small".to_owned()), Some("mine".to_owned())]);
        assert!(named("sonnet").unwrap().starts_with("claude-sonnet-"));
        assert_eq!([named("x-1"), named("default"), named("inherit")], [Some("x-1".to_owned()), None, None]);
        let openai = Models::new(Api::Openai, names, "usual".to_owned(), &variable);
        assert_eq!([openai.named("haiku"), openai.named("opus")], [None, Some("mine".to_owned())]);
        let choice: Vec<_> = openai.choice().into_iter().map(|(name, _)| name).collect();
        assert_eq!(choice, ["default", "opus"]);
    }
}
