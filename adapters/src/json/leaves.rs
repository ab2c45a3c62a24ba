//! What a value is made of.

use super::{Raw, Shape};

/// So many values are told of one by one, so deep.
const MOST: usize = 512;
const DEPTH: usize = 16;

/// The values without parts of which a value is made, in their order; of very many the value itself.
pub(crate) fn leaves(value: Raw<'_>) -> Vec<Raw<'_>> {
    fn add<'v>(value: Raw<'v>, depth: usize, to: &mut Vec<Raw<'v>>) {
        let before = to.len();
        let mut inside = |part| {
            if to.len() <= MOST {
                add(part, depth - 1, to);
            }
        };
        match value.shape() {
            Some(Shape::Object) if depth > 0 => value.members().for_each(|(_, member)| inside(member)),
            Some(Shape::Array) if depth > 0 => value.elements().for_each(inside),
            _ => {}
        }
        if to.len() == before {
            to.push(value);
        }
    }
    let mut list = Vec::new();
    add(value, DEPTH, &mut list);
    if list.len() > MOST { vec![value] } else { list }
}
