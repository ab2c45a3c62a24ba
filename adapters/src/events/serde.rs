//! Events and raw JSON for serde: an [`Event`] is the object that `agentglot:events` has for it, in whatever form serde writes.

use std::fmt::{self, Write as _};

use serde_core::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{Error as _, SerializeMap, SerializeSeq};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Event, Json};
use crate::json::{Raw, Shape, Str};

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Part(Raw::trusted(&self.to_json()), 0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        Self::from_json(json.as_str()).map_err(D::Error::custom)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Part(Raw::trusted(self.as_str()), 0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// A part of sound JSON, and how deep it lies.
struct Part<'a>(Raw<'a>, u32);

/// Serializers recurse; deeper values are refused, so that no log can exhaust the stack. `serde_json` reads no deeper ones either.
const DEEPEST: u32 = 128;

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &Self(raw, depth) = self;
        if depth > DEEPEST {
            return Err(S::Error::custom("a value is nested too deep"));
        }
        match raw.shape() {
            Some(Shape::Bool) => serializer.serialize_bool(raw.as_str() == "true"),
            Some(Shape::Number) => match (raw.u64(), raw.i64()) {
                (Some(number), _) => serializer.serialize_u64(number),
                (None, Some(number)) => serializer.serialize_i64(number),
                (None, None) => serializer.serialize_f64(raw.f64().unwrap_or(f64::NAN)),
            },
            Some(Shape::String) => serializer.serialize_str(&raw.string().unwrap_or(Str::EMPTY).unescape()),
            Some(Shape::Array) => {
                let mut list = serializer.serialize_seq(None)?;
                for element in raw.elements() {
                    list.serialize_element(&Self(element, depth + 1))?;
                }
                list.end()
            }
            Some(Shape::Object) => {
                let mut map = serializer.serialize_map(None)?;
                for (key, value) in raw.members() {
                    map.serialize_entry(&*key.unescape(), &Self(value, depth + 1))?;
                }
                map.end()
            }
            Some(Shape::Null) | None => serializer.serialize_unit(),
        }
    }
}

/// Writes whatever comes as JSON.
struct AnyValue;

impl AnyValue {
    fn json<E>(text: &impl fmt::Display) -> Result<Json, E> {
        Ok(Json::trusted(text.to_string()))
    }
}

/// How `serde_json` hands on numbers and raw values that it does not take apart: as a map of one member with such a key.
const AS_WRITTEN: [&str; 2] = ["$serde_json::private::Number", "$serde_json::private::RawValue"];

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Self::json(&value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Self::json(&value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Self::json(&value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        match value.is_finite() {
            true => Self::json(&ryu::Buffer::new().format_finite(value)),
            false => Ok(Json::default()),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::text(value))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::default())
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        Json::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        Json::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut text = "[".to_owned();
        while let Some(element) = elements.next_element::<Json>()? {
            let comma = if text.len() > 1 { "," } else { "" };
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{comma}{element}");
        }
        text.push(']');
        Ok(Json::trusted(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut text = "{".to_owned();
        while let Some(key) = members.next_key::<String>()? {
            if AS_WRITTEN.contains(&key.as_str()) {
                let written: String = members.next_value()?;
                return Json::new(&written).ok_or_else(|| A::Error::custom("no JSON"));
            }
            let value: Json = members.next_value()?;
            let comma = if text.len() > 1 { "," } else { "" };
            let _ = write!(text, "{comma}{}:{value}", Json::text(&key));
        }
        text.push('}');
        Ok(Json::trusted(text))
    }
}
