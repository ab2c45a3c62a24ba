//! Output styles: how the agent answers, besides what it does.

use std::path::PathBuf;

use super::{CommandFile, Settings};

/// The style that adds nothing.
const DEFAULT: &str = "default";

/// Styles that every session has.
const OWN: &[(&str, &str)] = &[
    (
        "Explanatory",
        "While you work, explain what you learn and decide: before and behind each larger change give two or three short remarks about why \
         this code is as it is, which choices there were, and what others can take from it. The work comes first.",
    ),
    (
        "Learning",
        "The user wants to learn by doing. Where a piece of five to ten lines holds a real decision, leave it open with a comment \
         TODO(human) that says what is to be written, explain what speaks for which way, and let the user write it. Do the rest yourself.",
    ),
];

/// An output style of a settings folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyleFile {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it adds to the system prompt.
    pub prompt: String,
    /// The file.
    pub path: PathBuf,
}

impl Settings {
    /// Commands that the model may take up by itself.
    pub fn skills(&self) -> impl Iterator<Item = &CommandFile> {
        self.commands.iter().filter(|command| command.is_skill)
    }

    /// The output style that is set, also if nobody knows it.
    pub fn style(&self) -> &str {
        self.output_style().filter(|name| !name.is_empty()).unwrap_or(DEFAULT)
    }

    /// What the style that is set adds to the system prompt.
    pub fn style_prompt(&self) -> Option<String> {
        let name = self.style();
        let own = || OWN.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, text)| *text);
        let file = self.styles.iter().find(|style| style.name == name).map(|style| style.prompt.as_str());
        let text = file.or_else(own).filter(|text| !text.is_empty())?;
        Some(format!("# Output style: {name}\n\n{text}"))
    }

    /// The names of all styles that there are.
    pub fn style_names(&self) -> Vec<String> {
        let own = std::iter::once(DEFAULT).chain(OWN.iter().map(|(name, _)| *name)).map(str::to_owned);
        let files = self.styles.iter().map(|style| style.name.clone());
        let mut names: Vec<String> = own.collect();
        for name in files {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
