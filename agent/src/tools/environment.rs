//! The variables that commands get: those of ours, scrubbed of secrets.

use crate::redact;

/// How names begin that belong to a service and its keys.
const VENDORS: [&str; 14] = [
    "ANTHROPIC_",
    "OPENAI_",
    "AWS_",
    "AZURE_",
    "GEMINI_",
    "GOOGLE_API",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "DASHSCOPE_",
    "DEEPSEEK_",
    "OPENROUTER_",
    "MISTRAL_",
    "GROQ_",
    "XAI_",
    "AGENTGLOT_",
];

/// What every command gets: nobody is there to answer an editor, a pager or a question for a password.
const OURS: [(&str, &str); 5] = [
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // What only reads writes nothing down by the way.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
];

/// The environment of commands: that of this process without what is [secret](is_secret), but with the variables that `pass` names (a `*`
/// at the end of a name stands for any ending), and then `extra`, which wins over all. Variables that are not UTF-8 are left out.
pub fn environment(extra: impl IntoIterator<Item = (String, String)>, pass: &[String]) -> Vec<(String, String)> {
    let ours = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    scrubbed(ours, extra, pass)
}

/// [`environment`] of any variables.
pub fn scrubbed(
    ours: impl IntoIterator<Item = (String, String)>,
    extra: impl IntoIterator<Item = (String, String)>,
    pass: &[String],
) -> Vec<(String, String)> {
    let passes = |name: &str| {
        pass.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == pattern,
        })
    };
    let mut all: Vec<(String, String)> = ours.into_iter().filter(|(name, value)| passes(name) || !is_secret(name, value)).collect();
    let set = |all: &mut Vec<(String, String)>, name: String, value: String| {
        all.retain(|(known, _)| *known != name);
        all.push((name, value));
    };
    for (name, value) in OURS {
        if !passes(name) {
            set(&mut all, name.to_owned(), value.to_owned());
        }
    }
    for (name, value) in extra {
        // The system takes no other names and values.
        if !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0') {
            set(&mut all, name, value);
        }
    }
    all
}

/// Whether a variable is kept from commands: it is [a secret](redact::is_secret), or belongs to a service and its keys. The addresses of proxies are
/// passed on, for without them nothing reaches the network.
pub fn is_secret(name: &str, value: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let secret = redact::is_secret_name(name) || (!upper.ends_with("_PROXY") && redact::is_secret(name, value));
    secret || VENDORS.iter().any(|vendor| upper.starts_with(vendor))
}

/// From here on no other process of our user reads our environment and our memory: not through `/proc`, and not as a debugger. For root it
/// makes no difference, nor for the programs that we start.
///
/// # Errors
/// Those of the system. Only Linux knows this.
pub fn hide_ours() -> std::io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn secrets_are_known_by_name_and_by_looks() {
        for (name, value) in [
            ("ANTHROPIC_API_KEY", "x"),
            ("ANTHROPIC_BASE_URL", "x"),
            ("OPENAI_ORG", "x"),
            ("AWS_PROFILE", "x"),
            ("MY_API_KEY", "x"),
            ("github_token", "x"),
            ("NPM_TOKEN", "x"),
            ("TOKEN", "x"),
            ("CLIENT_SECRET_V2", "x"),
            ("PGPASSWORD", "x"),
            ("DB_PWD", "x"),
            ("STRIPE_KEY", "x"),
            ("AGENTGLOT_BACKEND", "x"),
            ("HARMLESS", "sk-abcdef"),
            ("DATABASE_URL", "postgres://u:p@h/db"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("PATH", "/bin"),
            ("PWD", "/home"),
            ("OLDPWD", "/"),
            ("HOME", "/root"),
            ("SSH_AUTH_SOCK", "/run/x"),
            ("HTTPS_PROXY", "http://u:p@h:1"),
            ("DATABASE_URL", "postgres://h/db"),
            ("URL", "http://h/a:b@c"),
            ("KEYBOARD", "de"),
            ("MONKEY", "x"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn what_is_named_is_passed_and_what_is_added_wins() {
        let ours = pairs(&[
            ("A", "1"),
            ("OPENAI_API_KEY", "k"),
            ("OPENAI_BASE_URL", "u"),
            ("NPM_TOKEN", "t"),
            ("GIT_EDITOR", "vi"),
        ]);
        let chosen = scrubbed(
            ours,
            pairs(&[("A", "2"), ("B", "x"), ("B=C", "x"), ("", "x"), ("N", "a\0b"), ("MY_SECRET", "s")]),
            &["OPENAI_*".to_owned(), "GIT_EDITOR".to_owned()],
        );
        assert_eq!(
            chosen,
            pairs(&[
                ("OPENAI_API_KEY", "k"),
                ("OPENAI_BASE_URL", "u"),
                ("GIT_EDITOR", "vi"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_OPTIONAL_LOCKS", "0"),
                ("PAGER", "cat"),
                ("GIT_PAGER", "cat"),
                ("A", "2"),
                ("B", "x"),
                ("MY_SECRET", "s"),
            ])
        );
    }

    #[test]
    fn our_own_environment_is_there() {
        let all = environment([], &[]);
        assert!(all.iter().any(|(name, value)| name == "PATH" && !value.is_empty()));
    }
}
