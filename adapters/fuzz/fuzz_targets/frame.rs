//! Bytes to lines, and bytes to JSON values. The first byte chooses the cuts, the second the limit of a line.

#![no_main]

use agentglot_adapters::raw::frame::{Line, Lines, Values};

fn lines(input: &[u8], most: usize, limit: usize) -> Vec<(usize, Option<u64>, Vec<u8>)> {
    let mut found = Vec::new();
    let mut each = |line: Line<'_>| {
        found.push(match line {
            Line::Whole { bytes, .. } => (bytes.len(), None, bytes.to_vec()),
            Line::Oversize { bytes, hash, .. } => (bytes as usize, Some(hash), Vec::new()),
        });
        true
    };
    let mut framing = Lines::new(limit);
    for read in input.chunks(most.max(1)) {
        framing.feed(read, &mut each);
    }
    framing.finish(&mut each);
    found
}

fn values(input: &[u8], most: usize) -> Vec<usize> {
    let (mut finder, mut buffer, mut found) = (Values::default(), Vec::new(), Vec::new());
    for read in input.chunks(most.max(1)) {
        buffer.extend_from_slice(read);
        while let Some(end) = finder.end(&buffer) {
            assert!(end > 0 && end <= buffer.len());
            found.push(end);
            buffer.drain(..end);
        }
    }
    found
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [cut, limit, rest @ ..] = input else { return };
    let (cut, limit) = (usize::from(*cut) % 40 + 1, usize::from(*limit) + 1);
    let whole = lines(rest, usize::MAX, limit);
    assert_eq!(lines(rest, cut, limit), whole, "cuts change lines");
    let length: usize = whole.iter().map(|line| line.0).sum();
    assert_eq!(length, rest.len(), "every byte is in a line");
    assert!(
        whole.iter().all(|line| line.1.is_some() == (line.0 > limit)),
        "a line over the limit is left out, no other is"
    );
    let unlimited: Vec<u8> = lines(rest, cut, usize::MAX).into_iter().flat_map(|line| line.2).collect();
    assert_eq!(unlimited, rest, "lines put together are the input");
    assert_eq!(values(rest, cut), values(rest, usize::MAX), "cuts change values");
});
