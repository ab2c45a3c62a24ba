//! What things are called that hold a secret: variables, flags, headers, members of JSON.

/// Words that say it wherever they stand in a name.
const WORDS: [&str; 12] = [
    "key",
    "keys",
    "secret",
    "secrets",
    "credential",
    "credentials",
    "creds",
    "pat",
    "bearer",
    "authorization",
    "mnemonic",
    "psk",
];

/// Words that say it at the end of a name.
const LAST: [&str; 15] = [
    "auth", "cred", "jwt", "jwts", "pass", "dsn", "cookie", "cookies", "header", "headers", "webhook", "webhooks", "sas", "sshpass", "pw",
];

/// What says it in the middle of a word too.
const PARTS: [&str; 7] = ["password", "passwd", "passphrase", "secret", "credential", "token", "apikey"];

/// Words of which `tokens` are counted, and no secret.
const COUNTED: [&str; 14] = [
    "max",
    "min",
    "limit",
    "budget",
    "count",
    "input",
    "output",
    "total",
    "thinking",
    "cached",
    "prompt",
    "completion",
    "context",
    "used",
];

/// Whether what is called so holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else { return false };
    if words.iter().any(|word| word == "tokens") && words.iter().any(|word| COUNTED.contains(&word.as_str())) {
        return false;
    }
    let says = |word: &String| WORDS.contains(&word.as_str()) || PARTS.iter().any(|part| word.contains(part));
    let ends = |ending: [&str; 2]| words.len() > 1 && words[words.len() - 2..] == ending;
    words.iter().any(says)
        || LAST.contains(&last.as_str())
        // `PWD` and `OLDPWD` are folders.
        || (last == "pwd" && words.len() > 1)
        || ["url", "uri"].iter().any(|url| ends(["webhook", url]))
        || ends(["connection", "string"])
        || ends(["auth", "config"])
}

/// Whether it is called a password: such secrets are short.
pub(super) fn is_password(name: &str) -> bool {
    words(name).iter().any(|word| {
        ["password", "passwd", "passphrase"].iter().any(|part| word.contains(part)) || ["pwd", "pass", "sshpass", "pw"].contains(&word.as_str())
    })
}

/// Whether a text of any kind may be believed to mean a secret by this name: a program's own `key`, `token` and `auth` are too many things.
pub(super) fn is_plain_name(name: &str) -> bool {
    let words = words(name);
    let [rest @ .., last] = words.as_slice() else { return false };
    let before = rest.last().map(String::as_str);
    match last.as_str() {
        "key" => matches!(before, Some("api" | "access" | "secret" | "private" | "account" | "auth")),
        "token" => matches!(
            before,
            Some("access" | "refresh" | "auth" | "bearer" | "session" | "id" | "bot" | "api" | "private" | "oauth" | "security")
        ),
        "pwd" | "pass" => before.is_some(),
        "secret" | "apikey" | "passphrase" | "jwt" | "authtoken" | "accesstoken" => true,
        word => word.contains("password") || word.contains("passwd"),
    }
}

/// The words of `SOME_API_KEY`, `some-api-key`, `someApiKey`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let between = !c.is_ascii_alphanumeric();
        if (between || c.is_ascii_uppercase() && before.is_ascii_lowercase()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if !between && let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_kinds_are_known() {
        for name in [
            "OPENAI_API_KEY",
            "github_token",
            "TOKEN",
            "PGPASSWORD",
            "MYSQL_PWD",
            "SSHPASS",
            "DB_PASS",
            "STRIPE_KEY",
            "GCP_CREDS",
            "SERVICE_JWT",
            "CLIENT_SECRET_V2",
            "SLACK_WEBHOOK_URL",
            "DISCORD_WEBHOOK",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "ANTHROPIC_CUSTOM_HEADERS",
            "SENTRY_DSN",
            "AZURE_STORAGE_CONNECTION_STRING",
            "DOCKER_AUTH_CONFIG",
            "NPM_CONFIG__AUTH",
            "npm_config_//registry/:_authToken",
            "REDISCLI_AUTH",
            "--api-key",
            "--openai-api-key",
            "--password",
            "--auth-token",
            "apiKey",
            "clientSecret",
            "X-Api-Key",
            "Authorization",
            "Cookie",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "HTPASSWD",
            "MY_PAT",
            "GH_PAT",
            "JIRA_API_TOKEN",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
            "MONKEY",
            "--max-tokens",
            "MAX_MCP_OUTPUT_TOKENS",
            "--auth-type",
            "--pass-env",
            "BYPASS_CACHE",
            "COMPASS",
            "AUTHOR",
            "GIT_AUTHOR_NAME",
            "DATABASE_URL",
            "input_tokens",
            "JWT_ISSUER",
            "",
            "-",
            "PATTERN",
            "COOKIE_DOMAIN",
            "XDG_SESSION_ID",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
