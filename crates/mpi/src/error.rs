//! What goes wrong, as MPI classifies it (MPI-5.0, section 9.4).
//!
//! A call that fails gives the class, which the program may ask for, and one sentence for people:
//! what was wrong and which value it was. The C entry points add rank and function.

use std::fmt;
use std::ops::Deref;

/// Defines [`Class`] from one table of names, numbers of the standard ABI and meanings.
macro_rules! classes {
    ($($variant:ident = $number:literal $name:literal $meaning:literal;)*) => {
        /// An error class, with its number in the standard ABI (MPI-5.0, section 20.3.5).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Class {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $variant,)*
            /// A class or code that the program added, or that one of its functions returned.
            User(i32),
        }

        impl Class {
            /// Every class that the standard names.
            pub const ALL: &[Class] = &[$(Class::$variant,)*];

            /// The number that a C program sees.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self {
                    $(Class::$variant => $number,)*
                    Class::User(number) => number,
                }
            }

            /// The class of a number that the standard names. `MPI_SUCCESS` is none.
            #[must_use]
            pub const fn of_number(number: i32) -> Option<Class> {
                match number {
                    $($number => Some(Class::$variant),)*
                    _ => None,
                }
            }

            /// The name in C.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Class::$variant => $name,)*
                    Class::User(_) => "an error class of the program",
                }
            }

            /// What the class means, without capital letter and full stop.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Class::$variant => $meaning,)*
                    Class::User(_) => "an error that the program defined",
                }
            }
        }
    };
}

/// What a successful call returns.
pub const SUCCESS: i32 = 0;

/// Numbers of classes and codes that a program adds are larger than this one (`MPI_ERR_LASTCODE`).
pub const LAST_CODE: i32 = 0x3fff;

classes! {
    Buffer = 1 "MPI_ERR_BUFFER" "the buffer's address is not valid";
    Count = 2 "MPI_ERR_COUNT" "the count is not valid";
    Type = 3 "MPI_ERR_TYPE" "the datatype is not valid";
    Tag = 4 "MPI_ERR_TAG" "the tag is not valid";
    Comm = 5 "MPI_ERR_COMM" "the communicator is not valid";
    Rank = 6 "MPI_ERR_RANK" "the rank is not valid";
    Request = 7 "MPI_ERR_REQUEST" "the request is not valid";
    Root = 8 "MPI_ERR_ROOT" "the root is not valid";
    Group = 9 "MPI_ERR_GROUP" "the group is not valid";
    Op = 10 "MPI_ERR_OP" "the operation is not valid";
    Topology = 11 "MPI_ERR_TOPOLOGY" "the topology is not valid";
    Dims = 12 "MPI_ERR_DIMS" "the dimensions are not valid";
    Arg = 13 "MPI_ERR_ARG" "an argument is not valid";
    Unknown = 14 "MPI_ERR_UNKNOWN" "the error is not known";
    Truncate = 15 "MPI_ERR_TRUNCATE" "the message is longer than what was to receive it";
    Other = 16 "MPI_ERR_OTHER" "a known error of no other class";
    Intern = 17 "MPI_ERR_INTERN" "an error within the MPI library";
    Pending = 18 "MPI_ERR_PENDING" "the request is neither complete nor failed";
    InStatus = 19 "MPI_ERR_IN_STATUS" "the errors are in the statuses";
    Access = 20 "MPI_ERR_ACCESS" "the file's permissions forbid it";
    Amode = 21 "MPI_ERR_AMODE" "the file's access mode is not valid, or not for this call";
    Assert = 22 "MPI_ERR_ASSERT" "the assertion is not valid";
    BadFile = 23 "MPI_ERR_BAD_FILE" "the file's name is not valid";
    Base = 24 "MPI_ERR_BASE" "the window's base address is not valid";
    Conversion = 25 "MPI_ERR_CONVERSION" "a conversion of data failed";
    Disp = 26 "MPI_ERR_DISP" "the displacement is not valid";
    DupDatarep = 27 "MPI_ERR_DUP_DATAREP" "a data representation of this name is defined already";
    FileExists = 28 "MPI_ERR_FILE_EXISTS" "the file exists";
    FileInUse = 29 "MPI_ERR_FILE_IN_USE" "the file is open in some process";
    File = 30 "MPI_ERR_FILE" "the file handle is not valid";
    InfoKey = 31 "MPI_ERR_INFO_KEY" "the info key is too long";
    InfoNokey = 32 "MPI_ERR_INFO_NOKEY" "the info object has no such key";
    InfoValue = 33 "MPI_ERR_INFO_VALUE" "the info value is too long";
    Info = 34 "MPI_ERR_INFO" "the info object is not valid";
    Io = 35 "MPI_ERR_IO" "input or output failed";
    Keyval = 36 "MPI_ERR_KEYVAL" "the attribute key is not valid";
    Locktype = 37 "MPI_ERR_LOCKTYPE" "the type of lock is not valid";
    Name = 38 "MPI_ERR_NAME" "no service of this name is published";
    NoMem = 39 "MPI_ERR_NO_MEM" "there is not enough memory";
    NotSame = 40 "MPI_ERR_NOT_SAME"
        "an argument or the order of calls differs between the processes";
    NoSpace = 41 "MPI_ERR_NO_SPACE" "there is not enough space for the file";
    NoSuchFile = 42 "MPI_ERR_NO_SUCH_FILE" "there is no such file";
    Port = 43 "MPI_ERR_PORT" "the port's name is not valid";
    Quota = 44 "MPI_ERR_QUOTA" "the quota is used up";
    ReadOnly = 45 "MPI_ERR_READ_ONLY" "the file or its file system is read-only";
    RmaAttach = 46 "MPI_ERR_RMA_ATTACH" "the memory cannot be attached to the window";
    RmaConflict = 47 "MPI_ERR_RMA_CONFLICT" "accesses to the window conflict";
    RmaRange = 48 "MPI_ERR_RMA_RANGE" "the target's memory is not part of the window";
    RmaShared = 49 "MPI_ERR_RMA_SHARED" "the memory cannot be shared";
    RmaSync = 50 "MPI_ERR_RMA_SYNC"
        "the call is not allowed at this point of the window's synchronization";
    Service = 51 "MPI_ERR_SERVICE" "the service's name is not valid, or cannot be taken back";
    Size = 52 "MPI_ERR_SIZE" "the size is not valid";
    Spawn = 53 "MPI_ERR_SPAWN" "the processes cannot be started";
    UnsupportedDatarep = 54 "MPI_ERR_UNSUPPORTED_DATAREP"
        "the data representation is not supported";
    UnsupportedOperation = 55 "MPI_ERR_UNSUPPORTED_OPERATION" "the operation is not supported";
    Win = 56 "MPI_ERR_WIN" "the window is not valid";
    RmaFlavor = 57 "MPI_ERR_RMA_FLAVOR" "the call is not allowed for this flavor of window";
    ProcAborted = 58 "MPI_ERR_PROC_ABORTED" "a process that takes part has aborted";
    ValueTooLarge = 59 "MPI_ERR_VALUE_TOO_LARGE" "the value does not fit where it is to be stored";
    Session = 60 "MPI_ERR_SESSION" "the session is not valid";
    Errhandler = 61 "MPI_ERR_ERRHANDLER" "the error handler is not valid";
    Abi = 62 "MPI_ERR_ABI" "the call is not valid for this binary interface";
    TCannotInit = 1001 "MPI_T_ERR_CANNOT_INIT" "the tool interface cannot be initialized";
    TNotAccessible = 1002 "MPI_T_ERR_NOT_ACCESSIBLE"
        "the requested functionality is not accessible";
    TNotInitialized = 1003 "MPI_T_ERR_NOT_INITIALIZED" "the tool interface is not initialized";
    TNotSupported = 1004 "MPI_T_ERR_NOT_SUPPORTED" "the requested functionality is not supported";
    TMemory = 1005 "MPI_T_ERR_MEMORY" "there is not enough memory for the tool interface";
    TInvalid = 1006 "MPI_T_ERR_INVALID" "an argument of the tool interface is not valid";
    TInvalidIndex = 1007 "MPI_T_ERR_INVALID_INDEX"
        "the index is not valid, or its variable is gone";
    TInvalidItem = 1008 "MPI_T_ERR_INVALID_ITEM" "the item index is out of range";
    TInvalidSession = 1009 "MPI_T_ERR_INVALID_SESSION"
        "the session of performance variables is not valid";
    TInvalidHandle = 1010 "MPI_T_ERR_INVALID_HANDLE"
        "the handle of the tool interface is not valid";
    TInvalidName = 1011 "MPI_T_ERR_INVALID_NAME"
        "the name of the variable or category is not valid";
    TOutOfHandles = 1012 "MPI_T_ERR_OUT_OF_HANDLES" "there are no more handles";
    TOutOfSessions = 1013 "MPI_T_ERR_OUT_OF_SESSIONS" "there are no more sessions";
    TCvarSetNotNow = 1014 "MPI_T_ERR_CVAR_SET_NOT_NOW" "the control variable cannot be set now";
    TCvarSetNever = 1015 "MPI_T_ERR_CVAR_SET_NEVER"
        "the control variable cannot be set until the end of the run";
    TPvarNoWrite = 1016 "MPI_T_ERR_PVAR_NO_WRITE" "the performance variable cannot be written";
    TPvarNoStartstop = 1017 "MPI_T_ERR_PVAR_NO_STARTSTOP"
        "the performance variable cannot be started or stopped";
    TPvarNoAtomic = 1018 "MPI_T_ERR_PVAR_NO_ATOMIC"
        "the performance variable cannot be read and written at once";
}

/// Why a call failed: one word, so that results of what succeeds stay in registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Why>);

/// What there is to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The class, for the program.
    pub class: Class,
    /// One sentence for people, without capital letter and full stop.
    pub what: String,
    /// Which argument of the call was wrong.
    pub about: About,
}

/// How the argument that was wrong is found among those of the call. Who finds the error rarely
/// knows what the standard calls the argument there, but has its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum About {
    /// One that the class is about, or none.
    #[default]
    Class,
    /// One that errors of this class are about.
    Kind(Class),
    /// The one of this name, or whose name ends with it.
    Argument(&'static str),
    /// The one that is this number, or handle.
    Value(i64),
    /// The one that is this address.
    Address(usize),
    /// Of the array at this address the element with this number.
    Element(usize, usize),
    /// None: the run departs from the log that it follows, and ends whatever the call would do.
    Departure,
}

/// What most of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of a class, with its sentence.
    #[must_use]
    #[cold]
    pub fn new(class: Class, what: impl Into<String>) -> Error {
        Error(Box::new(Why { class, what: what.into(), about: About::Class }))
    }

    /// The same, of an argument that the standard calls so in each call that can have it.
    #[must_use]
    #[cold]
    pub fn of(self, argument: &'static str) -> Error {
        self.about(About::Argument(argument))
    }

    /// The same, of an argument that is to be found like that. Who says it last is nearest to the
    /// call, and knows best.
    #[must_use]
    #[cold]
    pub fn about(mut self, about: About) -> Error {
        self.0.about = about;
        self
    }

    /// The same, of the argument that is this number, or handle.
    #[must_use]
    #[cold]
    pub fn value(self, value: impl TryInto<i64>) -> Error {
        match value.try_into() {
            Ok(value) => self.about(About::Value(value)),
            Err(_) => self,
        }
    }

    /// The same, where what was found wrong is an element of an array, by its address.
    #[must_use]
    #[cold]
    pub fn within(self, array: usize, element: usize) -> Error {
        self.about(About::Element(array, element))
    }
}

impl Deref for Error {
    type Target = Why;

    fn deref(&self) -> &Why {
        &self.0
    }
}

impl From<Class> for Error {
    /// An error about which there is no more to say than what its class means.
    fn from(class: Class) -> Error {
        Error::new(class, class.meaning())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class.name(), self.what)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_numbers_are_one_to_one() {
        for &class in Class::ALL {
            assert_eq!(Class::of_number(class.number()), Some(class));
            assert!((1..=LAST_CODE).contains(&class.number()));
        }
        assert_eq!(Class::of_number(SUCCESS), None);
        assert_eq!(Class::of_number(63), None);
    }

    #[test]
    fn an_error_tells_class_and_cause() {
        let error = Error::new(Class::Rank, "rank 7 is not in a group of 4");
        assert_eq!(error.to_string(), "MPI_ERR_RANK: rank 7 is not in a group of 4");
        assert_eq!(Class::Truncate.number(), 15);
    }
}
