//! Skills: instructions of the user's, the project's or a plugin's that the model takes up when it needs them.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::settings::{CommandFile, Settings};
use crate::tools::{Cx, Given, Spec, Tool};
use agentglot_adapters::raw::event::{DetailShape, ToolKind};

/// The tool that takes one up, where there is one.
pub(crate) fn tool(settings: &Settings) -> Option<Rc<dyn Tool>> {
    let skills: Vec<CommandFile> = settings.skills().cloned().collect();
    (!skills.is_empty()).then(|| Rc::new(Skill::new(skills)) as Rc<dyn Tool>)
}

#[derive(Debug)]
struct Skill {
    spec: Spec,
    skills: Vec<CommandFile>,
}

impl Skill {
    fn new(skills: Vec<CommandFile>) -> Self {
        let mut about = "Gives the instructions of a skill. Take one up before you begin with what it is for.\n\nSkills:\n".to_owned();
        for skill in &skills {
            about.push_str(&format!("- {}: {}\n", skill.name, skill.description));
        }
        Self {
            spec: Spec {
                name: "Skill".to_owned(),
                description: about,
                schema: json!({
                    "type": "object",
                    "properties": {
                        "skill": {"type": "string", "description": "The name of the skill"},
                        "args": {"type": "string", "description": "What it is to be applied to"}
                    },
                    "required": ["skill"]
                }),
                kind: ToolKind::Other,
                reads_only: true,
                ..Spec::default()
            },
            skills,
        }
    }
}

#[async_trait(?Send)]
impl Tool for Skill {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, input: &Value, _: &Cx<'_>) -> Given {
        let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
        let name = text("skill").trim_start_matches('/');
        let Some(skill) = self.skills.iter().find(|skill| skill.name == name) else {
            return Given::error(format!("Unknown skill: {name}"));
        };
        let folder = skill.path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        let said = format!("Base folder of this skill: {folder}\n\n{}", skill.prompt_for(text("args")));
        Given::text(said).with(DetailShape::Claude, json!({"success": true, "commandName": skill.name}))
    }
}
