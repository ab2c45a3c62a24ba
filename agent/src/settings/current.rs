//! The settings that count now: their folders are read again when the host asks for it.

use std::cell::RefCell;
use std::rc::Rc;

use super::Settings;
use crate::restrictions::Restrictions;

/// What files of settings say.
#[derive(Debug)]
pub(crate) struct CurrentSettings {
    now: RefCell<Rc<Settings>>,
    /// What the user and the project want every agent to know.
    pub memory: Option<String>,
}

impl CurrentSettings {
    /// These.
    pub(crate) fn new(settings: Settings, memory: Option<String>) -> Self {
        Self {
            now: RefCell::new(Rc::new(settings)),
            memory,
        }
    }

    /// What they say now.
    pub(crate) fn get(&self) -> Rc<Settings> {
        self.now.borrow().clone()
    }

    /// Reads them again, without what the session is kept from.
    pub(crate) fn reload(&self, restrictions: &Restrictions) -> Rc<Settings> {
        let settings = Settings::load(self.get().places().clone());
        let settings = Rc::new(settings.without_commands(restrictions));
        for problem in &settings.problems {
            tracing::warn!("{problem}");
        }
        self.now.replace(Rc::clone(&settings));
        settings
    }
}
