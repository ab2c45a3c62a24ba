//! Help and usage texts in the shape of the program's own, made of the table of flags.

use std::fmt::Write;

use super::flag::{Flag, Grammar, Shape};
use super::program::Program;

/// What `--help` prints.
pub fn help(program: &Program) -> String {
    let mut text = match program.grammar {
        Grammar::Commander => format!("Usage: {} [options] [command] [prompt]\n", program.name),
        Grammar::Yargs => format!("Usage: {} [options] [command]\n", program.name),
        Grammar::Argparse => usage(program),
        Grammar::Clap => format!("Usage: {} [OPTIONS] <COMMAND> [ARGS]\n", program.name),
    };
    text.push_str("\nOptions:\n");
    for flag in program.flags {
        line(&mut text, &flag.declared(), &about(program, flag));
    }
    if !program.commands.is_empty() {
        text.push_str("\nCommands:\n");
        for command in program.commands {
            line(&mut text, &command.names.join("|"), command.about);
        }
    }
    text
}

/// What stands before or after a complaint: argparse's `usage:`, yargs' help.
pub(super) fn usage(program: &Program) -> String {
    if program.grammar != Grammar::Argparse {
        return help(program);
    }
    let parts = program
        .flags
        .iter()
        .map(|flag| {
            let name = flag.names[0];
            match flag.shape.placeholder() {
                "" => format!("[{name}]"),
                placeholder => format!("[{name} {placeholder}]"),
            }
        })
        .collect::<Vec<_>>();
    let head = format!("usage: {} ", program.name);
    let indent = " ".repeat(head.len());
    // argparse fills lines of 78 columns, flags first, and begins a new line for what is no flag.
    let mut text = format!("{}\n\n{head}", program.version);
    let mut column = head.len();
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            if column + 1 + part.len() > 78 {
                let _ = write!(text, "\n{indent}");
                column = indent.len();
            } else {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(part);
        column += part.len();
    }
    let _ = writeln!(text, "\n{indent}[prompt]");
    text
}

/// Commander's guess at what was meant: the long flags that differ in at most three places, when only the nearest count.
pub(super) fn did_you_mean(program: &Program, word: &str) -> String {
    let Some(word) = word.strip_prefix("--") else {
        return String::new();
    };
    let length = word.chars().count();
    let mut best = 3;
    let mut near: Vec<&str> = Vec::new();
    for name in program.flags.iter().filter(|flag| flag.spoken).flat_map(|flag| flag.names) {
        let Some(long) = name.strip_prefix("--").filter(|long| long.len() > 1) else {
            continue;
        };
        let longest = length.max(long.len());
        let distance = distance(word, long);
        if distance > best || (longest - distance) * 10 <= longest * 4 {
            continue;
        }
        if distance < best {
            best = distance;
            near.clear();
        }
        near.push(name);
    }
    near.sort_unstable();
    match near.as_slice() {
        [] => String::new(),
        [one] => format!("\n(Did you mean {one}?)"),
        many => format!("\n(Did you mean one of {}?)", many.join(", ")),
    }
}

/// How many letters must be put in, left out, changed or swapped with their neighbour. More than three are as good as many.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 3 {
        return a.len().max(b.len());
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

fn about(program: &Program, flag: &Flag) -> String {
    let Shape::OneOf(_, words, _) = flag.shape else {
        return flag.about.to_owned();
    };
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match program.grammar {
        Grammar::Yargs => format!("{}  [choices: {}]", flag.about, words.join(", ")),
        _ => format!("{} (choices: {})", flag.about, words.join(", ")),
    }
}

fn line(text: &mut String, what: &str, about: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "  {what:<36}  {about}");
}
