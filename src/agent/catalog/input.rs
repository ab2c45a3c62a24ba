//! Arguments of calls, as the model wrote them.

use serde_json::Value;

/// The arguments of a call by name. The errors are what the model reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<'a> {
    tool: &'a str,
    input: &'a Value,
}

impl<'a> Arguments<'a> {
    pub(crate) const fn new(tool: &'a str, input: &'a Value) -> Self {
        Self { tool, input }
    }

    fn wrong(&self, name: &str, expected: &str) -> String {
        format!("The parameter `{name}` of {} must be {expected}.", self.tool)
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.input.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| self.wrong(name, "a string")),
        }
    }

    pub(crate) fn must_text(&self, name: &str) -> Result<&'a str, String> {
        self.text(name)?
            .ok_or_else(|| format!("The required parameter `{name}` of {} is missing.", self.tool))
    }

    /// Models write `"true"` too.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(word)) if word == "true" || word == "false" => Ok(word == "true"),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    /// A number that is not negative. Models write `"5"` and `5.0` too.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        number
            .filter(|number| number.is_finite() && *number >= 0.0)
            .map(Some)
            .ok_or_else(|| self.wrong(name, "a number that is not negative"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn takes_what_models_write_and_says_what_is_wrong() {
        let input = json!({"a": "x", "t": true, "ts": "true", "n": 5, "ns": "5.5", "no": null, "bad": [1], "less": -1});
        let given = Arguments::new("Bash", &input);
        assert_eq!(given.text("a"), Ok(Some("x")));
        assert_eq!((given.text("no"), given.text("absent")), (Ok(None), Ok(None)));
        assert_eq!(given.must_text("no"), Err("The required parameter `no` of Bash is missing.".to_owned()));
        assert_eq!(given.text("bad"), Err("The parameter `bad` of Bash must be a string.".to_owned()));
        assert_eq!((given.flag("t"), given.flag("ts"), given.flag("no")), (Ok(true), Ok(true), Ok(false)));
        assert!(given.flag("bad").is_err());
        assert_eq!(
            (given.number("n"), given.number("ns"), given.number("no")),
            (Ok(Some(5.0)), Ok(Some(5.5)), Ok(None))
        );
        for wrong in ["a", "bad", "less", "t"] {
            assert!(given.number(wrong).is_err(), "{wrong}");
        }
    }
}
