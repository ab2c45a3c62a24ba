//! What is wrong with arguments, in the words of ajv, by which several programs check them.

use super::args::{Step, What, Wrong};

/// The first thing that is wrong.
pub(in crate::persona) fn first(wrong: &[Wrong]) -> String {
    wrong.first().map(said).unwrap_or_default()
}

fn said(wrong: &Wrong) -> String {
    let place = |steps: &[Step]| {
        let mut place = String::from("params");
        for step in steps {
            match step {
                Step::Member(name) => place.push_str(&format!("/{name}")),
                Step::Element(n) => place.push_str(&format!("/{n}")),
            }
        }
        place
    };
    match &wrong.what {
        What::Missing(_) => {
            let (name, above) = match wrong.path.split_last() {
                Some((Step::Member(name), above)) => (name.as_str(), above),
                _ => ("", &wrong.path[..]),
            };
            format!("{} must have required property '{name}'", place(above))
        }
        What::Type(expected, _) => format!("{} must be {expected}", place(&wrong.path)),
        What::Choice(_) => format!("{} must be equal to one of the allowed values", place(&wrong.path)),
        What::Small(least) => format!("{} must be >= {least}", place(&wrong.path)),
        What::Unexpected(_) => format!("{} must NOT have additional properties", place(&wrong.path)),
    }
}
