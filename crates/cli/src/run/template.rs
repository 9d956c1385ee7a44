//! Names of output files: `%j` job, `%n` or `%t` rank, `%N` node, `%%` a percent sign; a width
//! pads numbers with zeros (`%3n`), as srun does.

use std::fmt::Write;

/// A name with places in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
    /// Whether what the files have stays, and output goes behind it.
    pub appends: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Job(usize),
    Rank(usize),
    Node,
}

/// Widest padding (srun's is 10).
const WIDTH_MAX: usize = 10;

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// One sentence.
    pub fn parse(text: &str) -> Result<Template, String> {
        if text.is_empty() || text.ends_with('/') {
            return Err(format!("'{text}' names no file"));
        }
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                plain.push(c);
                continue;
            }
            let mut width = 0;
            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                width = width.min(WIDTH_MAX) * 10 + digit as usize;
                chars.next();
            }
            let piece = match chars.next() {
                Some('%') => {
                    plain.push('%');
                    continue;
                }
                _ if width > WIDTH_MAX => {
                    return Err(format!("'{text}': numbers are {WIDTH_MAX} digits wide at most"));
                }
                Some('j') => Piece::Job(width),
                Some('n' | 't') => Piece::Rank(width),
                Some('N') => Piece::Node,
                Some(c) => {
                    let known = "%j (job), %n or %t (rank), %N (node) and %%";
                    return Err(format!("'{text}': %{c} means nothing; known are {known}"));
                }
                None => return Err(format!("'{text}' ends in a lone %; write %% for one")),
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(piece);
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Template { pieces, appends: false })
    }

    /// The same names, of files that may be added to.
    #[must_use]
    pub fn appending(self, appends: bool) -> Template {
        Template { appends, ..self }
    }

    /// The name for a rank.
    pub fn expand(&self, job: u64, rank: usize, node: &str) -> String {
        let mut name = String::new();
        for piece in &self.pieces {
            // Writing to a String cannot fail.
            let _ = match piece {
                Piece::Text(text) => write!(name, "{text}"),
                Piece::Job(width) => write!(name, "{job:0width$}"),
                Piece::Rank(width) => write!(name, "{rank:0width$}"),
                Piece::Node => write!(name, "{node}"),
            };
        }
        name
    }

    /// The name, if it is the same for all ranks of all jobs.
    pub fn fixed(&self) -> Option<&str> {
        match &self.pieces[..] {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The directory, if it is the same for all ranks: it can be looked at before the job starts.
    pub fn fixed_dir(&self) -> Option<&str> {
        let Some(Piece::Text(text)) = self.pieces.first() else { return None };
        let later = self.pieces.iter().skip(1);
        let slash_later =
            later.clone().any(|piece| matches!(piece, Piece::Text(t) if t.contains('/')));
        if slash_later {
            return None;
        }
        match text.rsplit_once('/') {
            Some(("", _)) => Some("/"),
            Some((dir, _)) => Some(dir),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled() {
        for (text, name) in [
            ("out", "out"),
            ("out.%j.%n", "out.7.12"),
            ("%N/%t.txt", "n3/12.txt"),
            ("%4n-%2j", "0012-07"),
            ("100%%", "100%"),
            ("%5%", "%"),
        ] {
            assert_eq!(Template::parse(text).unwrap().expand(7, 12, "n3"), name);
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("", "names no file"),
            ("dir/", "names no file"),
            ("a%", "lone %"),
            ("a%q", "%q means nothing"),
            ("a%99n", "10 digits"),
        ] {
            assert!(Template::parse(text).unwrap_err().contains(said), "{text}");
        }
    }

    #[test]
    fn a_directory_without_places_is_known_early() {
        for (text, dir) in [
            ("a/b/out.%n", Some("a/b")),
            ("/out", Some("/")),
            ("out", None),
            ("%N/out", None),
            ("a/%N/out", None),
        ] {
            assert_eq!(Template::parse(text).unwrap().fixed_dir(), dir);
        }
    }
}
