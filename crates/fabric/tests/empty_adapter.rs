//! An empty scenario costs nothing, which is a matter of machine code and not of clocks.

mod scratch;

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// The instructions of each function of a program, by where it begins, and where `main` does.
struct Code {
    functions: HashMap<u64, Vec<String>>,
    main: u64,
}

/// Takes a program apart. Where an instruction only says how far it is from what it means, what it
/// means is kept instead, so that the same code at two places reads the same.
fn disassemble(program: &Path) -> Code {
    let mut objdump = Command::new("objdump");
    let objdump = objdump.args(["--disassemble", "--no-show-raw-insn"]).arg(program);
    let output = objdump.output().expect("objdump is there (Debian: binutils)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut code = Code { functions: HashMap::new(), main: 0 };
    let mut here: (u64, String) = Default::default();
    for line in text.lines() {
        if let Some((start, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <"))
        {
            here = (u64::from_str_radix(start, 16).expect("an address"), name.to_owned());
            if name.starts_with("_ZN5probe4main17h") || name.ends_with("_5probe4main") {
                code.main = here.0;
            }
        } else if let Some((_, instruction)) = line.split_once(":\t") {
            let instructions = code.functions.entry(here.0).or_default();
            instructions.push(plain(instruction, &here.1));
        }
    }
    code
}

/// An instruction without what depends on its place.
fn plain(instruction: &str, function: &str) -> String {
    let (what, meaning) = instruction.split_once('#').unwrap_or((instruction, ""));
    if let Some((jump, inside)) = what.split_once(&format!(" <{function}+")) {
        let name = jump.split_whitespace().next().unwrap_or_default();
        return format!("{name} to {inside}");
    }
    let words: Vec<&str> = what.split_whitespace().collect();
    let words = words.join(" ");
    match words.split_once("(%rip)") {
        None => words,
        Some((before, after)) => {
            let kept =
                before.trim_end_matches(|sign: char| sign.is_ascii_hexdigit() || sign == 'x');
            format!("{kept}(%rip){after} #{meaning}")
        }
    }
}

#[test]
fn an_empty_adapter_adds_no_instruction_to_what_it_adapts() {
    let room = scratch::package("probe", "src/main.rs", include_str!("probe/adapter.rs"));
    let cargo = ["run", "--release", "--offline", "--target-dir", "target"];
    let text = scratch::cargo(&room, &cargo, &[]).unwrap_or_else(|said| panic!("{said}"));
    let code = disassemble(&room.join("target/release/probe"));
    let address = |text: &str| {
        u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("an address was printed")
    };
    let line = |case: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(case));
        line.unwrap_or_else(|| panic!("no line for {case}:\n{text}")).trim()
    };
    // Programs are put anywhere in memory.
    let shift = address(line("main")).wrapping_sub(code.main);
    let both = |case: &str| {
        let (bare, adapted) = line(case).split_once(' ').expect("two addresses");
        let [bare, adapted] =
            [bare, adapted].map(|at| &code.functions[&address(at).wrapping_sub(shift)]);
        assert!(bare.len() > 3, "{bare:?} does nothing");
        (bare, adapted)
    };
    for case in ["static send", "static receive", "twice send", "boxed send", "boxed receive"] {
        let (bare, adapted) = both(case);
        assert!(bare == adapted, "{case}: an empty scenario makes\n{bare:#?}\nto\n{adapted:#?}");
    }
    let (bare, traced) = both("traced send");
    assert!(bare.len() < traced.len(), "tracing has to add something, or nothing is compared");
}
