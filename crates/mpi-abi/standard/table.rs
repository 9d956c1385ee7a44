//! A table: lines of items, below `[titles]`; `#` begins a line that says something to its readers.

use crate::Section;

/// Reads a table whose items `read` knows.
pub fn sections<T>(
    file: &str,
    text: &str,
    mut read: impl FnMut(&str) -> Option<T>,
) -> Vec<Section<T>> {
    let mut sections: Vec<Section<T>> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push(Section { title: title.to_owned(), items: Vec::new() });
            continue;
        }
        let item = read(line).unwrap_or_else(|| panic!("{file}:{number}: cannot read {line:?}"));
        if sections.is_empty() {
            sections.push(Section { title: String::new(), items: Vec::new() });
        }
        if let Some(section) = sections.last_mut() {
            section.items.push(item);
        }
    }
    sections
}

/// A line of so many words.
pub fn words<const N: usize>(line: &str) -> Option<[String; N]> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    words.try_into().ok()
}
