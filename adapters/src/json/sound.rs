use super::Cursor;

/// What came whole of a value that is broken, or that breaks off: its members in front of the damage, with what is open there closed. `None`: no
/// member came whole, or nothing is wrong. What stands behind whole values is looked at alone.
pub fn sound_part(text: &str) -> Option<String> {
    let mut at = Cursor::new(text);
    let mut from = 0;
    let damage = loop {
        if at.at_end() {
            return None;
        }
        match at.raw() {
            Ok(_) => from = at.position(),
            Err(error) => break error.at.min(text.len()),
        }
    };
    let value = text.as_bytes().get(from..damage)?;
    let end = scan(value).1?;
    let mut part = text.get(from..from + end)?.trim_start().to_owned();
    let (open, _) = scan(&value[..end]);
    part.extend(open.iter().rev().map(|bracket| char::from(*bracket)));
    Some(part)
}

/// The brackets that close what is open at the end, and where the last comma outside of strings stands.
fn scan(value: &[u8]) -> (Vec<u8>, Option<usize>) {
    let (mut open, mut comma) = (Vec::new(), None);
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in value.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                open.pop();
            }
            b',' => comma = Some(at),
            _ => {}
        }
    }
    (open, comma)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    #[test]
    fn members_in_front_of_the_damage_stand() {
        for (broken, sound) in [
            (r#"{"a":1,"b":"x\",y"#, Some(r#"{"a":1}"#)),
            (r#"{"a":{"b":[1,2,{"c":"#, Some(r#"{"a":{"b":[1,2]}}"#)),
            (r#"{"a":1,"b":tru,"c":2}"#, Some(r#"{"a":1}"#)),
            (r#"{"x":1} {"a":1,"b"#, Some(r#"{"a":1}"#)),
            (r#"{"a":"x"#, None),
            (r#"{"a":1,"b":2}"#, None),
            ("", None),
        ] {
            assert_eq!(sound_part(broken).as_deref(), sound, "{broken}");
        }
    }

    #[test]
    fn wherever_a_value_breaks_off_what_is_left_is_one() {
        let text = r#"{"a":[{"b":"\\\"é\ud83d,{"},[],{}],"c":-1.5e3,"d":{"e":null,"f":[[],[0,1]]}}"#;
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            if let Some(part) = sound_part(&text[..at]) {
                assert_eq!(Raw::trusted(&part).check(), Ok(()), "{} → {part}", &text[..at]);
            }
        }
    }
}
