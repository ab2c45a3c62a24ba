//! Characters that nobody sees for what they are.

/// Whether a character is not to be seen, or changes how others are. Line feeds and tabs are seen.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Marks and overrides of direction, joiners and spaces without width, tags.
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => true,
        // Letters that are blank, and joiners; of the choosers of a form only those of emoji are seen for what they are.
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{3164}' | '\u{ffa0}' | '\u{fe00}'..='\u{fe0d}' | '\u{1d173}'..='\u{1d17a}' => true,
        c => c.is_control(),
    }
}
