! `use mpi`: the constants, the types of Fortran 2008 for statuses and handles, and interfaces of
! all functions and subroutines. Buffers are of any type and rank; beside one, arrays and datatypes
! are not checked either. mpifort compiles this when it is first needed, because each compiler has
! its own form of modules.
! Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.
module mpi
  use muster_types
  use muster_places, only: MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, MPI_STATUS_IGNORE, &
    MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY, MPI_ARGV_NULL, &
    MPI_ARGVS_NULL
  implicit none


!     A status, and the kinds of integers.
      INTEGER MPI_STATUS_SIZE
      PARAMETER (MPI_STATUS_SIZE = 8)
      INTEGER MPI_SOURCE
      PARAMETER (MPI_SOURCE = 1)
      INTEGER MPI_TAG
      PARAMETER (MPI_TAG = 2)
      INTEGER MPI_ERROR
      PARAMETER (MPI_ERROR = 3)
      INTEGER MPI_ADDRESS_KIND
      PARAMETER (MPI_ADDRESS_KIND = 8)
      INTEGER MPI_COUNT_KIND
      PARAMETER (MPI_COUNT_KIND = 8)
      INTEGER MPI_OFFSET_KIND
      PARAMETER (MPI_OFFSET_KIND = 8)
      INTEGER MPI_INTEGER_KIND
      PARAMETER (MPI_INTEGER_KIND = 4)

!     Versions.
      INTEGER MPI_VERSION
      PARAMETER (MPI_VERSION = 5)
      INTEGER MPI_SUBVERSION
      PARAMETER (MPI_SUBVERSION = 0)
      INTEGER MPI_ABI_VERSION
      PARAMETER (MPI_ABI_VERSION = 1)
      INTEGER MPI_ABI_SUBVERSION
      PARAMETER (MPI_ABI_SUBVERSION = 0)

!     Error classes.
      INTEGER MPI_SUCCESS
      PARAMETER (MPI_SUCCESS = 0)
      INTEGER MPI_ERR_BUFFER
      PARAMETER (MPI_ERR_BUFFER = 1)
      INTEGER MPI_ERR_COUNT
      PARAMETER (MPI_ERR_COUNT = 2)
      INTEGER MPI_ERR_TYPE
      PARAMETER (MPI_ERR_TYPE = 3)
      INTEGER MPI_ERR_TAG
      PARAMETER (MPI_ERR_TAG = 4)
      INTEGER MPI_ERR_COMM
      PARAMETER (MPI_ERR_COMM = 5)
      INTEGER MPI_ERR_RANK
      PARAMETER (MPI_ERR_RANK = 6)
      INTEGER MPI_ERR_REQUEST
      PARAMETER (MPI_ERR_REQUEST = 7)
      INTEGER MPI_ERR_ROOT
      PARAMETER (MPI_ERR_ROOT = 8)
      INTEGER MPI_ERR_GROUP
      PARAMETER (MPI_ERR_GROUP = 9)
      INTEGER MPI_ERR_OP
      PARAMETER (MPI_ERR_OP = 10)
      INTEGER MPI_ERR_TOPOLOGY
      PARAMETER (MPI_ERR_TOPOLOGY = 11)
      INTEGER MPI_ERR_DIMS
      PARAMETER (MPI_ERR_DIMS = 12)
      INTEGER MPI_ERR_ARG
      PARAMETER (MPI_ERR_ARG = 13)
      INTEGER MPI_ERR_UNKNOWN
      PARAMETER (MPI_ERR_UNKNOWN = 14)
      INTEGER MPI_ERR_TRUNCATE
      PARAMETER (MPI_ERR_TRUNCATE = 15)
      INTEGER MPI_ERR_OTHER
      PARAMETER (MPI_ERR_OTHER = 16)
      INTEGER MPI_ERR_INTERN
      PARAMETER (MPI_ERR_INTERN = 17)
      INTEGER MPI_ERR_PENDING
      PARAMETER (MPI_ERR_PENDING = 18)
      INTEGER MPI_ERR_IN_STATUS
      PARAMETER (MPI_ERR_IN_STATUS = 19)
      INTEGER MPI_ERR_ACCESS
      PARAMETER (MPI_ERR_ACCESS = 20)
      INTEGER MPI_ERR_AMODE
      PARAMETER (MPI_ERR_AMODE = 21)
      INTEGER MPI_ERR_ASSERT
      PARAMETER (MPI_ERR_ASSERT = 22)
      INTEGER MPI_ERR_BAD_FILE
      PARAMETER (MPI_ERR_BAD_FILE = 23)
      INTEGER MPI_ERR_BASE
      PARAMETER (MPI_ERR_BASE = 24)
      INTEGER MPI_ERR_CONVERSION
      PARAMETER (MPI_ERR_CONVERSION = 25)
      INTEGER MPI_ERR_DISP
      PARAMETER (MPI_ERR_DISP = 26)
      INTEGER MPI_ERR_DUP_DATAREP
      PARAMETER (MPI_ERR_DUP_DATAREP = 27)
      INTEGER MPI_ERR_FILE_EXISTS
      PARAMETER (MPI_ERR_FILE_EXISTS = 28)
      INTEGER MPI_ERR_FILE_IN_USE
      PARAMETER (MPI_ERR_FILE_IN_USE = 29)
      INTEGER MPI_ERR_FILE
      PARAMETER (MPI_ERR_FILE = 30)
      INTEGER MPI_ERR_INFO_KEY
      PARAMETER (MPI_ERR_INFO_KEY = 31)
      INTEGER MPI_ERR_INFO_NOKEY
      PARAMETER (MPI_ERR_INFO_NOKEY = 32)
      INTEGER MPI_ERR_INFO_VALUE
      PARAMETER (MPI_ERR_INFO_VALUE = 33)
      INTEGER MPI_ERR_INFO
      PARAMETER (MPI_ERR_INFO = 34)
      INTEGER MPI_ERR_IO
      PARAMETER (MPI_ERR_IO = 35)
      INTEGER MPI_ERR_KEYVAL
      PARAMETER (MPI_ERR_KEYVAL = 36)
      INTEGER MPI_ERR_LOCKTYPE
      PARAMETER (MPI_ERR_LOCKTYPE = 37)
      INTEGER MPI_ERR_NAME
      PARAMETER (MPI_ERR_NAME = 38)
      INTEGER MPI_ERR_NO_MEM
      PARAMETER (MPI_ERR_NO_MEM = 39)
      INTEGER MPI_ERR_NOT_SAME
      PARAMETER (MPI_ERR_NOT_SAME = 40)
      INTEGER MPI_ERR_NO_SPACE
      PARAMETER (MPI_ERR_NO_SPACE = 41)
      INTEGER MPI_ERR_NO_SUCH_FILE
      PARAMETER (MPI_ERR_NO_SUCH_FILE = 42)
      INTEGER MPI_ERR_PORT
      PARAMETER (MPI_ERR_PORT = 43)
      INTEGER MPI_ERR_QUOTA
      PARAMETER (MPI_ERR_QUOTA = 44)
      INTEGER MPI_ERR_READ_ONLY
      PARAMETER (MPI_ERR_READ_ONLY = 45)
      INTEGER MPI_ERR_RMA_ATTACH
      PARAMETER (MPI_ERR_RMA_ATTACH = 46)
      INTEGER MPI_ERR_RMA_CONFLICT
      PARAMETER (MPI_ERR_RMA_CONFLICT = 47)
      INTEGER MPI_ERR_RMA_RANGE
      PARAMETER (MPI_ERR_RMA_RANGE = 48)
      INTEGER MPI_ERR_RMA_SHARED
      PARAMETER (MPI_ERR_RMA_SHARED = 49)
      INTEGER MPI_ERR_RMA_SYNC
      PARAMETER (MPI_ERR_RMA_SYNC = 50)
      INTEGER MPI_ERR_SERVICE
      PARAMETER (MPI_ERR_SERVICE = 51)
      INTEGER MPI_ERR_SIZE
      PARAMETER (MPI_ERR_SIZE = 52)
      INTEGER MPI_ERR_SPAWN
      PARAMETER (MPI_ERR_SPAWN = 53)
      INTEGER MPI_ERR_UNSUPPORTED_DATAREP
      PARAMETER (MPI_ERR_UNSUPPORTED_DATAREP = 54)
      INTEGER MPI_ERR_UNSUPPORTED_OPERATION
      PARAMETER (MPI_ERR_UNSUPPORTED_OPERATION = 55)
      INTEGER MPI_ERR_WIN
      PARAMETER (MPI_ERR_WIN = 56)
      INTEGER MPI_ERR_RMA_FLAVOR
      PARAMETER (MPI_ERR_RMA_FLAVOR = 57)
      INTEGER MPI_ERR_PROC_ABORTED
      PARAMETER (MPI_ERR_PROC_ABORTED = 58)
      INTEGER MPI_ERR_VALUE_TOO_LARGE
      PARAMETER (MPI_ERR_VALUE_TOO_LARGE = 59)
      INTEGER MPI_ERR_SESSION
      PARAMETER (MPI_ERR_SESSION = 60)
      INTEGER MPI_ERR_ERRHANDLER
      PARAMETER (MPI_ERR_ERRHANDLER = 61)
      INTEGER MPI_ERR_ABI
      PARAMETER (MPI_ERR_ABI = 62)
      INTEGER MPI_ERR_LASTCODE
      PARAMETER (MPI_ERR_LASTCODE = 16383)

!     Wildcards and ranks that are none.
      INTEGER MPI_ANY_SOURCE
      PARAMETER (MPI_ANY_SOURCE = -1)
      INTEGER MPI_ANY_TAG
      PARAMETER (MPI_ANY_TAG = -2)
      INTEGER MPI_PROC_NULL
      PARAMETER (MPI_PROC_NULL = -3)
      INTEGER MPI_ROOT
      PARAMETER (MPI_ROOT = -4)
      INTEGER MPI_UNDEFINED
      PARAMETER (MPI_UNDEFINED = -32766)

!     Lengths of strings; in C with the zero that ends them.
      INTEGER MPI_MAX_DATAREP_STRING
      PARAMETER (MPI_MAX_DATAREP_STRING = 127)
      INTEGER MPI_MAX_ERROR_STRING
      PARAMETER (MPI_MAX_ERROR_STRING = 511)
      INTEGER MPI_MAX_INFO_KEY
      PARAMETER (MPI_MAX_INFO_KEY = 255)
      INTEGER MPI_MAX_INFO_VAL
      PARAMETER (MPI_MAX_INFO_VAL = 1023)
      INTEGER MPI_MAX_LIBRARY_VERSION_STRING
      PARAMETER (MPI_MAX_LIBRARY_VERSION_STRING = 8191)
      INTEGER MPI_MAX_OBJECT_NAME
      PARAMETER (MPI_MAX_OBJECT_NAME = 127)
      INTEGER MPI_MAX_PORT_NAME
      PARAMETER (MPI_MAX_PORT_NAME = 1023)
      INTEGER MPI_MAX_PROCESSOR_NAME
      PARAMETER (MPI_MAX_PROCESSOR_NAME = 255)
      INTEGER MPI_MAX_STRINGTAG_LEN
      PARAMETER (MPI_MAX_STRINGTAG_LEN = 1023)
      INTEGER MPI_MAX_PSET_NAME_LEN
      PARAMETER (MPI_MAX_PSET_NAME_LEN = 1023)

!     Space that a buffered message takes besides its data.
      INTEGER MPI_BSEND_OVERHEAD
      PARAMETER (MPI_BSEND_OVERHEAD = 512)

!     Levels of thread support.
      INTEGER MPI_THREAD_SINGLE
      PARAMETER (MPI_THREAD_SINGLE = 0)
      INTEGER MPI_THREAD_FUNNELED
      PARAMETER (MPI_THREAD_FUNNELED = 1024)
      INTEGER MPI_THREAD_SERIALIZED
      PARAMETER (MPI_THREAD_SERIALIZED = 2048)
      INTEGER MPI_THREAD_MULTIPLE
      PARAMETER (MPI_THREAD_MULTIPLE = 4096)

!     Communicators.
      INTEGER MPI_COMM_NULL
      PARAMETER (MPI_COMM_NULL = 256)
      INTEGER MPI_COMM_WORLD
      PARAMETER (MPI_COMM_WORLD = 257)
      INTEGER MPI_COMM_SELF
      PARAMETER (MPI_COMM_SELF = 258)

!     Groups.
      INTEGER MPI_GROUP_NULL
      PARAMETER (MPI_GROUP_NULL = 264)
      INTEGER MPI_GROUP_EMPTY
      PARAMETER (MPI_GROUP_EMPTY = 265)

!     Results of comparisons.
      INTEGER MPI_IDENT
      PARAMETER (MPI_IDENT = 201)
      INTEGER MPI_CONGRUENT
      PARAMETER (MPI_CONGRUENT = 202)
      INTEGER MPI_SIMILAR
      PARAMETER (MPI_SIMILAR = 203)
      INTEGER MPI_UNEQUAL
      PARAMETER (MPI_UNEQUAL = 204)

!     Kinds of splits.
      INTEGER MPI_COMM_TYPE_SHARED
      PARAMETER (MPI_COMM_TYPE_SHARED = 221)
      INTEGER MPI_COMM_TYPE_HW_UNGUIDED
      PARAMETER (MPI_COMM_TYPE_HW_UNGUIDED = 222)
      INTEGER MPI_COMM_TYPE_HW_GUIDED
      PARAMETER (MPI_COMM_TYPE_HW_GUIDED = 223)
      INTEGER MPI_COMM_TYPE_RESOURCE_GUIDED
      PARAMETER (MPI_COMM_TYPE_RESOURCE_GUIDED = 224)

!     Topologies.
      INTEGER MPI_CART
      PARAMETER (MPI_CART = 211)
      INTEGER MPI_GRAPH
      PARAMETER (MPI_GRAPH = 212)
      INTEGER MPI_DIST_GRAPH
      PARAMETER (MPI_DIST_GRAPH = 213)

!     Operations.
      INTEGER MPI_OP_NULL
      PARAMETER (MPI_OP_NULL = 32)
      INTEGER MPI_SUM
      PARAMETER (MPI_SUM = 33)
      INTEGER MPI_MIN
      PARAMETER (MPI_MIN = 34)
      INTEGER MPI_MAX
      PARAMETER (MPI_MAX = 35)
      INTEGER MPI_PROD
      PARAMETER (MPI_PROD = 36)
      INTEGER MPI_BAND
      PARAMETER (MPI_BAND = 40)
      INTEGER MPI_BOR
      PARAMETER (MPI_BOR = 41)
      INTEGER MPI_BXOR
      PARAMETER (MPI_BXOR = 42)
      INTEGER MPI_LAND
      PARAMETER (MPI_LAND = 48)
      INTEGER MPI_LOR
      PARAMETER (MPI_LOR = 49)
      INTEGER MPI_LXOR
      PARAMETER (MPI_LXOR = 50)
      INTEGER MPI_MINLOC
      PARAMETER (MPI_MINLOC = 56)
      INTEGER MPI_MAXLOC
      PARAMETER (MPI_MAXLOC = 57)
      INTEGER MPI_REPLACE
      PARAMETER (MPI_REPLACE = 60)
      INTEGER MPI_NO_OP
      PARAMETER (MPI_NO_OP = 61)

!     Datatypes.
      INTEGER MPI_DATATYPE_NULL
      PARAMETER (MPI_DATATYPE_NULL = 512)
      INTEGER MPI_AINT
      PARAMETER (MPI_AINT = 513)
      INTEGER MPI_COUNT
      PARAMETER (MPI_COUNT = 514)
      INTEGER MPI_OFFSET
      PARAMETER (MPI_OFFSET = 515)
      INTEGER MPI_PACKED
      PARAMETER (MPI_PACKED = 519)
      INTEGER MPI_SHORT
      PARAMETER (MPI_SHORT = 520)
      INTEGER MPI_INT
      PARAMETER (MPI_INT = 521)
      INTEGER MPI_LONG
      PARAMETER (MPI_LONG = 522)
      INTEGER MPI_LONG_LONG
      PARAMETER (MPI_LONG_LONG = 523)
      INTEGER MPI_LONG_LONG_INT
      PARAMETER (MPI_LONG_LONG_INT = 523)
      INTEGER MPI_UNSIGNED_SHORT
      PARAMETER (MPI_UNSIGNED_SHORT = 524)
      INTEGER MPI_UNSIGNED
      PARAMETER (MPI_UNSIGNED = 525)
      INTEGER MPI_UNSIGNED_LONG
      PARAMETER (MPI_UNSIGNED_LONG = 526)
      INTEGER MPI_UNSIGNED_LONG_LONG
      PARAMETER (MPI_UNSIGNED_LONG_LONG = 527)
      INTEGER MPI_FLOAT
      PARAMETER (MPI_FLOAT = 528)
      INTEGER MPI_C_FLOAT_COMPLEX
      PARAMETER (MPI_C_FLOAT_COMPLEX = 530)
      INTEGER MPI_C_COMPLEX
      PARAMETER (MPI_C_COMPLEX = 530)
      INTEGER MPI_CXX_FLOAT_COMPLEX
      PARAMETER (MPI_CXX_FLOAT_COMPLEX = 531)
      INTEGER MPI_DOUBLE
      PARAMETER (MPI_DOUBLE = 532)
      INTEGER MPI_C_DOUBLE_COMPLEX
      PARAMETER (MPI_C_DOUBLE_COMPLEX = 534)
      INTEGER MPI_CXX_DOUBLE_COMPLEX
      PARAMETER (MPI_CXX_DOUBLE_COMPLEX = 535)
      INTEGER MPI_LOGICAL
      PARAMETER (MPI_LOGICAL = 536)
      INTEGER MPI_INTEGER
      PARAMETER (MPI_INTEGER = 537)
      INTEGER MPI_REAL
      PARAMETER (MPI_REAL = 538)
      INTEGER MPI_COMPLEX
      PARAMETER (MPI_COMPLEX = 539)
      INTEGER MPI_DOUBLE_PRECISION
      PARAMETER (MPI_DOUBLE_PRECISION = 540)
      INTEGER MPI_DOUBLE_COMPLEX
      PARAMETER (MPI_DOUBLE_COMPLEX = 541)
      INTEGER MPI_CHARACTER
      PARAMETER (MPI_CHARACTER = 542)
      INTEGER MPI_LONG_DOUBLE
      PARAMETER (MPI_LONG_DOUBLE = 544)
      INTEGER MPI_C_LONG_DOUBLE_COMPLEX
      PARAMETER (MPI_C_LONG_DOUBLE_COMPLEX = 548)
      INTEGER MPI_CXX_LONG_DOUBLE_COMPLEX
      PARAMETER (MPI_CXX_LONG_DOUBLE_COMPLEX = 549)
      INTEGER MPI_FLOAT_INT
      PARAMETER (MPI_FLOAT_INT = 552)
      INTEGER MPI_DOUBLE_INT
      PARAMETER (MPI_DOUBLE_INT = 553)
      INTEGER MPI_LONG_INT
      PARAMETER (MPI_LONG_INT = 554)
      INTEGER MPI_2INT
      PARAMETER (MPI_2INT = 555)
      INTEGER MPI_SHORT_INT
      PARAMETER (MPI_SHORT_INT = 556)
      INTEGER MPI_LONG_DOUBLE_INT
      PARAMETER (MPI_LONG_DOUBLE_INT = 557)
      INTEGER MPI_2REAL
      PARAMETER (MPI_2REAL = 560)
      INTEGER MPI_2DOUBLE_PRECISION
      PARAMETER (MPI_2DOUBLE_PRECISION = 561)
      INTEGER MPI_2INTEGER
      PARAMETER (MPI_2INTEGER = 562)
      INTEGER MPI_C_BOOL
      PARAMETER (MPI_C_BOOL = 568)
      INTEGER MPI_CXX_BOOL
      PARAMETER (MPI_CXX_BOOL = 569)
      INTEGER MPI_WCHAR
      PARAMETER (MPI_WCHAR = 572)
      INTEGER MPI_INT8_T
      PARAMETER (MPI_INT8_T = 576)
      INTEGER MPI_UINT8_T
      PARAMETER (MPI_UINT8_T = 577)
      INTEGER MPI_CHAR
      PARAMETER (MPI_CHAR = 579)
      INTEGER MPI_SIGNED_CHAR
      PARAMETER (MPI_SIGNED_CHAR = 580)
      INTEGER MPI_UNSIGNED_CHAR
      PARAMETER (MPI_UNSIGNED_CHAR = 581)
      INTEGER MPI_BYTE
      PARAMETER (MPI_BYTE = 583)
      INTEGER MPI_INT16_T
      PARAMETER (MPI_INT16_T = 584)
      INTEGER MPI_UINT16_T
      PARAMETER (MPI_UINT16_T = 585)
      INTEGER MPI_INT32_T
      PARAMETER (MPI_INT32_T = 592)
      INTEGER MPI_UINT32_T
      PARAMETER (MPI_UINT32_T = 593)
      INTEGER MPI_INT64_T
      PARAMETER (MPI_INT64_T = 600)
      INTEGER MPI_UINT64_T
      PARAMETER (MPI_UINT64_T = 601)
      INTEGER MPI_LOGICAL1
      PARAMETER (MPI_LOGICAL1 = 704)
      INTEGER MPI_INTEGER1
      PARAMETER (MPI_INTEGER1 = 705)
      INTEGER MPI_LOGICAL2
      PARAMETER (MPI_LOGICAL2 = 712)
      INTEGER MPI_INTEGER2
      PARAMETER (MPI_INTEGER2 = 713)
      INTEGER MPI_REAL2
      PARAMETER (MPI_REAL2 = 714)
      INTEGER MPI_LOGICAL4
      PARAMETER (MPI_LOGICAL4 = 720)
      INTEGER MPI_INTEGER4
      PARAMETER (MPI_INTEGER4 = 721)
      INTEGER MPI_REAL4
      PARAMETER (MPI_REAL4 = 722)
      INTEGER MPI_COMPLEX4
      PARAMETER (MPI_COMPLEX4 = 723)
      INTEGER MPI_LOGICAL8
      PARAMETER (MPI_LOGICAL8 = 728)
      INTEGER MPI_INTEGER8
      PARAMETER (MPI_INTEGER8 = 729)
      INTEGER MPI_REAL8
      PARAMETER (MPI_REAL8 = 730)
      INTEGER MPI_COMPLEX8
      PARAMETER (MPI_COMPLEX8 = 731)
      INTEGER MPI_LOGICAL16
      PARAMETER (MPI_LOGICAL16 = 736)
      INTEGER MPI_INTEGER16
      PARAMETER (MPI_INTEGER16 = 737)
      INTEGER MPI_REAL16
      PARAMETER (MPI_REAL16 = 738)
      INTEGER MPI_COMPLEX16
      PARAMETER (MPI_COMPLEX16 = 739)
      INTEGER MPI_COMPLEX32
      PARAMETER (MPI_COMPLEX32 = 747)

!     Order and distribution of arrays.
      INTEGER MPI_ORDER_C
      PARAMETER (MPI_ORDER_C = 12)
      INTEGER MPI_ORDER_FORTRAN
      PARAMETER (MPI_ORDER_FORTRAN = 15)
      INTEGER MPI_DISTRIBUTE_NONE
      PARAMETER (MPI_DISTRIBUTE_NONE = 16)
      INTEGER MPI_DISTRIBUTE_BLOCK
      PARAMETER (MPI_DISTRIBUTE_BLOCK = 17)
      INTEGER MPI_DISTRIBUTE_CYCLIC
      PARAMETER (MPI_DISTRIBUTE_CYCLIC = 18)
      INTEGER MPI_DISTRIBUTE_DFLT_DARG
      PARAMETER (MPI_DISTRIBUTE_DFLT_DARG = 19)

!     What a datatype was made by.
      INTEGER MPI_COMBINER_NAMED
      PARAMETER (MPI_COMBINER_NAMED = 101)
      INTEGER MPI_COMBINER_DUP
      PARAMETER (MPI_COMBINER_DUP = 102)
      INTEGER MPI_COMBINER_CONTIGUOUS
      PARAMETER (MPI_COMBINER_CONTIGUOUS = 103)
      INTEGER MPI_COMBINER_VECTOR
      PARAMETER (MPI_COMBINER_VECTOR = 104)
      INTEGER MPI_COMBINER_HVECTOR
      PARAMETER (MPI_COMBINER_HVECTOR = 105)
      INTEGER MPI_COMBINER_INDEXED
      PARAMETER (MPI_COMBINER_INDEXED = 106)
      INTEGER MPI_COMBINER_HINDEXED
      PARAMETER (MPI_COMBINER_HINDEXED = 107)
      INTEGER MPI_COMBINER_INDEXED_BLOCK
      PARAMETER (MPI_COMBINER_INDEXED_BLOCK = 108)
      INTEGER MPI_COMBINER_HINDEXED_BLOCK
      PARAMETER (MPI_COMBINER_HINDEXED_BLOCK = 109)
      INTEGER MPI_COMBINER_STRUCT
      PARAMETER (MPI_COMBINER_STRUCT = 110)
      INTEGER MPI_COMBINER_SUBARRAY
      PARAMETER (MPI_COMBINER_SUBARRAY = 111)
      INTEGER MPI_COMBINER_DARRAY
      PARAMETER (MPI_COMBINER_DARRAY = 112)
      INTEGER MPI_COMBINER_F90_REAL
      PARAMETER (MPI_COMBINER_F90_REAL = 113)
      INTEGER MPI_COMBINER_F90_COMPLEX
      PARAMETER (MPI_COMBINER_F90_COMPLEX = 114)
      INTEGER MPI_COMBINER_F90_INTEGER
      PARAMETER (MPI_COMBINER_F90_INTEGER = 115)
      INTEGER MPI_COMBINER_RESIZED
      PARAMETER (MPI_COMBINER_RESIZED = 116)
      INTEGER MPI_COMBINER_VALUE_INDEX
      PARAMETER (MPI_COMBINER_VALUE_INDEX = 117)

!     Classes of datatypes.
      INTEGER MPIX_TYPECLASS_LOGICAL
      PARAMETER (MPIX_TYPECLASS_LOGICAL = 191)
      INTEGER MPI_TYPECLASS_INTEGER
      PARAMETER (MPI_TYPECLASS_INTEGER = 192)
      INTEGER MPI_TYPECLASS_REAL
      PARAMETER (MPI_TYPECLASS_REAL = 193)
      INTEGER MPI_TYPECLASS_COMPLEX
      PARAMETER (MPI_TYPECLASS_COMPLEX = 194)

!     Requests and messages.
      INTEGER MPI_MESSAGE_NULL
      PARAMETER (MPI_MESSAGE_NULL = 296)
      INTEGER MPI_MESSAGE_NO_PROC
      PARAMETER (MPI_MESSAGE_NO_PROC = 297)
      INTEGER MPI_REQUEST_NULL
      PARAMETER (MPI_REQUEST_NULL = 384)

!     Info objects.
      INTEGER MPI_INFO_NULL
      PARAMETER (MPI_INFO_NULL = 304)
      INTEGER MPI_INFO_ENV
      PARAMETER (MPI_INFO_ENV = 305)

!     Error handlers.
      INTEGER MPI_ERRHANDLER_NULL
      PARAMETER (MPI_ERRHANDLER_NULL = 320)
      INTEGER MPI_ERRORS_ARE_FATAL
      PARAMETER (MPI_ERRORS_ARE_FATAL = 321)
      INTEGER MPI_ERRORS_ABORT
      PARAMETER (MPI_ERRORS_ABORT = 322)
      INTEGER MPI_ERRORS_RETURN
      PARAMETER (MPI_ERRORS_RETURN = 323)

!     Sessions.
      INTEGER MPI_SESSION_NULL
      PARAMETER (MPI_SESSION_NULL = 288)

!     Attributes of communicators.
      INTEGER MPI_KEYVAL_INVALID
      PARAMETER (MPI_KEYVAL_INVALID = 0)
      INTEGER MPI_TAG_UB
      PARAMETER (MPI_TAG_UB = 501)
      INTEGER MPI_IO
      PARAMETER (MPI_IO = 502)
      INTEGER MPI_HOST
      PARAMETER (MPI_HOST = 503)
      INTEGER MPI_WTIME_IS_GLOBAL
      PARAMETER (MPI_WTIME_IS_GLOBAL = 504)
      INTEGER MPI_APPNUM
      PARAMETER (MPI_APPNUM = 505)
      INTEGER MPI_LASTUSEDCODE
      PARAMETER (MPI_LASTUSEDCODE = 506)
      INTEGER MPI_UNIVERSE_SIZE
      PARAMETER (MPI_UNIVERSE_SIZE = 507)

!     Attributes of windows.
      INTEGER MPI_WIN_BASE
      PARAMETER (MPI_WIN_BASE = 601)
      INTEGER MPI_WIN_DISP_UNIT
      PARAMETER (MPI_WIN_DISP_UNIT = 602)
      INTEGER MPI_WIN_SIZE
      PARAMETER (MPI_WIN_SIZE = 603)
      INTEGER MPI_WIN_CREATE_FLAVOR
      PARAMETER (MPI_WIN_CREATE_FLAVOR = 604)
      INTEGER MPI_WIN_MODEL
      PARAMETER (MPI_WIN_MODEL = 605)

!     Windows, their kinds and locks.
      INTEGER MPI_WIN_NULL
      PARAMETER (MPI_WIN_NULL = 272)
      INTEGER MPI_LOCK_EXCLUSIVE
      PARAMETER (MPI_LOCK_EXCLUSIVE = 301)
      INTEGER MPI_LOCK_SHARED
      PARAMETER (MPI_LOCK_SHARED = 302)
      INTEGER MPI_WIN_FLAVOR_CREATE
      PARAMETER (MPI_WIN_FLAVOR_CREATE = 311)
      INTEGER MPI_WIN_FLAVOR_ALLOCATE
      PARAMETER (MPI_WIN_FLAVOR_ALLOCATE = 312)
      INTEGER MPI_WIN_FLAVOR_DYNAMIC
      PARAMETER (MPI_WIN_FLAVOR_DYNAMIC = 313)
      INTEGER MPI_WIN_FLAVOR_SHARED
      PARAMETER (MPI_WIN_FLAVOR_SHARED = 314)
      INTEGER MPI_WIN_UNIFIED
      PARAMETER (MPI_WIN_UNIFIED = 321)
      INTEGER MPI_WIN_SEPARATE
      PARAMETER (MPI_WIN_SEPARATE = 322)

!     Assertions on windows.
      INTEGER MPI_MODE_NOCHECK
      PARAMETER (MPI_MODE_NOCHECK = 1024)
      INTEGER MPI_MODE_NOPRECEDE
      PARAMETER (MPI_MODE_NOPRECEDE = 2048)
      INTEGER MPI_MODE_NOPUT
      PARAMETER (MPI_MODE_NOPUT = 4096)
      INTEGER MPI_MODE_NOSTORE
      PARAMETER (MPI_MODE_NOSTORE = 8192)
      INTEGER MPI_MODE_NOSUCCEED
      PARAMETER (MPI_MODE_NOSUCCEED = 16384)

!     Files.
      INTEGER MPI_FILE_NULL
      PARAMETER (MPI_FILE_NULL = 280)
      INTEGER MPI_MODE_APPEND
      PARAMETER (MPI_MODE_APPEND = 1)
      INTEGER MPI_MODE_CREATE
      PARAMETER (MPI_MODE_CREATE = 2)
      INTEGER MPI_MODE_DELETE_ON_CLOSE
      PARAMETER (MPI_MODE_DELETE_ON_CLOSE = 4)
      INTEGER MPI_MODE_EXCL
      PARAMETER (MPI_MODE_EXCL = 8)
      INTEGER MPI_MODE_RDONLY
      PARAMETER (MPI_MODE_RDONLY = 16)
      INTEGER MPI_MODE_RDWR
      PARAMETER (MPI_MODE_RDWR = 32)
      INTEGER MPI_MODE_SEQUENTIAL
      PARAMETER (MPI_MODE_SEQUENTIAL = 64)
      INTEGER MPI_MODE_UNIQUE_OPEN
      PARAMETER (MPI_MODE_UNIQUE_OPEN = 128)
      INTEGER MPI_MODE_WRONLY
      PARAMETER (MPI_MODE_WRONLY = 256)
      INTEGER MPI_SEEK_CUR
      PARAMETER (MPI_SEEK_CUR = 401)
      INTEGER MPI_SEEK_END
      PARAMETER (MPI_SEEK_END = 402)
      INTEGER MPI_SEEK_SET
      PARAMETER (MPI_SEEK_SET = 403)

!     What is not to be relied on: buffers may be copied by the compiler.
      LOGICAL MPI_SUBARRAYS_SUPPORTED
      PARAMETER (MPI_SUBARRAYS_SUPPORTED = .FALSE.)
      LOGICAL MPI_ASYNC_PROTECTS_NONBLOCKING
      PARAMETER (MPI_ASYNC_PROTECTS_NONBLOCKING = .FALSE.)

!     The offset that stands for where the file's pointer is.
      INTEGER(KIND=8) MPI_DISPLACEMENT_CURRENT
      PARAMETER (MPI_DISPLACEMENT_CURRENT = -1_8)

!     The callbacks that the standard has.
      EXTERNAL MPI_CONVERSION_FN_NULL
      EXTERNAL MPI_NULL_COPY_FN
      EXTERNAL MPI_DUP_FN
      EXTERNAL MPI_NULL_DELETE_FN
      EXTERNAL MPI_COMM_NULL_COPY_FN
      EXTERNAL MPI_COMM_DUP_FN
      EXTERNAL MPI_COMM_NULL_DELETE_FN
      EXTERNAL MPI_TYPE_NULL_COPY_FN
      EXTERNAL MPI_TYPE_DUP_FN
      EXTERNAL MPI_TYPE_NULL_DELETE_FN
      EXTERNAL MPI_WIN_NULL_COPY_FN
      EXTERNAL MPI_WIN_DUP_FN
      EXTERNAL MPI_WIN_NULL_DELETE_FN

  ! The functions that are no subroutines, and those that C does not have or has otherwise.
  interface
    real(selected_real_kind(15)) function MPI_Wtime()
    end function MPI_Wtime
    real(selected_real_kind(15)) function PMPI_Wtime()
    end function PMPI_Wtime
    real(selected_real_kind(15)) function MPI_Wtick()
    end function MPI_Wtick
    real(selected_real_kind(15)) function PMPI_Wtick()
    end function PMPI_Wtick
    integer(MPI_ADDRESS_KIND) function MPI_Aint_add(base, disp)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: base, disp
    end function MPI_Aint_add
    integer(MPI_ADDRESS_KIND) function PMPI_Aint_add(base, disp)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: base, disp
    end function PMPI_Aint_add
    integer(MPI_ADDRESS_KIND) function MPI_Aint_diff(addr1, addr2)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
    end function MPI_Aint_diff
    integer(MPI_ADDRESS_KIND) function PMPI_Aint_diff(addr1, addr2)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
    end function PMPI_Aint_diff
    subroutine MPI_Pcontrol(level)
      integer, intent(in) :: level
    end subroutine MPI_Pcontrol
    subroutine PMPI_Pcontrol(level)
      integer, intent(in) :: level
    end subroutine PMPI_Pcontrol
    subroutine MPI_F_sync_reg(buf)
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*) :: buf
    end subroutine MPI_F_sync_reg
  end interface
  procedure(MPI_F_sync_reg) :: PMPI_F_sync_reg

  ! Of the first, compilers describe the first argument, of any type and rank, and the library reads
  ! there how long an element is.
  interface
    subroutine MPI_Sizeof(x, size, ierror) bind(C, name='muster_sizeof_')
      use, intrinsic :: iso_c_binding, only: c_int
      type(*), dimension(..), intent(in) :: x
      integer(c_int), intent(out) :: size, ierror
    end subroutine MPI_Sizeof
    subroutine PMPI_Sizeof(x, size, ierror) bind(C, name='muster_sizeof_')
      use, intrinsic :: iso_c_binding, only: c_int
      type(*), dimension(..), intent(in) :: x
      integer(c_int), intent(out) :: size, ierror
    end subroutine PMPI_Sizeof
    subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, intent(out) :: ierror
    end subroutine MPI_Status_f2f08
    subroutine MPI_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Status_f082f
  end interface
  procedure(MPI_Status_f2f08) :: PMPI_Status_f2f08
  procedure(MPI_Status_f082f) :: PMPI_Status_f082f

  ! Removed, and not checked.
  external :: MPI_Address, PMPI_Address, MPI_Errhandler_create, PMPI_Errhandler_create, &
    MPI_Errhandler_get, PMPI_Errhandler_get, MPI_Errhandler_set, PMPI_Errhandler_set, &
    MPI_Type_extent, PMPI_Type_extent, MPI_Type_hindexed, PMPI_Type_hindexed, MPI_Type_hvector, &
    PMPI_Type_hvector, MPI_Type_lb, PMPI_Type_lb, MPI_Type_struct, PMPI_Type_struct, MPI_Type_ub, &
    PMPI_Type_ub

  ! Point-to-Point Communication.
  interface
    subroutine MPI_Bsend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Bsend
  end interface
  procedure(MPI_Bsend) :: PMPI_Bsend
  interface
    subroutine MPI_Bsend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Bsend_init
  end interface
  procedure(MPI_Bsend_init) :: PMPI_Bsend_init
  interface
    subroutine MPI_Buffer_attach(buffer, size, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Buffer_attach
  end interface
  procedure(MPI_Buffer_attach) :: PMPI_Buffer_attach
  interface
    subroutine MPI_Buffer_detach(buffer_addr, size, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer_addr
      !DEC$ attributes no_arg_check :: buffer_addr
      !DIR$ ignore_tkr buffer_addr
      type(*), dimension(*), target :: buffer_addr
      integer :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Buffer_detach
  end interface
  procedure(MPI_Buffer_detach) :: PMPI_Buffer_detach
  interface
    subroutine MPI_Buffer_flush(ierror)
      import
      integer, intent(out) :: ierror
    end subroutine MPI_Buffer_flush
  end interface
  procedure(MPI_Buffer_flush) :: PMPI_Buffer_flush
  interface
    subroutine MPI_Buffer_iflush(request, ierror)
      import
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Buffer_iflush
  end interface
  procedure(MPI_Buffer_iflush) :: PMPI_Buffer_iflush
  interface
    subroutine MPI_Cancel(request, ierror)
      import
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Cancel
  end interface
  procedure(MPI_Cancel) :: PMPI_Cancel
  interface
    subroutine MPI_Comm_attach_buffer(comm, buffer, size, ierror)
      import
      integer, intent(in) :: comm
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_attach_buffer
  end interface
  procedure(MPI_Comm_attach_buffer) :: PMPI_Comm_attach_buffer
  interface
    subroutine MPI_Comm_detach_buffer(comm, buffer_addr, size, ierror)
      import
      integer, intent(in) :: comm
      !GCC$ attributes no_arg_check :: buffer_addr
      !DEC$ attributes no_arg_check :: buffer_addr
      !DIR$ ignore_tkr buffer_addr
      type(*), dimension(*), target :: buffer_addr
      integer :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_detach_buffer
  end interface
  procedure(MPI_Comm_detach_buffer) :: PMPI_Comm_detach_buffer
  interface
    subroutine MPI_Comm_flush_buffer(comm, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_flush_buffer
  end interface
  procedure(MPI_Comm_flush_buffer) :: PMPI_Comm_flush_buffer
  interface
    subroutine MPI_Comm_iflush_buffer(comm, request, ierror)
      import
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_iflush_buffer
  end interface
  procedure(MPI_Comm_iflush_buffer) :: PMPI_Comm_iflush_buffer
  interface
    subroutine MPI_Get_count(status, datatype, count, ierror)
      import
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Get_count
  end interface
  procedure(MPI_Get_count) :: PMPI_Get_count
  interface
    subroutine MPI_Ibsend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ibsend
  end interface
  procedure(MPI_Ibsend) :: PMPI_Ibsend
  interface
    subroutine MPI_Improbe(source, tag, comm, flag, message, status, ierror)
      import
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      logical :: flag
      integer :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Improbe
  end interface
  procedure(MPI_Improbe) :: PMPI_Improbe
  interface
    subroutine MPI_Imrecv(buf, count, datatype, message, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: message
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Imrecv
  end interface
  procedure(MPI_Imrecv) :: PMPI_Imrecv
  interface
    subroutine MPI_Iprobe(source, tag, comm, flag, status, ierror)
      import
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      logical :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Iprobe
  end interface
  procedure(MPI_Iprobe) :: PMPI_Iprobe
  interface
    subroutine MPI_Irecv(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Irecv
  end interface
  procedure(MPI_Irecv) :: PMPI_Irecv
  interface
    subroutine MPI_Irsend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Irsend
  end interface
  procedure(MPI_Irsend) :: PMPI_Irsend
  interface
    subroutine MPI_Isend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Isend
  end interface
  procedure(MPI_Isend) :: PMPI_Isend
  interface
    subroutine MPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Isendrecv
  end interface
  procedure(MPI_Isendrecv) :: PMPI_Isendrecv
  interface
    subroutine MPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Isendrecv_replace
  end interface
  procedure(MPI_Isendrecv_replace) :: PMPI_Isendrecv_replace
  interface
    subroutine MPI_Issend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Issend
  end interface
  procedure(MPI_Issend) :: PMPI_Issend
  interface
    subroutine MPI_Mprobe(source, tag, comm, message, status, ierror)
      import
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Mprobe
  end interface
  procedure(MPI_Mprobe) :: PMPI_Mprobe
  interface
    subroutine MPI_Mrecv(buf, count, datatype, message, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Mrecv
  end interface
  procedure(MPI_Mrecv) :: PMPI_Mrecv
  interface
    subroutine MPI_Probe(source, tag, comm, status, ierror)
      import
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Probe
  end interface
  procedure(MPI_Probe) :: PMPI_Probe
  interface
    subroutine MPI_Recv(buf, count, datatype, source, tag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Recv
  end interface
  procedure(MPI_Recv) :: PMPI_Recv
  interface
    subroutine MPI_Recv_init(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Recv_init
  end interface
  procedure(MPI_Recv_init) :: PMPI_Recv_init
  interface
    subroutine MPI_Request_free(request, ierror)
      import
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Request_free
  end interface
  procedure(MPI_Request_free) :: PMPI_Request_free
  interface
    subroutine MPI_Request_get_status(request, flag, status, ierror)
      import
      integer, intent(in) :: request
      logical :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Request_get_status
  end interface
  procedure(MPI_Request_get_status) :: PMPI_Request_get_status
  interface
    subroutine MPI_Request_get_status_all(count, array_of_requests, flag, array_of_statuses, &
        ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_requests(*)
      logical :: flag
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Request_get_status_all
  end interface
  procedure(MPI_Request_get_status_all) :: PMPI_Request_get_status_all
  interface
    subroutine MPI_Request_get_status_any(count, array_of_requests, index, flag, status, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_requests(*)
      integer :: index
      logical :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Request_get_status_any
  end interface
  procedure(MPI_Request_get_status_any) :: PMPI_Request_get_status_any
  interface
    subroutine MPI_Request_get_status_some(incount, array_of_requests, outcount, array_of_indices, &
        array_of_statuses, ierror)
      import
      integer, intent(in) :: incount
      integer, intent(in) :: array_of_requests(*)
      integer :: outcount
      integer :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Request_get_status_some
  end interface
  procedure(MPI_Request_get_status_some) :: PMPI_Request_get_status_some
  interface
    subroutine MPI_Rsend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Rsend
  end interface
  procedure(MPI_Rsend) :: PMPI_Rsend
  interface
    subroutine MPI_Rsend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Rsend_init
  end interface
  procedure(MPI_Rsend_init) :: PMPI_Rsend_init
  interface
    subroutine MPI_Send(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Send
  end interface
  procedure(MPI_Send) :: PMPI_Send
  interface
    subroutine MPI_Send_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Send_init
  end interface
  procedure(MPI_Send_init) :: PMPI_Send_init
  interface
    subroutine MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Sendrecv
  end interface
  procedure(MPI_Sendrecv) :: PMPI_Sendrecv
  interface
    subroutine MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Sendrecv_replace
  end interface
  procedure(MPI_Sendrecv_replace) :: PMPI_Sendrecv_replace
  interface
    subroutine MPI_Session_attach_buffer(session, buffer, size, ierror)
      import
      integer, intent(in) :: session
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Session_attach_buffer
  end interface
  procedure(MPI_Session_attach_buffer) :: PMPI_Session_attach_buffer
  interface
    subroutine MPI_Session_detach_buffer(session, buffer_addr, size, ierror)
      import
      integer, intent(in) :: session
      !GCC$ attributes no_arg_check :: buffer_addr
      !DEC$ attributes no_arg_check :: buffer_addr
      !DIR$ ignore_tkr buffer_addr
      type(*), dimension(*), target :: buffer_addr
      integer :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Session_detach_buffer
  end interface
  procedure(MPI_Session_detach_buffer) :: PMPI_Session_detach_buffer
  interface
    subroutine MPI_Session_flush_buffer(session, ierror)
      import
      integer, intent(in) :: session
      integer, intent(out) :: ierror
    end subroutine MPI_Session_flush_buffer
  end interface
  procedure(MPI_Session_flush_buffer) :: PMPI_Session_flush_buffer
  interface
    subroutine MPI_Session_iflush_buffer(session, request, ierror)
      import
      integer, intent(in) :: session
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Session_iflush_buffer
  end interface
  procedure(MPI_Session_iflush_buffer) :: PMPI_Session_iflush_buffer
  interface
    subroutine MPI_Ssend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Ssend
  end interface
  procedure(MPI_Ssend) :: PMPI_Ssend
  interface
    subroutine MPI_Ssend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ssend_init
  end interface
  procedure(MPI_Ssend_init) :: PMPI_Ssend_init
  interface
    subroutine MPI_Start(request, ierror)
      import
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Start
  end interface
  procedure(MPI_Start) :: PMPI_Start
  interface
    subroutine MPI_Startall(count, array_of_requests, ierror)
      import
      integer, intent(in) :: count
      integer :: array_of_requests(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Startall
  end interface
  procedure(MPI_Startall) :: PMPI_Startall
  interface
    subroutine MPI_Status_get_error(status, error, ierror)
      import
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer :: error
      integer, intent(out) :: ierror
    end subroutine MPI_Status_get_error
  end interface
  procedure(MPI_Status_get_error) :: PMPI_Status_get_error
  interface
    subroutine MPI_Status_get_source(status, source, ierror)
      import
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer :: source
      integer, intent(out) :: ierror
    end subroutine MPI_Status_get_source
  end interface
  procedure(MPI_Status_get_source) :: PMPI_Status_get_source
  interface
    subroutine MPI_Status_get_tag(status, tag, ierror)
      import
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer :: tag
      integer, intent(out) :: ierror
    end subroutine MPI_Status_get_tag
  end interface
  procedure(MPI_Status_get_tag) :: PMPI_Status_get_tag
  interface
    subroutine MPI_Status_set_error(status, error, ierror)
      import
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: error
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_error
  end interface
  procedure(MPI_Status_set_error) :: PMPI_Status_set_error
  interface
    subroutine MPI_Status_set_source(status, source, ierror)
      import
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: source
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_source
  end interface
  procedure(MPI_Status_set_source) :: PMPI_Status_set_source
  interface
    subroutine MPI_Status_set_tag(status, tag, ierror)
      import
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: tag
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_tag
  end interface
  procedure(MPI_Status_set_tag) :: PMPI_Status_set_tag
  interface
    subroutine MPI_Test(request, flag, status, ierror)
      import
      integer :: request
      logical :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Test
  end interface
  procedure(MPI_Test) :: PMPI_Test
  interface
    subroutine MPI_Test_cancelled(status, flag, ierror)
      import
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Test_cancelled
  end interface
  procedure(MPI_Test_cancelled) :: PMPI_Test_cancelled
  interface
    subroutine MPI_Testall(count, array_of_requests, flag, array_of_statuses, ierror)
      import
      integer, intent(in) :: count
      integer :: array_of_requests(*)
      logical :: flag
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Testall
  end interface
  procedure(MPI_Testall) :: PMPI_Testall
  interface
    subroutine MPI_Testany(count, array_of_requests, index, flag, status, ierror)
      import
      integer, intent(in) :: count
      integer :: array_of_requests(*)
      integer :: index
      logical :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Testany
  end interface
  procedure(MPI_Testany) :: PMPI_Testany
  interface
    subroutine MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, &
        array_of_statuses, ierror)
      import
      integer, intent(in) :: incount
      integer :: array_of_requests(*)
      integer :: outcount
      integer :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Testsome
  end interface
  procedure(MPI_Testsome) :: PMPI_Testsome
  interface
    subroutine MPI_Wait(request, status, ierror)
      import
      integer :: request
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Wait
  end interface
  procedure(MPI_Wait) :: PMPI_Wait
  interface
    subroutine MPI_Waitall(count, array_of_requests, array_of_statuses, ierror)
      import
      integer, intent(in) :: count
      integer :: array_of_requests(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Waitall
  end interface
  procedure(MPI_Waitall) :: PMPI_Waitall
  interface
    subroutine MPI_Waitany(count, array_of_requests, index, status, ierror)
      import
      integer, intent(in) :: count
      integer :: array_of_requests(*)
      integer :: index
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Waitany
  end interface
  procedure(MPI_Waitany) :: PMPI_Waitany
  interface
    subroutine MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, &
        array_of_statuses, ierror)
      import
      integer, intent(in) :: incount
      integer :: array_of_requests(*)
      integer :: outcount
      integer :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Waitsome
  end interface
  procedure(MPI_Waitsome) :: PMPI_Waitsome

  ! Partitioned Communication.
  interface
    subroutine MPI_Parrived(request, partition, flag, ierror)
      import
      integer, intent(in) :: request
      integer, intent(in) :: partition
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Parrived
  end interface
  procedure(MPI_Parrived) :: PMPI_Parrived
  interface
    subroutine MPI_Pready(partition, request, ierror)
      import
      integer, intent(in) :: partition
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Pready
  end interface
  procedure(MPI_Pready) :: PMPI_Pready
  interface
    subroutine MPI_Pready_list(length, array_of_partitions, request, ierror)
      import
      integer, intent(in) :: length
      integer, intent(in) :: array_of_partitions(*)
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Pready_list
  end interface
  procedure(MPI_Pready_list) :: PMPI_Pready_list
  interface
    subroutine MPI_Pready_range(partition_low, partition_high, request, ierror)
      import
      integer, intent(in) :: partition_low
      integer, intent(in) :: partition_high
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Pready_range
  end interface
  procedure(MPI_Pready_range) :: PMPI_Pready_range
  interface
    subroutine MPI_Precv_init(buf, partitions, count, datatype, dest, tag, comm, info, request, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: partitions
      integer(MPI_COUNT_KIND), intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Precv_init
  end interface
  procedure(MPI_Precv_init) :: PMPI_Precv_init
  interface
    subroutine MPI_Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: partitions
      integer(MPI_COUNT_KIND), intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Psend_init
  end interface
  procedure(MPI_Psend_init) :: PMPI_Psend_init

  ! Datatypes.
  interface
    subroutine MPI_Get_address(location, address, ierror)
      import
      !GCC$ attributes no_arg_check :: location
      !DEC$ attributes no_arg_check :: location
      !DIR$ ignore_tkr location
      type(*), dimension(*), target, intent(in) :: location
      integer(MPI_ADDRESS_KIND) :: address
      integer, intent(out) :: ierror
    end subroutine MPI_Get_address
  end interface
  procedure(MPI_Get_address) :: PMPI_Get_address
  interface
    subroutine MPI_Get_elements(status, datatype, count, ierror)
      import
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Get_elements
  end interface
  procedure(MPI_Get_elements) :: PMPI_Get_elements
  interface
    subroutine MPI_Pack(inbuf, incount, datatype, outbuf, outsize, position, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer, intent(in) :: incount
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer, intent(in) :: outsize
      integer :: position
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Pack
  end interface
  procedure(MPI_Pack) :: PMPI_Pack
  interface
    subroutine MPI_Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position, &
        ierror)
      import
      character(len=*), intent(in) :: datarep
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer, intent(in) :: incount
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_ADDRESS_KIND), intent(in) :: outsize
      integer(MPI_ADDRESS_KIND) :: position
      integer, intent(out) :: ierror
    end subroutine MPI_Pack_external
  end interface
  procedure(MPI_Pack_external) :: PMPI_Pack_external
  interface
    subroutine MPI_Pack_external_size(datarep, incount, datatype, size, ierror)
      import
      character(len=*), intent(in) :: datarep
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Pack_external_size
  end interface
  procedure(MPI_Pack_external_size) :: PMPI_Pack_external_size
  interface
    subroutine MPI_Pack_size(incount, datatype, comm, size, ierror)
      import
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      integer, intent(in) :: comm
      integer :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Pack_size
  end interface
  procedure(MPI_Pack_size) :: PMPI_Pack_size
  interface
    subroutine MPI_Type_commit(datatype, ierror)
      import
      integer :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_commit
  end interface
  procedure(MPI_Type_commit) :: PMPI_Type_commit
  interface
    subroutine MPI_Type_contiguous(count, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_contiguous
  end interface
  procedure(MPI_Type_contiguous) :: PMPI_Type_contiguous
  interface
    subroutine MPI_Type_create_darray(size, rank, ndims, array_of_gsizes, array_of_distribs, &
        array_of_dargs, array_of_psizes, order, oldtype, newtype, ierror)
      import
      integer, intent(in) :: size
      integer, intent(in) :: rank
      integer, intent(in) :: ndims
      integer, intent(in) :: array_of_gsizes(*)
      integer, intent(in) :: array_of_distribs(*)
      integer, intent(in) :: array_of_dargs(*)
      integer, intent(in) :: array_of_psizes(*)
      integer, intent(in) :: order
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_darray
  end interface
  procedure(MPI_Type_create_darray) :: PMPI_Type_create_darray
  interface
    subroutine MPI_Type_create_f90_complex(p, r, newtype, ierror)
      import
      integer, intent(in) :: p
      integer, intent(in) :: r
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_complex
  end interface
  procedure(MPI_Type_create_f90_complex) :: PMPI_Type_create_f90_complex
  interface
    subroutine MPI_Type_create_f90_integer(r, newtype, ierror)
      import
      integer, intent(in) :: r
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_integer
  end interface
  procedure(MPI_Type_create_f90_integer) :: PMPI_Type_create_f90_integer
  interface
    subroutine MPI_Type_create_f90_real(p, r, newtype, ierror)
      import
      integer, intent(in) :: p
      integer, intent(in) :: r
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_real
  end interface
  procedure(MPI_Type_create_f90_real) :: PMPI_Type_create_f90_real
  interface
    subroutine MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_hindexed
  end interface
  procedure(MPI_Type_create_hindexed) :: PMPI_Type_create_hindexed
  interface
    subroutine MPI_Type_create_hindexed_block(count, blocklength, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_hindexed_block
  end interface
  procedure(MPI_Type_create_hindexed_block) :: PMPI_Type_create_hindexed_block
  interface
    subroutine MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(MPI_ADDRESS_KIND), intent(in) :: stride
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_hvector
  end interface
  procedure(MPI_Type_create_hvector) :: PMPI_Type_create_hvector
  interface
    subroutine MPI_Type_create_indexed_block(count, blocklength, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_indexed_block
  end interface
  procedure(MPI_Type_create_indexed_block) :: PMPI_Type_create_indexed_block
  interface
    subroutine MPI_Type_create_resized(oldtype, lb, extent, newtype, ierror)
      import
      integer, intent(in) :: oldtype
      integer(MPI_ADDRESS_KIND), intent(in) :: lb
      integer(MPI_ADDRESS_KIND), intent(in) :: extent
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_resized
  end interface
  procedure(MPI_Type_create_resized) :: PMPI_Type_create_resized
  interface
    subroutine MPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, &
        array_of_types, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: array_of_types(*)
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_struct
  end interface
  procedure(MPI_Type_create_struct) :: PMPI_Type_create_struct
  interface
    subroutine MPI_Type_create_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts, &
        order, oldtype, newtype, ierror)
      import
      integer, intent(in) :: ndims
      integer, intent(in) :: array_of_sizes(*)
      integer, intent(in) :: array_of_subsizes(*)
      integer, intent(in) :: array_of_starts(*)
      integer, intent(in) :: order
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_subarray
  end interface
  procedure(MPI_Type_create_subarray) :: PMPI_Type_create_subarray
  interface
    subroutine MPI_Type_dup(oldtype, newtype, ierror)
      import
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_dup
  end interface
  procedure(MPI_Type_dup) :: PMPI_Type_dup
  interface
    subroutine MPI_Type_free(datatype, ierror)
      import
      integer :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_free
  end interface
  procedure(MPI_Type_free) :: PMPI_Type_free
  interface
    subroutine MPI_Type_get_contents(datatype, max_integers, max_addresses, max_datatypes, &
        array_of_integers, array_of_addresses, array_of_datatypes, ierror)
      import
      integer, intent(in) :: datatype
      integer, intent(in) :: max_integers
      integer, intent(in) :: max_addresses
      integer, intent(in) :: max_datatypes
      integer :: array_of_integers(*)
      integer(MPI_ADDRESS_KIND) :: array_of_addresses(*)
      integer :: array_of_datatypes(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_contents
  end interface
  procedure(MPI_Type_get_contents) :: PMPI_Type_get_contents
  interface
    subroutine MPI_Type_get_envelope(datatype, num_integers, num_addresses, num_datatypes, &
        combiner, ierror)
      import
      integer, intent(in) :: datatype
      integer :: num_integers
      integer :: num_addresses
      integer :: num_datatypes
      integer :: combiner
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_envelope
  end interface
  procedure(MPI_Type_get_envelope) :: PMPI_Type_get_envelope
  interface
    subroutine MPI_Type_get_extent(datatype, lb, extent, ierror)
      import
      integer, intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: lb
      integer(MPI_ADDRESS_KIND) :: extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_extent
  end interface
  procedure(MPI_Type_get_extent) :: PMPI_Type_get_extent
  interface
    subroutine MPI_Type_get_true_extent(datatype, true_lb, true_extent, ierror)
      import
      integer, intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: true_lb
      integer(MPI_ADDRESS_KIND) :: true_extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_true_extent
  end interface
  procedure(MPI_Type_get_true_extent) :: PMPI_Type_get_true_extent
  interface
    subroutine MPI_Type_get_value_index(value_type, index_type, pair_type, ierror)
      import
      integer, intent(in) :: value_type
      integer, intent(in) :: index_type
      integer :: pair_type
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_value_index
  end interface
  procedure(MPI_Type_get_value_index) :: PMPI_Type_get_value_index
  interface
    subroutine MPI_Type_indexed(count, array_of_blocklengths, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_indexed
  end interface
  procedure(MPI_Type_indexed) :: PMPI_Type_indexed
  interface
    subroutine MPI_Type_match_size(typeclass, size, datatype, ierror)
      import
      integer, intent(in) :: typeclass
      integer, intent(in) :: size
      integer :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_match_size
  end interface
  procedure(MPI_Type_match_size) :: PMPI_Type_match_size
  interface
    subroutine MPI_Type_size(datatype, size, ierror)
      import
      integer, intent(in) :: datatype
      integer :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Type_size
  end interface
  procedure(MPI_Type_size) :: PMPI_Type_size
  interface
    subroutine MPI_Type_vector(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: stride
      integer, intent(in) :: oldtype
      integer :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_vector
  end interface
  procedure(MPI_Type_vector) :: PMPI_Type_vector
  interface
    subroutine MPI_Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer, intent(in) :: insize
      integer :: position
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer, intent(in) :: outcount
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Unpack
  end interface
  procedure(MPI_Unpack) :: PMPI_Unpack
  interface
    subroutine MPI_Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype, &
        ierror)
      import
      character(len=*), intent(in) :: datarep
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_ADDRESS_KIND), intent(in) :: insize
      integer(MPI_ADDRESS_KIND) :: position
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer, intent(in) :: outcount
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_Unpack_external
  end interface
  procedure(MPI_Unpack_external) :: PMPI_Unpack_external

  ! Collective Communication.
  interface
    subroutine MPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Allgather
  end interface
  procedure(MPI_Allgather) :: PMPI_Allgather
  interface
    subroutine MPI_Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Allgather_init
  end interface
  procedure(MPI_Allgather_init) :: PMPI_Allgather_init
  interface
    subroutine MPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Allgatherv
  end interface
  procedure(MPI_Allgatherv) :: PMPI_Allgatherv
  interface
    subroutine MPI_Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Allgatherv_init
  end interface
  procedure(MPI_Allgatherv_init) :: PMPI_Allgatherv_init
  interface
    subroutine MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Allreduce
  end interface
  procedure(MPI_Allreduce) :: PMPI_Allreduce
  interface
    subroutine MPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Allreduce_init
  end interface
  procedure(MPI_Allreduce_init) :: PMPI_Allreduce_init
  interface
    subroutine MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoall
  end interface
  procedure(MPI_Alltoall) :: PMPI_Alltoall
  interface
    subroutine MPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoall_init
  end interface
  procedure(MPI_Alltoall_init) :: PMPI_Alltoall_init
  interface
    subroutine MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoallv
  end interface
  procedure(MPI_Alltoallv) :: PMPI_Alltoallv
  interface
    subroutine MPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoallv_init
  end interface
  procedure(MPI_Alltoallv_init) :: PMPI_Alltoallv_init
  interface
    subroutine MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtypes
      !DEC$ attributes no_arg_check :: sendtypes
      !DIR$ ignore_tkr sendtypes
      type(*), dimension(*), target, intent(in) :: sendtypes
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtypes
      !DEC$ attributes no_arg_check :: recvtypes
      !DIR$ ignore_tkr recvtypes
      type(*), dimension(*), target, intent(in) :: recvtypes
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoallw
  end interface
  procedure(MPI_Alltoallw) :: PMPI_Alltoallw
  interface
    subroutine MPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtypes
      !DEC$ attributes no_arg_check :: sendtypes
      !DIR$ ignore_tkr sendtypes
      type(*), dimension(*), target, intent(in) :: sendtypes
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtypes
      !DEC$ attributes no_arg_check :: recvtypes
      !DIR$ ignore_tkr recvtypes
      type(*), dimension(*), target, intent(in) :: recvtypes
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoallw_init
  end interface
  procedure(MPI_Alltoallw_init) :: PMPI_Alltoallw_init
  interface
    subroutine MPI_Barrier(comm, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Barrier
  end interface
  procedure(MPI_Barrier) :: PMPI_Barrier
  interface
    subroutine MPI_Barrier_init(comm, info, request, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Barrier_init
  end interface
  procedure(MPI_Barrier_init) :: PMPI_Barrier_init
  interface
    subroutine MPI_Bcast(buffer, count, datatype, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Bcast
  end interface
  procedure(MPI_Bcast) :: PMPI_Bcast
  interface
    subroutine MPI_Bcast_init(buffer, count, datatype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Bcast_init
  end interface
  procedure(MPI_Bcast_init) :: PMPI_Bcast_init
  interface
    subroutine MPI_Exscan(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Exscan
  end interface
  procedure(MPI_Exscan) :: PMPI_Exscan
  interface
    subroutine MPI_Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Exscan_init
  end interface
  procedure(MPI_Exscan_init) :: PMPI_Exscan_init
  interface
    subroutine MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Gather
  end interface
  procedure(MPI_Gather) :: PMPI_Gather
  interface
    subroutine MPI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Gather_init
  end interface
  procedure(MPI_Gather_init) :: PMPI_Gather_init
  interface
    subroutine MPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Gatherv
  end interface
  procedure(MPI_Gatherv) :: PMPI_Gatherv
  interface
    subroutine MPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Gatherv_init
  end interface
  procedure(MPI_Gatherv_init) :: PMPI_Gatherv_init
  interface
    subroutine MPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iallgather
  end interface
  procedure(MPI_Iallgather) :: PMPI_Iallgather
  interface
    subroutine MPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iallgatherv
  end interface
  procedure(MPI_Iallgatherv) :: PMPI_Iallgatherv
  interface
    subroutine MPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iallreduce
  end interface
  procedure(MPI_Iallreduce) :: PMPI_Iallreduce
  interface
    subroutine MPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ialltoall
  end interface
  procedure(MPI_Ialltoall) :: PMPI_Ialltoall
  interface
    subroutine MPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ialltoallv
  end interface
  procedure(MPI_Ialltoallv) :: PMPI_Ialltoallv
  interface
    subroutine MPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtypes
      !DEC$ attributes no_arg_check :: sendtypes
      !DIR$ ignore_tkr sendtypes
      type(*), dimension(*), target, intent(in) :: sendtypes
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtypes
      !DEC$ attributes no_arg_check :: recvtypes
      !DIR$ ignore_tkr recvtypes
      type(*), dimension(*), target, intent(in) :: recvtypes
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ialltoallw
  end interface
  procedure(MPI_Ialltoallw) :: PMPI_Ialltoallw
  interface
    subroutine MPI_Ibarrier(comm, request, ierror)
      import
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ibarrier
  end interface
  procedure(MPI_Ibarrier) :: PMPI_Ibarrier
  interface
    subroutine MPI_Ibcast(buffer, count, datatype, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ibcast
  end interface
  procedure(MPI_Ibcast) :: PMPI_Ibcast
  interface
    subroutine MPI_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iexscan
  end interface
  procedure(MPI_Iexscan) :: PMPI_Iexscan
  interface
    subroutine MPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Igather
  end interface
  procedure(MPI_Igather) :: PMPI_Igather
  interface
    subroutine MPI_Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Igatherv
  end interface
  procedure(MPI_Igatherv) :: PMPI_Igatherv
  interface
    subroutine MPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ireduce
  end interface
  procedure(MPI_Ireduce) :: PMPI_Ireduce
  interface
    subroutine MPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ireduce_scatter
  end interface
  procedure(MPI_Ireduce_scatter) :: PMPI_Ireduce_scatter
  interface
    subroutine MPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ireduce_scatter_block
  end interface
  procedure(MPI_Ireduce_scatter_block) :: PMPI_Ireduce_scatter_block
  interface
    subroutine MPI_Iscan(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iscan
  end interface
  procedure(MPI_Iscan) :: PMPI_Iscan
  interface
    subroutine MPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iscatter
  end interface
  procedure(MPI_Iscatter) :: PMPI_Iscatter
  interface
    subroutine MPI_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iscatterv
  end interface
  procedure(MPI_Iscatterv) :: PMPI_Iscatterv
  interface
    subroutine MPI_Op_commutative(op, commute, ierror)
      import
      integer, intent(in) :: op
      logical :: commute
      integer, intent(out) :: ierror
    end subroutine MPI_Op_commutative
  end interface
  procedure(MPI_Op_commutative) :: PMPI_Op_commutative
  interface
    subroutine MPI_Op_create(user_fn, commute, op, ierror)
      import
      external :: user_fn
      logical, intent(in) :: commute
      integer :: op
      integer, intent(out) :: ierror
    end subroutine MPI_Op_create
  end interface
  procedure(MPI_Op_create) :: PMPI_Op_create
  interface
    subroutine MPI_Op_free(op, ierror)
      import
      integer :: op
      integer, intent(out) :: ierror
    end subroutine MPI_Op_free
  end interface
  procedure(MPI_Op_free) :: PMPI_Op_free
  interface
    subroutine MPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce
  end interface
  procedure(MPI_Reduce) :: PMPI_Reduce
  interface
    subroutine MPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_init
  end interface
  procedure(MPI_Reduce_init) :: PMPI_Reduce_init
  interface
    subroutine MPI_Reduce_local(inbuf, inoutbuf, count, datatype, op, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      !GCC$ attributes no_arg_check :: inoutbuf
      !DEC$ attributes no_arg_check :: inoutbuf
      !DIR$ ignore_tkr inoutbuf
      type(*), dimension(*), target :: inoutbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_local
  end interface
  procedure(MPI_Reduce_local) :: PMPI_Reduce_local
  interface
    subroutine MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter
  end interface
  procedure(MPI_Reduce_scatter) :: PMPI_Reduce_scatter
  interface
    subroutine MPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_block
  end interface
  procedure(MPI_Reduce_scatter_block) :: PMPI_Reduce_scatter_block
  interface
    subroutine MPI_Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_block_init
  end interface
  procedure(MPI_Reduce_scatter_block_init) :: PMPI_Reduce_scatter_block_init
  interface
    subroutine MPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_init
  end interface
  procedure(MPI_Reduce_scatter_init) :: PMPI_Reduce_scatter_init
  interface
    subroutine MPI_Scan(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Scan
  end interface
  procedure(MPI_Scan) :: PMPI_Scan
  interface
    subroutine MPI_Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Scan_init
  end interface
  procedure(MPI_Scan_init) :: PMPI_Scan_init
  interface
    subroutine MPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Scatter
  end interface
  procedure(MPI_Scatter) :: PMPI_Scatter
  interface
    subroutine MPI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Scatter_init
  end interface
  procedure(MPI_Scatter_init) :: PMPI_Scatter_init
  interface
    subroutine MPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Scatterv
  end interface
  procedure(MPI_Scatterv) :: PMPI_Scatterv
  interface
    subroutine MPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Scatterv_init
  end interface
  procedure(MPI_Scatterv_init) :: PMPI_Scatterv_init

  ! Groups, Contexts, Communicators, and Caching.
  interface
    subroutine MPI_Comm_compare(comm1, comm2, result, ierror)
      import
      integer, intent(in) :: comm1
      integer, intent(in) :: comm2
      integer :: result
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_compare
  end interface
  procedure(MPI_Comm_compare) :: PMPI_Comm_compare
  interface
    subroutine MPI_Comm_create(comm, group, newcomm, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: group
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create
  end interface
  procedure(MPI_Comm_create) :: PMPI_Comm_create
  interface
    subroutine MPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm, ierror)
      import
      integer, intent(in) :: group
      character(len=*), intent(in) :: stringtag
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create_from_group
  end interface
  procedure(MPI_Comm_create_from_group) :: PMPI_Comm_create_from_group
  interface
    subroutine MPI_Comm_create_group(comm, group, tag, newcomm, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: group
      integer, intent(in) :: tag
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create_group
  end interface
  procedure(MPI_Comm_create_group) :: PMPI_Comm_create_group
  interface
    subroutine MPI_Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, &
        extra_state, ierror)
      import
      external :: comm_copy_attr_fn
      external :: comm_delete_attr_fn
      integer :: comm_keyval
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create_keyval
  end interface
  procedure(MPI_Comm_create_keyval) :: PMPI_Comm_create_keyval
  interface
    subroutine MPI_Comm_delete_attr(comm, comm_keyval, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_delete_attr
  end interface
  procedure(MPI_Comm_delete_attr) :: PMPI_Comm_delete_attr
  interface
    subroutine MPI_Comm_dup(comm, newcomm, ierror)
      import
      integer, intent(in) :: comm
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_dup
  end interface
  procedure(MPI_Comm_dup) :: PMPI_Comm_dup
  interface
    subroutine MPI_Comm_dup_with_info(comm, info, newcomm, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_dup_with_info
  end interface
  procedure(MPI_Comm_dup_with_info) :: PMPI_Comm_dup_with_info
  interface
    subroutine MPI_Comm_free(comm, ierror)
      import
      integer :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_free
  end interface
  procedure(MPI_Comm_free) :: PMPI_Comm_free
  interface
    subroutine MPI_Comm_free_keyval(comm_keyval, ierror)
      import
      integer :: comm_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_free_keyval
  end interface
  procedure(MPI_Comm_free_keyval) :: PMPI_Comm_free_keyval
  interface
    subroutine MPI_Comm_get_attr(comm, comm_keyval, attribute_val, flag, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_attr
  end interface
  procedure(MPI_Comm_get_attr) :: PMPI_Comm_get_attr
  interface
    subroutine MPI_Comm_get_info(comm, info_used, ierror)
      import
      integer, intent(in) :: comm
      integer :: info_used
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_info
  end interface
  procedure(MPI_Comm_get_info) :: PMPI_Comm_get_info
  interface
    subroutine MPI_Comm_get_name(comm, comm_name, resultlen, ierror)
      import
      integer, intent(in) :: comm
      character(len=*) :: comm_name
      integer :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_name
  end interface
  procedure(MPI_Comm_get_name) :: PMPI_Comm_get_name
  interface
    subroutine MPI_Comm_group(comm, group, ierror)
      import
      integer, intent(in) :: comm
      integer :: group
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_group
  end interface
  procedure(MPI_Comm_group) :: PMPI_Comm_group
  interface
    subroutine MPI_Comm_idup(comm, newcomm, request, ierror)
      import
      integer, intent(in) :: comm
      integer :: newcomm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_idup
  end interface
  procedure(MPI_Comm_idup) :: PMPI_Comm_idup
  interface
    subroutine MPI_Comm_idup_with_info(comm, info, newcomm, request, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: newcomm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_idup_with_info
  end interface
  procedure(MPI_Comm_idup_with_info) :: PMPI_Comm_idup_with_info
  interface
    subroutine MPI_Comm_rank(comm, rank, ierror)
      import
      integer, intent(in) :: comm
      integer :: rank
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_rank
  end interface
  procedure(MPI_Comm_rank) :: PMPI_Comm_rank
  interface
    subroutine MPI_Comm_remote_group(comm, group, ierror)
      import
      integer, intent(in) :: comm
      integer :: group
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_remote_group
  end interface
  procedure(MPI_Comm_remote_group) :: PMPI_Comm_remote_group
  interface
    subroutine MPI_Comm_remote_size(comm, size, ierror)
      import
      integer, intent(in) :: comm
      integer :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_remote_size
  end interface
  procedure(MPI_Comm_remote_size) :: PMPI_Comm_remote_size
  interface
    subroutine MPI_Comm_set_attr(comm, comm_keyval, attribute_val, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_set_attr
  end interface
  procedure(MPI_Comm_set_attr) :: PMPI_Comm_set_attr
  interface
    subroutine MPI_Comm_set_info(comm, info, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_set_info
  end interface
  procedure(MPI_Comm_set_info) :: PMPI_Comm_set_info
  interface
    subroutine MPI_Comm_set_name(comm, comm_name, ierror)
      import
      integer, intent(in) :: comm
      character(len=*), intent(in) :: comm_name
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_set_name
  end interface
  procedure(MPI_Comm_set_name) :: PMPI_Comm_set_name
  interface
    subroutine MPI_Comm_size(comm, size, ierror)
      import
      integer, intent(in) :: comm
      integer :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_size
  end interface
  procedure(MPI_Comm_size) :: PMPI_Comm_size
  interface
    subroutine MPI_Comm_split(comm, color, key, newcomm, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: color
      integer, intent(in) :: key
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_split
  end interface
  procedure(MPI_Comm_split) :: PMPI_Comm_split
  interface
    subroutine MPI_Comm_split_type(comm, split_type, key, info, newcomm, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: split_type
      integer, intent(in) :: key
      integer, intent(in) :: info
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_split_type
  end interface
  procedure(MPI_Comm_split_type) :: PMPI_Comm_split_type
  interface
    subroutine MPI_Comm_test_inter(comm, flag, ierror)
      import
      integer, intent(in) :: comm
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_test_inter
  end interface
  procedure(MPI_Comm_test_inter) :: PMPI_Comm_test_inter
  interface
    subroutine MPI_Group_compare(group1, group2, result, ierror)
      import
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer :: result
      integer, intent(out) :: ierror
    end subroutine MPI_Group_compare
  end interface
  procedure(MPI_Group_compare) :: PMPI_Group_compare
  interface
    subroutine MPI_Group_difference(group1, group2, newgroup, ierror)
      import
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_difference
  end interface
  procedure(MPI_Group_difference) :: PMPI_Group_difference
  interface
    subroutine MPI_Group_excl(group, n, ranks, newgroup, ierror)
      import
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranks(*)
      integer :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_excl
  end interface
  procedure(MPI_Group_excl) :: PMPI_Group_excl
  interface
    subroutine MPI_Group_free(group, ierror)
      import
      integer :: group
      integer, intent(out) :: ierror
    end subroutine MPI_Group_free
  end interface
  procedure(MPI_Group_free) :: PMPI_Group_free
  interface
    subroutine MPI_Group_from_session_pset(session, pset_name, newgroup, ierror)
      import
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_from_session_pset
  end interface
  procedure(MPI_Group_from_session_pset) :: PMPI_Group_from_session_pset
  interface
    subroutine MPI_Group_incl(group, n, ranks, newgroup, ierror)
      import
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranks(*)
      integer :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_incl
  end interface
  procedure(MPI_Group_incl) :: PMPI_Group_incl
  interface
    subroutine MPI_Group_intersection(group1, group2, newgroup, ierror)
      import
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_intersection
  end interface
  procedure(MPI_Group_intersection) :: PMPI_Group_intersection
  interface
    subroutine MPI_Group_range_excl(group, n, ranges, newgroup, ierror)
      import
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranges(3, *)
      integer :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_range_excl
  end interface
  procedure(MPI_Group_range_excl) :: PMPI_Group_range_excl
  interface
    subroutine MPI_Group_range_incl(group, n, ranges, newgroup, ierror)
      import
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranges(3, *)
      integer :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_range_incl
  end interface
  procedure(MPI_Group_range_incl) :: PMPI_Group_range_incl
  interface
    subroutine MPI_Group_rank(group, rank, ierror)
      import
      integer, intent(in) :: group
      integer :: rank
      integer, intent(out) :: ierror
    end subroutine MPI_Group_rank
  end interface
  procedure(MPI_Group_rank) :: PMPI_Group_rank
  interface
    subroutine MPI_Group_size(group, size, ierror)
      import
      integer, intent(in) :: group
      integer :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Group_size
  end interface
  procedure(MPI_Group_size) :: PMPI_Group_size
  interface
    subroutine MPI_Group_translate_ranks(group1, n, ranks1, group2, ranks2, ierror)
      import
      integer, intent(in) :: group1
      integer, intent(in) :: n
      integer, intent(in) :: ranks1(*)
      integer, intent(in) :: group2
      integer :: ranks2(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Group_translate_ranks
  end interface
  procedure(MPI_Group_translate_ranks) :: PMPI_Group_translate_ranks
  interface
    subroutine MPI_Group_union(group1, group2, newgroup, ierror)
      import
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_union
  end interface
  procedure(MPI_Group_union) :: PMPI_Group_union
  interface
    subroutine MPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, &
        newintercomm, ierror)
      import
      integer, intent(in) :: local_comm
      integer, intent(in) :: local_leader
      integer, intent(in) :: peer_comm
      integer, intent(in) :: remote_leader
      integer, intent(in) :: tag
      integer :: newintercomm
      integer, intent(out) :: ierror
    end subroutine MPI_Intercomm_create
  end interface
  procedure(MPI_Intercomm_create) :: PMPI_Intercomm_create
  interface
    subroutine MPI_Intercomm_create_from_groups(local_group, local_leader, remote_group, &
        remote_leader, stringtag, info, errhandler, newintercomm, ierror)
      import
      integer, intent(in) :: local_group
      integer, intent(in) :: local_leader
      integer, intent(in) :: remote_group
      integer, intent(in) :: remote_leader
      character(len=*), intent(in) :: stringtag
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer :: newintercomm
      integer, intent(out) :: ierror
    end subroutine MPI_Intercomm_create_from_groups
  end interface
  procedure(MPI_Intercomm_create_from_groups) :: PMPI_Intercomm_create_from_groups
  interface
    subroutine MPI_Intercomm_merge(intercomm, high, newintracomm, ierror)
      import
      integer, intent(in) :: intercomm
      logical, intent(in) :: high
      integer :: newintracomm
      integer, intent(out) :: ierror
    end subroutine MPI_Intercomm_merge
  end interface
  procedure(MPI_Intercomm_merge) :: PMPI_Intercomm_merge
  interface
    subroutine MPI_Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, &
        extra_state, ierror)
      import
      external :: type_copy_attr_fn
      external :: type_delete_attr_fn
      integer :: type_keyval
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_keyval
  end interface
  procedure(MPI_Type_create_keyval) :: PMPI_Type_create_keyval
  interface
    subroutine MPI_Type_delete_attr(datatype, type_keyval, ierror)
      import
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Type_delete_attr
  end interface
  procedure(MPI_Type_delete_attr) :: PMPI_Type_delete_attr
  interface
    subroutine MPI_Type_free_keyval(type_keyval, ierror)
      import
      integer :: type_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Type_free_keyval
  end interface
  procedure(MPI_Type_free_keyval) :: PMPI_Type_free_keyval
  interface
    subroutine MPI_Type_get_attr(datatype, type_keyval, attribute_val, flag, ierror)
      import
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_attr
  end interface
  procedure(MPI_Type_get_attr) :: PMPI_Type_get_attr
  interface
    subroutine MPI_Type_get_name(datatype, type_name, resultlen, ierror)
      import
      integer, intent(in) :: datatype
      character(len=*) :: type_name
      integer :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_name
  end interface
  procedure(MPI_Type_get_name) :: PMPI_Type_get_name
  interface
    subroutine MPI_Type_set_attr(datatype, type_keyval, attribute_val, ierror)
      import
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine MPI_Type_set_attr
  end interface
  procedure(MPI_Type_set_attr) :: PMPI_Type_set_attr
  interface
    subroutine MPI_Type_set_name(datatype, type_name, ierror)
      import
      integer, intent(in) :: datatype
      character(len=*), intent(in) :: type_name
      integer, intent(out) :: ierror
    end subroutine MPI_Type_set_name
  end interface
  procedure(MPI_Type_set_name) :: PMPI_Type_set_name
  interface
    subroutine MPI_Win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, &
        extra_state, ierror)
      import
      external :: win_copy_attr_fn
      external :: win_delete_attr_fn
      integer :: win_keyval
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Win_create_keyval
  end interface
  procedure(MPI_Win_create_keyval) :: PMPI_Win_create_keyval
  interface
    subroutine MPI_Win_delete_attr(win, win_keyval, ierror)
      import
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Win_delete_attr
  end interface
  procedure(MPI_Win_delete_attr) :: PMPI_Win_delete_attr
  interface
    subroutine MPI_Win_free_keyval(win_keyval, ierror)
      import
      integer :: win_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Win_free_keyval
  end interface
  procedure(MPI_Win_free_keyval) :: PMPI_Win_free_keyval
  interface
    subroutine MPI_Win_get_attr(win, win_keyval, attribute_val, flag, ierror)
      import
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_attr
  end interface
  procedure(MPI_Win_get_attr) :: PMPI_Win_get_attr
  interface
    subroutine MPI_Win_get_name(win, win_name, resultlen, ierror)
      import
      integer, intent(in) :: win
      character(len=*) :: win_name
      integer :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_name
  end interface
  procedure(MPI_Win_get_name) :: PMPI_Win_get_name
  interface
    subroutine MPI_Win_set_attr(win, win_keyval, attribute_val, ierror)
      import
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine MPI_Win_set_attr
  end interface
  procedure(MPI_Win_set_attr) :: PMPI_Win_set_attr
  interface
    subroutine MPI_Win_set_name(win, win_name, ierror)
      import
      integer, intent(in) :: win
      character(len=*), intent(in) :: win_name
      integer, intent(out) :: ierror
    end subroutine MPI_Win_set_name
  end interface
  procedure(MPI_Win_set_name) :: PMPI_Win_set_name

  ! Virtual Topologies.
  interface
    subroutine MPI_Cart_coords(comm, rank, maxdims, coords, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(in) :: maxdims
      integer :: coords(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_coords
  end interface
  procedure(MPI_Cart_coords) :: PMPI_Cart_coords
  interface
    subroutine MPI_Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart, ierror)
      import
      integer, intent(in) :: comm_old
      integer, intent(in) :: ndims
      integer, intent(in) :: dims(*)
      logical, intent(in) :: periods(*)
      logical, intent(in) :: reorder
      integer :: comm_cart
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_create
  end interface
  procedure(MPI_Cart_create) :: PMPI_Cart_create
  interface
    subroutine MPI_Cart_get(comm, maxdims, dims, periods, coords, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: maxdims
      integer :: dims(*)
      logical :: periods(*)
      integer :: coords(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_get
  end interface
  procedure(MPI_Cart_get) :: PMPI_Cart_get
  interface
    subroutine MPI_Cart_map(comm, ndims, dims, periods, newrank, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: ndims
      integer, intent(in) :: dims(*)
      logical, intent(in) :: periods(*)
      integer :: newrank
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_map
  end interface
  procedure(MPI_Cart_map) :: PMPI_Cart_map
  interface
    subroutine MPI_Cart_rank(comm, coords, rank, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: coords(*)
      integer :: rank
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_rank
  end interface
  procedure(MPI_Cart_rank) :: PMPI_Cart_rank
  interface
    subroutine MPI_Cart_shift(comm, direction, disp, rank_source, rank_dest, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: direction
      integer, intent(in) :: disp
      integer :: rank_source
      integer :: rank_dest
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_shift
  end interface
  procedure(MPI_Cart_shift) :: PMPI_Cart_shift
  interface
    subroutine MPI_Cart_sub(comm, remain_dims, newcomm, ierror)
      import
      integer, intent(in) :: comm
      logical, intent(in) :: remain_dims(*)
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_sub
  end interface
  procedure(MPI_Cart_sub) :: PMPI_Cart_sub
  interface
    subroutine MPI_Cartdim_get(comm, ndims, ierror)
      import
      integer, intent(in) :: comm
      integer :: ndims
      integer, intent(out) :: ierror
    end subroutine MPI_Cartdim_get
  end interface
  procedure(MPI_Cartdim_get) :: PMPI_Cartdim_get
  interface
    subroutine MPI_Dims_create(nnodes, ndims, dims, ierror)
      import
      integer, intent(in) :: nnodes
      integer, intent(in) :: ndims
      integer :: dims(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Dims_create
  end interface
  procedure(MPI_Dims_create) :: PMPI_Dims_create
  interface
    subroutine MPI_Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info, &
        reorder, comm_dist_graph, ierror)
      import
      integer, intent(in) :: comm_old
      integer, intent(in) :: n
      integer, intent(in) :: sources(*)
      integer, intent(in) :: degrees(*)
      integer, intent(in) :: destinations(*)
      integer, intent(in) :: weights(*)
      integer, intent(in) :: info
      logical, intent(in) :: reorder
      integer :: comm_dist_graph
      integer, intent(out) :: ierror
    end subroutine MPI_Dist_graph_create
  end interface
  procedure(MPI_Dist_graph_create) :: PMPI_Dist_graph_create
  interface
    subroutine MPI_Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, &
        outdegree, destinations, destweights, info, reorder, comm_dist_graph, ierror)
      import
      integer, intent(in) :: comm_old
      integer, intent(in) :: indegree
      integer, intent(in) :: sources(*)
      integer, intent(in) :: sourceweights(*)
      integer, intent(in) :: outdegree
      integer, intent(in) :: destinations(*)
      integer, intent(in) :: destweights(*)
      integer, intent(in) :: info
      logical, intent(in) :: reorder
      integer :: comm_dist_graph
      integer, intent(out) :: ierror
    end subroutine MPI_Dist_graph_create_adjacent
  end interface
  procedure(MPI_Dist_graph_create_adjacent) :: PMPI_Dist_graph_create_adjacent
  interface
    subroutine MPI_Dist_graph_neighbors(comm, maxindegree, sources, sourceweights, maxoutdegree, &
        destinations, destweights, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: maxindegree
      integer :: sources(*)
      integer :: sourceweights(*)
      integer, intent(in) :: maxoutdegree
      integer :: destinations(*)
      integer :: destweights(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Dist_graph_neighbors
  end interface
  procedure(MPI_Dist_graph_neighbors) :: PMPI_Dist_graph_neighbors
  interface
    subroutine MPI_Dist_graph_neighbors_count(comm, indegree, outdegree, weighted, ierror)
      import
      integer, intent(in) :: comm
      integer :: indegree
      integer :: outdegree
      logical :: weighted
      integer, intent(out) :: ierror
    end subroutine MPI_Dist_graph_neighbors_count
  end interface
  procedure(MPI_Dist_graph_neighbors_count) :: PMPI_Dist_graph_neighbors_count
  interface
    subroutine MPI_Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph, ierror)
      import
      integer, intent(in) :: comm_old
      integer, intent(in) :: nnodes
      integer, intent(in) :: index(*)
      integer, intent(in) :: edges(*)
      logical, intent(in) :: reorder
      integer :: comm_graph
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_create
  end interface
  procedure(MPI_Graph_create) :: PMPI_Graph_create
  interface
    subroutine MPI_Graph_get(comm, maxindex, maxedges, index, edges, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: maxindex
      integer, intent(in) :: maxedges
      integer :: index(*)
      integer :: edges(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_get
  end interface
  procedure(MPI_Graph_get) :: PMPI_Graph_get
  interface
    subroutine MPI_Graph_map(comm, nnodes, index, edges, newrank, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: nnodes
      integer, intent(in) :: index(*)
      integer, intent(in) :: edges(*)
      integer :: newrank
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_map
  end interface
  procedure(MPI_Graph_map) :: PMPI_Graph_map
  interface
    subroutine MPI_Graph_neighbors(comm, rank, maxneighbors, neighbors, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(in) :: maxneighbors
      integer :: neighbors(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_neighbors
  end interface
  procedure(MPI_Graph_neighbors) :: PMPI_Graph_neighbors
  interface
    subroutine MPI_Graph_neighbors_count(comm, rank, nneighbors, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer :: nneighbors
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_neighbors_count
  end interface
  procedure(MPI_Graph_neighbors_count) :: PMPI_Graph_neighbors_count
  interface
    subroutine MPI_Graphdims_get(comm, nnodes, nedges, ierror)
      import
      integer, intent(in) :: comm
      integer :: nnodes
      integer :: nedges
      integer, intent(out) :: ierror
    end subroutine MPI_Graphdims_get
  end interface
  procedure(MPI_Graphdims_get) :: PMPI_Graphdims_get
  interface
    subroutine MPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_allgather
  end interface
  procedure(MPI_Ineighbor_allgather) :: PMPI_Ineighbor_allgather
  interface
    subroutine MPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_allgatherv
  end interface
  procedure(MPI_Ineighbor_allgatherv) :: PMPI_Ineighbor_allgatherv
  interface
    subroutine MPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoall
  end interface
  procedure(MPI_Ineighbor_alltoall) :: PMPI_Ineighbor_alltoall
  interface
    subroutine MPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoallv
  end interface
  procedure(MPI_Ineighbor_alltoallv) :: PMPI_Ineighbor_alltoallv
  interface
    subroutine MPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtypes
      !DEC$ attributes no_arg_check :: sendtypes
      !DIR$ ignore_tkr sendtypes
      type(*), dimension(*), target, intent(in) :: sendtypes
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtypes
      !DEC$ attributes no_arg_check :: recvtypes
      !DIR$ ignore_tkr recvtypes
      type(*), dimension(*), target, intent(in) :: recvtypes
      integer, intent(in) :: comm
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoallw
  end interface
  procedure(MPI_Ineighbor_alltoallw) :: PMPI_Ineighbor_alltoallw
  interface
    subroutine MPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgather
  end interface
  procedure(MPI_Neighbor_allgather) :: PMPI_Neighbor_allgather
  interface
    subroutine MPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgather_init
  end interface
  procedure(MPI_Neighbor_allgather_init) :: PMPI_Neighbor_allgather_init
  interface
    subroutine MPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgatherv
  end interface
  procedure(MPI_Neighbor_allgatherv) :: PMPI_Neighbor_allgatherv
  interface
    subroutine MPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: displs
      !DEC$ attributes no_arg_check :: displs
      !DIR$ ignore_tkr displs
      type(*), dimension(*), target, intent(in) :: displs
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgatherv_init
  end interface
  procedure(MPI_Neighbor_allgatherv_init) :: PMPI_Neighbor_allgatherv_init
  interface
    subroutine MPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoall
  end interface
  procedure(MPI_Neighbor_alltoall) :: PMPI_Neighbor_alltoall
  interface
    subroutine MPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoall_init
  end interface
  procedure(MPI_Neighbor_alltoall_init) :: PMPI_Neighbor_alltoall_init
  interface
    subroutine MPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallv
  end interface
  procedure(MPI_Neighbor_alltoallv) :: PMPI_Neighbor_alltoallv
  interface
    subroutine MPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtype
      !DEC$ attributes no_arg_check :: sendtype
      !DIR$ ignore_tkr sendtype
      type(*), dimension(*), target, intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtype
      !DEC$ attributes no_arg_check :: recvtype
      !DIR$ ignore_tkr recvtype
      type(*), dimension(*), target, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallv_init
  end interface
  procedure(MPI_Neighbor_alltoallv_init) :: PMPI_Neighbor_alltoallv_init
  interface
    subroutine MPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtypes
      !DEC$ attributes no_arg_check :: sendtypes
      !DIR$ ignore_tkr sendtypes
      type(*), dimension(*), target, intent(in) :: sendtypes
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtypes
      !DEC$ attributes no_arg_check :: recvtypes
      !DIR$ ignore_tkr recvtypes
      type(*), dimension(*), target, intent(in) :: recvtypes
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallw
  end interface
  procedure(MPI_Neighbor_alltoallw) :: PMPI_Neighbor_alltoallw
  interface
    subroutine MPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: sendcounts
      !DEC$ attributes no_arg_check :: sendcounts
      !DIR$ ignore_tkr sendcounts
      type(*), dimension(*), target, intent(in) :: sendcounts
      !GCC$ attributes no_arg_check :: sdispls
      !DEC$ attributes no_arg_check :: sdispls
      !DIR$ ignore_tkr sdispls
      type(*), dimension(*), target, intent(in) :: sdispls
      !GCC$ attributes no_arg_check :: sendtypes
      !DEC$ attributes no_arg_check :: sendtypes
      !DIR$ ignore_tkr sendtypes
      type(*), dimension(*), target, intent(in) :: sendtypes
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      !GCC$ attributes no_arg_check :: recvcounts
      !DEC$ attributes no_arg_check :: recvcounts
      !DIR$ ignore_tkr recvcounts
      type(*), dimension(*), target, intent(in) :: recvcounts
      !GCC$ attributes no_arg_check :: rdispls
      !DEC$ attributes no_arg_check :: rdispls
      !DIR$ ignore_tkr rdispls
      type(*), dimension(*), target, intent(in) :: rdispls
      !GCC$ attributes no_arg_check :: recvtypes
      !DEC$ attributes no_arg_check :: recvtypes
      !DIR$ ignore_tkr recvtypes
      type(*), dimension(*), target, intent(in) :: recvtypes
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallw_init
  end interface
  procedure(MPI_Neighbor_alltoallw_init) :: PMPI_Neighbor_alltoallw_init
  interface
    subroutine MPI_Topo_test(comm, status, ierror)
      import
      integer, intent(in) :: comm
      integer :: status
      integer, intent(out) :: ierror
    end subroutine MPI_Topo_test
  end interface
  procedure(MPI_Topo_test) :: PMPI_Topo_test

  ! Environmental Management.
  interface
    subroutine MPI_Add_error_class(errorclass, ierror)
      import
      integer :: errorclass
      integer, intent(out) :: ierror
    end subroutine MPI_Add_error_class
  end interface
  procedure(MPI_Add_error_class) :: PMPI_Add_error_class
  interface
    subroutine MPI_Add_error_code(errorclass, errorcode, ierror)
      import
      integer, intent(in) :: errorclass
      integer :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Add_error_code
  end interface
  procedure(MPI_Add_error_code) :: PMPI_Add_error_code
  interface
    subroutine MPI_Add_error_string(errorcode, string, ierror)
      import
      integer, intent(in) :: errorcode
      character(len=*), intent(in) :: string
      integer, intent(out) :: ierror
    end subroutine MPI_Add_error_string
  end interface
  procedure(MPI_Add_error_string) :: PMPI_Add_error_string
  interface
    subroutine MPI_Alloc_mem(size, info, baseptr, ierror)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: info
      !GCC$ attributes no_arg_check :: baseptr
      !DEC$ attributes no_arg_check :: baseptr
      !DIR$ ignore_tkr baseptr
      type(*), dimension(*), target :: baseptr
      integer, intent(out) :: ierror
    end subroutine MPI_Alloc_mem
  end interface
  procedure(MPI_Alloc_mem) :: PMPI_Alloc_mem
  interface
    subroutine MPI_Comm_call_errhandler(comm, errorcode, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_call_errhandler
  end interface
  procedure(MPI_Comm_call_errhandler) :: PMPI_Comm_call_errhandler
  interface
    subroutine MPI_Comm_create_errhandler(comm_errhandler_fn, errhandler, ierror)
      import
      external :: comm_errhandler_fn
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create_errhandler
  end interface
  procedure(MPI_Comm_create_errhandler) :: PMPI_Comm_create_errhandler
  interface
    subroutine MPI_Comm_get_errhandler(comm, errhandler, ierror)
      import
      integer, intent(in) :: comm
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_errhandler
  end interface
  procedure(MPI_Comm_get_errhandler) :: PMPI_Comm_get_errhandler
  interface
    subroutine MPI_Comm_set_errhandler(comm, errhandler, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_set_errhandler
  end interface
  procedure(MPI_Comm_set_errhandler) :: PMPI_Comm_set_errhandler
  interface
    subroutine MPI_Errhandler_free(errhandler, ierror)
      import
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Errhandler_free
  end interface
  procedure(MPI_Errhandler_free) :: PMPI_Errhandler_free
  interface
    subroutine MPI_Error_class(errorcode, errorclass, ierror)
      import
      integer, intent(in) :: errorcode
      integer :: errorclass
      integer, intent(out) :: ierror
    end subroutine MPI_Error_class
  end interface
  procedure(MPI_Error_class) :: PMPI_Error_class
  interface
    subroutine MPI_Error_string(errorcode, string, resultlen, ierror)
      import
      integer, intent(in) :: errorcode
      character(len=*) :: string
      integer :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Error_string
  end interface
  procedure(MPI_Error_string) :: PMPI_Error_string
  interface
    subroutine MPI_File_call_errhandler(fh, errorcode, ierror)
      import
      integer, intent(in) :: fh
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_File_call_errhandler
  end interface
  procedure(MPI_File_call_errhandler) :: PMPI_File_call_errhandler
  interface
    subroutine MPI_File_create_errhandler(file_errhandler_fn, errhandler, ierror)
      import
      external :: file_errhandler_fn
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_File_create_errhandler
  end interface
  procedure(MPI_File_create_errhandler) :: PMPI_File_create_errhandler
  interface
    subroutine MPI_File_get_errhandler(file, errhandler, ierror)
      import
      integer, intent(in) :: file
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_errhandler
  end interface
  procedure(MPI_File_get_errhandler) :: PMPI_File_get_errhandler
  interface
    subroutine MPI_File_set_errhandler(file, errhandler, ierror)
      import
      integer, intent(in) :: file
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_errhandler
  end interface
  procedure(MPI_File_set_errhandler) :: PMPI_File_set_errhandler
  interface
    subroutine MPI_Free_mem(base, ierror)
      import
      !GCC$ attributes no_arg_check :: base
      !DEC$ attributes no_arg_check :: base
      !DIR$ ignore_tkr base
      type(*), dimension(*), target :: base
      integer, intent(out) :: ierror
    end subroutine MPI_Free_mem
  end interface
  procedure(MPI_Free_mem) :: PMPI_Free_mem
  interface
    subroutine MPI_Get_library_version(version, resultlen, ierror)
      import
      character(len=*) :: version
      integer :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Get_library_version
  end interface
  procedure(MPI_Get_library_version) :: PMPI_Get_library_version
  interface
    subroutine MPI_Get_processor_name(name, resultlen, ierror)
      import
      character(len=*) :: name
      integer :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Get_processor_name
  end interface
  procedure(MPI_Get_processor_name) :: PMPI_Get_processor_name
  interface
    subroutine MPI_Get_version(version, subversion, ierror)
      import
      integer :: version
      integer :: subversion
      integer, intent(out) :: ierror
    end subroutine MPI_Get_version
  end interface
  procedure(MPI_Get_version) :: PMPI_Get_version
  interface
    subroutine MPI_Remove_error_class(errorclass, ierror)
      import
      integer, intent(in) :: errorclass
      integer, intent(out) :: ierror
    end subroutine MPI_Remove_error_class
  end interface
  procedure(MPI_Remove_error_class) :: PMPI_Remove_error_class
  interface
    subroutine MPI_Remove_error_code(errorcode, ierror)
      import
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Remove_error_code
  end interface
  procedure(MPI_Remove_error_code) :: PMPI_Remove_error_code
  interface
    subroutine MPI_Remove_error_string(errorcode, ierror)
      import
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Remove_error_string
  end interface
  procedure(MPI_Remove_error_string) :: PMPI_Remove_error_string
  interface
    subroutine MPI_Session_call_errhandler(session, errorcode, ierror)
      import
      integer, intent(in) :: session
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Session_call_errhandler
  end interface
  procedure(MPI_Session_call_errhandler) :: PMPI_Session_call_errhandler
  interface
    subroutine MPI_Session_create_errhandler(session_errhandler_fn, errhandler, ierror)
      import
      external :: session_errhandler_fn
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Session_create_errhandler
  end interface
  procedure(MPI_Session_create_errhandler) :: PMPI_Session_create_errhandler
  interface
    subroutine MPI_Session_get_errhandler(session, errhandler, ierror)
      import
      integer, intent(in) :: session
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_errhandler
  end interface
  procedure(MPI_Session_get_errhandler) :: PMPI_Session_get_errhandler
  interface
    subroutine MPI_Session_set_errhandler(session, errhandler, ierror)
      import
      integer, intent(in) :: session
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Session_set_errhandler
  end interface
  procedure(MPI_Session_set_errhandler) :: PMPI_Session_set_errhandler
  interface
    subroutine MPI_Win_call_errhandler(win, errorcode, ierror)
      import
      integer, intent(in) :: win
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Win_call_errhandler
  end interface
  procedure(MPI_Win_call_errhandler) :: PMPI_Win_call_errhandler
  interface
    subroutine MPI_Win_create_errhandler(win_errhandler_fn, errhandler, ierror)
      import
      external :: win_errhandler_fn
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Win_create_errhandler
  end interface
  procedure(MPI_Win_create_errhandler) :: PMPI_Win_create_errhandler
  interface
    subroutine MPI_Win_get_errhandler(win, errhandler, ierror)
      import
      integer, intent(in) :: win
      integer :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_errhandler
  end interface
  procedure(MPI_Win_get_errhandler) :: PMPI_Win_get_errhandler
  interface
    subroutine MPI_Win_set_errhandler(win, errhandler, ierror)
      import
      integer, intent(in) :: win
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Win_set_errhandler
  end interface
  procedure(MPI_Win_set_errhandler) :: PMPI_Win_set_errhandler

  ! The Info Object.
  interface
    subroutine MPI_Info_create(info, ierror)
      import
      integer :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Info_create
  end interface
  procedure(MPI_Info_create) :: PMPI_Info_create
  interface
    subroutine MPI_Info_create_env(info, ierror)
      import
      integer :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Info_create_env
  end interface
  procedure(MPI_Info_create_env) :: PMPI_Info_create_env
  interface
    subroutine MPI_Info_delete(info, key, ierror)
      import
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(out) :: ierror
    end subroutine MPI_Info_delete
  end interface
  procedure(MPI_Info_delete) :: PMPI_Info_delete
  interface
    subroutine MPI_Info_dup(info, newinfo, ierror)
      import
      integer, intent(in) :: info
      integer :: newinfo
      integer, intent(out) :: ierror
    end subroutine MPI_Info_dup
  end interface
  procedure(MPI_Info_dup) :: PMPI_Info_dup
  interface
    subroutine MPI_Info_free(info, ierror)
      import
      integer :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Info_free
  end interface
  procedure(MPI_Info_free) :: PMPI_Info_free
  interface
    subroutine MPI_Info_get_nkeys(info, nkeys, ierror)
      import
      integer, intent(in) :: info
      integer :: nkeys
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get_nkeys
  end interface
  procedure(MPI_Info_get_nkeys) :: PMPI_Info_get_nkeys
  interface
    subroutine MPI_Info_get_nthkey(info, n, key, ierror)
      import
      integer, intent(in) :: info
      integer, intent(in) :: n
      character(len=*) :: key
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get_nthkey
  end interface
  procedure(MPI_Info_get_nthkey) :: PMPI_Info_get_nthkey
  interface
    subroutine MPI_Info_get_string(info, key, buflen, value, flag, ierror)
      import
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer :: buflen
      character(len=*) :: value
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get_string
  end interface
  procedure(MPI_Info_get_string) :: PMPI_Info_get_string
  interface
    subroutine MPI_Info_set(info, key, value, ierror)
      import
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      character(len=*), intent(in) :: value
      integer, intent(out) :: ierror
    end subroutine MPI_Info_set
  end interface
  procedure(MPI_Info_set) :: PMPI_Info_set

  ! Process Initialization, Creation, and Management.
  interface
    subroutine MPI_Abort(comm, errorcode, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Abort
  end interface
  procedure(MPI_Abort) :: PMPI_Abort
  interface
    subroutine MPI_Close_port(port_name, ierror)
      import
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Close_port
  end interface
  procedure(MPI_Close_port) :: PMPI_Close_port
  interface
    subroutine MPI_Comm_accept(port_name, info, root, comm, newcomm, ierror)
      import
      character(len=*), intent(in) :: port_name
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_accept
  end interface
  procedure(MPI_Comm_accept) :: PMPI_Comm_accept
  interface
    subroutine MPI_Comm_connect(port_name, info, root, comm, newcomm, ierror)
      import
      character(len=*), intent(in) :: port_name
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_connect
  end interface
  procedure(MPI_Comm_connect) :: PMPI_Comm_connect
  interface
    subroutine MPI_Comm_disconnect(comm, ierror)
      import
      integer :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_disconnect
  end interface
  procedure(MPI_Comm_disconnect) :: PMPI_Comm_disconnect
  interface
    subroutine MPI_Comm_get_parent(parent, ierror)
      import
      integer :: parent
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_parent
  end interface
  procedure(MPI_Comm_get_parent) :: PMPI_Comm_get_parent
  interface
    subroutine MPI_Comm_join(fd, intercomm, ierror)
      import
      integer, intent(in) :: fd
      integer :: intercomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_join
  end interface
  procedure(MPI_Comm_join) :: PMPI_Comm_join
  interface
    subroutine MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, &
        array_of_errcodes, ierror)
      import
      character(len=*), intent(in) :: command
      character(len=*), intent(in) :: argv(*)
      integer, intent(in) :: maxprocs
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: intercomm
      integer :: array_of_errcodes(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_spawn
  end interface
  procedure(MPI_Comm_spawn) :: PMPI_Comm_spawn
  interface
    subroutine MPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs, &
        array_of_info, root, comm, intercomm, array_of_errcodes, ierror)
      import
      integer, intent(in) :: count
      character(len=*), intent(in) :: array_of_commands(*)
      character(len=*), intent(in) :: array_of_argv(count, *)
      integer, intent(in) :: array_of_maxprocs(*)
      integer, intent(in) :: array_of_info(*)
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer :: intercomm
      integer :: array_of_errcodes(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_spawn_multiple
  end interface
  procedure(MPI_Comm_spawn_multiple) :: PMPI_Comm_spawn_multiple
  interface
    subroutine MPI_Finalize(ierror)
      import
      integer, intent(out) :: ierror
    end subroutine MPI_Finalize
  end interface
  procedure(MPI_Finalize) :: PMPI_Finalize
  interface
    subroutine MPI_Finalized(flag, ierror)
      import
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Finalized
  end interface
  procedure(MPI_Finalized) :: PMPI_Finalized
  interface
    subroutine MPI_Get_hw_resource_info(hw_info, ierror)
      import
      integer :: hw_info
      integer, intent(out) :: ierror
    end subroutine MPI_Get_hw_resource_info
  end interface
  procedure(MPI_Get_hw_resource_info) :: PMPI_Get_hw_resource_info
  interface
    subroutine MPI_Init(ierror)
      import
      integer, intent(out) :: ierror
    end subroutine MPI_Init
  end interface
  procedure(MPI_Init) :: PMPI_Init
  interface
    subroutine MPI_Init_thread(required, provided, ierror)
      import
      integer, intent(in) :: required
      integer :: provided
      integer, intent(out) :: ierror
    end subroutine MPI_Init_thread
  end interface
  procedure(MPI_Init_thread) :: PMPI_Init_thread
  interface
    subroutine MPI_Initialized(flag, ierror)
      import
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Initialized
  end interface
  procedure(MPI_Initialized) :: PMPI_Initialized
  interface
    subroutine MPI_Is_thread_main(flag, ierror)
      import
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Is_thread_main
  end interface
  procedure(MPI_Is_thread_main) :: PMPI_Is_thread_main
  interface
    subroutine MPI_Lookup_name(service_name, info, port_name, ierror)
      import
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Lookup_name
  end interface
  procedure(MPI_Lookup_name) :: PMPI_Lookup_name
  interface
    subroutine MPI_Open_port(info, port_name, ierror)
      import
      integer, intent(in) :: info
      character(len=*) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Open_port
  end interface
  procedure(MPI_Open_port) :: PMPI_Open_port
  interface
    subroutine MPI_Publish_name(service_name, info, port_name, ierror)
      import
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Publish_name
  end interface
  procedure(MPI_Publish_name) :: PMPI_Publish_name
  interface
    subroutine MPI_Query_thread(provided, ierror)
      import
      integer :: provided
      integer, intent(out) :: ierror
    end subroutine MPI_Query_thread
  end interface
  procedure(MPI_Query_thread) :: PMPI_Query_thread
  interface
    subroutine MPI_Session_finalize(session, ierror)
      import
      integer :: session
      integer, intent(out) :: ierror
    end subroutine MPI_Session_finalize
  end interface
  procedure(MPI_Session_finalize) :: PMPI_Session_finalize
  interface
    subroutine MPI_Session_get_info(session, info_used, ierror)
      import
      integer, intent(in) :: session
      integer :: info_used
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_info
  end interface
  procedure(MPI_Session_get_info) :: PMPI_Session_get_info
  interface
    subroutine MPI_Session_get_nth_pset(session, info, n, pset_len, pset_name, ierror)
      import
      integer, intent(in) :: session
      integer, intent(in) :: info
      integer, intent(in) :: n
      integer :: pset_len
      character(len=*) :: pset_name
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_nth_pset
  end interface
  procedure(MPI_Session_get_nth_pset) :: PMPI_Session_get_nth_pset
  interface
    subroutine MPI_Session_get_num_psets(session, info, npset_names, ierror)
      import
      integer, intent(in) :: session
      integer, intent(in) :: info
      integer :: npset_names
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_num_psets
  end interface
  procedure(MPI_Session_get_num_psets) :: PMPI_Session_get_num_psets
  interface
    subroutine MPI_Session_get_pset_info(session, pset_name, info, ierror)
      import
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_pset_info
  end interface
  procedure(MPI_Session_get_pset_info) :: PMPI_Session_get_pset_info
  interface
    subroutine MPI_Session_init(info, errhandler, session, ierror)
      import
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer :: session
      integer, intent(out) :: ierror
    end subroutine MPI_Session_init
  end interface
  procedure(MPI_Session_init) :: PMPI_Session_init
  interface
    subroutine MPI_Unpublish_name(service_name, info, port_name, ierror)
      import
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Unpublish_name
  end interface
  procedure(MPI_Unpublish_name) :: PMPI_Unpublish_name

  ! One-Sided Communications.
  interface
    subroutine MPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Accumulate
  end interface
  procedure(MPI_Accumulate) :: PMPI_Accumulate
  interface
    subroutine MPI_Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, &
        target_disp, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      !GCC$ attributes no_arg_check :: compare_addr
      !DEC$ attributes no_arg_check :: compare_addr
      !DIR$ ignore_tkr compare_addr
      type(*), dimension(*), target, intent(in) :: compare_addr
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer, intent(in) :: datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Compare_and_swap
  end interface
  procedure(MPI_Compare_and_swap) :: PMPI_Compare_and_swap
  interface
    subroutine MPI_Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, &
        win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer, intent(in) :: datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Fetch_and_op
  end interface
  procedure(MPI_Fetch_and_op) :: PMPI_Fetch_and_op
  interface
    subroutine MPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Get
  end interface
  procedure(MPI_Get) :: PMPI_Get
  interface
    subroutine MPI_Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer, intent(in) :: result_count
      integer, intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Get_accumulate
  end interface
  procedure(MPI_Get_accumulate) :: PMPI_Get_accumulate
  interface
    subroutine MPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Put
  end interface
  procedure(MPI_Put) :: PMPI_Put
  interface
    subroutine MPI_Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Raccumulate
  end interface
  procedure(MPI_Raccumulate) :: PMPI_Raccumulate
  interface
    subroutine MPI_Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Rget
  end interface
  procedure(MPI_Rget) :: PMPI_Rget
  interface
    subroutine MPI_Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer, intent(in) :: result_count
      integer, intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Rget_accumulate
  end interface
  procedure(MPI_Rget_accumulate) :: PMPI_Rget_accumulate
  interface
    subroutine MPI_Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Rput
  end interface
  procedure(MPI_Rput) :: PMPI_Rput
  interface
    subroutine MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      !GCC$ attributes no_arg_check :: baseptr
      !DEC$ attributes no_arg_check :: baseptr
      !DIR$ ignore_tkr baseptr
      type(*), dimension(*), target :: baseptr
      integer :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_allocate
  end interface
  procedure(MPI_Win_allocate) :: PMPI_Win_allocate
  interface
    subroutine MPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      !GCC$ attributes no_arg_check :: baseptr
      !DEC$ attributes no_arg_check :: baseptr
      !DIR$ ignore_tkr baseptr
      type(*), dimension(*), target :: baseptr
      integer :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_allocate_shared
  end interface
  procedure(MPI_Win_allocate_shared) :: PMPI_Win_allocate_shared
  interface
    subroutine MPI_Win_attach(win, base, size, ierror)
      import
      integer, intent(in) :: win
      !GCC$ attributes no_arg_check :: base
      !DEC$ attributes no_arg_check :: base
      !DIR$ ignore_tkr base
      type(*), dimension(*), target :: base
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Win_attach
  end interface
  procedure(MPI_Win_attach) :: PMPI_Win_attach
  interface
    subroutine MPI_Win_complete(win, ierror)
      import
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_complete
  end interface
  procedure(MPI_Win_complete) :: PMPI_Win_complete
  interface
    subroutine MPI_Win_create(base, size, disp_unit, info, comm, win, ierror)
      import
      !GCC$ attributes no_arg_check :: base
      !DEC$ attributes no_arg_check :: base
      !DIR$ ignore_tkr base
      type(*), dimension(*), target :: base
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_create
  end interface
  procedure(MPI_Win_create) :: PMPI_Win_create
  interface
    subroutine MPI_Win_create_dynamic(info, comm, win, ierror)
      import
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_create_dynamic
  end interface
  procedure(MPI_Win_create_dynamic) :: PMPI_Win_create_dynamic
  interface
    subroutine MPI_Win_detach(win, base, ierror)
      import
      integer, intent(in) :: win
      !GCC$ attributes no_arg_check :: base
      !DEC$ attributes no_arg_check :: base
      !DIR$ ignore_tkr base
      type(*), dimension(*), target, intent(in) :: base
      integer, intent(out) :: ierror
    end subroutine MPI_Win_detach
  end interface
  procedure(MPI_Win_detach) :: PMPI_Win_detach
  interface
    subroutine MPI_Win_fence(assert, win, ierror)
      import
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_fence
  end interface
  procedure(MPI_Win_fence) :: PMPI_Win_fence
  interface
    subroutine MPI_Win_flush(rank, win, ierror)
      import
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_flush
  end interface
  procedure(MPI_Win_flush) :: PMPI_Win_flush
  interface
    subroutine MPI_Win_flush_all(win, ierror)
      import
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_flush_all
  end interface
  procedure(MPI_Win_flush_all) :: PMPI_Win_flush_all
  interface
    subroutine MPI_Win_flush_local(rank, win, ierror)
      import
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_flush_local
  end interface
  procedure(MPI_Win_flush_local) :: PMPI_Win_flush_local
  interface
    subroutine MPI_Win_flush_local_all(win, ierror)
      import
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_flush_local_all
  end interface
  procedure(MPI_Win_flush_local_all) :: PMPI_Win_flush_local_all
  interface
    subroutine MPI_Win_free(win, ierror)
      import
      integer :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_free
  end interface
  procedure(MPI_Win_free) :: PMPI_Win_free
  interface
    subroutine MPI_Win_get_group(win, group, ierror)
      import
      integer, intent(in) :: win
      integer :: group
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_group
  end interface
  procedure(MPI_Win_get_group) :: PMPI_Win_get_group
  interface
    subroutine MPI_Win_get_info(win, info_used, ierror)
      import
      integer, intent(in) :: win
      integer :: info_used
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_info
  end interface
  procedure(MPI_Win_get_info) :: PMPI_Win_get_info
  interface
    subroutine MPI_Win_lock(lock_type, rank, assert, win, ierror)
      import
      integer, intent(in) :: lock_type
      integer, intent(in) :: rank
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_lock
  end interface
  procedure(MPI_Win_lock) :: PMPI_Win_lock
  interface
    subroutine MPI_Win_lock_all(assert, win, ierror)
      import
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_lock_all
  end interface
  procedure(MPI_Win_lock_all) :: PMPI_Win_lock_all
  interface
    subroutine MPI_Win_post(group, assert, win, ierror)
      import
      integer, intent(in) :: group
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_post
  end interface
  procedure(MPI_Win_post) :: PMPI_Win_post
  interface
    subroutine MPI_Win_set_info(win, info, ierror)
      import
      integer, intent(in) :: win
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Win_set_info
  end interface
  procedure(MPI_Win_set_info) :: PMPI_Win_set_info
  interface
    subroutine MPI_Win_shared_query(win, rank, size, disp_unit, baseptr, ierror)
      import
      integer, intent(in) :: win
      integer, intent(in) :: rank
      integer(MPI_ADDRESS_KIND) :: size
      integer :: disp_unit
      !GCC$ attributes no_arg_check :: baseptr
      !DEC$ attributes no_arg_check :: baseptr
      !DIR$ ignore_tkr baseptr
      type(*), dimension(*), target :: baseptr
      integer, intent(out) :: ierror
    end subroutine MPI_Win_shared_query
  end interface
  procedure(MPI_Win_shared_query) :: PMPI_Win_shared_query
  interface
    subroutine MPI_Win_start(group, assert, win, ierror)
      import
      integer, intent(in) :: group
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_start
  end interface
  procedure(MPI_Win_start) :: PMPI_Win_start
  interface
    subroutine MPI_Win_sync(win, ierror)
      import
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_sync
  end interface
  procedure(MPI_Win_sync) :: PMPI_Win_sync
  interface
    subroutine MPI_Win_test(win, flag, ierror)
      import
      integer, intent(in) :: win
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Win_test
  end interface
  procedure(MPI_Win_test) :: PMPI_Win_test
  interface
    subroutine MPI_Win_unlock(rank, win, ierror)
      import
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_unlock
  end interface
  procedure(MPI_Win_unlock) :: PMPI_Win_unlock
  interface
    subroutine MPI_Win_unlock_all(win, ierror)
      import
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_unlock_all
  end interface
  procedure(MPI_Win_unlock_all) :: PMPI_Win_unlock_all
  interface
    subroutine MPI_Win_wait(win, ierror)
      import
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_wait
  end interface
  procedure(MPI_Win_wait) :: PMPI_Win_wait

  ! External Interfaces.
  interface
    subroutine MPI_Grequest_complete(request, ierror)
      import
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Grequest_complete
  end interface
  procedure(MPI_Grequest_complete) :: PMPI_Grequest_complete
  interface
    subroutine MPI_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request, ierror)
      import
      external :: query_fn
      external :: free_fn
      external :: cancel_fn
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Grequest_start
  end interface
  procedure(MPI_Grequest_start) :: PMPI_Grequest_start
  interface
    subroutine MPI_Status_set_cancelled(status, flag, ierror)
      import
      integer :: status(MPI_STATUS_SIZE)
      logical, intent(in) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_cancelled
  end interface
  procedure(MPI_Status_set_cancelled) :: PMPI_Status_set_cancelled
  interface
    subroutine MPI_Status_set_elements(status, datatype, count, ierror)
      import
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer, intent(in) :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_elements
  end interface
  procedure(MPI_Status_set_elements) :: PMPI_Status_set_elements

  ! I/O.
  interface
    subroutine MPI_File_close(fh, ierror)
      import
      integer :: fh
      integer, intent(out) :: ierror
    end subroutine MPI_File_close
  end interface
  procedure(MPI_File_close) :: PMPI_File_close
  interface
    subroutine MPI_File_delete(filename, info, ierror)
      import
      character(len=*), intent(in) :: filename
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_File_delete
  end interface
  procedure(MPI_File_delete) :: PMPI_File_delete
  interface
    subroutine MPI_File_get_amode(fh, amode, ierror)
      import
      integer, intent(in) :: fh
      integer :: amode
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_amode
  end interface
  procedure(MPI_File_get_amode) :: PMPI_File_get_amode
  interface
    subroutine MPI_File_get_atomicity(fh, flag, ierror)
      import
      integer, intent(in) :: fh
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_atomicity
  end interface
  procedure(MPI_File_get_atomicity) :: PMPI_File_get_atomicity
  interface
    subroutine MPI_File_get_byte_offset(fh, offset, disp, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      integer(MPI_OFFSET_KIND) :: disp
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_byte_offset
  end interface
  procedure(MPI_File_get_byte_offset) :: PMPI_File_get_byte_offset
  interface
    subroutine MPI_File_get_group(fh, group, ierror)
      import
      integer, intent(in) :: fh
      integer :: group
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_group
  end interface
  procedure(MPI_File_get_group) :: PMPI_File_get_group
  interface
    subroutine MPI_File_get_info(fh, info_used, ierror)
      import
      integer, intent(in) :: fh
      integer :: info_used
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_info
  end interface
  procedure(MPI_File_get_info) :: PMPI_File_get_info
  interface
    subroutine MPI_File_get_position(fh, offset, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND) :: offset
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_position
  end interface
  procedure(MPI_File_get_position) :: PMPI_File_get_position
  interface
    subroutine MPI_File_get_position_shared(fh, offset, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND) :: offset
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_position_shared
  end interface
  procedure(MPI_File_get_position_shared) :: PMPI_File_get_position_shared
  interface
    subroutine MPI_File_get_size(fh, size, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_size
  end interface
  procedure(MPI_File_get_size) :: PMPI_File_get_size
  interface
    subroutine MPI_File_get_type_extent(fh, datatype, extent, ierror)
      import
      integer, intent(in) :: fh
      integer, intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: extent
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_type_extent
  end interface
  procedure(MPI_File_get_type_extent) :: PMPI_File_get_type_extent
  interface
    subroutine MPI_File_get_view(fh, disp, etype, filetype, datarep, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND) :: disp
      integer :: etype
      integer :: filetype
      character(len=*) :: datarep
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_view
  end interface
  procedure(MPI_File_get_view) :: PMPI_File_get_view
  interface
    subroutine MPI_File_iread(fh, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread
  end interface
  procedure(MPI_File_iread) :: PMPI_File_iread
  interface
    subroutine MPI_File_iread_all(fh, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread_all
  end interface
  procedure(MPI_File_iread_all) :: PMPI_File_iread_all
  interface
    subroutine MPI_File_iread_at(fh, offset, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread_at
  end interface
  procedure(MPI_File_iread_at) :: PMPI_File_iread_at
  interface
    subroutine MPI_File_iread_at_all(fh, offset, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread_at_all
  end interface
  procedure(MPI_File_iread_at_all) :: PMPI_File_iread_at_all
  interface
    subroutine MPI_File_iread_shared(fh, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread_shared
  end interface
  procedure(MPI_File_iread_shared) :: PMPI_File_iread_shared
  interface
    subroutine MPI_File_iwrite(fh, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite
  end interface
  procedure(MPI_File_iwrite) :: PMPI_File_iwrite
  interface
    subroutine MPI_File_iwrite_all(fh, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite_all
  end interface
  procedure(MPI_File_iwrite_all) :: PMPI_File_iwrite_all
  interface
    subroutine MPI_File_iwrite_at(fh, offset, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite_at
  end interface
  procedure(MPI_File_iwrite_at) :: PMPI_File_iwrite_at
  interface
    subroutine MPI_File_iwrite_at_all(fh, offset, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite_at_all
  end interface
  procedure(MPI_File_iwrite_at_all) :: PMPI_File_iwrite_at_all
  interface
    subroutine MPI_File_iwrite_shared(fh, buf, count, datatype, request, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite_shared
  end interface
  procedure(MPI_File_iwrite_shared) :: PMPI_File_iwrite_shared
  interface
    subroutine MPI_File_open(comm, filename, amode, info, fh, ierror)
      import
      integer, intent(in) :: comm
      character(len=*), intent(in) :: filename
      integer, intent(in) :: amode
      integer, intent(in) :: info
      integer :: fh
      integer, intent(out) :: ierror
    end subroutine MPI_File_open
  end interface
  procedure(MPI_File_open) :: PMPI_File_open
  interface
    subroutine MPI_File_preallocate(fh, size, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_File_preallocate
  end interface
  procedure(MPI_File_preallocate) :: PMPI_File_preallocate
  interface
    subroutine MPI_File_read(fh, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read
  end interface
  procedure(MPI_File_read) :: PMPI_File_read
  interface
    subroutine MPI_File_read_all(fh, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_all
  end interface
  procedure(MPI_File_read_all) :: PMPI_File_read_all
  interface
    subroutine MPI_File_read_all_begin(fh, buf, count, datatype, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_all_begin
  end interface
  procedure(MPI_File_read_all_begin) :: PMPI_File_read_all_begin
  interface
    subroutine MPI_File_read_all_end(fh, buf, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_all_end
  end interface
  procedure(MPI_File_read_all_end) :: PMPI_File_read_all_end
  interface
    subroutine MPI_File_read_at(fh, offset, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_at
  end interface
  procedure(MPI_File_read_at) :: PMPI_File_read_at
  interface
    subroutine MPI_File_read_at_all(fh, offset, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_at_all
  end interface
  procedure(MPI_File_read_at_all) :: PMPI_File_read_at_all
  interface
    subroutine MPI_File_read_at_all_begin(fh, offset, buf, count, datatype, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_at_all_begin
  end interface
  procedure(MPI_File_read_at_all_begin) :: PMPI_File_read_at_all_begin
  interface
    subroutine MPI_File_read_at_all_end(fh, buf, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_at_all_end
  end interface
  procedure(MPI_File_read_at_all_end) :: PMPI_File_read_at_all_end
  interface
    subroutine MPI_File_read_ordered(fh, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_ordered
  end interface
  procedure(MPI_File_read_ordered) :: PMPI_File_read_ordered
  interface
    subroutine MPI_File_read_ordered_begin(fh, buf, count, datatype, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_ordered_begin
  end interface
  procedure(MPI_File_read_ordered_begin) :: PMPI_File_read_ordered_begin
  interface
    subroutine MPI_File_read_ordered_end(fh, buf, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_ordered_end
  end interface
  procedure(MPI_File_read_ordered_end) :: PMPI_File_read_ordered_end
  interface
    subroutine MPI_File_read_shared(fh, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_shared
  end interface
  procedure(MPI_File_read_shared) :: PMPI_File_read_shared
  interface
    subroutine MPI_File_seek(fh, offset, whence, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      integer, intent(in) :: whence
      integer, intent(out) :: ierror
    end subroutine MPI_File_seek
  end interface
  procedure(MPI_File_seek) :: PMPI_File_seek
  interface
    subroutine MPI_File_seek_shared(fh, offset, whence, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      integer, intent(in) :: whence
      integer, intent(out) :: ierror
    end subroutine MPI_File_seek_shared
  end interface
  procedure(MPI_File_seek_shared) :: PMPI_File_seek_shared
  interface
    subroutine MPI_File_set_atomicity(fh, flag, ierror)
      import
      integer, intent(in) :: fh
      logical, intent(in) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_atomicity
  end interface
  procedure(MPI_File_set_atomicity) :: PMPI_File_set_atomicity
  interface
    subroutine MPI_File_set_info(fh, info, ierror)
      import
      integer, intent(in) :: fh
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_info
  end interface
  procedure(MPI_File_set_info) :: PMPI_File_set_info
  interface
    subroutine MPI_File_set_size(fh, size, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_size
  end interface
  procedure(MPI_File_set_size) :: PMPI_File_set_size
  interface
    subroutine MPI_File_set_view(fh, disp, etype, filetype, datarep, info, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: disp
      integer, intent(in) :: etype
      integer, intent(in) :: filetype
      character(len=*), intent(in) :: datarep
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_view
  end interface
  procedure(MPI_File_set_view) :: PMPI_File_set_view
  interface
    subroutine MPI_File_sync(fh, ierror)
      import
      integer, intent(in) :: fh
      integer, intent(out) :: ierror
    end subroutine MPI_File_sync
  end interface
  procedure(MPI_File_sync) :: PMPI_File_sync
  interface
    subroutine MPI_File_write(fh, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write
  end interface
  procedure(MPI_File_write) :: PMPI_File_write
  interface
    subroutine MPI_File_write_all(fh, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_all
  end interface
  procedure(MPI_File_write_all) :: PMPI_File_write_all
  interface
    subroutine MPI_File_write_all_begin(fh, buf, count, datatype, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_all_begin
  end interface
  procedure(MPI_File_write_all_begin) :: PMPI_File_write_all_begin
  interface
    subroutine MPI_File_write_all_end(fh, buf, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_all_end
  end interface
  procedure(MPI_File_write_all_end) :: PMPI_File_write_all_end
  interface
    subroutine MPI_File_write_at(fh, offset, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_at
  end interface
  procedure(MPI_File_write_at) :: PMPI_File_write_at
  interface
    subroutine MPI_File_write_at_all(fh, offset, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_at_all
  end interface
  procedure(MPI_File_write_at_all) :: PMPI_File_write_at_all
  interface
    subroutine MPI_File_write_at_all_begin(fh, offset, buf, count, datatype, ierror)
      import
      integer, intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_at_all_begin
  end interface
  procedure(MPI_File_write_at_all_begin) :: PMPI_File_write_at_all_begin
  interface
    subroutine MPI_File_write_at_all_end(fh, buf, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_at_all_end
  end interface
  procedure(MPI_File_write_at_all_end) :: PMPI_File_write_at_all_end
  interface
    subroutine MPI_File_write_ordered(fh, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_ordered
  end interface
  procedure(MPI_File_write_ordered) :: PMPI_File_write_ordered
  interface
    subroutine MPI_File_write_ordered_begin(fh, buf, count, datatype, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_ordered_begin
  end interface
  procedure(MPI_File_write_ordered_begin) :: PMPI_File_write_ordered_begin
  interface
    subroutine MPI_File_write_ordered_end(fh, buf, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_ordered_end
  end interface
  procedure(MPI_File_write_ordered_end) :: PMPI_File_write_ordered_end
  interface
    subroutine MPI_File_write_shared(fh, buf, count, datatype, status, ierror)
      import
      integer, intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      !GCC$ attributes no_arg_check :: datatype
      !DEC$ attributes no_arg_check :: datatype
      !DIR$ ignore_tkr datatype
      type(*), dimension(*), target, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_shared
  end interface
  procedure(MPI_File_write_shared) :: PMPI_File_write_shared
  interface
    subroutine MPI_Register_datarep(datarep, read_conversion_fn, write_conversion_fn, &
        dtype_file_extent_fn, extra_state, ierror)
      import
      character(len=*), intent(in) :: datarep
      external :: read_conversion_fn
      external :: write_conversion_fn
      external :: dtype_file_extent_fn
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Register_datarep
  end interface
  procedure(MPI_Register_datarep) :: PMPI_Register_datarep

  ! Application Binary Interface.
  interface
    subroutine MPI_Abi_get_fortran_info(info, ierror)
      import
      integer :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_get_fortran_info
  end interface
  procedure(MPI_Abi_get_fortran_info) :: PMPI_Abi_get_fortran_info
  interface
    subroutine MPI_Abi_get_info(info, ierror)
      import
      integer :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_get_info
  end interface
  procedure(MPI_Abi_get_info) :: PMPI_Abi_get_info
  interface
    subroutine MPI_Abi_get_version(abi_major, abi_minor, ierror)
      import
      integer :: abi_major
      integer :: abi_minor
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_get_version
  end interface
  procedure(MPI_Abi_get_version) :: PMPI_Abi_get_version

  ! Deprecated Interfaces.
  interface
    subroutine MPI_Attr_delete(comm, keyval, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Attr_delete
  end interface
  procedure(MPI_Attr_delete) :: PMPI_Attr_delete
  interface
    subroutine MPI_Attr_get(comm, keyval, attribute_val, flag, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer :: attribute_val
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Attr_get
  end interface
  procedure(MPI_Attr_get) :: PMPI_Attr_get
  interface
    subroutine MPI_Attr_put(comm, keyval, attribute_val, ierror)
      import
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer :: attribute_val
      integer, intent(out) :: ierror
    end subroutine MPI_Attr_put
  end interface
  procedure(MPI_Attr_put) :: PMPI_Attr_put
  interface
    subroutine MPI_Get_elements_x(status, datatype, count, ierror)
      import
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Get_elements_x
  end interface
  procedure(MPI_Get_elements_x) :: PMPI_Get_elements_x
  interface
    subroutine MPI_Info_get(info, key, valuelen, value, flag, ierror)
      import
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(in) :: valuelen
      character(len=*) :: value
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get
  end interface
  procedure(MPI_Info_get) :: PMPI_Info_get
  interface
    subroutine MPI_Info_get_valuelen(info, key, valuelen, flag, ierror)
      import
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer :: valuelen
      logical :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get_valuelen
  end interface
  procedure(MPI_Info_get_valuelen) :: PMPI_Info_get_valuelen
  interface
    subroutine MPI_Keyval_create(copy_fn, delete_fn, keyval, extra_state, ierror)
      import
      external :: copy_fn
      external :: delete_fn
      integer :: keyval
      integer :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Keyval_create
  end interface
  procedure(MPI_Keyval_create) :: PMPI_Keyval_create
  interface
    subroutine MPI_Keyval_free(keyval, ierror)
      import
      integer :: keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Keyval_free
  end interface
  procedure(MPI_Keyval_free) :: PMPI_Keyval_free
  interface
    subroutine MPI_Status_set_elements_x(status, datatype, count, ierror)
      import
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_elements_x
  end interface
  procedure(MPI_Status_set_elements_x) :: PMPI_Status_set_elements_x
  interface
    subroutine MPI_Type_get_extent_x(datatype, lb, extent, ierror)
      import
      integer, intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: lb
      integer(MPI_COUNT_KIND) :: extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_extent_x
  end interface
  procedure(MPI_Type_get_extent_x) :: PMPI_Type_get_extent_x
  interface
    subroutine MPI_Type_get_true_extent_x(datatype, true_lb, true_extent, ierror)
      import
      integer, intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: true_lb
      integer(MPI_COUNT_KIND) :: true_extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_true_extent_x
  end interface
  procedure(MPI_Type_get_true_extent_x) :: PMPI_Type_get_true_extent_x
  interface
    subroutine MPI_Type_size_x(datatype, size, ierror)
      import
      integer, intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Type_size_x
  end interface
  procedure(MPI_Type_size_x) :: PMPI_Type_size_x
end module mpi
