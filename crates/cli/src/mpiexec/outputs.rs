//! Where the ranks' output goes, as Open MPI and MPICH say it.

use super::Line;

/// What Open MPI's words ask for; what is none of them is a file, as for `muster run`.
pub fn words(line: &mut Line, values: &[String]) -> Result<(), String> {
    let is_tag = |word: &str| ["tag", "tag-detailed", "tag-fullname"].contains(&word);
    let others = ["timestamp", "xml", "merge", "merge-stderr-to-stdout"];
    let words = || values[0].split(',').map(|word| word.split(':').next().unwrap_or(word));
    let place = |word: &'_ str| {
        let place = word.strip_prefix("dir=").or_else(|| word.strip_prefix("file="));
        place.map(str::to_owned)
    };
    let is_known = |word: &str| is_tag(word) || place(word).is_some() || others.contains(&word);
    if !words().all(is_known) {
        line.run.extend(["--output".to_owned(), values[0].clone()]);
        return Ok(());
    }
    if let Some(place) = words().find_map(place) {
        return Err(refused(&place));
    }
    let unheeded = words().filter(|word| !is_tag(word)).map(|word| format!("--output {word}"));
    line.ignored.extend(unheeded);
    if words().any(is_tag) {
        line.run.push("--label".to_owned());
    }
    Ok(())
}

/// Why Open MPI's directories with one of each rank are not made: who left that out would have a
/// job run whose output is nowhere.
pub fn refused(place: &str) -> String {
    let place = place.split(':').next().unwrap_or(place).trim_end_matches('/');
    format!(
        "directories for ranks are not made. Say the files, %t being the rank: --output \
         '{place}/%t.out' --error '{place}/%t.err', in a directory that is there"
    )
}

/// MPICH's pattern for names of files as a template of `muster run`.
pub fn pattern(text: &str) -> Result<String, String> {
    let mut template = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            template.push(c);
            continue;
        }
        match chars.next() {
            Some('r') => template.push_str("%t"),
            Some('h') => template.push_str("%N"),
            // All processes of a job are of the first group.
            Some('g') => template.push('0'),
            _ => {
                let known = "%r (rank), %h (node) and %g (group, 0)";
                return Err(format!("'{text}': behind % is none of {known}"));
            }
        }
    }
    // A file, whatever it is called: muster run's words for no file and for ours have no '/'.
    let is_word = ["none", "all"].contains(&template.as_str());
    Ok(if is_word { format!("./{template}") } else { template })
}

#[cfg(test)]
mod tests {
    use super::super::flags::read;
    use super::*;

    fn line(text: &str) -> Result<Line, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        read(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn words_for_output_are_no_files() {
        let told = |text: &str| {
            let line = line(text).unwrap();
            (line.run.join(" "), line.ignored.join(", "))
        };
        let (label, none) = ("--label".to_owned(), String::new());
        assert_eq!(told("--output tag x"), (label.clone(), none.clone()));
        let left_out = "--output timestamp".to_owned();
        assert_eq!(told("--output tag,timestamp x"), (label, left_out));
        assert_eq!(told("--output=o.%n x"), ("--output o.%n".to_owned(), none));
    }

    /// Open MPI's were left out: the job ran, and no file was there.
    #[test]
    fn files_for_output_are_made_or_refused_and_never_left_out() {
        let told = line("-outfile-pattern o/%r.%h -errfile-pattern=e.%r x").unwrap();
        assert_eq!(told.run.join(" "), "--output o/%t.%N --error e.%t");
        assert!(told.ignored.is_empty());
        for text in ["--output-filename d/", "--output tag,dir=d:nocopy", "--output file=d"] {
            let said = line(&format!("{text} x")).unwrap_err().to_string();
            assert!(said.contains("--output 'd/%t.out' --error 'd/%t.err'"), "{said}");
        }
        let said = line("-outfile-pattern o.%p x").unwrap_err().to_string();
        assert!(said.contains("'o.%p': behind % is none of %r"), "{said}");
    }
}
