//! Rules about the words of Rust sources.

use super::Report;
use super::sources::Sources;
use super::text::EMPTY_NAMES;
use super::tokens::{Kind, Token, tokens};

const FUNCTION_LINES_MAX: usize = 70;
const BASE_LINES_MAX: usize = 2000;

/// The code of a source, without its comments.
fn code(text: &str) -> Vec<Token<'_>> {
    let mut all = tokens(text);
    all.retain(|token| token.kind != Kind::Comment);
    all
}

/// Functions, from `fn` to the closing brace, have at most 70 lines.
pub fn function_length(sources: &Sources, report: &mut Report) {
    for file in sources.rust() {
        for function in functions(&code(&file.text)) {
            let lines = function.last - function.first + 1;
            if lines > FUNCTION_LINES_MAX {
                let name = function.name;
                let what = format!("`{name}` has {lines} lines, at most {FUNCTION_LINES_MAX}");
                let place = (file.path.as_str(), function.first);
                report.add(place, "function-length", what, "split it where a part has a name");
            }
        }
    }
}

/// A function with a body.
struct Function<'a> {
    name: &'a str,
    first: usize,
    last: usize,
}

fn functions<'a>(code: &[Token<'a>]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        // `fn(u8)` is a type, and `fn $name(` is in a macro.
        let name = code[at + 1..].iter().find(|next| !next.is("$"));
        let Some(name) = name.filter(|name| token.is("fn") && name.kind == Kind::Word) else {
            continue;
        };
        if let Some(last) = body_end(&code[at + 1..]) {
            found.push(Function { name: name.text, first: token.line, last });
        }
    }
    found
}

/// The line of the brace that closes the body; none if the declaration ends with `;`.
fn body_end(code: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut inside = false;
    for (at, token) in code.iter().enumerate() {
        match token.text {
            _ if token.kind != Kind::Mark => {}
            "(" | "[" => depth += 1,
            "{" => {
                // `Array<{ N + 1 }>` in a signature is not the body.
                let constant = at > 0 && code[at - 1].is("<");
                inside |= depth == 0 && !constant;
                depth += 1;
            }
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if inside && depth == 0 {
                    return Some(token.line);
                }
            }
            ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// A module is a noun.
pub fn module_names(sources: &Sources, report: &mut Report) {
    for file in sources.rust() {
        for pair in code(&file.text).windows(2) {
            if pair[0].is("mod") && EMPTY_NAMES.contains(&pair[1].text) {
                let what = format!("module '{}' says nothing about what is inside", pair[1].text);
                let place = (file.path.as_str(), pair[1].line);
                report.add(place, "names", what, "name it after the noun it holds");
            }
        }
    }
}

/// Nothing panics because it is not written.
pub fn unfinished_macros(sources: &Sources, report: &mut Report) {
    for file in sources.rust() {
        for pair in code(&file.text).windows(2) {
            if (pair[0].is("todo") || pair[0].is("unimplemented")) && pair[1].is("!") {
                let what = format!("`{}!` is left", pair[0].text);
                let fix = "write it, or return a typed error";
                report.add((&file.path, pair[0].line), "unfinished", what, fix);
            }
        }
    }
}

/// A command whose reader has gone ends in order: the standard print macros panic then.
pub fn print_macros(sources: &Sources, report: &mut Report) {
    const MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
    let tests = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    let ours = |path: &str| path.starts_with("crates/") && path.contains("/src/") && !tests(path);
    for file in sources.rust().filter(|file| ours(&file.path)) {
        let code = code(&file.text);
        // A module of tests ends its file.
        let end = code.windows(3).position(|it| it[0].is("mod") && it[1].is("tests"));
        let end = end.filter(|at| code[at + 2].is("{")).unwrap_or(code.len());
        for pair in code[..end].windows(2) {
            if MACROS.contains(&pair[0].text) && pair[0].kind == Kind::Word && pair[1].is("!") {
                let what = format!("`{}!` panics when its reader has gone", pair[0].text);
                let place = (file.path.as_str(), pair[0].line);
                report.add(place, "print-macro", what, "use writeln! and look at its result");
            }
        }
    }
}

/// Every test runs.
pub fn ignored_tests(sources: &Sources, report: &mut Report) {
    for file in sources.rust() {
        let code = code(&file.text);
        for (at, token) in code.iter().enumerate().filter(|(_, token)| token.is("ignore")) {
            let attribute = code[..at].iter().rev().take_while(|before| !before.is("#"));
            let attribute: Vec<_> = attribute.collect();
            let opens = attribute.last().is_some_and(|first| first.is("["))
                && !attribute.iter().any(|before| before.is("]"));
            let plain = attribute.len() == 1 || attribute.iter().any(|it| it.is("cfg_attr"));
            if opens && plain {
                let fix = "make it pass, or delete it with its reason in the history";
                report.add((&file.path, token.line), "ignored-test", "a test never runs", fix);
            }
        }
    }
}

/// The ground floor is small and pure.
pub fn base_is_ground(sources: &Sources, report: &mut Report) {
    const IMPURE: [&str; 4] = ["fs", "net", "thread", "process"];
    let mut lines = 0;
    for file in sources.rust().filter(|file| file.path.starts_with("crates/base/src/")) {
        lines += file.lines().count();
        let code = code(&file.text);
        for token in code.iter().filter(|token| token.is("unsafe")) {
            let fix = "move it to the crate that needs it";
            report.add((&file.path, token.line), "base", "unsafe in the ground floor", fix);
        }
        for (at, _) in code.iter().enumerate().filter(|(_, token)| token.is("std")) {
            for name in std_modules(&code[at..]).filter(|token| IMPURE.contains(&token.text)) {
                let what = format!("std::{} in the ground floor", name.text);
                let fix = "take bytes, events and the time as arguments";
                report.add((&file.path, name.line), "base", what, fix);
            }
        }
    }
    if lines >= BASE_LINES_MAX {
        let what = format!("{lines} lines, under {BASE_LINES_MAX} wanted");
        report.add(("crates/base", 1), "base", what, "move what only one crate uses to that crate");
    }
}

/// What directly follows `std::`: one module, or those of a braced list.
fn std_modules<'a, 'b>(code: &'b [Token<'a>]) -> impl Iterator<Item = &'b Token<'a>> {
    let path = code.len() > 3 && code[1].is(":") && code[2].is(":");
    let list = path && code[3].is("{");
    let mut depth = 0_usize;
    let rest = if path { &code[3..] } else { &[] };
    let mut fresh = true;
    rest.iter()
        .enumerate()
        .map_while(move |(at, token)| {
            match token.text {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let first = std::mem::replace(&mut fresh, token.is("{") || token.is(","));
            let goes_on = at == 0 || (list && depth > 0);
            goes_on.then_some(Some(token).filter(|_| first && depth <= 1))
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::violations;

    #[test]
    fn a_long_function_is_found() {
        let body = "    // }\n".repeat(69);
        let long = format!("\nfn long<'a>(x: &'a str) -> [u8; 2] {{\n{body}}}\nfn g() {{}}\n");
        let got = violations(function_length, &[("a.rs", &long)]);
        let want = "a.rs:2: function-length: `long` has 71 lines, at most 70; split it where \
                    a part has a name";
        assert_eq!(got, [want]);
        let fits = long.replacen("// }", "'{'", 1).replacen("    // }\n", "", 1);
        assert!(violations(function_length, &[("a.rs", &fits)]).is_empty());
    }

    #[test]
    fn functions_are_told_from_what_looks_like_them() {
        let source = r##"
            trait T { fn declared(&self); fn given(&self) -> bool { true } }
            type F = fn(u8) -> u8;
            fn braces() { let s = "{{{"; let r = r#"}"#; let c = '}'; /* } */ if s == "" {} }
            fn constant() -> A<{ N + 1 }> { A }
            fn outer() { fn inner() {
            } }
            macro_rules! m { ($n:ident) => { fn $n() {} } }
        "##;
        let code = code(source);
        let found = functions(&code);
        let names: Vec<_> = found.iter().map(|f| (f.name, f.last - f.first)).collect();
        let want =
            [("given", 0), ("braces", 0), ("constant", 0), ("outer", 1), ("inner", 1), ("n", 0)];
        assert_eq!(names, want);
    }

    #[test]
    fn an_empty_module_name_is_found() {
        let got = violations(module_names, &[("a.rs", "mod misc { }\nmod tests { }")]);
        assert_eq!(got.len(), 1);
        assert!(got[0].starts_with("a.rs:1: names: module 'misc'"), "{}", got[0]);
    }

    #[test]
    fn an_unfinished_macro_is_found() {
        let text = "fn f() { todo!() }\nfn g() { unimplemented! { } }\n// todo!\nlet todo = 1;";
        assert_eq!(violations(unfinished_macros, &[("a.rs", text)]).len(), 2);
    }

    #[test]
    fn an_ignored_test_is_found() {
        let text = "#[test]\n#[ignore]\nfn a() {}\n#[ignore = \"slow\"] fn b() {}\n\
                    #[cfg_attr(miri, ignore)] fn c() {}\nlet ignore = [ignore];\n\
                    #[derive(x)] fn d() { ignore() }";
        let got = violations(ignored_tests, &[("a.rs", text)]);
        assert_eq!(got.len(), 3, "{got:?}");
        assert!(got[0].starts_with("a.rs:2: ignored-test"), "{}", got[0]);
    }

    #[test]
    fn a_macro_that_panics_without_a_reader_is_found() {
        let text = "fn a() { println!(); }\nmod tests { fn b() { dbg!(1); } }\n";
        let files = [("crates/cli/src/a.rs", text), ("xtask/src/a.rs", text)];
        let got = violations(print_macros, &files);
        assert_eq!(got.len(), 1, "{got:?}");
        assert!(got[0].starts_with("crates/cli/src/a.rs:1: print-macro"), "{}", got[0]);
    }

    #[test]
    fn an_impure_base_is_found() {
        let text = "use std::fs::File;\nuse std::{fmt, thread::{self, net}};\nunsafe {}\n\
                    use std::io::Error;\nfn f(fs: u8) { a::net() }";
        let got = violations(base_is_ground, &[("crates/base/src/lib.rs", text)]);
        assert_eq!(got.len(), 3, "{got:?}");
        assert!(got.iter().any(|line| line.contains("lib.rs:2: base: std::thread")), "{got:?}");
        let long = "\n".repeat(1000);
        let files = [("crates/base/src/a.rs", long.as_str()), ("crates/base/src/b.rs", &long)];
        assert_eq!(violations(base_is_ground, &files).len(), 1);
    }
}
