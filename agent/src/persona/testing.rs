//! A workspace in which the tools of a catalog can be tried.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::model::message::Part;
use crate::tools::{Cx, Given, Tool, World};
use crate::workspace::Wall;

/// A workspace with tools.
pub(crate) struct Room {
    pub(crate) world: World,
    pub(crate) cancel: CancellationToken,
    tools: Vec<Rc<dyn Tool>>,
    _folder: tempfile::TempDir,
}

impl Room {
    pub(crate) fn new(tools: Vec<Rc<dyn Tool>>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let world = World {
            wall: Arc::new(Wall::new(folder.path()).expect("a workspace")),
            environment: Arc::default(),
            scratch: folder.path().join(".scratch"),
        };
        Self {
            world,
            cancel: CancellationToken::new(),
            tools,
            _folder: folder,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.world.wall.root()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.root().join(name).display().to_string()
    }

    /// Writes a file, and gives its path.
    pub(crate) fn put(&self, name: &str, content: &str) -> String {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, content).expect("written");
        path.display().to_string()
    }

    pub(crate) fn get(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).expect("read")
    }

    pub(crate) fn tool(&self, name: &str) -> Rc<dyn Tool> {
        self.tools.iter().find(|tool| tool.spec().name == name).expect(name).clone()
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> Given {
        let tool = self.tool(name);
        tool.run(&input, &self.cx()).await
    }

    pub(crate) fn cx(&self) -> Cx<'_> {
        Cx {
            call: "call",
            cancel: self.cancel.clone(),
            world: &self.world,
            tell: &|_| {},
        }
    }
}

/// What the model reads, the texts of it.
pub(crate) fn text(given: &Given) -> String {
    let texts = given.content.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
