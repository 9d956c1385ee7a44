//! Which argument of a call an error is about: who finds an error knows its class and mostly the
//! value that is wrong, and the entry point what was passed under which name.

use muster_mpi::error::{About, Class, Error};

/// What was passed for an argument, as far as an error can be about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Something that no error is about by its value.
    Other,
    /// A number, or a handle.
    Value(i64),
    /// An address of what is read.
    Address(usize),
    /// An address of what is set: mostly the call's result, about which errors rarely are.
    Place(usize),
}

impl Passed {
    /// A handle.
    pub fn handle(handle: usize) -> Passed {
        Passed::Value(handle as i64)
    }

    fn is_address(self, address: usize) -> bool {
        matches!(self, Passed::Address(own) | Passed::Place(own) if own == address)
    }
}

/// The arguments that an error of a class can be about, by the ends of their names. Where a call
/// has some of the first, those behind it are not meant.
fn kinds(class: Class) -> &'static [&'static str] {
    match class {
        Class::Buffer => &["buf", "buffer", "addr", "base"],
        Class::Count => &["count", "partitions", "size"],
        Class::Type => &["type"],
        Class::Tag => &["tag"],
        Class::Comm | Class::Topology => &["comm"],
        Class::Rank => &["dest", "source", "rank", "leader", "range", "destination", "neighbor"],
        Class::Request | Class::InStatus => &["request", "message"],
        Class::Root => &["root"],
        Class::Group => &["group"],
        Class::Op => &["op"],
        Class::Dims => &["dim", "direction"],
        // Of who receives, in the call or by the request that it waits for: who waits for several
        // has a count, too, which is that of the requests.
        Class::Truncate => &["recvcount", "target_count", "array_of_requests", "count", "request"],
        Class::BadFile | Class::NoSuchFile | Class::FileExists | Class::FileInUse => &["filename"],
        Class::Access | Class::ReadOnly | Class::NoSpace | Class::Quota | Class::Io => {
            &["filename", "fh"]
        }
        Class::Amode => &["amode"],
        Class::Assert => &["assert"],
        Class::Base | Class::RmaAttach => &["base"],
        Class::Disp => &["disp"],
        Class::DupDatarep | Class::UnsupportedDatarep => &["datarep"],
        Class::File => &["fh", "file"],
        Class::Info => &["info"],
        Class::InfoKey | Class::InfoNokey => &["key"],
        Class::InfoValue => &["value"],
        Class::Keyval => &["keyval"],
        Class::Locktype => &["lock_type"],
        Class::NoMem | Class::Size => &["size"],
        Class::RmaRange => &["target_disp", "win"],
        Class::RmaShared => &["comm", "win"],
        Class::RmaConflict | Class::RmaFlavor | Class::RmaSync | Class::Win => &["win"],
        Class::Session => &["session"],
        Class::Errhandler => &["errhandler"],
        _ => &[],
    }
}

/// Whether an argument is of a kind: `sendtypes` and `oldtype` are types, `group2` is a group,
/// `comm_old` a communicator.
fn is_of(name: &str, kind: &str) -> bool {
    let end = name.trim_end_matches(|it: char| it.is_ascii_digit());
    let is_begin = || name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('_'));
    end.ends_with(kind)
        || end.strip_suffix('s').is_some_and(|end| end.ends_with(kind))
        || is_begin()
}

/// An argument: its name, and what was passed.
type Argument = (&'static str, Passed);

/// In words, for behind the function's name; nothing where that is not known. Where it may be one
/// of more than two nobody is helped.
pub fn wrong(names: &[&'static str], passed: &[Passed], error: &Error) -> String {
    let all: Vec<Argument> = names.iter().copied().zip(passed.iter().copied()).collect();
    if let About::Element(at, element) = error.about
        && let Some((name, _)) = all.iter().find(|it| it.1.is_address(at))
    {
        return format!(" (argument {name}[{element}])");
    }
    let kind = if let About::Kind(kind) = error.about { kind } else { error.class };
    let mut about = found(&all, error);
    if about.is_empty() {
        about = of_kind(&all, kind);
    }
    match about[..] {
        [name] => format!(" (argument {name})"),
        [one, other] => format!(" (argument {one} or {other})"),
        _ => String::new(),
    }
}

/// The one that the error says it is about; more where the same was passed for others, of which
/// nobody knows here whether it is right.
fn found(all: &[Argument], error: &Error) -> Vec<&'static str> {
    let kinds = kinds(error.class);
    let is_of_kind = |it: &Argument| kinds.iter().any(|kind| is_of(it.0, kind));
    // How many there are of something goes by many names.
    let is_any = matches!(error.class, Class::Arg | Class::Count | Class::Other);
    let those = |is_it: &dyn Fn(&Argument) -> bool| -> Vec<&'static str> {
        all.iter().filter(|it| is_it(it)).map(|it| it.0).collect()
    };
    // The closest first: others only where there are none of it.
    let closest = |is_close: &dyn Fn(&Argument) -> bool, is_it: &dyn Fn(&Argument) -> bool| {
        let close = those(&|it| is_close(it) && is_it(it));
        if close.is_empty() { those(is_it) } else { close }
    };
    let alike = |is_it: &dyn Fn(&Argument) -> bool| {
        let mut found = closest(&is_of_kind, &|it| (is_any || is_of_kind(it)) && is_it(it));
        // To be null is right for statuses: they are ignored.
        if found.len() > 1 {
            found.retain(|name| !name.contains("status"));
        }
        found
    };
    match error.about {
        About::Argument(name) => closest(&|it| it.0 == name, &|it| is_of(it.0, name)),
        About::Value(value) => alike(&|it| it.1 == Passed::Value(value)),
        About::Address(at) => alike(&|it| it.1.is_address(at)),
        About::Element(..) | About::Kind(_) | About::Class | About::Departure => Vec::new(),
    }
}

/// Those that an error of a class can be about.
fn of_kind(all: &[Argument], class: Class) -> Vec<&'static str> {
    let of = |kind: &&str| all.iter().filter(|it| is_of(it.0, kind)).collect::<Vec<_>>();
    let found = kinds(class).iter().map(|kind| (kind, of(kind)));
    let Some((kind, mut found)) = found.into_iter().find(|(_, found)| !found.is_empty()) else {
        return Vec::new();
    };
    let is_read = |it: &&Argument| !matches!(it.1, Passed::Place(_));
    if found.iter().any(is_read) {
        found.retain(is_read);
    }
    let is_it = |it: &&Argument| it.0.strip_prefix(kind).is_some_and(|end| matches!(end, "" | "s"));
    if found.iter().any(is_it) {
        found.retain(is_it);
    }
    found.into_iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Passed::{Address, Other, Place, Value};

    #[test]
    fn an_error_is_about_the_arguments_of_its_kind() {
        let names = ["buf", "count", "datatype", "dest", "tag", "comm", "request"];
        let passed = [Address(8), Value(1), Value(2), Value(3), Value(4), Value(5), Place(16)];
        let told = |class: Class| wrong(&names, &passed, &class.into());
        assert_eq!(told(Class::Rank), " (argument dest)");
        assert_eq!(told(Class::Count), " (argument count)");
        assert_eq!(told(Class::Other), "");
        let both = wrong(&["dest", "source"], &[Value(1), Value(2)], &Class::Tag.into());
        assert_eq!(both, "");
        let made = wrong(&["comm_old", "comm_cart"], &[Value(1), Place(8)], &Class::Comm.into());
        assert_eq!(made, " (argument comm_old)");
        let freed = wrong(&["comm"], &[Place(8)], &Class::Comm.into());
        assert_eq!(freed, " (argument comm)");
    }

    #[test]
    fn of_several_of_a_kind_it_is_about_the_one_that_was_found_wrong() {
        let names = ["sendcount", "recvcounts", "sendtype", "recvtype", "rank"];
        let passed = [Value(3), Address(64), Value(7), Value(9), Place(0)];
        let told = |class: Class, about| wrong(&names, &passed, &Error::from(class).about(about));
        assert_eq!(told(Class::Type, About::Value(9)), " (argument recvtype)");
        assert_eq!(told(Class::Count, About::Value(3)), " (argument sendcount)");
        assert_eq!(told(Class::Count, About::Element(64, 2)), " (argument recvcounts[2])");
        assert_eq!(told(Class::Type, About::Value(3)), " (argument sendtype or recvtype)");
        assert_eq!(told(Class::Arg, About::Address(0)), " (argument rank)");
        assert_eq!(told(Class::Arg, About::Argument("sendcount")), " (argument sendcount)");
        assert_eq!(told(Class::Arg, About::Argument("assert")), "");
        let other = wrong(&["status"], &[Other], &Error::from(Class::Arg).about(About::Address(0)));
        assert_eq!(other, "");
    }

    #[test]
    fn a_right_argument_is_not_named_alone_because_the_same_was_passed_for_a_wrong_one() {
        let names = ["sendbuf", "sendtype", "recvbuf", "recvtype"];
        let told = |sendtype, recvtype, about| {
            let passed = [Address(0), Value(sendtype), Place(0), Value(recvtype)];
            let class = if let About::Value(_) = about { Class::Type } else { Class::Buffer };
            wrong(&names, &passed, &Error::from(class).about(about))
        };
        assert_eq!(told(7, 7, About::Value(7)), " (argument sendtype or recvtype)");
        assert_eq!(told(3, 7, About::Value(7)), " (argument recvtype)");
        assert_eq!(told(3, 7, About::Address(0)), " (argument sendbuf or recvbuf)");
        assert_eq!(told(3, 7, About::Argument("recvbuf")), " (argument recvbuf)");
        let lists = [Address(0); 3];
        let null = Error::from(Class::Arg).about(About::Address(0));
        assert_eq!(wrong(&["sources", "degrees", "destinations"], &lists, &null), "");
        let ignored = wrong(&["requests", "array_of_statuses"], &lists[..2], &null);
        assert_eq!(ignored, " (argument requests)");
    }

    #[test]
    fn a_message_too_long_for_one_of_several_requests_is_not_about_their_count() {
        let error = Error::from(Class::Truncate);
        let told = |names: &[&'static str]| wrong(names, &[Value(2), Address(8)], &error);
        assert_eq!(told(&["count", "array_of_requests"]), " (argument array_of_requests)");
        assert_eq!(told(&["incount", "array_of_requests"]), " (argument array_of_requests)");
        assert_eq!(told(&["count", "request"]), " (argument count)");
        assert_eq!(wrong(&["request"], &[Place(8)], &error), " (argument request)");
    }
}
