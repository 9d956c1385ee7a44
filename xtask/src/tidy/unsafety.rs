//! Where `unsafe` may stand, and what must stand beside it.

use super::Report;
use super::sources::Sources;
use super::tokens::{Kind, Token, tokens};

/// Files with these names may hold unsafe code, in any crate.
const NAMES: [&str; 2] = ["sys.rs", "ring.rs"];

/// So may these folders: foreign interfaces, process images, accelerators.
const FOLDERS: [&str; 4] =
    ["crates/mpi-abi/", "crates/checkpoint/", "crates/cell/src/cpu", "crates/cell/src/cuda"];

/// Unsafe code is in few places, and each says why it is sound.
pub fn fenced(sources: &Sources, report: &mut Report) {
    for file in sources.rust() {
        let name = file.path.rsplit('/').next().unwrap_or("");
        let allowed =
            NAMES.contains(&name) || FOLDERS.iter().any(|folder| file.path.starts_with(folder));
        let all = tokens(&file.text);
        for (at, token) in all.iter().enumerate().filter(|(_, token)| token.is("unsafe")) {
            let Some(form) = form(&all[at + 1..]) else {
                continue;
            };
            let place = (file.path.as_str(), token.line);
            if !allowed {
                let what = format!("an unsafe {form} outside the fence");
                let fix = "move it to a file named sys.rs or ring.rs";
                report.add(place, "unsafe-place", what, fix);
            }
            if !explained(&all, at) {
                let what = format!("an unsafe {form} without its reason");
                let fix = "say in a SAFETY comment right above why it is sound";
                report.add(place, "safety", what, fix);
            }
        }
    }
}

/// What the word `unsafe` begins; none for a pointer type and for an attribute.
fn form(after: &[Token<'_>]) -> Option<&'static str> {
    let mut code = after.iter().filter(|token| token.kind != Kind::Comment);
    let mut next = code.next()?;
    let mut foreign = false;
    if next.is("extern") {
        foreign = true;
        next = code.next()?;
        if next.kind == Kind::Literal {
            next = code.next()?;
        }
    }
    match next.text {
        "{" if foreign => Some("extern block"),
        "{" => Some("block"),
        "impl" | "trait" => Some("impl"),
        "fn" => code.next().filter(|name| name.kind == Kind::Word).map(|_| "fn"),
        _ => None,
    }
}

/// Whether a SAFETY comment stands within the statement that holds the token at `at`, or ends
/// right above that statement.
fn explained(all: &[Token<'_>], at: usize) -> bool {
    let ends = |token: &Token<'_>| [";", "{", "}"].iter().any(|mark| token.is(mark));
    let start = all[..at].iter().rposition(ends).map_or(0, |end| end + 1);
    // Comments after the end of the previous statement belong to this one, unless they share
    // the previous one's line.
    let previous = start.checked_sub(1).map_or(0, |end| all[end].last_line);
    all[start..at].iter().any(|token| {
        let says = token.text.contains("SAFETY") || token.text.contains("# Safety");
        token.kind == Kind::Comment && says && token.line > previous
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::violations;

    #[test]
    fn unsafe_outside_its_fence_is_found() {
        let text = "// SAFETY: sound\nunsafe { f() }";
        let files = [("crates/a/src/b.rs", text), ("crates/a/src/sys.rs", text)];
        let got = violations(fenced, &files);
        assert_eq!(got.len(), 1);
        assert!(got[0].starts_with("crates/a/src/b.rs:2: unsafe-place"), "{}", got[0]);
        assert!(violations(fenced, &[("crates/mpi-abi/src/p2p.rs", text)]).is_empty());
    }

    #[test]
    fn unsafe_without_its_reason_is_found() {
        for bare in [
            "fn a() { unsafe { f() } }",
            "unsafe impl Send for A {}",
            "unsafe fn a() {}",
            "unsafe extern \"C\" { fn a(); }",
            "fn a() { g(); // SAFETY: of g\n unsafe { f() } }",
            "// SAFETY: of something else\nlet x = 1;\nunsafe { f() }",
        ] {
            let got = violations(fenced, &[("sys.rs", bare)]);
            assert_eq!(got.len(), 1, "{bare}: {got:?}");
            assert!(got[0].contains(": safety: "), "{}", got[0]);
        }
    }

    #[test]
    fn unsafe_with_its_reason_passes() {
        for sound in [
            "// SAFETY: sound\nlet x = a(|| 1,\n unsafe { f() });",
            "/// # Safety\n/// Keep it open.\n#[inline]\npub unsafe fn a() {}",
            "let x =\n // SAFETY: sound\n unsafe { f() };",
            "type F = unsafe extern \"C\" fn(u8);",
            "#[unsafe(no_mangle)] fn f() {}",
            "let s = \"unsafe { }\"; // unsafe { }",
        ] {
            let got = violations(fenced, &[("sys.rs", sound)]);
            assert!(got.is_empty(), "{sound}: {got:?}");
        }
    }
}
