//! `cargo xtask header`: writes `mpi.h`, `mpif.h`, and the modules `mpi` and `mpi_f08` with what
//! they share to `include` from the tables of the standard (`crates/mpi-abi/standard`). A test
//! holds what is there against them.

mod arguments;
mod f08;
mod fortran;
mod older;
mod shared;

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use muster_mpi_standard::{Constant, Function, Type, constants, functions, types};

use crate::workspace;

/// A header: where it is, and what makes it.
type Header = (&'static str, fn() -> String);

const HEADERS: [Header; 6] = [
    ("include/mpi.h", header),
    ("include/mpif.h", fortran::header),
    ("include/muster_types.f90", shared::types_module),
    ("include/muster_places.f90", shared::places_module),
    ("include/mpi.f90", older::module),
    ("include/mpi_f08.f90", f08::module),
];

/// Columns of a line.
const COLUMNS: usize = 100;

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    workspace::no_arguments(arguments)?;
    let root = workspace::root()?;
    for (path, text) in HEADERS {
        std::fs::write(root.join(path), text()).with_context(|| format!("cannot write {path}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `mpi.h`.
fn header() -> String {
    let mut text = include_str!("header/opening.h").to_owned();
    let constants = constants();
    let all: Vec<&Constant> = constants.iter().flat_map(|section| &section.items).collect();
    write_types(&mut text, &all);
    for section in &constants {
        let defined = |it: &&Constant| !is_enumeration(&it.kind);
        let defined: Vec<_> = section.items.iter().filter(defined).collect();
        if !defined.is_empty() {
            title(&mut text, &section.title);
            let width = defined.iter().map(|it| it.name.len()).max().unwrap_or(0);
            for it in defined {
                let _ = writeln!(text, "#define {:width$} {}", it.name, value(it));
            }
        }
    }
    for prefix in ["", "P"] {
        for section in functions() {
            let purpose = if prefix.is_empty() { "" } else { ", under the names for tools" };
            title(&mut text, &format!("{}{purpose}", section.title));
            for function in section.items {
                prototype(&mut text, prefix, &function);
            }
        }
    }
    text + include_str!("header/ending.h")
}

/// A comment above what follows.
fn title(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n/* {title}. */");
}

/// Whether a type's constants are written where the type is.
fn is_enumeration(kind: &str) -> bool {
    types().iter().any(|it| matches!(it, Type::Enumeration { name } if name == kind))
}

/// The types, in an order in which each knows what it is made of.
fn write_types(text: &mut String, constants: &[&Constant]) {
    title(text, "Integers for addresses, offsets in files, and counts");
    let types = types();
    let each = |text: &mut String, write: &dyn Fn(&Type) -> Option<String>| {
        types.iter().filter_map(write).for_each(|line| text.push_str(&line));
    };
    each(text, &|it| match it {
        Type::Integer { name, like } => Some(format!("typedef {like} {name};\n")),
        _ => None,
    });
    title(text, "What is known of a message: three members are for programs");
    text.push_str(
        "typedef struct {\n    int MPI_SOURCE;\n    int MPI_TAG;\n    int MPI_ERROR;\n    \
         int MPI_internal[5];\n} MPI_Status;\n",
    );
    title(text, "Handles");
    each(text, &|it| match it {
        Type::Handle { name, tag } => Some(format!("typedef struct {tag} *{name};\n")),
        _ => None,
    });
    title(text, "Enumerations");
    each(text, &|it| match it {
        Type::Enumeration { name } => {
            let values = constants.iter().filter(|constant| constant.kind == *name);
            let values: Vec<_> =
                values.map(|it| format!("    {} = {}", it.name, it.value)).collect();
            Some(format!("typedef enum {name} {{\n{}\n}} {name};\n", values.join(",\n")))
        }
        _ => None,
    });
    title(text, "Functions of the program that the library calls");
    each(text, &|it| match it {
        Type::Callback(function) => {
            let head = format!("typedef {} ({})(", function.result, function.name);
            Some(declaration(&head, &function.list()))
        }
        Type::Alias { name, of } => Some(format!("typedef {of} {name};\n")),
        _ => None,
    });
}

/// A constant's value as C computes it.
fn value(it: &Constant) -> String {
    let handle = |kind: &str| {
        types().iter().any(|it| matches!(it, Type::Handle { name, .. } if name == kind))
    };
    match (&it.alias, it.kind.as_str()) {
        (Some(alias), _) => alias.clone(),
        (_, "int") if it.value < 0 => format!("({})", it.value),
        (_, "int") => it.value.to_string(),
        (_, kind) if handle(kind) => format!("(({kind}){:#x})", it.value),
        (_, kind) => format!("(({kind}){})", it.value),
    }
}

/// The declaration of a function.
fn prototype(text: &mut String, prefix: &str, function: &Function) {
    let head = format!("{} {prefix}{}(", function.result, function.name);
    text.push_str(&declaration(&head, &function.list()));
}

/// A declaration: its head, and a list that goes on in further lines if it is long. A line that
/// goes on ends with a `mark`, and the next one begins with an `indent`.
fn wrapped(head: &str, items: &[&str], end: &str, (mark, indent): (&str, &str)) -> String {
    let mut lines = vec![head.to_owned()];
    for (at, item) in items.iter().enumerate() {
        let end = if at + 1 == items.len() { end } else { "," };
        let line = lines.last_mut().expect("there is always one");
        let space = if at == 0 { "" } else { " " };
        let length = line.len() + space.len() + item.len() + end.len() + mark.len();
        if at > 0 && length > COLUMNS {
            line.push_str(mark);
            lines.push(format!("{indent}{item}{end}"));
        } else {
            line.push_str(&format!("{space}{item}{end}"));
        }
    }
    lines.join("\n") + "\n"
}

/// A declaration of C's.
fn declaration(head: &str, list: &str) -> String {
    wrapped(head, &list.split(", ").collect::<Vec<_>>(), ");", ("", "    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_what_the_tables_give() {
        let root = workspace::root().expect("cargo runs tests");
        for (path, text) in HEADERS {
            let there = std::fs::read_to_string(root.join(path)).ok();
            assert!(there == Some(text()), "{path} is not: run `cargo xtask header`");
        }
    }

    #[test]
    fn a_long_declaration_goes_on_in_the_next_line() {
        let item = "const MPI_Datatype array_of_types[]";
        let list = [item; 4].join(", ");
        let text = declaration("int MPI_X(", &list);
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.len() <= COLUMNS));
        assert_eq!(text.replace("\n    ", " "), format!("int MPI_X({list});\n"));
    }

    #[test]
    fn every_line_of_a_module_is_one_that_compilers_and_people_can_read() {
        for module in [f08::module(), older::module()] {
            assert_eq!(module.lines().find(|line| line.len() > COLUMNS), None);
        }
    }
}
