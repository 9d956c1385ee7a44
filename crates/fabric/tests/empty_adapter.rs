//! An empty scenario costs nothing, which is a matter of machine code and not of clocks.

mod scratch;

#[test]
fn an_empty_adapter_is_the_very_code_of_what_it_adapts() {
    let room = scratch::package("probe", "src/main.rs", include_str!("probe/adapter.rs"));
    let cargo = ["run", "--release", "--offline", "--target-dir", "target"];
    let text = scratch::cargo(&room, &cargo, &[]).unwrap_or_else(|said| panic!("{said}"));
    let is_same = |case: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(case));
        let addresses = line.and_then(|line| line.trim().split_once(' '));
        let (bare, adapted) = addresses.unwrap_or_else(|| panic!("no line for {case}:\n{text}"));
        bare == adapted
    };
    for case in ["static", "twice", "boxed"] {
        for operation in ["send", "receive"] {
            let case = format!("{case} {operation}");
            assert!(is_same(&case), "an empty scenario adds code, {case}:\n{text}");
        }
    }
    assert!(!is_same("traced send"), "tracing has to add code, or nothing is compared:\n{text}");
}
