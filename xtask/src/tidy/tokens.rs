//! A small lexer for Rust: enough to tell code from strings and comments, and a lifetime from a
//! character. It never fails; text that is not Rust just gives odd tokens.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or keyword, raw ones without their `r#`.
    Word,
    /// One character of punctuation; `::` is two tokens.
    Mark,
    /// A number, character or string.
    Literal,
    /// `'a`.
    Lifetime,
    /// A comment of either form, doc comments included.
    Comment,
}

/// A token, the line it starts on and the line it ends on (from 1).
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: &'a str,
    /// The line of its first character.
    pub line: usize,
    /// The line of its last character.
    pub last_line: usize,
}

impl Token<'_> {
    /// Whether this is the given keyword, identifier or punctuation mark.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Mark) && self.text == text
    }
}

/// Cuts a Rust source into tokens.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { source, at: 0, line: 1 };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        tokens.push(token);
    }
    tokens
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn next_token(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start().len();
        self.line += count_lines(&rest[..blank]);
        self.at += blank;
        let rest = self.rest();
        let first = rest.chars().next()?;
        let (kind, length) = match first {
            '/' if rest.starts_with("//") => (Kind::Comment, line_length(rest)),
            '/' if rest.starts_with("/*") => (Kind::Comment, block_comment_length(rest)),
            '"' => (Kind::Literal, quoted_length(rest, '"')),
            '\'' => quote(rest),
            '0'..='9' => (Kind::Literal, number_length(rest)),
            _ if is_word_start(first) => word_or_prefixed(rest),
            _ => (Kind::Mark, first.len_utf8()),
        };
        let mut text = &rest[..length];
        let line = self.line;
        self.line += count_lines(text);
        self.at += length;
        if kind == Kind::Word {
            text = text.strip_prefix("r#").unwrap_or(text);
        }
        Some(Token { kind, text, line, last_line: self.line })
    }
}

fn count_lines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

fn is_word_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Block comments nest.
fn block_comment_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of a quoted text with escapes, both quotes included; `text` starts at the first.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A character literal has its closing quote after one character or an escape; else a lifetime.
fn quote(text: &str) -> (Kind, usize) {
    let mut after = text[1..].chars();
    match (after.next(), after.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => (Kind::Literal, quoted_length(text, '\'')),
        _ => {
            let name = text[1..].find(|c| !is_word(c)).unwrap_or(text.len() - 1);
            (Kind::Lifetime, 1 + name)
        }
    }
}

fn number_length(text: &str) -> usize {
    let mut end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let mut after = text[end..].chars();
    if after.next() == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit()) {
        let fraction = &text[end + 1..];
        end += 1 + fraction.find(|c| !is_word(c)).unwrap_or(fraction.len());
    }
    end
}

/// A word, or a literal that starts like one: `b"`, `c"`, `b'`, `r"`, `br##"`.
fn word_or_prefixed(text: &str) -> (Kind, usize) {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    match word {
        "b" | "c" if rest.starts_with('"') => (Kind::Literal, end + quoted_length(rest, '"')),
        "b" if rest.starts_with('\'') => (Kind::Literal, end + quoted_length(rest, '\'')),
        "r" | "br" | "cr" if rest[hashes..].starts_with('"') => {
            let closing = format!("\"{}", "#".repeat(hashes));
            let body = end + hashes + 1;
            let length = text[body..].find(&closing).map(|at| body + at + closing.len());
            (Kind::Literal, length.unwrap_or(text.len()))
        }
        "r" if hashes == 1 && rest[1..].starts_with(is_word_start) => {
            let name = rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1);
            (Kind::Word, end + 1 + name)
        }
        _ => (Kind::Word, end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<(Kind, &str)> {
        tokens(source).iter().map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn lifetimes_are_not_characters() {
        use Kind::{Lifetime, Literal, Mark};
        let got = kinds(r"&'a '{' '\'' '\u{7b}' 'static b'}' '_'");
        let want = [
            (Mark, "&"),
            (Lifetime, "'a"),
            (Literal, "'{'"),
            (Literal, r"'\''"),
            (Literal, r"'\u{7b}'"),
            (Lifetime, "'static"),
            (Literal, "b'}'"),
            (Literal, "'_'"),
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn strings_hide_braces_and_comments() {
        let source = r###"r#"{ " // "# b"\"{" br##"}"# "## c"x" r#fn "a\\" x"###;
        let got = kinds(source);
        let words: Vec<_> = got.iter().filter(|token| token.0 == Kind::Word).collect();
        assert_eq!(words, [&(Kind::Word, "fn"), &(Kind::Word, "x")]);
        assert_eq!(got.iter().filter(|token| token.0 == Kind::Literal).count(), 5);
    }

    #[test]
    fn comments_nest_and_lines_count() {
        let all = tokens("a /* { /* \n */ } */ b // }\n\"x\ny\" c");
        let c = all.last().expect("there are tokens");
        assert_eq!((c.text, c.line), ("c", 4));
        assert_eq!(all.iter().filter(|token| token.kind == Kind::Comment).count(), 2);
        assert_eq!(all[3].kind, Kind::Comment);
    }

    #[test]
    fn numbers_leave_ranges_alone() {
        let got = kinds("0..9 1.5e3 0xff_u8 x.0");
        let literals: Vec<_> = got.iter().filter(|token| token.0 == Kind::Literal).collect();
        assert_eq!(literals.len(), 5);
        assert_eq!(got[0].1, "0");
    }

    #[test]
    fn unfinished_text_ends() {
        for source in ["\"abc", "'", "r#\"abc", "/* /* */", "b'", "r#", "'\\", "é'é"] {
            assert!(!tokens(source).is_empty(), "{source}");
        }
    }
}
