//! What the words of a command line mean.

use super::flag::{Grammar, Means, Shape};
use super::program::Program;
use super::scan::{Given, Outcome, Scanned, Unknown, check_choices, check_numbers, no_operand, scan, unknown_error, yargs_error};
use super::{Answerer, ArgError, Command, Errand, InputFormat, Launch, PermissionMode, Resume, Text, mode_of};
use crate::codec::{Format, Mode};

/// Reads a program's command line, without the program's own name.
///
/// With `strict`, flags that nobody knows are an error in every program; without it only in those whose table is
/// [closed](Program::closed), and elsewhere they are kept in [`Launch::unknown`]. When stdin speaks a protocol the prompt is not
/// on the command line, so the word after an unknown flag is its value.
///
/// # Errors
/// What the real program says to such a command line, and its exit code.
pub fn parse(program: &'static Program, args: &[String], strict: bool) -> Result<Command, ArgError> {
    let scanned = match scan(program, args)? {
        Outcome::Errand(errand) => return Ok(Command::Errand(errand)),
        Outcome::Launch(scanned) => scanned,
    };
    if !scanned.unknown.is_empty() && (strict || program.closed) {
        return Err(unknown_error(program, &scanned.unknown));
    }
    if program.grammar == Grammar::Yargs {
        check_choices(program, &scanned.given)?;
    }
    let Scanned {
        given,
        mut operands,
        unknown,
        latest,
        resumes,
        forks,
        server,
    } = scanned;
    let mut launch = Launch::new(Format {
        dialect: program.dialect,
        mode: Mode::TEXT,
    });
    if let Some(mode) = server {
        launch.format.mode = mode;
        launch.input = InputFormat::StreamJson;
    }
    if latest {
        launch.resume = Resume::Latest;
    }
    for given in &given {
        match given.flag.means {
            Means::Sessions => return Ok(Command::Errand(Errand::Sessions)),
            Means::Update => return Ok(Command::Errand(Errand::Update)),
            _ => fill(program, &mut launch, given),
        }
    }
    if resumes && launch.resume == Resume::New && !operands.is_empty() {
        launch.resume = Resume::Session(operands.remove(0));
    }
    if forks && launch.resume == Resume::New {
        return Err(no_operand("SESSION_ID"));
    }
    launch.fork |= forks;
    let words = take_values(&mut launch, operands, unknown);
    operands_to_prompt(program, &mut launch, words)?;
    (program.check)(&mut launch, &|name| given.iter().any(|given| given.flag.names.contains(&name)))?;
    if program.grammar == Grammar::Yargs {
        check_numbers(&given)?;
    }
    Ok(Command::Launch(Box::new(launch)))
}

/// Sets what one flag means. A flag that is given twice counts the second time; lists grow.
fn fill(program: &Program, launch: &mut Launch, given: &Given) {
    let dialect = program.dialect;
    // Only yargs gives a switch a value: `--x=false`, `--no-x`.
    let on = given.value.as_deref() != Some("false");
    let text = || given.value.clone().unwrap_or_default();
    let some = || Some(text());
    match given.flag.means {
        Means::Output if program.traits.lines == given.value.as_deref() => launch.format = dialect.into(),
        Means::Output => launch.format.mode = mode_of(dialect, &text()).unwrap_or(launch.format.mode),
        Means::Lines => launch.format = dialect.into(),
        Means::Input => {
            launch.input = if text() == "text" || text().is_empty() {
                InputFormat::Text
            } else {
                InputFormat::StreamJson
            }
        }
        Means::Partial => launch.partial = on,
        Means::Print => launch.print = on,
        Means::Prompt => (launch.prompt, launch.print) = (some().filter(|text| !text.is_empty()), true),
        Means::PromptThenTerminal => launch.prompt = some().filter(|text| !text.is_empty()),
        Means::Model => launch.model = some().filter(|text| !text.is_empty()),
        Means::Fallback => launch.fallback_models.extend(commas(&text())),
        Means::System => launch.system.replace = Some(Text::Here(text())),
        Means::SystemFile => launch.system.replace = Some(Text::File(text())),
        Means::Append => launch.system.append = Some(Text::Here(text())),
        Means::AppendFile => launch.system.append = Some(Text::File(text())),
        Means::Permission => {
            launch.permission = PermissionMode::from_name(dialect, &text()).or(launch.permission);
            // Another word for a mode is kept, so that the same program is started with it.
            if launch.permission.and_then(|mode| mode.name(dialect)) != given.value.as_deref() {
                launch.rest.push((given.name.clone(), given.value.clone()));
            }
        }
        Means::PermissionIs(mode) if on => launch.permission = Some(mode),
        Means::PermissionIs(_) => {}
        Means::Answerer => {
            launch.answerer = match text().as_str() {
                "stdio" => Answerer::Host,
                tool => Answerer::Tool(tool.to_owned()),
            }
        }
        Means::Answers => {
            if text() == "none" {
                launch.answerer = Answerer::Nobody;
            }
        }
        Means::Tools => match text().as_str() {
            "default" => launch.tools = None,
            list => launch.tools.get_or_insert_default().extend(rules(list)),
        },
        Means::Allowed => launch.allowed_tools.extend(rules(&text())),
        Means::Disallowed => launch.disallowed_tools.extend(rules(&text())),
        Means::MaxTurns => launch.max_turns = whole(&text()),
        Means::MaxBudget => launch.max_budget_usd = text().trim().parse().ok(),
        Means::Resume => {
            launch.resume = match given.value.as_deref() {
                None | Some("") => Resume::Pick,
                Some(word) if program.traits.latest == Some(word) => Resume::Latest,
                Some(id) => Resume::Session(id.to_owned()),
            }
        }
        Means::Latest if on => launch.resume = Resume::Latest,
        Means::Latest => {}
        Means::SessionId => launch.session_id = some().filter(|id| !id.is_empty()),
        Means::Fork => launch.fork = on,
        Means::ResumeAt => launch.resume_at = some(),
        Means::Cwd => launch.cwd = some(),
        Means::AddDir => match given.flag.shape {
            // Elsewhere a comma is part of a path.
            Shape::List(_) if program.traits.cuts_at_commas => launch.add_dirs.extend(commas(&text())),
            _ => launch.add_dirs.push(text()),
        },
        Means::Mcp => launch.mcp_config.push(text()),
        Means::StrictMcp => launch.strict_mcp = on,
        Means::Settings => launch.settings = some(),
        Means::SettingSources => launch.setting_sources = Some(commas(&text()).collect()),
        Means::Agents => launch.agents = some(),
        Means::Agent => launch.agent = some(),
        Means::HookEvents => launch.hook_events = on,
        Means::Schema => launch.json_schema = some(),
        Means::Thinking => launch.thinking = some(),
        Means::ThinkingTokens => launch.max_thinking_tokens = whole(&text()),
        Means::Effort => launch.effort = some(),
        Means::Replay => launch.replay_user_messages = on,
        Means::Verbose => launch.verbose = on,
        Means::Rest | Means::Private => launch.rest.push((given.name.clone(), given.value.clone())),
        // Done before anything is filled in.
        Means::Version | Means::Help | Means::Models | Means::Sessions | Means::Update => {}
    }
}

/// Gives unknown flags the words that are their values, and returns the others.
fn take_values(launch: &mut Launch, operands: Vec<String>, unknown: Vec<Unknown>) -> Vec<String> {
    let protocol = launch.has_stdin_protocol();
    let mut operands: Vec<Option<String>> = operands.into_iter().map(Some).collect();
    for flag in unknown {
        launch.unknown.push(flag.text);
        if protocol && let Some(value) = flag.next.and_then(|at| operands.get_mut(at)).and_then(Option::take) {
            launch.unknown.push(value);
        }
    }
    operands.into_iter().flatten().collect()
}

fn operands_to_prompt(program: &Program, launch: &mut Launch, words: Vec<String>) -> Result<(), ArgError> {
    let prompt = match (program.grammar, program.closed) {
        _ if words.is_empty() => return Ok(()),
        // Claude's prompt is one word of the command line; it does not look at others. (argparse has refused them.)
        (Grammar::Commander, false) => {
            let mut words = words.into_iter();
            let first = words.next().unwrap_or_default();
            launch.unknown.extend(words);
            first
        }
        _ => words.join(" "),
    };
    if launch.prompt.is_some() {
        if launch.print {
            return Err(yargs_error(
                program,
                "Cannot use both a positional prompt and the --prompt (-p) flag together",
            ));
        }
        launch.unknown.push(prompt);
    } else if !prompt.is_empty() {
        launch.print |= program.grammar == Grammar::Yargs;
        launch.prompt = Some(prompt);
    }
    Ok(())
}

/// Splits at commas, without the blanks around them and without what is empty.
fn commas(list: &str) -> impl Iterator<Item = String> {
    list.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

/// Splits a list of rules at commas and blanks that stand outside of parentheses.
fn rules(list: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ' ' | '\t' | '\n' if depth == 0 => {
                rules.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    rules.push(&list[start..]);
    rules.into_iter().filter(|rule| !rule.is_empty()).map(str::to_owned).collect()
}

/// A number without its fraction; a negative one is no limit.
fn whole(text: &str) -> Option<u64> {
    let number: f64 = text.trim().parse().ok()?;
    // The cast cuts the fraction off and stays within the type.
    (number >= 0.0).then_some(number as u64)
}

/// Whether a text is a number to the programs, which are JavaScript: nothing is zero.
pub(crate) fn is_number(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.parse::<f64>().is_ok_and(|number| !number.is_nan())
}

/// Whether a text is a UUID.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
