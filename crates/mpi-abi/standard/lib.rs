//! What the MPI-5.0 standard says of its binary interface, as data: three tables of facts, and what
//! reads them. `cargo xtask header` makes `include/mpi.h` and `include/mpif.h` from them, the build
//! of `mpi-abi` the library's constants, the types of its functions and the names that it exports,
//! so header and library agree by construction.
//!
//! The tables are part of this crate, so what is wrong in them is a panic that names the line.

mod table;

use table::{sections, words};

/// A type that is neither C's nor the struct of a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer as wide as one of C's.
    Integer {
        /// Its name.
        name: String,
        /// C's type.
        like: String,
    },
    /// A pointer to a struct of which nothing is known.
    Handle {
        /// Its name.
        name: String,
        /// The struct's tag.
        tag: String,
    },
    /// An `int` with names.
    Enumeration {
        /// Its name.
        name: String,
    },
    /// The type of a function that the library calls.
    Callback(Function),
    /// A second name.
    Alias {
        /// This name.
        name: String,
        /// The first.
        of: String,
    },
}

/// A function: of the library, or one that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The type of its result, as C writes it.
    pub result: String,
    /// What it takes, in order.
    pub parameters: Vec<Parameter>,
    /// Whether more may follow (`...`).
    pub is_variadic: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The type before its name, as C writes it: `const int`, `char **`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What follows the name: nothing, `[]` or `[][3]`.
    pub suffix: String,
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its type, as C writes it.
    pub kind: String,
    /// Its value.
    pub value: i64,
    /// The constant that it is a second name of.
    pub alias: Option<String>,
}

/// What belongs together: functions of a chapter, constants of a group.
#[derive(Clone, Debug)]
pub struct Section<T> {
    /// Its title.
    pub title: String,
    /// What is in it.
    pub items: Vec<T>,
}

/// The types, in the order in which C may read them.
pub fn types() -> Vec<Type> {
    let sections = sections("types.txt", include_str!("types.txt"), |line| {
        let (kind, rest) = line.split_once(' ')?;
        let pair = || words::<2>(rest).map(|[name, other]| (name, other));
        Some(match kind {
            "integer" => pair().map(|(name, like)| Type::Integer { name, like })?,
            "handle" => pair().map(|(name, tag)| Type::Handle { name, tag })?,
            "alias" => pair().map(|(name, of)| Type::Alias { name, of })?,
            "enumeration" => Type::Enumeration { name: rest.to_owned() },
            "callback" => Type::Callback(Function::read(rest)?),
            _ => return None,
        })
    });
    sections.into_iter().flat_map(|section| section.items).collect()
}

/// The functions, by chapter of the standard.
pub fn functions() -> Vec<Section<Function>> {
    sections("functions.txt", include_str!("functions.txt"), Function::read)
}

/// The constants, by what they are for.
pub fn constants() -> Vec<Section<Constant>> {
    let mut known = std::collections::BTreeMap::new();
    sections("constants.txt", include_str!("constants.txt"), |line| {
        let [name, kind, text] = words::<3>(line)?;
        let number = match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let (value, alias) = match number {
            Ok(value) => (value, None),
            Err(_) => (*known.get(&text)?, Some(text)),
        };
        known.insert(name.clone(), value);
        Some(Constant { name, kind, value, alias })
    })
}

impl Function {
    /// Whether Fortran has nothing like it: functions for tools, those of handles as integers, and
    /// what says what Fortran compilers are like.
    #[must_use]
    pub fn is_for_c(&self) -> bool {
        const PARTS: [&str; 5] =
            ["MPI_T_", "_fortran_booleans", "MPI_Abi_set_fortran_info", "_toint", "_fromint"];
        PARTS.iter().any(|part| self.name.contains(part))
    }

    /// Reads `NAME: RESULT (PARAMETERS)`.
    fn read(line: &str) -> Option<Function> {
        let (name, rest) = line.split_once(": ")?;
        let (result, list) = rest.strip_suffix(')')?.split_once(" (")?;
        let mut parameters = Vec::new();
        let mut is_variadic = false;
        for text in list.split(", ").filter(|text| *text != "void") {
            match text {
                "..." => is_variadic = true,
                _ => parameters.push(Parameter::read(text)?),
            }
        }
        let (name, result) = (name.to_owned(), result.to_owned());
        Some(Function { name, result, parameters, is_variadic })
    }

    /// Its parameters as C writes them.
    pub fn list(&self) -> String {
        let mut list: Vec<_> = self.parameters.iter().map(Parameter::declared).collect();
        list.extend(self.is_variadic.then(|| "...".to_owned()));
        if list.is_empty() { "void".to_owned() } else { list.join(", ") }
    }
}

impl Parameter {
    /// Reads `TYPE NAME SUFFIX`.
    fn read(text: &str) -> Option<Parameter> {
        let (text, suffix) = text.split_at(text.find('[').unwrap_or(text.len()));
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, name) = text.split_at(text.trim_end_matches(is_part).len());
        let owned = str::to_owned;
        let found =
            Parameter { kind: owned(kind.trim()), name: owned(name), suffix: owned(suffix) };
        Some(found).filter(|it| !it.kind.is_empty() && !it.name.is_empty())
    }

    /// Itself, as C writes it.
    pub fn declared(&self) -> String {
        let space = if self.kind.ends_with('*') { "" } else { " " };
        format!("{}{space}{}{}", self.kind, self.name, self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_has_664_functions_and_each_once() {
        let sections = functions();
        let mut names: Vec<_> =
            sections.iter().flat_map(|it| &it.items).map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), 664);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 664);
        let count = |what: fn(&str) -> bool| names.iter().filter(|name| what(name)).count();
        assert_eq!(count(|name| name.ends_with("_c")), 161);
        assert_eq!(count(|name| name.starts_with("MPI_T_")), 51);
        assert_eq!(count(|name| name.starts_with("MPI_File_")), 90);
        assert_eq!(count(|name| name.ends_with("_toint")), 11);
        assert_eq!(count(|name| name.ends_with("_fromint")), 11);
    }

    #[test]
    fn a_function_is_written_as_it_was_read() {
        for line in [
            "MPI_Wtime: double (void)",
            "MPI_Pcontrol: int (int level, ...)",
            "MPI_Comm_spawn_multiple: int (char **array_of_argv[], const MPI_Info infos[])",
            "MPI_Group_range_incl: int (MPI_Group group, int n, int ranges[][3], MPI_Group *made)",
        ] {
            let it = Function::read(line).expect("a function");
            assert_eq!(format!("{}: {} ({})", it.name, it.result, it.list()), line);
        }
        assert_eq!(Function::read("MPI_Wtime double (void)"), None);
        assert_eq!(Function::read("MPI_Wtime: double (int)"), None);
    }

    /// What the research of the ABI noted, and what its headers disagreed about for a while: the
    /// values are those of the headers after they were set right in October 2025.
    #[test]
    fn constants_have_the_standards_values() {
        let all: Vec<_> = constants().into_iter().flat_map(|section| section.items).collect();
        let value = |name: &str| {
            all.iter().find(|it| it.name == name).map(|it| it.value).ok_or(name.to_owned())
        };
        for (name, want) in [
            ("MPI_OP_NULL", 0x20),
            ("MPI_NO_OP", 0x3d),
            ("MPI_COMM_NULL", 0x100),
            ("MPI_COMM_WORLD", 0x101),
            ("MPI_COMM_SELF", 0x102),
            ("MPI_GROUP_NULL", 0x108),
            ("MPI_WIN_NULL", 0x110),
            ("MPI_FILE_NULL", 0x118),
            ("MPI_SESSION_NULL", 0x120),
            ("MPI_MESSAGE_NULL", 0x128),
            ("MPI_INFO_NULL", 0x130),
            ("MPI_ERRHANDLER_NULL", 0x140),
            ("MPI_ERRORS_ABORT", 0x142),
            ("MPI_ERRORS_RETURN", 0x143),
            ("MPI_REQUEST_NULL", 0x180),
            ("MPI_DATATYPE_NULL", 0x200),
            ("MPI_INT8_T", 0x240),
            ("MPI_INT16_T", 0x248),
            ("MPI_INT32_T", 0x250),
            ("MPI_INT64_T", 0x258),
            ("MPI_COMPLEX32", 0x2eb),
            ("MPI_LONG_LONG_INT", 0x20b),
            ("MPI_CHARACTER", 0x21e),
            ("MPI_ANY_SOURCE", -1),
            ("MPI_ANY_TAG", -2),
            ("MPI_PROC_NULL", -3),
            ("MPI_ROOT", -4),
            ("MPI_UNDEFINED", -32766),
            ("MPI_IN_PLACE", 1),
            ("MPI_BUFFER_AUTOMATIC", 2),
            ("MPI_ERR_UNSUPPORTED_OPERATION", 55),
            ("MPI_THREAD_FUNNELED", 1024),
            ("MPI_THREAD_MULTIPLE", 4096),
            ("MPI_MAX_ERROR_STRING", 512),
            ("MPI_MAX_PROCESSOR_NAME", 256),
            ("MPI_MAX_LIBRARY_VERSION_STRING", 8192),
            ("MPI_MAX_OBJECT_NAME", 128),
            ("MPI_F_STATUS_SIZE", 8),
            ("MPI_SEEK_CUR", 401),
            ("MPI_SEEK_SET", 403),
            ("MPI_UNIVERSE_SIZE", 507),
        ] {
            assert_eq!(value(name), Ok(want), "{name}");
        }
        let handles = all.iter().filter(|it| it.value >= 0x20 && it.kind.starts_with("MPI_"));
        assert!(handles.clone().count() > 100);
        let predefined = handles.filter(|it| !it.kind.starts_with("MPI_T_"));
        assert!(predefined.clone().all(|it| it.value < 0x400), "room for a program's own");
    }
}
