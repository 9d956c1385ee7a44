//! Shell-style quoting of one line: how `argv` and `env` files carry words.

use std::borrow::Cow;

/// A line that cannot be split into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclosed {
    /// The quote that is never closed.
    pub quote: char,
}

impl std::fmt::Display for Unclosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a {} is never closed", self.quote)
    }
}

impl std::error::Error for Unclosed {}

/// Splits a line into words as the shell does: blanks separate, single quotes keep everything,
/// double quotes keep all but `\"`, `\\`, `\$` and `` \` ``, a backslash keeps the next character.
///
/// # Errors
/// [`Unclosed`] when a quote or a trailing backslash has no end.
pub fn split(line: &str) -> Result<Vec<String>, Unclosed> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let into = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or(Unclosed { quote: '\'' })? {
                        '\'' => break,
                        c => into.push(c),
                    }
                }
            }
            '"' => double_quoted(&mut chars, word.get_or_insert_default())?,
            '\\' => {
                let next = chars.next().ok_or(Unclosed { quote: '\\' })?;
                word.get_or_insert_default().push(next);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn double_quoted(chars: &mut std::str::Chars<'_>, into: &mut String) -> Result<(), Unclosed> {
    let unclosed = Unclosed { quote: '"' };
    loop {
        match chars.next().ok_or(unclosed.clone())? {
            '"' => return Ok(()),
            '\\' => match chars.next().ok_or(unclosed.clone())? {
                c @ ('"' | '\\' | '$' | '`') => into.push(c),
                c => into.extend(['\\', c]),
            },
            c => into.push(c),
        }
    }
}

/// Quotes one word so that [`split`] (and a POSIX shell) reads it back unchanged.
pub fn quote(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./:,@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Quotes several words into one line, without a newline.
pub fn join<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let quoted: Vec<String> =
        words.into_iter().map(|word| quote(word.as_ref()).into_owned()).collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_they_went() {
        for words in [
            vec!["a", "b c", "", "it's", "\"x\" \\ $y", "new\nline", "ünïcode"],
            vec![],
            vec!["'", "\\", "''"],
        ] {
            assert_eq!(split(&join(&words)).unwrap(), words);
        }
    }

    #[test]
    fn a_line_is_read_as_the_shell_reads_it() {
        let line = r#"prog -x "a \"b\" \n" c\ d e'f g'"h""#;
        assert_eq!(split(line).unwrap(), ["prog", "-x", r#"a "b" \n"#, "c d", "ef gh"]);
        assert_eq!(split("  \t "), Ok(vec![]));
    }

    #[test]
    fn a_quote_without_end_is_named() {
        for (line, quote) in [("a 'b", '\''), ("\"", '"'), ("a\\", '\\')] {
            assert_eq!(split(line), Err(Unclosed { quote }));
        }
    }
}
