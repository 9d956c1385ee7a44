! `use mpi_f08`: MPI 5.0 for Fortran 2008 and later (chapter 19 of the standard). Handles are types
! of their own, arguments are checked, and `ierror` may be left out. mpifort compiles this when it
! is first needed, because each compiler has its own form of modules.
! Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.
module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int
  use muster_types
  use muster_places, only: MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, &
    MPI_STATUS_IGNORE => muster_status_ignore, MPI_STATUSES_IGNORE => muster_statuses_ignore, &
    MPI_ERRCODES_IGNORE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY, MPI_ARGV_NULL, MPI_ARGVS_NULL
  implicit none
  private :: c_ptr, c_int

  ! A status as `mpif.h` has it, and the kinds of integers.
  integer, parameter :: MPI_STATUS_SIZE = 8
  integer, parameter :: MPI_SOURCE = 1
  integer, parameter :: MPI_TAG = 2
  integer, parameter :: MPI_ERROR = 3
  integer, parameter :: MPI_ADDRESS_KIND = 8
  integer, parameter :: MPI_COUNT_KIND = 8
  integer, parameter :: MPI_OFFSET_KIND = 8
  integer, parameter :: MPI_INTEGER_KIND = 4

  ! Versions.
  integer, parameter :: MPI_VERSION = 5
  integer, parameter :: MPI_SUBVERSION = 0
  integer, parameter :: MPI_ABI_VERSION = 1
  integer, parameter :: MPI_ABI_SUBVERSION = 0

  ! Error classes.
  integer, parameter :: MPI_SUCCESS = 0
  integer, parameter :: MPI_ERR_BUFFER = 1
  integer, parameter :: MPI_ERR_COUNT = 2
  integer, parameter :: MPI_ERR_TYPE = 3
  integer, parameter :: MPI_ERR_TAG = 4
  integer, parameter :: MPI_ERR_COMM = 5
  integer, parameter :: MPI_ERR_RANK = 6
  integer, parameter :: MPI_ERR_REQUEST = 7
  integer, parameter :: MPI_ERR_ROOT = 8
  integer, parameter :: MPI_ERR_GROUP = 9
  integer, parameter :: MPI_ERR_OP = 10
  integer, parameter :: MPI_ERR_TOPOLOGY = 11
  integer, parameter :: MPI_ERR_DIMS = 12
  integer, parameter :: MPI_ERR_ARG = 13
  integer, parameter :: MPI_ERR_UNKNOWN = 14
  integer, parameter :: MPI_ERR_TRUNCATE = 15
  integer, parameter :: MPI_ERR_OTHER = 16
  integer, parameter :: MPI_ERR_INTERN = 17
  integer, parameter :: MPI_ERR_PENDING = 18
  integer, parameter :: MPI_ERR_IN_STATUS = 19
  integer, parameter :: MPI_ERR_ACCESS = 20
  integer, parameter :: MPI_ERR_AMODE = 21
  integer, parameter :: MPI_ERR_ASSERT = 22
  integer, parameter :: MPI_ERR_BAD_FILE = 23
  integer, parameter :: MPI_ERR_BASE = 24
  integer, parameter :: MPI_ERR_CONVERSION = 25
  integer, parameter :: MPI_ERR_DISP = 26
  integer, parameter :: MPI_ERR_DUP_DATAREP = 27
  integer, parameter :: MPI_ERR_FILE_EXISTS = 28
  integer, parameter :: MPI_ERR_FILE_IN_USE = 29
  integer, parameter :: MPI_ERR_FILE = 30
  integer, parameter :: MPI_ERR_INFO_KEY = 31
  integer, parameter :: MPI_ERR_INFO_NOKEY = 32
  integer, parameter :: MPI_ERR_INFO_VALUE = 33
  integer, parameter :: MPI_ERR_INFO = 34
  integer, parameter :: MPI_ERR_IO = 35
  integer, parameter :: MPI_ERR_KEYVAL = 36
  integer, parameter :: MPI_ERR_LOCKTYPE = 37
  integer, parameter :: MPI_ERR_NAME = 38
  integer, parameter :: MPI_ERR_NO_MEM = 39
  integer, parameter :: MPI_ERR_NOT_SAME = 40
  integer, parameter :: MPI_ERR_NO_SPACE = 41
  integer, parameter :: MPI_ERR_NO_SUCH_FILE = 42
  integer, parameter :: MPI_ERR_PORT = 43
  integer, parameter :: MPI_ERR_QUOTA = 44
  integer, parameter :: MPI_ERR_READ_ONLY = 45
  integer, parameter :: MPI_ERR_RMA_ATTACH = 46
  integer, parameter :: MPI_ERR_RMA_CONFLICT = 47
  integer, parameter :: MPI_ERR_RMA_RANGE = 48
  integer, parameter :: MPI_ERR_RMA_SHARED = 49
  integer, parameter :: MPI_ERR_RMA_SYNC = 50
  integer, parameter :: MPI_ERR_SERVICE = 51
  integer, parameter :: MPI_ERR_SIZE = 52
  integer, parameter :: MPI_ERR_SPAWN = 53
  integer, parameter :: MPI_ERR_UNSUPPORTED_DATAREP = 54
  integer, parameter :: MPI_ERR_UNSUPPORTED_OPERATION = 55
  integer, parameter :: MPI_ERR_WIN = 56
  integer, parameter :: MPI_ERR_RMA_FLAVOR = 57
  integer, parameter :: MPI_ERR_PROC_ABORTED = 58
  integer, parameter :: MPI_ERR_VALUE_TOO_LARGE = 59
  integer, parameter :: MPI_ERR_SESSION = 60
  integer, parameter :: MPI_ERR_ERRHANDLER = 61
  integer, parameter :: MPI_ERR_ABI = 62
  integer, parameter :: MPI_ERR_LASTCODE = 16383

  ! Wildcards and ranks that are none.
  integer, parameter :: MPI_ANY_SOURCE = -1
  integer, parameter :: MPI_ANY_TAG = -2
  integer, parameter :: MPI_PROC_NULL = -3
  integer, parameter :: MPI_ROOT = -4
  integer, parameter :: MPI_UNDEFINED = -32766

  ! Lengths of strings; in C with the zero that ends them.
  integer, parameter :: MPI_MAX_DATAREP_STRING = 127
  integer, parameter :: MPI_MAX_ERROR_STRING = 511
  integer, parameter :: MPI_MAX_INFO_KEY = 255
  integer, parameter :: MPI_MAX_INFO_VAL = 1023
  integer, parameter :: MPI_MAX_LIBRARY_VERSION_STRING = 8191
  integer, parameter :: MPI_MAX_OBJECT_NAME = 127
  integer, parameter :: MPI_MAX_PORT_NAME = 1023
  integer, parameter :: MPI_MAX_PROCESSOR_NAME = 255
  integer, parameter :: MPI_MAX_STRINGTAG_LEN = 1023
  integer, parameter :: MPI_MAX_PSET_NAME_LEN = 1023

  ! Space that a buffered message takes besides its data.
  integer, parameter :: MPI_BSEND_OVERHEAD = 512

  ! Levels of thread support.
  integer, parameter :: MPI_THREAD_SINGLE = 0
  integer, parameter :: MPI_THREAD_FUNNELED = 1024
  integer, parameter :: MPI_THREAD_SERIALIZED = 2048
  integer, parameter :: MPI_THREAD_MULTIPLE = 4096

  ! Communicators.
  type(MPI_Comm), parameter :: MPI_COMM_NULL = MPI_Comm(256)
  type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(257)
  type(MPI_Comm), parameter :: MPI_COMM_SELF = MPI_Comm(258)

  ! Groups.
  type(MPI_Group), parameter :: MPI_GROUP_NULL = MPI_Group(264)
  type(MPI_Group), parameter :: MPI_GROUP_EMPTY = MPI_Group(265)

  ! Results of comparisons.
  integer, parameter :: MPI_IDENT = 201
  integer, parameter :: MPI_CONGRUENT = 202
  integer, parameter :: MPI_SIMILAR = 203
  integer, parameter :: MPI_UNEQUAL = 204

  ! Kinds of splits.
  integer, parameter :: MPI_COMM_TYPE_SHARED = 221
  integer, parameter :: MPI_COMM_TYPE_HW_UNGUIDED = 222
  integer, parameter :: MPI_COMM_TYPE_HW_GUIDED = 223
  integer, parameter :: MPI_COMM_TYPE_RESOURCE_GUIDED = 224

  ! Topologies.
  integer, parameter :: MPI_CART = 211
  integer, parameter :: MPI_GRAPH = 212
  integer, parameter :: MPI_DIST_GRAPH = 213

  ! Operations.
  type(MPI_Op), parameter :: MPI_OP_NULL = MPI_Op(32)
  type(MPI_Op), parameter :: MPI_SUM = MPI_Op(33)
  type(MPI_Op), parameter :: MPI_MIN = MPI_Op(34)
  type(MPI_Op), parameter :: MPI_MAX = MPI_Op(35)
  type(MPI_Op), parameter :: MPI_PROD = MPI_Op(36)
  type(MPI_Op), parameter :: MPI_BAND = MPI_Op(40)
  type(MPI_Op), parameter :: MPI_BOR = MPI_Op(41)
  type(MPI_Op), parameter :: MPI_BXOR = MPI_Op(42)
  type(MPI_Op), parameter :: MPI_LAND = MPI_Op(48)
  type(MPI_Op), parameter :: MPI_LOR = MPI_Op(49)
  type(MPI_Op), parameter :: MPI_LXOR = MPI_Op(50)
  type(MPI_Op), parameter :: MPI_MINLOC = MPI_Op(56)
  type(MPI_Op), parameter :: MPI_MAXLOC = MPI_Op(57)
  type(MPI_Op), parameter :: MPI_REPLACE = MPI_Op(60)
  type(MPI_Op), parameter :: MPI_NO_OP = MPI_Op(61)

  ! Datatypes.
  type(MPI_Datatype), parameter :: MPI_DATATYPE_NULL = MPI_Datatype(512)
  type(MPI_Datatype), parameter :: MPI_AINT = MPI_Datatype(513)
  type(MPI_Datatype), parameter :: MPI_COUNT = MPI_Datatype(514)
  type(MPI_Datatype), parameter :: MPI_OFFSET = MPI_Datatype(515)
  type(MPI_Datatype), parameter :: MPI_PACKED = MPI_Datatype(519)
  type(MPI_Datatype), parameter :: MPI_SHORT = MPI_Datatype(520)
  type(MPI_Datatype), parameter :: MPI_INT = MPI_Datatype(521)
  type(MPI_Datatype), parameter :: MPI_LONG = MPI_Datatype(522)
  type(MPI_Datatype), parameter :: MPI_LONG_LONG = MPI_Datatype(523)
  type(MPI_Datatype), parameter :: MPI_LONG_LONG_INT = MPI_Datatype(523)
  type(MPI_Datatype), parameter :: MPI_UNSIGNED_SHORT = MPI_Datatype(524)
  type(MPI_Datatype), parameter :: MPI_UNSIGNED = MPI_Datatype(525)
  type(MPI_Datatype), parameter :: MPI_UNSIGNED_LONG = MPI_Datatype(526)
  type(MPI_Datatype), parameter :: MPI_UNSIGNED_LONG_LONG = MPI_Datatype(527)
  type(MPI_Datatype), parameter :: MPI_FLOAT = MPI_Datatype(528)
  type(MPI_Datatype), parameter :: MPI_C_FLOAT_COMPLEX = MPI_Datatype(530)
  type(MPI_Datatype), parameter :: MPI_C_COMPLEX = MPI_Datatype(530)
  type(MPI_Datatype), parameter :: MPI_CXX_FLOAT_COMPLEX = MPI_Datatype(531)
  type(MPI_Datatype), parameter :: MPI_DOUBLE = MPI_Datatype(532)
  type(MPI_Datatype), parameter :: MPI_C_DOUBLE_COMPLEX = MPI_Datatype(534)
  type(MPI_Datatype), parameter :: MPI_CXX_DOUBLE_COMPLEX = MPI_Datatype(535)
  type(MPI_Datatype), parameter :: MPI_LOGICAL = MPI_Datatype(536)
  type(MPI_Datatype), parameter :: MPI_INTEGER = MPI_Datatype(537)
  type(MPI_Datatype), parameter :: MPI_REAL = MPI_Datatype(538)
  type(MPI_Datatype), parameter :: MPI_COMPLEX = MPI_Datatype(539)
  type(MPI_Datatype), parameter :: MPI_DOUBLE_PRECISION = MPI_Datatype(540)
  type(MPI_Datatype), parameter :: MPI_DOUBLE_COMPLEX = MPI_Datatype(541)
  type(MPI_Datatype), parameter :: MPI_CHARACTER = MPI_Datatype(542)
  type(MPI_Datatype), parameter :: MPI_LONG_DOUBLE = MPI_Datatype(544)
  type(MPI_Datatype), parameter :: MPI_C_LONG_DOUBLE_COMPLEX = MPI_Datatype(548)
  type(MPI_Datatype), parameter :: MPI_CXX_LONG_DOUBLE_COMPLEX = MPI_Datatype(549)
  type(MPI_Datatype), parameter :: MPI_FLOAT_INT = MPI_Datatype(552)
  type(MPI_Datatype), parameter :: MPI_DOUBLE_INT = MPI_Datatype(553)
  type(MPI_Datatype), parameter :: MPI_LONG_INT = MPI_Datatype(554)
  type(MPI_Datatype), parameter :: MPI_2INT = MPI_Datatype(555)
  type(MPI_Datatype), parameter :: MPI_SHORT_INT = MPI_Datatype(556)
  type(MPI_Datatype), parameter :: MPI_LONG_DOUBLE_INT = MPI_Datatype(557)
  type(MPI_Datatype), parameter :: MPI_2REAL = MPI_Datatype(560)
  type(MPI_Datatype), parameter :: MPI_2DOUBLE_PRECISION = MPI_Datatype(561)
  type(MPI_Datatype), parameter :: MPI_2INTEGER = MPI_Datatype(562)
  type(MPI_Datatype), parameter :: MPI_C_BOOL = MPI_Datatype(568)
  type(MPI_Datatype), parameter :: MPI_CXX_BOOL = MPI_Datatype(569)
  type(MPI_Datatype), parameter :: MPI_WCHAR = MPI_Datatype(572)
  type(MPI_Datatype), parameter :: MPI_INT8_T = MPI_Datatype(576)
  type(MPI_Datatype), parameter :: MPI_UINT8_T = MPI_Datatype(577)
  type(MPI_Datatype), parameter :: MPI_CHAR = MPI_Datatype(579)
  type(MPI_Datatype), parameter :: MPI_SIGNED_CHAR = MPI_Datatype(580)
  type(MPI_Datatype), parameter :: MPI_UNSIGNED_CHAR = MPI_Datatype(581)
  type(MPI_Datatype), parameter :: MPI_BYTE = MPI_Datatype(583)
  type(MPI_Datatype), parameter :: MPI_INT16_T = MPI_Datatype(584)
  type(MPI_Datatype), parameter :: MPI_UINT16_T = MPI_Datatype(585)
  type(MPI_Datatype), parameter :: MPI_INT32_T = MPI_Datatype(592)
  type(MPI_Datatype), parameter :: MPI_UINT32_T = MPI_Datatype(593)
  type(MPI_Datatype), parameter :: MPI_INT64_T = MPI_Datatype(600)
  type(MPI_Datatype), parameter :: MPI_UINT64_T = MPI_Datatype(601)
  type(MPI_Datatype), parameter :: MPI_LOGICAL1 = MPI_Datatype(704)
  type(MPI_Datatype), parameter :: MPI_INTEGER1 = MPI_Datatype(705)
  type(MPI_Datatype), parameter :: MPI_LOGICAL2 = MPI_Datatype(712)
  type(MPI_Datatype), parameter :: MPI_INTEGER2 = MPI_Datatype(713)
  type(MPI_Datatype), parameter :: MPI_REAL2 = MPI_Datatype(714)
  type(MPI_Datatype), parameter :: MPI_LOGICAL4 = MPI_Datatype(720)
  type(MPI_Datatype), parameter :: MPI_INTEGER4 = MPI_Datatype(721)
  type(MPI_Datatype), parameter :: MPI_REAL4 = MPI_Datatype(722)
  type(MPI_Datatype), parameter :: MPI_COMPLEX4 = MPI_Datatype(723)
  type(MPI_Datatype), parameter :: MPI_LOGICAL8 = MPI_Datatype(728)
  type(MPI_Datatype), parameter :: MPI_INTEGER8 = MPI_Datatype(729)
  type(MPI_Datatype), parameter :: MPI_REAL8 = MPI_Datatype(730)
  type(MPI_Datatype), parameter :: MPI_COMPLEX8 = MPI_Datatype(731)
  type(MPI_Datatype), parameter :: MPI_LOGICAL16 = MPI_Datatype(736)
  type(MPI_Datatype), parameter :: MPI_INTEGER16 = MPI_Datatype(737)
  type(MPI_Datatype), parameter :: MPI_REAL16 = MPI_Datatype(738)
  type(MPI_Datatype), parameter :: MPI_COMPLEX16 = MPI_Datatype(739)
  type(MPI_Datatype), parameter :: MPI_COMPLEX32 = MPI_Datatype(747)

  ! Order and distribution of arrays.
  integer, parameter :: MPI_ORDER_C = 12
  integer, parameter :: MPI_ORDER_FORTRAN = 15
  integer, parameter :: MPI_DISTRIBUTE_NONE = 16
  integer, parameter :: MPI_DISTRIBUTE_BLOCK = 17
  integer, parameter :: MPI_DISTRIBUTE_CYCLIC = 18
  integer, parameter :: MPI_DISTRIBUTE_DFLT_DARG = 19

  ! What a datatype was made by.
  integer, parameter :: MPI_COMBINER_NAMED = 101
  integer, parameter :: MPI_COMBINER_DUP = 102
  integer, parameter :: MPI_COMBINER_CONTIGUOUS = 103
  integer, parameter :: MPI_COMBINER_VECTOR = 104
  integer, parameter :: MPI_COMBINER_HVECTOR = 105
  integer, parameter :: MPI_COMBINER_INDEXED = 106
  integer, parameter :: MPI_COMBINER_HINDEXED = 107
  integer, parameter :: MPI_COMBINER_INDEXED_BLOCK = 108
  integer, parameter :: MPI_COMBINER_HINDEXED_BLOCK = 109
  integer, parameter :: MPI_COMBINER_STRUCT = 110
  integer, parameter :: MPI_COMBINER_SUBARRAY = 111
  integer, parameter :: MPI_COMBINER_DARRAY = 112
  integer, parameter :: MPI_COMBINER_F90_REAL = 113
  integer, parameter :: MPI_COMBINER_F90_COMPLEX = 114
  integer, parameter :: MPI_COMBINER_F90_INTEGER = 115
  integer, parameter :: MPI_COMBINER_RESIZED = 116
  integer, parameter :: MPI_COMBINER_VALUE_INDEX = 117

  ! Classes of datatypes.
  integer, parameter :: MPIX_TYPECLASS_LOGICAL = 191
  integer, parameter :: MPI_TYPECLASS_INTEGER = 192
  integer, parameter :: MPI_TYPECLASS_REAL = 193
  integer, parameter :: MPI_TYPECLASS_COMPLEX = 194

  ! Requests and messages.
  type(MPI_Message), parameter :: MPI_MESSAGE_NULL = MPI_Message(296)
  type(MPI_Message), parameter :: MPI_MESSAGE_NO_PROC = MPI_Message(297)
  type(MPI_Request), parameter :: MPI_REQUEST_NULL = MPI_Request(384)

  ! Info objects.
  type(MPI_Info), parameter :: MPI_INFO_NULL = MPI_Info(304)
  type(MPI_Info), parameter :: MPI_INFO_ENV = MPI_Info(305)

  ! Error handlers.
  type(MPI_Errhandler), parameter :: MPI_ERRHANDLER_NULL = MPI_Errhandler(320)
  type(MPI_Errhandler), parameter :: MPI_ERRORS_ARE_FATAL = MPI_Errhandler(321)
  type(MPI_Errhandler), parameter :: MPI_ERRORS_ABORT = MPI_Errhandler(322)
  type(MPI_Errhandler), parameter :: MPI_ERRORS_RETURN = MPI_Errhandler(323)

  ! Sessions.
  type(MPI_Session), parameter :: MPI_SESSION_NULL = MPI_Session(288)

  ! Attributes of communicators.
  integer, parameter :: MPI_KEYVAL_INVALID = 0
  integer, parameter :: MPI_TAG_UB = 501
  integer, parameter :: MPI_IO = 502
  integer, parameter :: MPI_HOST = 503
  integer, parameter :: MPI_WTIME_IS_GLOBAL = 504
  integer, parameter :: MPI_APPNUM = 505
  integer, parameter :: MPI_LASTUSEDCODE = 506
  integer, parameter :: MPI_UNIVERSE_SIZE = 507

  ! Attributes of windows.
  integer, parameter :: MPI_WIN_BASE = 601
  integer, parameter :: MPI_WIN_DISP_UNIT = 602
  integer, parameter :: MPI_WIN_SIZE = 603
  integer, parameter :: MPI_WIN_CREATE_FLAVOR = 604
  integer, parameter :: MPI_WIN_MODEL = 605

  ! Windows, their kinds and locks.
  type(MPI_Win), parameter :: MPI_WIN_NULL = MPI_Win(272)
  integer, parameter :: MPI_LOCK_EXCLUSIVE = 301
  integer, parameter :: MPI_LOCK_SHARED = 302
  integer, parameter :: MPI_WIN_FLAVOR_CREATE = 311
  integer, parameter :: MPI_WIN_FLAVOR_ALLOCATE = 312
  integer, parameter :: MPI_WIN_FLAVOR_DYNAMIC = 313
  integer, parameter :: MPI_WIN_FLAVOR_SHARED = 314
  integer, parameter :: MPI_WIN_UNIFIED = 321
  integer, parameter :: MPI_WIN_SEPARATE = 322

  ! Assertions on windows.
  integer, parameter :: MPI_MODE_NOCHECK = 1024
  integer, parameter :: MPI_MODE_NOPRECEDE = 2048
  integer, parameter :: MPI_MODE_NOPUT = 4096
  integer, parameter :: MPI_MODE_NOSTORE = 8192
  integer, parameter :: MPI_MODE_NOSUCCEED = 16384

  ! Files.
  type(MPI_File), parameter :: MPI_FILE_NULL = MPI_File(280)
  integer, parameter :: MPI_MODE_APPEND = 1
  integer, parameter :: MPI_MODE_CREATE = 2
  integer, parameter :: MPI_MODE_DELETE_ON_CLOSE = 4
  integer, parameter :: MPI_MODE_EXCL = 8
  integer, parameter :: MPI_MODE_RDONLY = 16
  integer, parameter :: MPI_MODE_RDWR = 32
  integer, parameter :: MPI_MODE_SEQUENTIAL = 64
  integer, parameter :: MPI_MODE_UNIQUE_OPEN = 128
  integer, parameter :: MPI_MODE_WRONLY = 256
  integer, parameter :: MPI_SEEK_CUR = 401
  integer, parameter :: MPI_SEEK_END = 402
  integer, parameter :: MPI_SEEK_SET = 403

  ! Buffers may be copied by the compiler.
  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.
  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.

  ! The offset that stands for where the file's pointer is.
  integer(MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1

  ! Functions of the program that the library calls.
  abstract interface
    subroutine MPI_User_function(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
    end subroutine MPI_User_function
    subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer(MPI_COUNT_KIND) :: len
      type(MPI_Datatype) :: datatype
    end subroutine MPI_User_function_c
    subroutine MPI_Comm_copy_attr_function(oldcomm, comm_keyval, extra_state, attribute_val_in, &
        attribute_val_out, flag, ierror)
      import
      type(MPI_Comm) :: oldcomm
      integer :: comm_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine MPI_Comm_copy_attr_function
    subroutine MPI_Comm_delete_attr_function(comm, comm_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_Comm) :: comm
      integer :: comm_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine MPI_Comm_delete_attr_function
    subroutine MPI_Win_copy_attr_function(oldwin, win_keyval, extra_state, attribute_val_in, &
        attribute_val_out, flag, ierror)
      import
      type(MPI_Win) :: oldwin
      integer :: win_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine MPI_Win_copy_attr_function
    subroutine MPI_Win_delete_attr_function(win, win_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_Win) :: win
      integer :: win_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine MPI_Win_delete_attr_function
    subroutine MPI_Type_copy_attr_function(oldtype, type_keyval, extra_state, attribute_val_in, &
        attribute_val_out, flag, ierror)
      import
      type(MPI_Datatype) :: oldtype
      integer :: type_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine MPI_Type_copy_attr_function
    subroutine MPI_Type_delete_attr_function(datatype, type_keyval, attribute_val, extra_state, &
        ierror)
      import
      type(MPI_Datatype) :: datatype
      integer :: type_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine MPI_Type_delete_attr_function
    subroutine MPI_Comm_errhandler_function(comm, error_code)
      import
      type(MPI_Comm) :: comm
      integer :: error_code
    end subroutine MPI_Comm_errhandler_function
    subroutine MPI_Win_errhandler_function(win, error_code)
      import
      type(MPI_Win) :: win
      integer :: error_code
    end subroutine MPI_Win_errhandler_function
    subroutine MPI_File_errhandler_function(file, error_code)
      import
      type(MPI_File) :: file
      integer :: error_code
    end subroutine MPI_File_errhandler_function
    subroutine MPI_Session_errhandler_function(session, error_code)
      import
      type(MPI_Session) :: session
      integer :: error_code
    end subroutine MPI_Session_errhandler_function
    subroutine MPI_Grequest_query_function(extra_state, status, ierror)
      import
      integer(MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
    end subroutine MPI_Grequest_query_function
    subroutine MPI_Grequest_free_function(extra_state, ierror)
      import
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine MPI_Grequest_free_function
    subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
      import
      integer(MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
    end subroutine MPI_Grequest_cancel_function
    subroutine MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
      import
      type(MPI_Datatype) :: datatype
      integer(MPI_ADDRESS_KIND) :: extent, extra_state
      integer :: ierror
    end subroutine MPI_Datarep_extent_function
    subroutine MPI_Datarep_conversion_function(userbuf, datatype, count, filebuf, position, &
        extra_state, ierror)
      import
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer :: count, ierror
      integer(MPI_OFFSET_KIND) :: position
      integer(MPI_ADDRESS_KIND) :: extra_state
    end subroutine MPI_Datarep_conversion_function
    subroutine MPI_Datarep_conversion_function_c(userbuf, datatype, count, filebuf, position, &
        extra_state, ierror)
      import
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer(MPI_COUNT_KIND) :: count
      integer(MPI_OFFSET_KIND) :: position
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine MPI_Datarep_conversion_function_c
  end interface

  ! Those that the standard has.
  procedure(MPI_Comm_copy_attr_function) :: MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN
  procedure(MPI_Comm_delete_attr_function) :: MPI_COMM_NULL_DELETE_FN
  procedure(MPI_Win_copy_attr_function) :: MPI_WIN_DUP_FN, MPI_WIN_NULL_COPY_FN
  procedure(MPI_Win_delete_attr_function) :: MPI_WIN_NULL_DELETE_FN
  procedure(MPI_Type_copy_attr_function) :: MPI_TYPE_DUP_FN, MPI_TYPE_NULL_COPY_FN
  procedure(MPI_Type_delete_attr_function) :: MPI_TYPE_NULL_DELETE_FN
  procedure(MPI_Datarep_conversion_function) :: MPI_CONVERSION_FN_NULL
  procedure(MPI_Datarep_conversion_function_c) :: MPI_CONVERSION_FN_NULL_C

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

  ! What is for Fortran only.
  interface
    subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_f2f08
    subroutine MPI_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_f082f
    subroutine MPI_Sizeof(x, size, ierror) bind(C, name='muster_sizeof_')
      import
      type(*), dimension(..), intent(in) :: x
      integer(c_int), intent(out) :: size
      integer(c_int), optional, intent(out) :: ierror
    end subroutine MPI_Sizeof
    subroutine PMPI_Sizeof(x, size, ierror) bind(C, name='muster_sizeof_')
      import
      type(*), dimension(..), intent(in) :: x
      integer(c_int), intent(out) :: size
      integer(c_int), optional, intent(out) :: ierror
    end subroutine PMPI_Sizeof
  end interface
  procedure(MPI_Status_f2f08) :: PMPI_Status_f2f08
  procedure(MPI_Status_f082f) :: PMPI_Status_f082f

  ! Point-to-Point Communication.
  interface MPI_Bsend
    subroutine MPI_Bsend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bsend
    subroutine MPI_Bsend_c(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bsend_c
  end interface MPI_Bsend
  interface PMPI_Bsend
    subroutine PMPI_Bsend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Bsend
    subroutine PMPI_Bsend_c(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Bsend_c
  end interface PMPI_Bsend
  interface MPI_Bsend_init
    subroutine MPI_Bsend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bsend_init
    subroutine MPI_Bsend_init_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bsend_init_c
  end interface MPI_Bsend_init
  interface PMPI_Bsend_init
    subroutine PMPI_Bsend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Bsend_init
    subroutine PMPI_Bsend_init_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Bsend_init_c
  end interface PMPI_Bsend_init
  interface MPI_Buffer_attach
    subroutine MPI_Buffer_attach(buffer, size, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Buffer_attach
    subroutine MPI_Buffer_attach_c(buffer, size, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Buffer_attach_c
  end interface MPI_Buffer_attach
  interface PMPI_Buffer_attach
    subroutine PMPI_Buffer_attach(buffer, size, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Buffer_attach
    subroutine PMPI_Buffer_attach_c(buffer, size, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Buffer_attach_c
  end interface PMPI_Buffer_attach
  interface MPI_Buffer_detach
    subroutine MPI_Buffer_detach(buffer_addr, size, &
        ierror) bind(C, name='muster_f08_mpi_buffer_detach_')
      import
      type(c_ptr) :: buffer_addr
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Buffer_detach
    subroutine MPI_Buffer_detach_c(buffer_addr, size, &
        ierror) bind(C, name='muster_f08_mpi_buffer_detach_c_')
      import
      type(c_ptr) :: buffer_addr
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Buffer_detach_c
  end interface MPI_Buffer_detach
  interface PMPI_Buffer_detach
    subroutine PMPI_Buffer_detach(buffer_addr, size, &
        ierror) bind(C, name='muster_f08_pmpi_buffer_detach_')
      import
      type(c_ptr) :: buffer_addr
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Buffer_detach
    subroutine PMPI_Buffer_detach_c(buffer_addr, size, &
        ierror) bind(C, name='muster_f08_pmpi_buffer_detach_c_')
      import
      type(c_ptr) :: buffer_addr
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Buffer_detach_c
  end interface PMPI_Buffer_detach
  interface
    subroutine MPI_Buffer_flush(ierror)
      import
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Buffer_flush
  end interface
  procedure(MPI_Buffer_flush) :: PMPI_Buffer_flush
  interface
    subroutine MPI_Buffer_iflush(request, ierror)
      import
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Buffer_iflush
  end interface
  procedure(MPI_Buffer_iflush) :: PMPI_Buffer_iflush
  interface
    subroutine MPI_Cancel(request, ierror)
      import
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cancel
  end interface
  procedure(MPI_Cancel) :: PMPI_Cancel
  interface MPI_Comm_attach_buffer
    subroutine MPI_Comm_attach_buffer(comm, buffer, size, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_attach_buffer
    subroutine MPI_Comm_attach_buffer_c(comm, buffer, size, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_attach_buffer_c
  end interface MPI_Comm_attach_buffer
  interface PMPI_Comm_attach_buffer
    subroutine PMPI_Comm_attach_buffer(comm, buffer, size, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Comm_attach_buffer
    subroutine PMPI_Comm_attach_buffer_c(comm, buffer, size, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Comm_attach_buffer_c
  end interface PMPI_Comm_attach_buffer
  interface MPI_Comm_detach_buffer
    subroutine MPI_Comm_detach_buffer(comm, buffer_addr, size, &
        ierror) bind(C, name='muster_f08_mpi_comm_detach_buffer_')
      import
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr) :: buffer_addr
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_detach_buffer
    subroutine MPI_Comm_detach_buffer_c(comm, buffer_addr, size, &
        ierror) bind(C, name='muster_f08_mpi_comm_detach_buffer_c_')
      import
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr) :: buffer_addr
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_detach_buffer_c
  end interface MPI_Comm_detach_buffer
  interface PMPI_Comm_detach_buffer
    subroutine PMPI_Comm_detach_buffer(comm, buffer_addr, size, &
        ierror) bind(C, name='muster_f08_pmpi_comm_detach_buffer_')
      import
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr) :: buffer_addr
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Comm_detach_buffer
    subroutine PMPI_Comm_detach_buffer_c(comm, buffer_addr, size, &
        ierror) bind(C, name='muster_f08_pmpi_comm_detach_buffer_c_')
      import
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr) :: buffer_addr
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Comm_detach_buffer_c
  end interface PMPI_Comm_detach_buffer
  interface
    subroutine MPI_Comm_flush_buffer(comm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_flush_buffer
  end interface
  procedure(MPI_Comm_flush_buffer) :: PMPI_Comm_flush_buffer
  interface
    subroutine MPI_Comm_iflush_buffer(comm, request, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_iflush_buffer
  end interface
  procedure(MPI_Comm_iflush_buffer) :: PMPI_Comm_iflush_buffer
  interface MPI_Get_count
    subroutine MPI_Get_count(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer :: count
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_count
    subroutine MPI_Get_count_c(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: count
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_count_c
  end interface MPI_Get_count
  interface PMPI_Get_count
    subroutine PMPI_Get_count(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer :: count
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Get_count
    subroutine PMPI_Get_count_c(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: count
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Get_count_c
  end interface PMPI_Get_count
  interface MPI_Ibsend
    subroutine MPI_Ibsend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ibsend
    subroutine MPI_Ibsend_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ibsend_c
  end interface MPI_Ibsend
  interface PMPI_Ibsend
    subroutine PMPI_Ibsend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ibsend
    subroutine PMPI_Ibsend_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ibsend_c
  end interface PMPI_Ibsend
  interface
    subroutine MPI_Improbe(source, tag, comm, flag, message, status, ierror)
      import
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      logical :: flag
      type(MPI_Message) :: message
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Improbe
  end interface
  procedure(MPI_Improbe) :: PMPI_Improbe
  interface MPI_Imrecv
    subroutine MPI_Imrecv(buf, count, datatype, message, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Message) :: message
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Imrecv
    subroutine MPI_Imrecv_c(buf, count, datatype, message, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Message) :: message
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Imrecv_c
  end interface MPI_Imrecv
  interface PMPI_Imrecv
    subroutine PMPI_Imrecv(buf, count, datatype, message, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Message) :: message
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Imrecv
    subroutine PMPI_Imrecv_c(buf, count, datatype, message, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Message) :: message
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Imrecv_c
  end interface PMPI_Imrecv
  interface
    subroutine MPI_Iprobe(source, tag, comm, flag, status, ierror)
      import
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      logical :: flag
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iprobe
  end interface
  procedure(MPI_Iprobe) :: PMPI_Iprobe
  interface MPI_Irecv
    subroutine MPI_Irecv(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Irecv
    subroutine MPI_Irecv_c(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Irecv_c
  end interface MPI_Irecv
  interface PMPI_Irecv
    subroutine PMPI_Irecv(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Irecv
    subroutine PMPI_Irecv_c(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Irecv_c
  end interface PMPI_Irecv
  interface MPI_Irsend
    subroutine MPI_Irsend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Irsend
    subroutine MPI_Irsend_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Irsend_c
  end interface MPI_Irsend
  interface PMPI_Irsend
    subroutine PMPI_Irsend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Irsend
    subroutine PMPI_Irsend_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Irsend_c
  end interface PMPI_Irsend
  interface MPI_Isend
    subroutine MPI_Isend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Isend
    subroutine MPI_Isend_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Isend_c
  end interface MPI_Isend
  interface PMPI_Isend
    subroutine PMPI_Isend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Isend
    subroutine PMPI_Isend_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Isend_c
  end interface PMPI_Isend
  interface MPI_Isendrecv
    subroutine MPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Isendrecv
    subroutine MPI_Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Isendrecv_c
  end interface MPI_Isendrecv
  interface PMPI_Isendrecv
    subroutine PMPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Isendrecv
    subroutine PMPI_Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Isendrecv_c
  end interface PMPI_Isendrecv
  interface MPI_Isendrecv_replace
    subroutine MPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Isendrecv_replace
    subroutine MPI_Isendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Isendrecv_replace_c
  end interface MPI_Isendrecv_replace
  interface PMPI_Isendrecv_replace
    subroutine PMPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Isendrecv_replace
    subroutine PMPI_Isendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Isendrecv_replace_c
  end interface PMPI_Isendrecv_replace
  interface MPI_Issend
    subroutine MPI_Issend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Issend
    subroutine MPI_Issend_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Issend_c
  end interface MPI_Issend
  interface PMPI_Issend
    subroutine PMPI_Issend(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Issend
    subroutine PMPI_Issend_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Issend_c
  end interface PMPI_Issend
  interface
    subroutine MPI_Mprobe(source, tag, comm, message, status, ierror)
      import
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Message) :: message
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Mprobe
  end interface
  procedure(MPI_Mprobe) :: PMPI_Mprobe
  interface MPI_Mrecv
    subroutine MPI_Mrecv(buf, count, datatype, message, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Message) :: message
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Mrecv
    subroutine MPI_Mrecv_c(buf, count, datatype, message, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Message) :: message
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Mrecv_c
  end interface MPI_Mrecv
  interface PMPI_Mrecv
    subroutine PMPI_Mrecv(buf, count, datatype, message, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Message) :: message
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Mrecv
    subroutine PMPI_Mrecv_c(buf, count, datatype, message, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Message) :: message
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Mrecv_c
  end interface PMPI_Mrecv
  interface
    subroutine MPI_Probe(source, tag, comm, status, ierror)
      import
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Probe
  end interface
  procedure(MPI_Probe) :: PMPI_Probe
  interface MPI_Recv
    subroutine MPI_Recv(buf, count, datatype, source, tag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Recv
    subroutine MPI_Recv_c(buf, count, datatype, source, tag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Recv_c
  end interface MPI_Recv
  interface PMPI_Recv
    subroutine PMPI_Recv(buf, count, datatype, source, tag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Recv
    subroutine PMPI_Recv_c(buf, count, datatype, source, tag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Recv_c
  end interface PMPI_Recv
  interface MPI_Recv_init
    subroutine MPI_Recv_init(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Recv_init
    subroutine MPI_Recv_init_c(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Recv_init_c
  end interface MPI_Recv_init
  interface PMPI_Recv_init
    subroutine PMPI_Recv_init(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Recv_init
    subroutine PMPI_Recv_init_c(buf, count, datatype, source, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Recv_init_c
  end interface PMPI_Recv_init
  interface
    subroutine MPI_Request_free(request, ierror)
      import
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Request_free
  end interface
  procedure(MPI_Request_free) :: PMPI_Request_free
  interface
    subroutine MPI_Request_get_status(request, flag, status, ierror)
      import
      type(MPI_Request), intent(in) :: request
      logical :: flag
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Request_get_status
  end interface
  procedure(MPI_Request_get_status) :: PMPI_Request_get_status
  interface
    subroutine MPI_Request_get_status_all(count, array_of_requests, flag, array_of_statuses, &
        ierror)
      import
      integer, intent(in) :: count
      type(MPI_Request), intent(in) :: array_of_requests(*)
      logical :: flag
      type(MPI_Status) :: array_of_statuses(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Request_get_status_all
  end interface
  procedure(MPI_Request_get_status_all) :: PMPI_Request_get_status_all
  interface
    subroutine MPI_Request_get_status_any(count, array_of_requests, index, flag, status, ierror)
      import
      integer, intent(in) :: count
      type(MPI_Request), intent(in) :: array_of_requests(*)
      integer :: index
      logical :: flag
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Request_get_status_any
  end interface
  procedure(MPI_Request_get_status_any) :: PMPI_Request_get_status_any
  interface
    subroutine MPI_Request_get_status_some(incount, array_of_requests, outcount, array_of_indices, &
        array_of_statuses, ierror)
      import
      integer, intent(in) :: incount
      type(MPI_Request), intent(in) :: array_of_requests(*)
      integer :: outcount
      integer :: array_of_indices(*)
      type(MPI_Status) :: array_of_statuses(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Request_get_status_some
  end interface
  procedure(MPI_Request_get_status_some) :: PMPI_Request_get_status_some
  interface MPI_Rsend
    subroutine MPI_Rsend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rsend
    subroutine MPI_Rsend_c(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rsend_c
  end interface MPI_Rsend
  interface PMPI_Rsend
    subroutine PMPI_Rsend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rsend
    subroutine PMPI_Rsend_c(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rsend_c
  end interface PMPI_Rsend
  interface MPI_Rsend_init
    subroutine MPI_Rsend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rsend_init
    subroutine MPI_Rsend_init_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rsend_init_c
  end interface MPI_Rsend_init
  interface PMPI_Rsend_init
    subroutine PMPI_Rsend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rsend_init
    subroutine PMPI_Rsend_init_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rsend_init_c
  end interface PMPI_Rsend_init
  interface MPI_Send
    subroutine MPI_Send(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Send
    subroutine MPI_Send_c(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Send_c
  end interface MPI_Send
  interface PMPI_Send
    subroutine PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Send
    subroutine PMPI_Send_c(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Send_c
  end interface PMPI_Send
  interface MPI_Send_init
    subroutine MPI_Send_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Send_init
    subroutine MPI_Send_init_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Send_init_c
  end interface MPI_Send_init
  interface PMPI_Send_init
    subroutine PMPI_Send_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Send_init
    subroutine PMPI_Send_init_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Send_init_c
  end interface PMPI_Send_init
  interface MPI_Sendrecv
    subroutine MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Sendrecv
    subroutine MPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Sendrecv_c
  end interface MPI_Sendrecv
  interface PMPI_Sendrecv
    subroutine PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Sendrecv
    subroutine PMPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
        recvtype, source, recvtag, comm, status, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Sendrecv_c
  end interface PMPI_Sendrecv
  interface MPI_Sendrecv_replace
    subroutine MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Sendrecv_replace
    subroutine MPI_Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Sendrecv_replace_c
  end interface MPI_Sendrecv_replace
  interface PMPI_Sendrecv_replace
    subroutine PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Sendrecv_replace
    subroutine PMPI_Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, &
        status, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Sendrecv_replace_c
  end interface PMPI_Sendrecv_replace
  interface MPI_Session_attach_buffer
    subroutine MPI_Session_attach_buffer(session, buffer, size, ierror)
      import
      type(MPI_Session), intent(in) :: session
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_attach_buffer
    subroutine MPI_Session_attach_buffer_c(session, buffer, size, ierror)
      import
      type(MPI_Session), intent(in) :: session
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_attach_buffer_c
  end interface MPI_Session_attach_buffer
  interface PMPI_Session_attach_buffer
    subroutine PMPI_Session_attach_buffer(session, buffer, size, ierror)
      import
      type(MPI_Session), intent(in) :: session
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Session_attach_buffer
    subroutine PMPI_Session_attach_buffer_c(session, buffer, size, ierror)
      import
      type(MPI_Session), intent(in) :: session
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Session_attach_buffer_c
  end interface PMPI_Session_attach_buffer
  interface MPI_Session_detach_buffer
    subroutine MPI_Session_detach_buffer(session, buffer_addr, size, &
        ierror) bind(C, name='muster_f08_mpi_session_detach_buffer_')
      import
      type(MPI_Session), intent(in) :: session
      type(c_ptr) :: buffer_addr
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_detach_buffer
    subroutine MPI_Session_detach_buffer_c(session, buffer_addr, size, &
        ierror) bind(C, name='muster_f08_mpi_session_detach_buffer_c_')
      import
      type(MPI_Session), intent(in) :: session
      type(c_ptr) :: buffer_addr
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_detach_buffer_c
  end interface MPI_Session_detach_buffer
  interface PMPI_Session_detach_buffer
    subroutine PMPI_Session_detach_buffer(session, buffer_addr, size, &
        ierror) bind(C, name='muster_f08_pmpi_session_detach_buffer_')
      import
      type(MPI_Session), intent(in) :: session
      type(c_ptr) :: buffer_addr
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Session_detach_buffer
    subroutine PMPI_Session_detach_buffer_c(session, buffer_addr, size, &
        ierror) bind(C, name='muster_f08_pmpi_session_detach_buffer_c_')
      import
      type(MPI_Session), intent(in) :: session
      type(c_ptr) :: buffer_addr
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Session_detach_buffer_c
  end interface PMPI_Session_detach_buffer
  interface
    subroutine MPI_Session_flush_buffer(session, ierror)
      import
      type(MPI_Session), intent(in) :: session
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_flush_buffer
  end interface
  procedure(MPI_Session_flush_buffer) :: PMPI_Session_flush_buffer
  interface
    subroutine MPI_Session_iflush_buffer(session, request, ierror)
      import
      type(MPI_Session), intent(in) :: session
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_iflush_buffer
  end interface
  procedure(MPI_Session_iflush_buffer) :: PMPI_Session_iflush_buffer
  interface MPI_Ssend
    subroutine MPI_Ssend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ssend
    subroutine MPI_Ssend_c(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ssend_c
  end interface MPI_Ssend
  interface PMPI_Ssend
    subroutine PMPI_Ssend(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ssend
    subroutine PMPI_Ssend_c(buf, count, datatype, dest, tag, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ssend_c
  end interface PMPI_Ssend
  interface MPI_Ssend_init
    subroutine MPI_Ssend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ssend_init
    subroutine MPI_Ssend_init_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ssend_init_c
  end interface MPI_Ssend_init
  interface PMPI_Ssend_init
    subroutine PMPI_Ssend_init(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ssend_init
    subroutine PMPI_Ssend_init_c(buf, count, datatype, dest, tag, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ssend_init_c
  end interface PMPI_Ssend_init
  interface
    subroutine MPI_Start(request, ierror)
      import
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Start
  end interface
  procedure(MPI_Start) :: PMPI_Start
  interface
    subroutine MPI_Startall(count, array_of_requests, ierror)
      import
      integer, intent(in) :: count
      type(MPI_Request) :: array_of_requests(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Startall
  end interface
  procedure(MPI_Startall) :: PMPI_Startall
  interface
    subroutine MPI_Status_get_error(status, error, ierror)
      import
      type(MPI_Status), intent(in) :: status
      integer :: error
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_get_error
  end interface
  procedure(MPI_Status_get_error) :: PMPI_Status_get_error
  interface
    subroutine MPI_Status_get_source(status, source, ierror)
      import
      type(MPI_Status), intent(in) :: status
      integer :: source
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_get_source
  end interface
  procedure(MPI_Status_get_source) :: PMPI_Status_get_source
  interface
    subroutine MPI_Status_get_tag(status, tag, ierror)
      import
      type(MPI_Status), intent(in) :: status
      integer :: tag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_get_tag
  end interface
  procedure(MPI_Status_get_tag) :: PMPI_Status_get_tag
  interface
    subroutine MPI_Status_set_error(status, error, ierror)
      import
      type(MPI_Status) :: status
      integer, intent(in) :: error
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_set_error
  end interface
  procedure(MPI_Status_set_error) :: PMPI_Status_set_error
  interface
    subroutine MPI_Status_set_source(status, source, ierror)
      import
      type(MPI_Status) :: status
      integer, intent(in) :: source
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_set_source
  end interface
  procedure(MPI_Status_set_source) :: PMPI_Status_set_source
  interface
    subroutine MPI_Status_set_tag(status, tag, ierror)
      import
      type(MPI_Status) :: status
      integer, intent(in) :: tag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_set_tag
  end interface
  procedure(MPI_Status_set_tag) :: PMPI_Status_set_tag
  interface
    subroutine MPI_Test(request, flag, status, ierror)
      import
      type(MPI_Request) :: request
      logical :: flag
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Test
  end interface
  procedure(MPI_Test) :: PMPI_Test
  interface
    subroutine MPI_Test_cancelled(status, flag, ierror)
      import
      type(MPI_Status), intent(in) :: status
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Test_cancelled
  end interface
  procedure(MPI_Test_cancelled) :: PMPI_Test_cancelled
  interface
    subroutine MPI_Testall(count, array_of_requests, flag, array_of_statuses, ierror)
      import
      integer, intent(in) :: count
      type(MPI_Request) :: array_of_requests(*)
      logical :: flag
      type(MPI_Status) :: array_of_statuses(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Testall
  end interface
  procedure(MPI_Testall) :: PMPI_Testall
  interface
    subroutine MPI_Testany(count, array_of_requests, index, flag, status, ierror)
      import
      integer, intent(in) :: count
      type(MPI_Request) :: array_of_requests(*)
      integer :: index
      logical :: flag
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Testany
  end interface
  procedure(MPI_Testany) :: PMPI_Testany
  interface
    subroutine MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, &
        array_of_statuses, ierror)
      import
      integer, intent(in) :: incount
      type(MPI_Request) :: array_of_requests(*)
      integer :: outcount
      integer :: array_of_indices(*)
      type(MPI_Status) :: array_of_statuses(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Testsome
  end interface
  procedure(MPI_Testsome) :: PMPI_Testsome
  interface
    subroutine MPI_Wait(request, status, ierror)
      import
      type(MPI_Request) :: request
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Wait
  end interface
  procedure(MPI_Wait) :: PMPI_Wait
  interface
    subroutine MPI_Waitall(count, array_of_requests, array_of_statuses, ierror)
      import
      integer, intent(in) :: count
      type(MPI_Request) :: array_of_requests(*)
      type(MPI_Status) :: array_of_statuses(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Waitall
  end interface
  procedure(MPI_Waitall) :: PMPI_Waitall
  interface
    subroutine MPI_Waitany(count, array_of_requests, index, status, ierror)
      import
      integer, intent(in) :: count
      type(MPI_Request) :: array_of_requests(*)
      integer :: index
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Waitany
  end interface
  procedure(MPI_Waitany) :: PMPI_Waitany
  interface
    subroutine MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, &
        array_of_statuses, ierror)
      import
      integer, intent(in) :: incount
      type(MPI_Request) :: array_of_requests(*)
      integer :: outcount
      integer :: array_of_indices(*)
      type(MPI_Status) :: array_of_statuses(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Waitsome
  end interface
  procedure(MPI_Waitsome) :: PMPI_Waitsome

  ! Partitioned Communication.
  interface
    subroutine MPI_Parrived(request, partition, flag, ierror)
      import
      type(MPI_Request), intent(in) :: request
      integer, intent(in) :: partition
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Parrived
  end interface
  procedure(MPI_Parrived) :: PMPI_Parrived
  interface
    subroutine MPI_Pready(partition, request, ierror)
      import
      integer, intent(in) :: partition
      type(MPI_Request), intent(in) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pready
  end interface
  procedure(MPI_Pready) :: PMPI_Pready
  interface
    subroutine MPI_Pready_list(length, array_of_partitions, request, ierror)
      import
      integer, intent(in) :: length
      integer, intent(in) :: array_of_partitions(*)
      type(MPI_Request), intent(in) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pready_list
  end interface
  procedure(MPI_Pready_list) :: PMPI_Pready_list
  interface
    subroutine MPI_Pready_range(partition_low, partition_high, request, ierror)
      import
      integer, intent(in) :: partition_low
      integer, intent(in) :: partition_high
      type(MPI_Request), intent(in) :: request
      integer, optional, intent(out) :: ierror
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
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
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
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
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
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_address
  end interface
  procedure(MPI_Get_address) :: PMPI_Get_address
  interface MPI_Get_elements
    subroutine MPI_Get_elements(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer :: count
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_elements
    subroutine MPI_Get_elements_c(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: count
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_elements_c
  end interface MPI_Get_elements
  interface PMPI_Get_elements
    subroutine PMPI_Get_elements(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer :: count
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Get_elements
    subroutine PMPI_Get_elements_c(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: count
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Get_elements_c
  end interface PMPI_Get_elements
  interface MPI_Pack
    subroutine MPI_Pack(inbuf, incount, datatype, outbuf, outsize, position, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer, intent(in) :: outsize
      integer :: position
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pack
    subroutine MPI_Pack_c(inbuf, incount, datatype, outbuf, outsize, position, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_COUNT_KIND), intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_COUNT_KIND), intent(in) :: outsize
      integer(MPI_COUNT_KIND) :: position
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pack_c
  end interface MPI_Pack
  interface PMPI_Pack
    subroutine PMPI_Pack(inbuf, incount, datatype, outbuf, outsize, position, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer, intent(in) :: outsize
      integer :: position
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Pack
    subroutine PMPI_Pack_c(inbuf, incount, datatype, outbuf, outsize, position, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_COUNT_KIND), intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_COUNT_KIND), intent(in) :: outsize
      integer(MPI_COUNT_KIND) :: position
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Pack_c
  end interface PMPI_Pack
  interface MPI_Pack_external
    subroutine MPI_Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position, &
        ierror)
      import
      character(len=*), intent(in) :: datarep
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_ADDRESS_KIND), intent(in) :: outsize
      integer(MPI_ADDRESS_KIND) :: position
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pack_external
    subroutine MPI_Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position, &
        ierror)
      import
      character(len=*), intent(in) :: datarep
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_COUNT_KIND), intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_COUNT_KIND), intent(in) :: outsize
      integer(MPI_COUNT_KIND) :: position
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pack_external_c
  end interface MPI_Pack_external
  interface PMPI_Pack_external
    subroutine PMPI_Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position, &
        ierror)
      import
      character(len=*), intent(in) :: datarep
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_ADDRESS_KIND), intent(in) :: outsize
      integer(MPI_ADDRESS_KIND) :: position
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Pack_external
    subroutine PMPI_Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position, &
        ierror)
      import
      character(len=*), intent(in) :: datarep
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_COUNT_KIND), intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_COUNT_KIND), intent(in) :: outsize
      integer(MPI_COUNT_KIND) :: position
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Pack_external_c
  end interface PMPI_Pack_external
  interface MPI_Pack_external_size
    subroutine MPI_Pack_external_size(datarep, incount, datatype, size, ierror)
      import
      character(len=*), intent(in) :: datarep
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pack_external_size
    subroutine MPI_Pack_external_size_c(datarep, incount, datatype, size, ierror)
      import
      character(len=*), intent(in) :: datarep
      integer(MPI_COUNT_KIND), intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pack_external_size_c
  end interface MPI_Pack_external_size
  interface PMPI_Pack_external_size
    subroutine PMPI_Pack_external_size(datarep, incount, datatype, size, ierror)
      import
      character(len=*), intent(in) :: datarep
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Pack_external_size
    subroutine PMPI_Pack_external_size_c(datarep, incount, datatype, size, ierror)
      import
      character(len=*), intent(in) :: datarep
      integer(MPI_COUNT_KIND), intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Pack_external_size_c
  end interface PMPI_Pack_external_size
  interface MPI_Pack_size
    subroutine MPI_Pack_size(incount, datatype, comm, size, ierror)
      import
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pack_size
    subroutine MPI_Pack_size_c(incount, datatype, comm, size, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Pack_size_c
  end interface MPI_Pack_size
  interface PMPI_Pack_size
    subroutine PMPI_Pack_size(incount, datatype, comm, size, ierror)
      import
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Pack_size
    subroutine PMPI_Pack_size_c(incount, datatype, comm, size, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Pack_size_c
  end interface PMPI_Pack_size
  interface
    subroutine MPI_Type_commit(datatype, ierror)
      import
      type(MPI_Datatype) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_commit
  end interface
  procedure(MPI_Type_commit) :: PMPI_Type_commit
  interface MPI_Type_contiguous
    subroutine MPI_Type_contiguous(count, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_contiguous
    subroutine MPI_Type_contiguous_c(count, oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_contiguous_c
  end interface MPI_Type_contiguous
  interface PMPI_Type_contiguous
    subroutine PMPI_Type_contiguous(count, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_contiguous
    subroutine PMPI_Type_contiguous_c(count, oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_contiguous_c
  end interface PMPI_Type_contiguous
  interface MPI_Type_create_darray
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
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_darray
    subroutine MPI_Type_create_darray_c(size, rank, ndims, array_of_gsizes, array_of_distribs, &
        array_of_dargs, array_of_psizes, order, oldtype, newtype, ierror)
      import
      integer, intent(in) :: size
      integer, intent(in) :: rank
      integer, intent(in) :: ndims
      integer(MPI_COUNT_KIND), intent(in) :: array_of_gsizes(*)
      integer, intent(in) :: array_of_distribs(*)
      integer, intent(in) :: array_of_dargs(*)
      integer, intent(in) :: array_of_psizes(*)
      integer, intent(in) :: order
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_darray_c
  end interface MPI_Type_create_darray
  interface PMPI_Type_create_darray
    subroutine PMPI_Type_create_darray(size, rank, ndims, array_of_gsizes, array_of_distribs, &
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
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_darray
    subroutine PMPI_Type_create_darray_c(size, rank, ndims, array_of_gsizes, array_of_distribs, &
        array_of_dargs, array_of_psizes, order, oldtype, newtype, ierror)
      import
      integer, intent(in) :: size
      integer, intent(in) :: rank
      integer, intent(in) :: ndims
      integer(MPI_COUNT_KIND), intent(in) :: array_of_gsizes(*)
      integer, intent(in) :: array_of_distribs(*)
      integer, intent(in) :: array_of_dargs(*)
      integer, intent(in) :: array_of_psizes(*)
      integer, intent(in) :: order
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_darray_c
  end interface PMPI_Type_create_darray
  interface
    subroutine MPI_Type_create_f90_complex(p, r, newtype, ierror)
      import
      integer, intent(in) :: p
      integer, intent(in) :: r
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_complex
  end interface
  procedure(MPI_Type_create_f90_complex) :: PMPI_Type_create_f90_complex
  interface
    subroutine MPI_Type_create_f90_integer(r, newtype, ierror)
      import
      integer, intent(in) :: r
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_integer
  end interface
  procedure(MPI_Type_create_f90_integer) :: PMPI_Type_create_f90_integer
  interface
    subroutine MPI_Type_create_f90_real(p, r, newtype, ierror)
      import
      integer, intent(in) :: p
      integer, intent(in) :: r
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_real
  end interface
  procedure(MPI_Type_create_f90_real) :: PMPI_Type_create_f90_real
  interface MPI_Type_create_hindexed
    subroutine MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_hindexed
    subroutine MPI_Type_create_hindexed_c(count, array_of_blocklengths, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: array_of_blocklengths(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_hindexed_c
  end interface MPI_Type_create_hindexed
  interface PMPI_Type_create_hindexed
    subroutine PMPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_hindexed
    subroutine PMPI_Type_create_hindexed_c(count, array_of_blocklengths, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: array_of_blocklengths(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_hindexed_c
  end interface PMPI_Type_create_hindexed
  interface MPI_Type_create_hindexed_block
    subroutine MPI_Type_create_hindexed_block(count, blocklength, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_hindexed_block
    subroutine MPI_Type_create_hindexed_block_c(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: blocklength
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_hindexed_block_c
  end interface MPI_Type_create_hindexed_block
  interface PMPI_Type_create_hindexed_block
    subroutine PMPI_Type_create_hindexed_block(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_hindexed_block
    subroutine PMPI_Type_create_hindexed_block_c(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: blocklength
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_hindexed_block_c
  end interface PMPI_Type_create_hindexed_block
  interface MPI_Type_create_hvector
    subroutine MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(MPI_ADDRESS_KIND), intent(in) :: stride
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_hvector
    subroutine MPI_Type_create_hvector_c(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: blocklength
      integer(MPI_COUNT_KIND), intent(in) :: stride
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_hvector_c
  end interface MPI_Type_create_hvector
  interface PMPI_Type_create_hvector
    subroutine PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(MPI_ADDRESS_KIND), intent(in) :: stride
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_hvector
    subroutine PMPI_Type_create_hvector_c(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: blocklength
      integer(MPI_COUNT_KIND), intent(in) :: stride
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_hvector_c
  end interface PMPI_Type_create_hvector
  interface MPI_Type_create_indexed_block
    subroutine MPI_Type_create_indexed_block(count, blocklength, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_indexed_block
    subroutine MPI_Type_create_indexed_block_c(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: blocklength
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_indexed_block_c
  end interface MPI_Type_create_indexed_block
  interface PMPI_Type_create_indexed_block
    subroutine PMPI_Type_create_indexed_block(count, blocklength, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_indexed_block
    subroutine PMPI_Type_create_indexed_block_c(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: blocklength
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_indexed_block_c
  end interface PMPI_Type_create_indexed_block
  interface
    subroutine MPI_Type_create_resized(oldtype, lb, extent, newtype, ierror)
      import
      type(MPI_Datatype), intent(in) :: oldtype
      integer(MPI_ADDRESS_KIND), intent(in) :: lb
      integer(MPI_ADDRESS_KIND), intent(in) :: extent
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_resized
  end interface
  procedure(MPI_Type_create_resized) :: PMPI_Type_create_resized
  interface MPI_Type_create_struct
    subroutine MPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, &
        array_of_types, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: array_of_types(*)
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_struct
    subroutine MPI_Type_create_struct_c(count, array_of_blocklengths, array_of_displacements, &
        array_of_types, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: array_of_blocklengths(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: array_of_types(*)
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_struct_c
  end interface MPI_Type_create_struct
  interface PMPI_Type_create_struct
    subroutine PMPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, &
        array_of_types, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: array_of_types(*)
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_struct
    subroutine PMPI_Type_create_struct_c(count, array_of_blocklengths, array_of_displacements, &
        array_of_types, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: array_of_blocklengths(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: array_of_types(*)
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_struct_c
  end interface PMPI_Type_create_struct
  interface MPI_Type_create_subarray
    subroutine MPI_Type_create_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts, &
        order, oldtype, newtype, ierror)
      import
      integer, intent(in) :: ndims
      integer, intent(in) :: array_of_sizes(*)
      integer, intent(in) :: array_of_subsizes(*)
      integer, intent(in) :: array_of_starts(*)
      integer, intent(in) :: order
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_subarray
    subroutine MPI_Type_create_subarray_c(ndims, array_of_sizes, array_of_subsizes, &
        array_of_starts, order, oldtype, newtype, ierror)
      import
      integer, intent(in) :: ndims
      integer(MPI_COUNT_KIND), intent(in) :: array_of_sizes(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_subsizes(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_starts(*)
      integer, intent(in) :: order
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_subarray_c
  end interface MPI_Type_create_subarray
  interface PMPI_Type_create_subarray
    subroutine PMPI_Type_create_subarray(ndims, array_of_sizes, array_of_subsizes, &
        array_of_starts, order, oldtype, newtype, ierror)
      import
      integer, intent(in) :: ndims
      integer, intent(in) :: array_of_sizes(*)
      integer, intent(in) :: array_of_subsizes(*)
      integer, intent(in) :: array_of_starts(*)
      integer, intent(in) :: order
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_subarray
    subroutine PMPI_Type_create_subarray_c(ndims, array_of_sizes, array_of_subsizes, &
        array_of_starts, order, oldtype, newtype, ierror)
      import
      integer, intent(in) :: ndims
      integer(MPI_COUNT_KIND), intent(in) :: array_of_sizes(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_subsizes(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_starts(*)
      integer, intent(in) :: order
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_create_subarray_c
  end interface PMPI_Type_create_subarray
  interface
    subroutine MPI_Type_dup(oldtype, newtype, ierror)
      import
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_dup
  end interface
  procedure(MPI_Type_dup) :: PMPI_Type_dup
  interface
    subroutine MPI_Type_free(datatype, ierror)
      import
      type(MPI_Datatype) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_free
  end interface
  procedure(MPI_Type_free) :: PMPI_Type_free
  interface MPI_Type_get_contents
    subroutine MPI_Type_get_contents(datatype, max_integers, max_addresses, max_datatypes, &
        array_of_integers, array_of_addresses, array_of_datatypes, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: max_integers
      integer, intent(in) :: max_addresses
      integer, intent(in) :: max_datatypes
      integer :: array_of_integers(*)
      integer(MPI_ADDRESS_KIND) :: array_of_addresses(*)
      type(MPI_Datatype) :: array_of_datatypes(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_contents
    subroutine MPI_Type_get_contents_c(datatype, max_integers, max_addresses, max_large_counts, &
        max_datatypes, array_of_integers, array_of_addresses, array_of_large_counts, &
        array_of_datatypes, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND), intent(in) :: max_integers
      integer(MPI_COUNT_KIND), intent(in) :: max_addresses
      integer(MPI_COUNT_KIND), intent(in) :: max_large_counts
      integer(MPI_COUNT_KIND), intent(in) :: max_datatypes
      integer :: array_of_integers(*)
      integer(MPI_ADDRESS_KIND) :: array_of_addresses(*)
      integer(MPI_COUNT_KIND) :: array_of_large_counts(*)
      type(MPI_Datatype) :: array_of_datatypes(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_contents_c
  end interface MPI_Type_get_contents
  interface PMPI_Type_get_contents
    subroutine PMPI_Type_get_contents(datatype, max_integers, max_addresses, max_datatypes, &
        array_of_integers, array_of_addresses, array_of_datatypes, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: max_integers
      integer, intent(in) :: max_addresses
      integer, intent(in) :: max_datatypes
      integer :: array_of_integers(*)
      integer(MPI_ADDRESS_KIND) :: array_of_addresses(*)
      type(MPI_Datatype) :: array_of_datatypes(*)
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_get_contents
    subroutine PMPI_Type_get_contents_c(datatype, max_integers, max_addresses, max_large_counts, &
        max_datatypes, array_of_integers, array_of_addresses, array_of_large_counts, &
        array_of_datatypes, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND), intent(in) :: max_integers
      integer(MPI_COUNT_KIND), intent(in) :: max_addresses
      integer(MPI_COUNT_KIND), intent(in) :: max_large_counts
      integer(MPI_COUNT_KIND), intent(in) :: max_datatypes
      integer :: array_of_integers(*)
      integer(MPI_ADDRESS_KIND) :: array_of_addresses(*)
      integer(MPI_COUNT_KIND) :: array_of_large_counts(*)
      type(MPI_Datatype) :: array_of_datatypes(*)
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_get_contents_c
  end interface PMPI_Type_get_contents
  interface MPI_Type_get_envelope
    subroutine MPI_Type_get_envelope(datatype, num_integers, num_addresses, num_datatypes, &
        combiner, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer :: num_integers
      integer :: num_addresses
      integer :: num_datatypes
      integer :: combiner
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_envelope
    subroutine MPI_Type_get_envelope_c(datatype, num_integers, num_addresses, num_large_counts, &
        num_datatypes, combiner, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: num_integers
      integer(MPI_COUNT_KIND) :: num_addresses
      integer(MPI_COUNT_KIND) :: num_large_counts
      integer(MPI_COUNT_KIND) :: num_datatypes
      integer :: combiner
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_envelope_c
  end interface MPI_Type_get_envelope
  interface PMPI_Type_get_envelope
    subroutine PMPI_Type_get_envelope(datatype, num_integers, num_addresses, num_datatypes, &
        combiner, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer :: num_integers
      integer :: num_addresses
      integer :: num_datatypes
      integer :: combiner
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_get_envelope
    subroutine PMPI_Type_get_envelope_c(datatype, num_integers, num_addresses, num_large_counts, &
        num_datatypes, combiner, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: num_integers
      integer(MPI_COUNT_KIND) :: num_addresses
      integer(MPI_COUNT_KIND) :: num_large_counts
      integer(MPI_COUNT_KIND) :: num_datatypes
      integer :: combiner
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_get_envelope_c
  end interface PMPI_Type_get_envelope
  interface
    subroutine MPI_Type_get_extent(datatype, lb, extent, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: lb
      integer(MPI_ADDRESS_KIND) :: extent
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_extent
  end interface
  procedure(MPI_Type_get_extent) :: PMPI_Type_get_extent
  interface
    subroutine MPI_Type_get_true_extent(datatype, true_lb, true_extent, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: true_lb
      integer(MPI_ADDRESS_KIND) :: true_extent
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_true_extent
  end interface
  procedure(MPI_Type_get_true_extent) :: PMPI_Type_get_true_extent
  interface
    subroutine MPI_Type_get_value_index(value_type, index_type, pair_type, ierror)
      import
      type(MPI_Datatype), intent(in) :: value_type
      type(MPI_Datatype), intent(in) :: index_type
      type(MPI_Datatype) :: pair_type
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_value_index
  end interface
  procedure(MPI_Type_get_value_index) :: PMPI_Type_get_value_index
  interface MPI_Type_indexed
    subroutine MPI_Type_indexed(count, array_of_blocklengths, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_indexed
    subroutine MPI_Type_indexed_c(count, array_of_blocklengths, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: array_of_blocklengths(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_indexed_c
  end interface MPI_Type_indexed
  interface PMPI_Type_indexed
    subroutine PMPI_Type_indexed(count, array_of_blocklengths, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_indexed
    subroutine PMPI_Type_indexed_c(count, array_of_blocklengths, array_of_displacements, oldtype, &
        newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: array_of_blocklengths(*)
      integer(MPI_COUNT_KIND), intent(in) :: array_of_displacements(*)
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_indexed_c
  end interface PMPI_Type_indexed
  interface
    subroutine MPI_Type_match_size(typeclass, size, datatype, ierror)
      import
      integer, intent(in) :: typeclass
      integer, intent(in) :: size
      type(MPI_Datatype) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_match_size
  end interface
  procedure(MPI_Type_match_size) :: PMPI_Type_match_size
  interface MPI_Type_size
    subroutine MPI_Type_size(datatype, size, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_size
    subroutine MPI_Type_size_c(datatype, size, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_size_c
  end interface MPI_Type_size
  interface PMPI_Type_size
    subroutine PMPI_Type_size(datatype, size, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_size
    subroutine PMPI_Type_size_c(datatype, size, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_size_c
  end interface PMPI_Type_size
  interface MPI_Type_vector
    subroutine MPI_Type_vector(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: stride
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_vector
    subroutine MPI_Type_vector_c(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: blocklength
      integer(MPI_COUNT_KIND), intent(in) :: stride
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_vector_c
  end interface MPI_Type_vector
  interface PMPI_Type_vector
    subroutine PMPI_Type_vector(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: stride
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_vector
    subroutine PMPI_Type_vector_c(count, blocklength, stride, oldtype, newtype, ierror)
      import
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(MPI_COUNT_KIND), intent(in) :: blocklength
      integer(MPI_COUNT_KIND), intent(in) :: stride
      type(MPI_Datatype), intent(in) :: oldtype
      type(MPI_Datatype) :: newtype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Type_vector_c
  end interface PMPI_Type_vector
  interface MPI_Unpack
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Unpack
    subroutine MPI_Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_COUNT_KIND), intent(in) :: insize
      integer(MPI_COUNT_KIND) :: position
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_COUNT_KIND), intent(in) :: outcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Unpack_c
  end interface MPI_Unpack
  interface PMPI_Unpack
    subroutine PMPI_Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Unpack
    subroutine PMPI_Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_COUNT_KIND), intent(in) :: insize
      integer(MPI_COUNT_KIND) :: position
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_COUNT_KIND), intent(in) :: outcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Unpack_c
  end interface PMPI_Unpack
  interface MPI_Unpack_external
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
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Unpack_external
    subroutine MPI_Unpack_external_c(datarep, inbuf, insize, position, outbuf, outcount, datatype, &
        ierror)
      import
      character(len=*), intent(in) :: datarep
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_COUNT_KIND), intent(in) :: insize
      integer(MPI_COUNT_KIND) :: position
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_COUNT_KIND), intent(in) :: outcount
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Unpack_external_c
  end interface MPI_Unpack_external
  interface PMPI_Unpack_external
    subroutine PMPI_Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype, &
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
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Unpack_external
    subroutine PMPI_Unpack_external_c(datarep, inbuf, insize, position, outbuf, outcount, &
        datatype, ierror)
      import
      character(len=*), intent(in) :: datarep
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      integer(MPI_COUNT_KIND), intent(in) :: insize
      integer(MPI_COUNT_KIND) :: position
      !GCC$ attributes no_arg_check :: outbuf
      !DEC$ attributes no_arg_check :: outbuf
      !DIR$ ignore_tkr outbuf
      type(*), dimension(*), target :: outbuf
      integer(MPI_COUNT_KIND), intent(in) :: outcount
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Unpack_external_c
  end interface PMPI_Unpack_external

  ! Collective Communication.
  interface MPI_Allgather
    subroutine MPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allgather
    subroutine MPI_Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allgather_c
  end interface MPI_Allgather
  interface PMPI_Allgather
    subroutine PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allgather
    subroutine PMPI_Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allgather_c
  end interface PMPI_Allgather
  interface MPI_Allgather_init
    subroutine MPI_Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allgather_init
    subroutine MPI_Allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allgather_init_c
  end interface MPI_Allgather_init
  interface PMPI_Allgather_init
    subroutine PMPI_Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allgather_init
    subroutine PMPI_Allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allgather_init_c
  end interface PMPI_Allgather_init
  interface MPI_Allgatherv
    subroutine MPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allgatherv
    subroutine MPI_Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allgatherv_c
  end interface MPI_Allgatherv
  interface PMPI_Allgatherv
    subroutine PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allgatherv
    subroutine PMPI_Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allgatherv_c
  end interface PMPI_Allgatherv
  interface MPI_Allgatherv_init
    subroutine MPI_Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allgatherv_init
    subroutine MPI_Allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allgatherv_init_c
  end interface MPI_Allgatherv_init
  interface PMPI_Allgatherv_init
    subroutine PMPI_Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allgatherv_init
    subroutine PMPI_Allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allgatherv_init_c
  end interface PMPI_Allgatherv_init
  interface MPI_Allreduce
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allreduce
    subroutine MPI_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allreduce_c
  end interface MPI_Allreduce
  interface PMPI_Allreduce
    subroutine PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allreduce
    subroutine PMPI_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allreduce_c
  end interface PMPI_Allreduce
  interface MPI_Allreduce_init
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allreduce_init
    subroutine MPI_Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request, &
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
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allreduce_init_c
  end interface MPI_Allreduce_init
  interface PMPI_Allreduce_init
    subroutine PMPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, &
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allreduce_init
    subroutine PMPI_Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request, &
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
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Allreduce_init_c
  end interface PMPI_Allreduce_init
  interface MPI_Alltoall
    subroutine MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoall
    subroutine MPI_Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoall_c
  end interface MPI_Alltoall
  interface PMPI_Alltoall
    subroutine PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoall
    subroutine PMPI_Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoall_c
  end interface PMPI_Alltoall
  interface MPI_Alltoall_init
    subroutine MPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoall_init
    subroutine MPI_Alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoall_init_c
  end interface MPI_Alltoall_init
  interface PMPI_Alltoall_init
    subroutine PMPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoall_init
    subroutine PMPI_Alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoall_init_c
  end interface PMPI_Alltoall_init
  interface MPI_Alltoallv
    subroutine MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoallv
    subroutine MPI_Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoallv_c
  end interface MPI_Alltoallv
  interface PMPI_Alltoallv
    subroutine PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoallv
    subroutine PMPI_Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoallv_c
  end interface PMPI_Alltoallv
  interface MPI_Alltoallv_init
    subroutine MPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoallv_init
    subroutine MPI_Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoallv_init_c
  end interface MPI_Alltoallv_init
  interface PMPI_Alltoallv_init
    subroutine PMPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoallv_init
    subroutine PMPI_Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoallv_init_c
  end interface PMPI_Alltoallv_init
  interface MPI_Alltoallw
    subroutine MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoallw
    subroutine MPI_Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoallw_c
  end interface MPI_Alltoallw
  interface PMPI_Alltoallw
    subroutine PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoallw
    subroutine PMPI_Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoallw_c
  end interface PMPI_Alltoallw
  interface MPI_Alltoallw_init
    subroutine MPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoallw_init
    subroutine MPI_Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alltoallw_init_c
  end interface MPI_Alltoallw_init
  interface PMPI_Alltoallw_init
    subroutine PMPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoallw_init
    subroutine PMPI_Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Alltoallw_init_c
  end interface PMPI_Alltoallw_init
  interface
    subroutine MPI_Barrier(comm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Barrier
  end interface
  procedure(MPI_Barrier) :: PMPI_Barrier
  interface
    subroutine MPI_Barrier_init(comm, info, request, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Barrier_init
  end interface
  procedure(MPI_Barrier_init) :: PMPI_Barrier_init
  interface MPI_Bcast
    subroutine MPI_Bcast(buffer, count, datatype, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bcast
    subroutine MPI_Bcast_c(buffer, count, datatype, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bcast_c
  end interface MPI_Bcast
  interface PMPI_Bcast
    subroutine PMPI_Bcast(buffer, count, datatype, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Bcast
    subroutine PMPI_Bcast_c(buffer, count, datatype, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Bcast_c
  end interface PMPI_Bcast
  interface MPI_Bcast_init
    subroutine MPI_Bcast_init(buffer, count, datatype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bcast_init
    subroutine MPI_Bcast_init_c(buffer, count, datatype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bcast_init_c
  end interface MPI_Bcast_init
  interface PMPI_Bcast_init
    subroutine PMPI_Bcast_init(buffer, count, datatype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Bcast_init
    subroutine PMPI_Bcast_init_c(buffer, count, datatype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Bcast_init_c
  end interface PMPI_Bcast_init
  interface MPI_Exscan
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Exscan
    subroutine MPI_Exscan_c(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Exscan_c
  end interface MPI_Exscan
  interface PMPI_Exscan
    subroutine PMPI_Exscan(sendbuf, recvbuf, count, datatype, op, comm, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Exscan
    subroutine PMPI_Exscan_c(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Exscan_c
  end interface PMPI_Exscan
  interface MPI_Exscan_init
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Exscan_init
    subroutine MPI_Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request, &
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
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Exscan_init_c
  end interface MPI_Exscan_init
  interface PMPI_Exscan_init
    subroutine PMPI_Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, &
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Exscan_init
    subroutine PMPI_Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request, &
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
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Exscan_init_c
  end interface PMPI_Exscan_init
  interface MPI_Gather
    subroutine MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Gather
    subroutine MPI_Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Gather_c
  end interface MPI_Gather
  interface PMPI_Gather
    subroutine PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Gather
    subroutine PMPI_Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Gather_c
  end interface PMPI_Gather
  interface MPI_Gather_init
    subroutine MPI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Gather_init
    subroutine MPI_Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Gather_init_c
  end interface MPI_Gather_init
  interface PMPI_Gather_init
    subroutine PMPI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Gather_init
    subroutine PMPI_Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Gather_init_c
  end interface PMPI_Gather_init
  interface MPI_Gatherv
    subroutine MPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Gatherv
    subroutine MPI_Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Gatherv_c
  end interface MPI_Gatherv
  interface PMPI_Gatherv
    subroutine PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Gatherv
    subroutine PMPI_Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Gatherv_c
  end interface PMPI_Gatherv
  interface MPI_Gatherv_init
    subroutine MPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Gatherv_init
    subroutine MPI_Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Gatherv_init_c
  end interface MPI_Gatherv_init
  interface PMPI_Gatherv_init
    subroutine PMPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Gatherv_init
    subroutine PMPI_Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Gatherv_init_c
  end interface PMPI_Gatherv_init
  interface MPI_Iallgather
    subroutine MPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iallgather
    subroutine MPI_Iallgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iallgather_c
  end interface MPI_Iallgather
  interface PMPI_Iallgather
    subroutine PMPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iallgather
    subroutine PMPI_Iallgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iallgather_c
  end interface PMPI_Iallgather
  interface MPI_Iallgatherv
    subroutine MPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iallgatherv
    subroutine MPI_Iallgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iallgatherv_c
  end interface MPI_Iallgatherv
  interface PMPI_Iallgatherv
    subroutine PMPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iallgatherv
    subroutine PMPI_Iallgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iallgatherv_c
  end interface PMPI_Iallgatherv
  interface MPI_Iallreduce
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iallreduce
    subroutine MPI_Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iallreduce_c
  end interface MPI_Iallreduce
  interface PMPI_Iallreduce
    subroutine PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iallreduce
    subroutine PMPI_Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iallreduce_c
  end interface PMPI_Iallreduce
  interface MPI_Ialltoall
    subroutine MPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ialltoall
    subroutine MPI_Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ialltoall_c
  end interface MPI_Ialltoall
  interface PMPI_Ialltoall
    subroutine PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ialltoall
    subroutine PMPI_Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ialltoall_c
  end interface PMPI_Ialltoall
  interface MPI_Ialltoallv
    subroutine MPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ialltoallv
    subroutine MPI_Ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ialltoallv_c
  end interface MPI_Ialltoallv
  interface PMPI_Ialltoallv
    subroutine PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ialltoallv
    subroutine PMPI_Ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ialltoallv_c
  end interface PMPI_Ialltoallv
  interface MPI_Ialltoallw
    subroutine MPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ialltoallw
    subroutine MPI_Ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ialltoallw_c
  end interface MPI_Ialltoallw
  interface PMPI_Ialltoallw
    subroutine PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ialltoallw
    subroutine PMPI_Ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ialltoallw_c
  end interface PMPI_Ialltoallw
  interface
    subroutine MPI_Ibarrier(comm, request, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ibarrier
  end interface
  procedure(MPI_Ibarrier) :: PMPI_Ibarrier
  interface MPI_Ibcast
    subroutine MPI_Ibcast(buffer, count, datatype, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ibcast
    subroutine MPI_Ibcast_c(buffer, count, datatype, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ibcast_c
  end interface MPI_Ibcast
  interface PMPI_Ibcast
    subroutine PMPI_Ibcast(buffer, count, datatype, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ibcast
    subroutine PMPI_Ibcast_c(buffer, count, datatype, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: buffer
      !DEC$ attributes no_arg_check :: buffer
      !DIR$ ignore_tkr buffer
      type(*), dimension(*), target :: buffer
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ibcast_c
  end interface PMPI_Ibcast
  interface MPI_Iexscan
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iexscan
    subroutine MPI_Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iexscan_c
  end interface MPI_Iexscan
  interface PMPI_Iexscan
    subroutine PMPI_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iexscan
    subroutine PMPI_Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iexscan_c
  end interface PMPI_Iexscan
  interface MPI_Igather
    subroutine MPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Igather
    subroutine MPI_Igather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Igather_c
  end interface MPI_Igather
  interface PMPI_Igather
    subroutine PMPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Igather
    subroutine PMPI_Igather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Igather_c
  end interface PMPI_Igather
  interface MPI_Igatherv
    subroutine MPI_Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Igatherv
    subroutine MPI_Igatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Igatherv_c
  end interface MPI_Igatherv
  interface PMPI_Igatherv
    subroutine PMPI_Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Igatherv
    subroutine PMPI_Igatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Igatherv_c
  end interface PMPI_Igatherv
  interface MPI_Ireduce
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ireduce
    subroutine MPI_Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ireduce_c
  end interface MPI_Ireduce
  interface PMPI_Ireduce
    subroutine PMPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ireduce
    subroutine PMPI_Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ireduce_c
  end interface PMPI_Ireduce
  interface MPI_Ireduce_scatter
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
      integer, intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ireduce_scatter
    subroutine MPI_Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ireduce_scatter_c
  end interface MPI_Ireduce_scatter
  interface PMPI_Ireduce_scatter
    subroutine PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request, &
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
      integer, intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ireduce_scatter
    subroutine PMPI_Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ireduce_scatter_c
  end interface PMPI_Ireduce_scatter
  interface MPI_Ireduce_scatter_block
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ireduce_scatter_block
    subroutine MPI_Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ireduce_scatter_block_c
  end interface MPI_Ireduce_scatter_block
  interface PMPI_Ireduce_scatter_block
    subroutine PMPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, &
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
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ireduce_scatter_block
    subroutine PMPI_Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ireduce_scatter_block_c
  end interface PMPI_Ireduce_scatter_block
  interface MPI_Iscan
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iscan
    subroutine MPI_Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iscan_c
  end interface MPI_Iscan
  interface PMPI_Iscan
    subroutine PMPI_Iscan(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iscan
    subroutine PMPI_Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iscan_c
  end interface PMPI_Iscan
  interface MPI_Iscatter
    subroutine MPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iscatter
    subroutine MPI_Iscatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iscatter_c
  end interface MPI_Iscatter
  interface PMPI_Iscatter
    subroutine PMPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iscatter
    subroutine PMPI_Iscatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iscatter_c
  end interface PMPI_Iscatter
  interface MPI_Iscatterv
    subroutine MPI_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iscatterv
    subroutine MPI_Iscatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Iscatterv_c
  end interface MPI_Iscatterv
  interface PMPI_Iscatterv
    subroutine PMPI_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iscatterv
    subroutine PMPI_Iscatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Iscatterv_c
  end interface PMPI_Iscatterv
  interface
    subroutine MPI_Op_commutative(op, commute, ierror)
      import
      type(MPI_Op), intent(in) :: op
      logical :: commute
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Op_commutative
  end interface
  procedure(MPI_Op_commutative) :: PMPI_Op_commutative
  interface
    subroutine MPI_Op_create(user_fn, commute, op, ierror)
      import
      procedure(MPI_User_function) :: user_fn
      logical, intent(in) :: commute
      type(MPI_Op) :: op
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Op_create
  end interface
  procedure(MPI_Op_create) :: PMPI_Op_create
  interface
    subroutine MPI_Op_free(op, ierror)
      import
      type(MPI_Op) :: op
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Op_free
  end interface
  procedure(MPI_Op_free) :: PMPI_Op_free
  interface MPI_Reduce
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce
    subroutine MPI_Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_c
  end interface MPI_Reduce
  interface PMPI_Reduce
    subroutine PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce
    subroutine PMPI_Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_c
  end interface PMPI_Reduce
  interface MPI_Reduce_init
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_init
    subroutine MPI_Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, info, request, &
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
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_init_c
  end interface MPI_Reduce_init
  interface PMPI_Reduce_init
    subroutine PMPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request, &
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_init
    subroutine PMPI_Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, info, &
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
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_init_c
  end interface PMPI_Reduce_init
  interface MPI_Reduce_local
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_local
    subroutine MPI_Reduce_local_c(inbuf, inoutbuf, count, datatype, op, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      !GCC$ attributes no_arg_check :: inoutbuf
      !DEC$ attributes no_arg_check :: inoutbuf
      !DIR$ ignore_tkr inoutbuf
      type(*), dimension(*), target :: inoutbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_local_c
  end interface MPI_Reduce_local
  interface PMPI_Reduce_local
    subroutine PMPI_Reduce_local(inbuf, inoutbuf, count, datatype, op, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_local
    subroutine PMPI_Reduce_local_c(inbuf, inoutbuf, count, datatype, op, ierror)
      import
      !GCC$ attributes no_arg_check :: inbuf
      !DEC$ attributes no_arg_check :: inbuf
      !DIR$ ignore_tkr inbuf
      type(*), dimension(*), target, intent(in) :: inbuf
      !GCC$ attributes no_arg_check :: inoutbuf
      !DEC$ attributes no_arg_check :: inoutbuf
      !DIR$ ignore_tkr inoutbuf
      type(*), dimension(*), target :: inoutbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_local_c
  end interface PMPI_Reduce_local
  interface MPI_Reduce_scatter
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
      integer, intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter
    subroutine MPI_Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_c
  end interface MPI_Reduce_scatter
  interface PMPI_Reduce_scatter
    subroutine PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter
    subroutine PMPI_Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_c
  end interface PMPI_Reduce_scatter
  interface MPI_Reduce_scatter_block
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_block
    subroutine MPI_Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_block_c
  end interface MPI_Reduce_scatter_block
  interface PMPI_Reduce_scatter_block
    subroutine PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_block
    subroutine PMPI_Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_block_c
  end interface PMPI_Reduce_scatter_block
  interface MPI_Reduce_scatter_block_init
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_block_init
    subroutine MPI_Reduce_scatter_block_init_c(sendbuf, recvbuf, recvcount, datatype, op, comm, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_block_init_c
  end interface MPI_Reduce_scatter_block_init
  interface PMPI_Reduce_scatter_block_init
    subroutine PMPI_Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, &
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_block_init
    subroutine PMPI_Reduce_scatter_block_init_c(sendbuf, recvbuf, recvcount, datatype, op, comm, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_block_init_c
  end interface PMPI_Reduce_scatter_block_init
  interface MPI_Reduce_scatter_init
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
      integer, intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_init
    subroutine MPI_Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_init_c
  end interface MPI_Reduce_scatter_init
  interface PMPI_Reduce_scatter_init
    subroutine PMPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, &
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
      integer, intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_init
    subroutine PMPI_Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, &
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
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_init_c
  end interface PMPI_Reduce_scatter_init
  interface MPI_Scan
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scan
    subroutine MPI_Scan_c(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scan_c
  end interface MPI_Scan
  interface PMPI_Scan
    subroutine PMPI_Scan(sendbuf, recvbuf, count, datatype, op, comm, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scan
    subroutine PMPI_Scan_c(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scan_c
  end interface PMPI_Scan
  interface MPI_Scan_init
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scan_init
    subroutine MPI_Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scan_init_c
  end interface MPI_Scan_init
  interface PMPI_Scan_init
    subroutine PMPI_Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
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
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scan_init
    subroutine PMPI_Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request, &
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
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scan_init_c
  end interface PMPI_Scan_init
  interface MPI_Scatter
    subroutine MPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scatter
    subroutine MPI_Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scatter_c
  end interface MPI_Scatter
  interface PMPI_Scatter
    subroutine PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scatter
    subroutine PMPI_Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scatter_c
  end interface PMPI_Scatter
  interface MPI_Scatter_init
    subroutine MPI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scatter_init
    subroutine MPI_Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scatter_init_c
  end interface MPI_Scatter_init
  interface PMPI_Scatter_init
    subroutine PMPI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scatter_init
    subroutine PMPI_Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scatter_init_c
  end interface PMPI_Scatter_init
  interface MPI_Scatterv
    subroutine MPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scatterv
    subroutine MPI_Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scatterv_c
  end interface MPI_Scatterv
  interface PMPI_Scatterv
    subroutine PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scatterv
    subroutine PMPI_Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scatterv_c
  end interface PMPI_Scatterv
  interface MPI_Scatterv_init
    subroutine MPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scatterv_init
    subroutine MPI_Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Scatterv_init_c
  end interface MPI_Scatterv_init
  interface PMPI_Scatterv_init
    subroutine PMPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scatterv_init
    subroutine PMPI_Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Scatterv_init_c
  end interface PMPI_Scatterv_init
  interface
    subroutine MPI_Op_create_c(user_fn, commute, op, ierror)
      import
      procedure(MPI_User_function_c) :: user_fn
      logical, intent(in) :: commute
      type(MPI_Op) :: op
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Op_create_c
  end interface
  procedure(MPI_Op_create_c) :: PMPI_Op_create_c

  ! Groups, Contexts, Communicators, and Caching.
  interface
    subroutine MPI_Comm_compare(comm1, comm2, result, ierror)
      import
      type(MPI_Comm), intent(in) :: comm1
      type(MPI_Comm), intent(in) :: comm2
      integer :: result
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_compare
  end interface
  procedure(MPI_Comm_compare) :: PMPI_Comm_compare
  interface
    subroutine MPI_Comm_create(comm, group, newcomm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(in) :: group
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_create
  end interface
  procedure(MPI_Comm_create) :: PMPI_Comm_create
  interface
    subroutine MPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm, ierror)
      import
      type(MPI_Group), intent(in) :: group
      character(len=*), intent(in) :: stringtag
      type(MPI_Info), intent(in) :: info
      type(MPI_Errhandler), intent(in) :: errhandler
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_create_from_group
  end interface
  procedure(MPI_Comm_create_from_group) :: PMPI_Comm_create_from_group
  interface
    subroutine MPI_Comm_create_group(comm, group, tag, newcomm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(in) :: group
      integer, intent(in) :: tag
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_create_group
  end interface
  procedure(MPI_Comm_create_group) :: PMPI_Comm_create_group
  interface
    subroutine MPI_Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, &
        extra_state, ierror)
      import
      procedure(MPI_Comm_copy_attr_function) :: comm_copy_attr_fn
      procedure(MPI_Comm_delete_attr_function) :: comm_delete_attr_fn
      integer :: comm_keyval
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_create_keyval
  end interface
  procedure(MPI_Comm_create_keyval) :: PMPI_Comm_create_keyval
  interface
    subroutine MPI_Comm_delete_attr(comm, comm_keyval, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_delete_attr
  end interface
  procedure(MPI_Comm_delete_attr) :: PMPI_Comm_delete_attr
  interface
    subroutine MPI_Comm_dup(comm, newcomm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_dup
  end interface
  procedure(MPI_Comm_dup) :: PMPI_Comm_dup
  interface
    subroutine MPI_Comm_dup_with_info(comm, info, newcomm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_dup_with_info
  end interface
  procedure(MPI_Comm_dup_with_info) :: PMPI_Comm_dup_with_info
  interface
    subroutine MPI_Comm_free(comm, ierror)
      import
      type(MPI_Comm) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_free
  end interface
  procedure(MPI_Comm_free) :: PMPI_Comm_free
  interface
    subroutine MPI_Comm_free_keyval(comm_keyval, ierror)
      import
      integer :: comm_keyval
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_free_keyval
  end interface
  procedure(MPI_Comm_free_keyval) :: PMPI_Comm_free_keyval
  interface
    subroutine MPI_Comm_get_attr(comm, comm_keyval, attribute_val, flag, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_get_attr
  end interface
  procedure(MPI_Comm_get_attr) :: PMPI_Comm_get_attr
  interface
    subroutine MPI_Comm_get_info(comm, info_used, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info) :: info_used
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_get_info
  end interface
  procedure(MPI_Comm_get_info) :: PMPI_Comm_get_info
  interface
    subroutine MPI_Comm_get_name(comm, comm_name, resultlen, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      character(len=*) :: comm_name
      integer :: resultlen
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_get_name
  end interface
  procedure(MPI_Comm_get_name) :: PMPI_Comm_get_name
  interface
    subroutine MPI_Comm_group(comm, group, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group) :: group
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_group
  end interface
  procedure(MPI_Comm_group) :: PMPI_Comm_group
  interface
    subroutine MPI_Comm_idup(comm, newcomm, request, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm) :: newcomm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_idup
  end interface
  procedure(MPI_Comm_idup) :: PMPI_Comm_idup
  interface
    subroutine MPI_Comm_idup_with_info(comm, info, newcomm, request, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm) :: newcomm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_idup_with_info
  end interface
  procedure(MPI_Comm_idup_with_info) :: PMPI_Comm_idup_with_info
  interface
    subroutine MPI_Comm_rank(comm, rank, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer :: rank
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_rank
  end interface
  procedure(MPI_Comm_rank) :: PMPI_Comm_rank
  interface
    subroutine MPI_Comm_remote_group(comm, group, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group) :: group
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_remote_group
  end interface
  procedure(MPI_Comm_remote_group) :: PMPI_Comm_remote_group
  interface
    subroutine MPI_Comm_remote_size(comm, size, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_remote_size
  end interface
  procedure(MPI_Comm_remote_size) :: PMPI_Comm_remote_size
  interface
    subroutine MPI_Comm_set_attr(comm, comm_keyval, attribute_val, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_set_attr
  end interface
  procedure(MPI_Comm_set_attr) :: PMPI_Comm_set_attr
  interface
    subroutine MPI_Comm_set_info(comm, info, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_set_info
  end interface
  procedure(MPI_Comm_set_info) :: PMPI_Comm_set_info
  interface
    subroutine MPI_Comm_set_name(comm, comm_name, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      character(len=*), intent(in) :: comm_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_set_name
  end interface
  procedure(MPI_Comm_set_name) :: PMPI_Comm_set_name
  interface
    subroutine MPI_Comm_size(comm, size, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_size
  end interface
  procedure(MPI_Comm_size) :: PMPI_Comm_size
  interface
    subroutine MPI_Comm_split(comm, color, key, newcomm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: color
      integer, intent(in) :: key
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_split
  end interface
  procedure(MPI_Comm_split) :: PMPI_Comm_split
  interface
    subroutine MPI_Comm_split_type(comm, split_type, key, info, newcomm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: split_type
      integer, intent(in) :: key
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_split_type
  end interface
  procedure(MPI_Comm_split_type) :: PMPI_Comm_split_type
  interface
    subroutine MPI_Comm_test_inter(comm, flag, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_test_inter
  end interface
  procedure(MPI_Comm_test_inter) :: PMPI_Comm_test_inter
  interface
    subroutine MPI_Group_compare(group1, group2, result, ierror)
      import
      type(MPI_Group), intent(in) :: group1
      type(MPI_Group), intent(in) :: group2
      integer :: result
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_compare
  end interface
  procedure(MPI_Group_compare) :: PMPI_Group_compare
  interface
    subroutine MPI_Group_difference(group1, group2, newgroup, ierror)
      import
      type(MPI_Group), intent(in) :: group1
      type(MPI_Group), intent(in) :: group2
      type(MPI_Group) :: newgroup
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_difference
  end interface
  procedure(MPI_Group_difference) :: PMPI_Group_difference
  interface
    subroutine MPI_Group_excl(group, n, ranks, newgroup, ierror)
      import
      type(MPI_Group), intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranks(*)
      type(MPI_Group) :: newgroup
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_excl
  end interface
  procedure(MPI_Group_excl) :: PMPI_Group_excl
  interface
    subroutine MPI_Group_free(group, ierror)
      import
      type(MPI_Group) :: group
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_free
  end interface
  procedure(MPI_Group_free) :: PMPI_Group_free
  interface
    subroutine MPI_Group_from_session_pset(session, pset_name, newgroup, ierror)
      import
      type(MPI_Session), intent(in) :: session
      character(len=*), intent(in) :: pset_name
      type(MPI_Group) :: newgroup
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_from_session_pset
  end interface
  procedure(MPI_Group_from_session_pset) :: PMPI_Group_from_session_pset
  interface
    subroutine MPI_Group_incl(group, n, ranks, newgroup, ierror)
      import
      type(MPI_Group), intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranks(*)
      type(MPI_Group) :: newgroup
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_incl
  end interface
  procedure(MPI_Group_incl) :: PMPI_Group_incl
  interface
    subroutine MPI_Group_intersection(group1, group2, newgroup, ierror)
      import
      type(MPI_Group), intent(in) :: group1
      type(MPI_Group), intent(in) :: group2
      type(MPI_Group) :: newgroup
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_intersection
  end interface
  procedure(MPI_Group_intersection) :: PMPI_Group_intersection
  interface
    subroutine MPI_Group_range_excl(group, n, ranges, newgroup, ierror)
      import
      type(MPI_Group), intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranges(3, *)
      type(MPI_Group) :: newgroup
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_range_excl
  end interface
  procedure(MPI_Group_range_excl) :: PMPI_Group_range_excl
  interface
    subroutine MPI_Group_range_incl(group, n, ranges, newgroup, ierror)
      import
      type(MPI_Group), intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranges(3, *)
      type(MPI_Group) :: newgroup
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_range_incl
  end interface
  procedure(MPI_Group_range_incl) :: PMPI_Group_range_incl
  interface
    subroutine MPI_Group_rank(group, rank, ierror)
      import
      type(MPI_Group), intent(in) :: group
      integer :: rank
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_rank
  end interface
  procedure(MPI_Group_rank) :: PMPI_Group_rank
  interface
    subroutine MPI_Group_size(group, size, ierror)
      import
      type(MPI_Group), intent(in) :: group
      integer :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_size
  end interface
  procedure(MPI_Group_size) :: PMPI_Group_size
  interface
    subroutine MPI_Group_translate_ranks(group1, n, ranks1, group2, ranks2, ierror)
      import
      type(MPI_Group), intent(in) :: group1
      integer, intent(in) :: n
      integer, intent(in) :: ranks1(*)
      type(MPI_Group), intent(in) :: group2
      integer :: ranks2(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_translate_ranks
  end interface
  procedure(MPI_Group_translate_ranks) :: PMPI_Group_translate_ranks
  interface
    subroutine MPI_Group_union(group1, group2, newgroup, ierror)
      import
      type(MPI_Group), intent(in) :: group1
      type(MPI_Group), intent(in) :: group2
      type(MPI_Group) :: newgroup
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Group_union
  end interface
  procedure(MPI_Group_union) :: PMPI_Group_union
  interface
    subroutine MPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, &
        newintercomm, ierror)
      import
      type(MPI_Comm), intent(in) :: local_comm
      integer, intent(in) :: local_leader
      type(MPI_Comm), intent(in) :: peer_comm
      integer, intent(in) :: remote_leader
      integer, intent(in) :: tag
      type(MPI_Comm) :: newintercomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Intercomm_create
  end interface
  procedure(MPI_Intercomm_create) :: PMPI_Intercomm_create
  interface
    subroutine MPI_Intercomm_create_from_groups(local_group, local_leader, remote_group, &
        remote_leader, stringtag, info, errhandler, newintercomm, ierror)
      import
      type(MPI_Group), intent(in) :: local_group
      integer, intent(in) :: local_leader
      type(MPI_Group), intent(in) :: remote_group
      integer, intent(in) :: remote_leader
      character(len=*), intent(in) :: stringtag
      type(MPI_Info), intent(in) :: info
      type(MPI_Errhandler), intent(in) :: errhandler
      type(MPI_Comm) :: newintercomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Intercomm_create_from_groups
  end interface
  procedure(MPI_Intercomm_create_from_groups) :: PMPI_Intercomm_create_from_groups
  interface
    subroutine MPI_Intercomm_merge(intercomm, high, newintracomm, ierror)
      import
      type(MPI_Comm), intent(in) :: intercomm
      logical, intent(in) :: high
      type(MPI_Comm) :: newintracomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Intercomm_merge
  end interface
  procedure(MPI_Intercomm_merge) :: PMPI_Intercomm_merge
  interface
    subroutine MPI_Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, &
        extra_state, ierror)
      import
      procedure(MPI_Type_copy_attr_function) :: type_copy_attr_fn
      procedure(MPI_Type_delete_attr_function) :: type_delete_attr_fn
      integer :: type_keyval
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_create_keyval
  end interface
  procedure(MPI_Type_create_keyval) :: PMPI_Type_create_keyval
  interface
    subroutine MPI_Type_delete_attr(datatype, type_keyval, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_delete_attr
  end interface
  procedure(MPI_Type_delete_attr) :: PMPI_Type_delete_attr
  interface
    subroutine MPI_Type_free_keyval(type_keyval, ierror)
      import
      integer :: type_keyval
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_free_keyval
  end interface
  procedure(MPI_Type_free_keyval) :: PMPI_Type_free_keyval
  interface
    subroutine MPI_Type_get_attr(datatype, type_keyval, attribute_val, flag, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_attr
  end interface
  procedure(MPI_Type_get_attr) :: PMPI_Type_get_attr
  interface
    subroutine MPI_Type_get_name(datatype, type_name, resultlen, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      character(len=*) :: type_name
      integer :: resultlen
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_name
  end interface
  procedure(MPI_Type_get_name) :: PMPI_Type_get_name
  interface
    subroutine MPI_Type_set_attr(datatype, type_keyval, attribute_val, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_set_attr
  end interface
  procedure(MPI_Type_set_attr) :: PMPI_Type_set_attr
  interface
    subroutine MPI_Type_set_name(datatype, type_name, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      character(len=*), intent(in) :: type_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_set_name
  end interface
  procedure(MPI_Type_set_name) :: PMPI_Type_set_name
  interface
    subroutine MPI_Win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, &
        extra_state, ierror)
      import
      procedure(MPI_Win_copy_attr_function) :: win_copy_attr_fn
      procedure(MPI_Win_delete_attr_function) :: win_delete_attr_fn
      integer :: win_keyval
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_create_keyval
  end interface
  procedure(MPI_Win_create_keyval) :: PMPI_Win_create_keyval
  interface
    subroutine MPI_Win_delete_attr(win, win_keyval, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: win_keyval
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_delete_attr
  end interface
  procedure(MPI_Win_delete_attr) :: PMPI_Win_delete_attr
  interface
    subroutine MPI_Win_free_keyval(win_keyval, ierror)
      import
      integer :: win_keyval
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_free_keyval
  end interface
  procedure(MPI_Win_free_keyval) :: PMPI_Win_free_keyval
  interface
    subroutine MPI_Win_get_attr(win, win_keyval, attribute_val, flag, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: win_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_get_attr
  end interface
  procedure(MPI_Win_get_attr) :: PMPI_Win_get_attr
  interface
    subroutine MPI_Win_get_name(win, win_name, resultlen, ierror)
      import
      type(MPI_Win), intent(in) :: win
      character(len=*) :: win_name
      integer :: resultlen
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_get_name
  end interface
  procedure(MPI_Win_get_name) :: PMPI_Win_get_name
  interface
    subroutine MPI_Win_set_attr(win, win_keyval, attribute_val, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: win_keyval
      integer(MPI_ADDRESS_KIND) :: attribute_val
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_set_attr
  end interface
  procedure(MPI_Win_set_attr) :: PMPI_Win_set_attr
  interface
    subroutine MPI_Win_set_name(win, win_name, ierror)
      import
      type(MPI_Win), intent(in) :: win
      character(len=*), intent(in) :: win_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_set_name
  end interface
  procedure(MPI_Win_set_name) :: PMPI_Win_set_name

  ! Virtual Topologies.
  interface
    subroutine MPI_Cart_coords(comm, rank, maxdims, coords, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(in) :: maxdims
      integer :: coords(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cart_coords
  end interface
  procedure(MPI_Cart_coords) :: PMPI_Cart_coords
  interface
    subroutine MPI_Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart, ierror)
      import
      type(MPI_Comm), intent(in) :: comm_old
      integer, intent(in) :: ndims
      integer, intent(in) :: dims(*)
      logical, intent(in) :: periods(*)
      logical, intent(in) :: reorder
      type(MPI_Comm) :: comm_cart
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cart_create
  end interface
  procedure(MPI_Cart_create) :: PMPI_Cart_create
  interface
    subroutine MPI_Cart_get(comm, maxdims, dims, periods, coords, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: maxdims
      integer :: dims(*)
      logical :: periods(*)
      integer :: coords(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cart_get
  end interface
  procedure(MPI_Cart_get) :: PMPI_Cart_get
  interface
    subroutine MPI_Cart_map(comm, ndims, dims, periods, newrank, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: ndims
      integer, intent(in) :: dims(*)
      logical, intent(in) :: periods(*)
      integer :: newrank
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cart_map
  end interface
  procedure(MPI_Cart_map) :: PMPI_Cart_map
  interface
    subroutine MPI_Cart_rank(comm, coords, rank, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: coords(*)
      integer :: rank
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cart_rank
  end interface
  procedure(MPI_Cart_rank) :: PMPI_Cart_rank
  interface
    subroutine MPI_Cart_shift(comm, direction, disp, rank_source, rank_dest, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: direction
      integer, intent(in) :: disp
      integer :: rank_source
      integer :: rank_dest
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cart_shift
  end interface
  procedure(MPI_Cart_shift) :: PMPI_Cart_shift
  interface
    subroutine MPI_Cart_sub(comm, remain_dims, newcomm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      logical, intent(in) :: remain_dims(*)
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cart_sub
  end interface
  procedure(MPI_Cart_sub) :: PMPI_Cart_sub
  interface
    subroutine MPI_Cartdim_get(comm, ndims, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer :: ndims
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Cartdim_get
  end interface
  procedure(MPI_Cartdim_get) :: PMPI_Cartdim_get
  interface
    subroutine MPI_Dims_create(nnodes, ndims, dims, ierror)
      import
      integer, intent(in) :: nnodes
      integer, intent(in) :: ndims
      integer :: dims(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Dims_create
  end interface
  procedure(MPI_Dims_create) :: PMPI_Dims_create
  interface
    subroutine MPI_Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info, &
        reorder, comm_dist_graph, ierror)
      import
      type(MPI_Comm), intent(in) :: comm_old
      integer, intent(in) :: n
      integer, intent(in) :: sources(*)
      integer, intent(in) :: degrees(*)
      integer, intent(in) :: destinations(*)
      integer, intent(in) :: weights(*)
      type(MPI_Info), intent(in) :: info
      logical, intent(in) :: reorder
      type(MPI_Comm) :: comm_dist_graph
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Dist_graph_create
  end interface
  procedure(MPI_Dist_graph_create) :: PMPI_Dist_graph_create
  interface
    subroutine MPI_Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, &
        outdegree, destinations, destweights, info, reorder, comm_dist_graph, ierror)
      import
      type(MPI_Comm), intent(in) :: comm_old
      integer, intent(in) :: indegree
      integer, intent(in) :: sources(*)
      integer, intent(in) :: sourceweights(*)
      integer, intent(in) :: outdegree
      integer, intent(in) :: destinations(*)
      integer, intent(in) :: destweights(*)
      type(MPI_Info), intent(in) :: info
      logical, intent(in) :: reorder
      type(MPI_Comm) :: comm_dist_graph
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Dist_graph_create_adjacent
  end interface
  procedure(MPI_Dist_graph_create_adjacent) :: PMPI_Dist_graph_create_adjacent
  interface
    subroutine MPI_Dist_graph_neighbors(comm, maxindegree, sources, sourceweights, maxoutdegree, &
        destinations, destweights, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: maxindegree
      integer :: sources(*)
      integer :: sourceweights(*)
      integer, intent(in) :: maxoutdegree
      integer :: destinations(*)
      integer :: destweights(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Dist_graph_neighbors
  end interface
  procedure(MPI_Dist_graph_neighbors) :: PMPI_Dist_graph_neighbors
  interface
    subroutine MPI_Dist_graph_neighbors_count(comm, indegree, outdegree, weighted, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer :: indegree
      integer :: outdegree
      logical :: weighted
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Dist_graph_neighbors_count
  end interface
  procedure(MPI_Dist_graph_neighbors_count) :: PMPI_Dist_graph_neighbors_count
  interface
    subroutine MPI_Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph, ierror)
      import
      type(MPI_Comm), intent(in) :: comm_old
      integer, intent(in) :: nnodes
      integer, intent(in) :: index(*)
      integer, intent(in) :: edges(*)
      logical, intent(in) :: reorder
      type(MPI_Comm) :: comm_graph
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Graph_create
  end interface
  procedure(MPI_Graph_create) :: PMPI_Graph_create
  interface
    subroutine MPI_Graph_get(comm, maxindex, maxedges, index, edges, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: maxindex
      integer, intent(in) :: maxedges
      integer :: index(*)
      integer :: edges(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Graph_get
  end interface
  procedure(MPI_Graph_get) :: PMPI_Graph_get
  interface
    subroutine MPI_Graph_map(comm, nnodes, index, edges, newrank, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: nnodes
      integer, intent(in) :: index(*)
      integer, intent(in) :: edges(*)
      integer :: newrank
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Graph_map
  end interface
  procedure(MPI_Graph_map) :: PMPI_Graph_map
  interface
    subroutine MPI_Graph_neighbors(comm, rank, maxneighbors, neighbors, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(in) :: maxneighbors
      integer :: neighbors(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Graph_neighbors
  end interface
  procedure(MPI_Graph_neighbors) :: PMPI_Graph_neighbors
  interface
    subroutine MPI_Graph_neighbors_count(comm, rank, nneighbors, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: rank
      integer :: nneighbors
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Graph_neighbors_count
  end interface
  procedure(MPI_Graph_neighbors_count) :: PMPI_Graph_neighbors_count
  interface
    subroutine MPI_Graphdims_get(comm, nnodes, nedges, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer :: nnodes
      integer :: nedges
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Graphdims_get
  end interface
  procedure(MPI_Graphdims_get) :: PMPI_Graphdims_get
  interface MPI_Ineighbor_allgather
    subroutine MPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_allgather
    subroutine MPI_Ineighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_allgather_c
  end interface MPI_Ineighbor_allgather
  interface PMPI_Ineighbor_allgather
    subroutine PMPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_allgather
    subroutine PMPI_Ineighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_allgather_c
  end interface PMPI_Ineighbor_allgather
  interface MPI_Ineighbor_allgatherv
    subroutine MPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_allgatherv
    subroutine MPI_Ineighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_allgatherv_c
  end interface MPI_Ineighbor_allgatherv
  interface PMPI_Ineighbor_allgatherv
    subroutine PMPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_allgatherv
    subroutine PMPI_Ineighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_allgatherv_c
  end interface PMPI_Ineighbor_allgatherv
  interface MPI_Ineighbor_alltoall
    subroutine MPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoall
    subroutine MPI_Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoall_c
  end interface MPI_Ineighbor_alltoall
  interface PMPI_Ineighbor_alltoall
    subroutine PMPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoall
    subroutine PMPI_Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoall_c
  end interface PMPI_Ineighbor_alltoall
  interface MPI_Ineighbor_alltoallv
    subroutine MPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoallv
    subroutine MPI_Ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoallv_c
  end interface MPI_Ineighbor_alltoallv
  interface PMPI_Ineighbor_alltoallv
    subroutine PMPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoallv
    subroutine PMPI_Ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoallv_c
  end interface PMPI_Ineighbor_alltoallv
  interface MPI_Ineighbor_alltoallw
    subroutine MPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoallw
    subroutine MPI_Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoallw_c
  end interface MPI_Ineighbor_alltoallw
  interface PMPI_Ineighbor_alltoallw
    subroutine PMPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoallw
    subroutine PMPI_Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoallw_c
  end interface PMPI_Ineighbor_alltoallw
  interface MPI_Neighbor_allgather
    subroutine MPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgather
    subroutine MPI_Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgather_c
  end interface MPI_Neighbor_allgather
  interface PMPI_Neighbor_allgather
    subroutine PMPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgather
    subroutine PMPI_Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgather_c
  end interface PMPI_Neighbor_allgather
  interface MPI_Neighbor_allgather_init
    subroutine MPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgather_init
    subroutine MPI_Neighbor_allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgather_init_c
  end interface MPI_Neighbor_allgather_init
  interface PMPI_Neighbor_allgather_init
    subroutine PMPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgather_init
    subroutine PMPI_Neighbor_allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgather_init_c
  end interface PMPI_Neighbor_allgather_init
  interface MPI_Neighbor_allgatherv
    subroutine MPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgatherv
    subroutine MPI_Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgatherv_c
  end interface MPI_Neighbor_allgatherv
  interface PMPI_Neighbor_allgatherv
    subroutine PMPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgatherv
    subroutine PMPI_Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgatherv_c
  end interface PMPI_Neighbor_allgatherv
  interface MPI_Neighbor_allgatherv_init
    subroutine MPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgatherv_init
    subroutine MPI_Neighbor_allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgatherv_init_c
  end interface MPI_Neighbor_allgatherv_init
  interface PMPI_Neighbor_allgatherv_init
    subroutine PMPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgatherv_init
    subroutine PMPI_Neighbor_allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: displs(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgatherv_init_c
  end interface PMPI_Neighbor_allgatherv_init
  interface MPI_Neighbor_alltoall
    subroutine MPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoall
    subroutine MPI_Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoall_c
  end interface MPI_Neighbor_alltoall
  interface PMPI_Neighbor_alltoall
    subroutine PMPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoall
    subroutine PMPI_Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoall_c
  end interface PMPI_Neighbor_alltoall
  interface MPI_Neighbor_alltoall_init
    subroutine MPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoall_init
    subroutine MPI_Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoall_init_c
  end interface MPI_Neighbor_alltoall_init
  interface PMPI_Neighbor_alltoall_init
    subroutine PMPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoall_init
    subroutine PMPI_Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoall_init_c
  end interface PMPI_Neighbor_alltoall_init
  interface MPI_Neighbor_alltoallv
    subroutine MPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallv
    subroutine MPI_Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallv_c
  end interface MPI_Neighbor_alltoallv
  interface PMPI_Neighbor_alltoallv
    subroutine PMPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallv
    subroutine PMPI_Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallv_c
  end interface PMPI_Neighbor_alltoallv
  interface MPI_Neighbor_alltoallv_init
    subroutine MPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallv_init
    subroutine MPI_Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallv_init_c
  end interface MPI_Neighbor_alltoallv_init
  interface PMPI_Neighbor_alltoallv_init
    subroutine PMPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallv_init
    subroutine PMPI_Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallv_init_c
  end interface PMPI_Neighbor_alltoallv_init
  interface MPI_Neighbor_alltoallw
    subroutine MPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallw
    subroutine MPI_Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallw_c
  end interface MPI_Neighbor_alltoallw
  interface PMPI_Neighbor_alltoallw
    subroutine PMPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallw
    subroutine PMPI_Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallw_c
  end interface PMPI_Neighbor_alltoallw
  interface MPI_Neighbor_alltoallw_init
    subroutine MPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallw_init
    subroutine MPI_Neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallw_init_c
  end interface MPI_Neighbor_alltoallw_init
  interface PMPI_Neighbor_alltoallw_init
    subroutine PMPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallw_init
    subroutine PMPI_Neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror)
      import
      !GCC$ attributes no_arg_check :: sendbuf
      !DEC$ attributes no_arg_check :: sendbuf
      !DIR$ ignore_tkr sendbuf
      type(*), dimension(*), target, intent(in) :: sendbuf
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      !GCC$ attributes no_arg_check :: recvbuf
      !DEC$ attributes no_arg_check :: recvbuf
      !DIR$ ignore_tkr recvbuf
      type(*), dimension(*), target :: recvbuf
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallw_init_c
  end interface PMPI_Neighbor_alltoallw_init
  interface
    subroutine MPI_Topo_test(comm, status, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Topo_test
  end interface
  procedure(MPI_Topo_test) :: PMPI_Topo_test

  ! Environmental Management.
  interface
    subroutine MPI_Add_error_class(errorclass, ierror)
      import
      integer :: errorclass
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Add_error_class
  end interface
  procedure(MPI_Add_error_class) :: PMPI_Add_error_class
  interface
    subroutine MPI_Add_error_code(errorclass, errorcode, ierror)
      import
      integer, intent(in) :: errorclass
      integer :: errorcode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Add_error_code
  end interface
  procedure(MPI_Add_error_code) :: PMPI_Add_error_code
  interface
    subroutine MPI_Add_error_string(errorcode, string, ierror)
      import
      integer, intent(in) :: errorcode
      character(len=*), intent(in) :: string
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Add_error_string
  end interface
  procedure(MPI_Add_error_string) :: PMPI_Add_error_string
  interface
    subroutine MPI_Alloc_mem(size, info, baseptr, ierror)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      type(MPI_Info), intent(in) :: info
      type(c_ptr) :: baseptr
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Alloc_mem
  end interface
  procedure(MPI_Alloc_mem) :: PMPI_Alloc_mem
  interface
    subroutine MPI_Comm_call_errhandler(comm, errorcode, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: errorcode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_call_errhandler
  end interface
  procedure(MPI_Comm_call_errhandler) :: PMPI_Comm_call_errhandler
  interface
    subroutine MPI_Comm_create_errhandler(comm_errhandler_fn, errhandler, ierror)
      import
      procedure(MPI_Comm_errhandler_function) :: comm_errhandler_fn
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_create_errhandler
  end interface
  procedure(MPI_Comm_create_errhandler) :: PMPI_Comm_create_errhandler
  interface
    subroutine MPI_Comm_get_errhandler(comm, errhandler, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_get_errhandler
  end interface
  procedure(MPI_Comm_get_errhandler) :: PMPI_Comm_get_errhandler
  interface
    subroutine MPI_Comm_set_errhandler(comm, errhandler, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Errhandler), intent(in) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_set_errhandler
  end interface
  procedure(MPI_Comm_set_errhandler) :: PMPI_Comm_set_errhandler
  interface
    subroutine MPI_Errhandler_free(errhandler, ierror)
      import
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Errhandler_free
  end interface
  procedure(MPI_Errhandler_free) :: PMPI_Errhandler_free
  interface
    subroutine MPI_Error_class(errorcode, errorclass, ierror)
      import
      integer, intent(in) :: errorcode
      integer :: errorclass
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Error_class
  end interface
  procedure(MPI_Error_class) :: PMPI_Error_class
  interface
    subroutine MPI_Error_string(errorcode, string, resultlen, ierror)
      import
      integer, intent(in) :: errorcode
      character(len=*) :: string
      integer :: resultlen
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Error_string
  end interface
  procedure(MPI_Error_string) :: PMPI_Error_string
  interface
    subroutine MPI_File_call_errhandler(fh, errorcode, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer, intent(in) :: errorcode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_call_errhandler
  end interface
  procedure(MPI_File_call_errhandler) :: PMPI_File_call_errhandler
  interface
    subroutine MPI_File_create_errhandler(file_errhandler_fn, errhandler, ierror)
      import
      procedure(MPI_File_errhandler_function) :: file_errhandler_fn
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_create_errhandler
  end interface
  procedure(MPI_File_create_errhandler) :: PMPI_File_create_errhandler
  interface
    subroutine MPI_File_get_errhandler(file, errhandler, ierror)
      import
      type(MPI_File), intent(in) :: file
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_errhandler
  end interface
  procedure(MPI_File_get_errhandler) :: PMPI_File_get_errhandler
  interface
    subroutine MPI_File_set_errhandler(file, errhandler, ierror)
      import
      type(MPI_File), intent(in) :: file
      type(MPI_Errhandler), intent(in) :: errhandler
      integer, optional, intent(out) :: ierror
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
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Free_mem
  end interface
  procedure(MPI_Free_mem) :: PMPI_Free_mem
  interface
    subroutine MPI_Get_library_version(version, resultlen, ierror)
      import
      character(len=*) :: version
      integer :: resultlen
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_library_version
  end interface
  procedure(MPI_Get_library_version) :: PMPI_Get_library_version
  interface
    subroutine MPI_Get_processor_name(name, resultlen, ierror)
      import
      character(len=*) :: name
      integer :: resultlen
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_processor_name
  end interface
  procedure(MPI_Get_processor_name) :: PMPI_Get_processor_name
  interface
    subroutine MPI_Get_version(version, subversion, ierror)
      import
      integer :: version
      integer :: subversion
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_version
  end interface
  procedure(MPI_Get_version) :: PMPI_Get_version
  interface
    subroutine MPI_Remove_error_class(errorclass, ierror)
      import
      integer, intent(in) :: errorclass
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Remove_error_class
  end interface
  procedure(MPI_Remove_error_class) :: PMPI_Remove_error_class
  interface
    subroutine MPI_Remove_error_code(errorcode, ierror)
      import
      integer, intent(in) :: errorcode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Remove_error_code
  end interface
  procedure(MPI_Remove_error_code) :: PMPI_Remove_error_code
  interface
    subroutine MPI_Remove_error_string(errorcode, ierror)
      import
      integer, intent(in) :: errorcode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Remove_error_string
  end interface
  procedure(MPI_Remove_error_string) :: PMPI_Remove_error_string
  interface
    subroutine MPI_Session_call_errhandler(session, errorcode, ierror)
      import
      type(MPI_Session), intent(in) :: session
      integer, intent(in) :: errorcode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_call_errhandler
  end interface
  procedure(MPI_Session_call_errhandler) :: PMPI_Session_call_errhandler
  interface
    subroutine MPI_Session_create_errhandler(session_errhandler_fn, errhandler, ierror)
      import
      procedure(MPI_Session_errhandler_function) :: session_errhandler_fn
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_create_errhandler
  end interface
  procedure(MPI_Session_create_errhandler) :: PMPI_Session_create_errhandler
  interface
    subroutine MPI_Session_get_errhandler(session, errhandler, ierror)
      import
      type(MPI_Session), intent(in) :: session
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_get_errhandler
  end interface
  procedure(MPI_Session_get_errhandler) :: PMPI_Session_get_errhandler
  interface
    subroutine MPI_Session_set_errhandler(session, errhandler, ierror)
      import
      type(MPI_Session), intent(in) :: session
      type(MPI_Errhandler), intent(in) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_set_errhandler
  end interface
  procedure(MPI_Session_set_errhandler) :: PMPI_Session_set_errhandler
  interface
    subroutine MPI_Win_call_errhandler(win, errorcode, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: errorcode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_call_errhandler
  end interface
  procedure(MPI_Win_call_errhandler) :: PMPI_Win_call_errhandler
  interface
    subroutine MPI_Win_create_errhandler(win_errhandler_fn, errhandler, ierror)
      import
      procedure(MPI_Win_errhandler_function) :: win_errhandler_fn
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_create_errhandler
  end interface
  procedure(MPI_Win_create_errhandler) :: PMPI_Win_create_errhandler
  interface
    subroutine MPI_Win_get_errhandler(win, errhandler, ierror)
      import
      type(MPI_Win), intent(in) :: win
      type(MPI_Errhandler) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_get_errhandler
  end interface
  procedure(MPI_Win_get_errhandler) :: PMPI_Win_get_errhandler
  interface
    subroutine MPI_Win_set_errhandler(win, errhandler, ierror)
      import
      type(MPI_Win), intent(in) :: win
      type(MPI_Errhandler), intent(in) :: errhandler
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_set_errhandler
  end interface
  procedure(MPI_Win_set_errhandler) :: PMPI_Win_set_errhandler

  ! The Info Object.
  interface
    subroutine MPI_Info_create(info, ierror)
      import
      type(MPI_Info) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_create
  end interface
  procedure(MPI_Info_create) :: PMPI_Info_create
  interface
    subroutine MPI_Info_create_env(info, ierror)
      import
      type(MPI_Info) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_create_env
  end interface
  procedure(MPI_Info_create_env) :: PMPI_Info_create_env
  interface
    subroutine MPI_Info_delete(info, key, ierror)
      import
      type(MPI_Info), intent(in) :: info
      character(len=*), intent(in) :: key
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_delete
  end interface
  procedure(MPI_Info_delete) :: PMPI_Info_delete
  interface
    subroutine MPI_Info_dup(info, newinfo, ierror)
      import
      type(MPI_Info), intent(in) :: info
      type(MPI_Info) :: newinfo
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_dup
  end interface
  procedure(MPI_Info_dup) :: PMPI_Info_dup
  interface
    subroutine MPI_Info_free(info, ierror)
      import
      type(MPI_Info) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_free
  end interface
  procedure(MPI_Info_free) :: PMPI_Info_free
  interface
    subroutine MPI_Info_get_nkeys(info, nkeys, ierror)
      import
      type(MPI_Info), intent(in) :: info
      integer :: nkeys
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_get_nkeys
  end interface
  procedure(MPI_Info_get_nkeys) :: PMPI_Info_get_nkeys
  interface
    subroutine MPI_Info_get_nthkey(info, n, key, ierror)
      import
      type(MPI_Info), intent(in) :: info
      integer, intent(in) :: n
      character(len=*) :: key
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_get_nthkey
  end interface
  procedure(MPI_Info_get_nthkey) :: PMPI_Info_get_nthkey
  interface
    subroutine MPI_Info_get_string(info, key, buflen, value, flag, ierror)
      import
      type(MPI_Info), intent(in) :: info
      character(len=*), intent(in) :: key
      integer :: buflen
      character(len=*) :: value
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_get_string
  end interface
  procedure(MPI_Info_get_string) :: PMPI_Info_get_string
  interface
    subroutine MPI_Info_set(info, key, value, ierror)
      import
      type(MPI_Info), intent(in) :: info
      character(len=*), intent(in) :: key
      character(len=*), intent(in) :: value
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_set
  end interface
  procedure(MPI_Info_set) :: PMPI_Info_set

  ! Process Initialization, Creation, and Management.
  interface
    subroutine MPI_Abort(comm, errorcode, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: errorcode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Abort
  end interface
  procedure(MPI_Abort) :: PMPI_Abort
  interface
    subroutine MPI_Close_port(port_name, ierror)
      import
      character(len=*), intent(in) :: port_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Close_port
  end interface
  procedure(MPI_Close_port) :: PMPI_Close_port
  interface
    subroutine MPI_Comm_accept(port_name, info, root, comm, newcomm, ierror)
      import
      character(len=*), intent(in) :: port_name
      type(MPI_Info), intent(in) :: info
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_accept
  end interface
  procedure(MPI_Comm_accept) :: PMPI_Comm_accept
  interface
    subroutine MPI_Comm_connect(port_name, info, root, comm, newcomm, ierror)
      import
      character(len=*), intent(in) :: port_name
      type(MPI_Info), intent(in) :: info
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_connect
  end interface
  procedure(MPI_Comm_connect) :: PMPI_Comm_connect
  interface
    subroutine MPI_Comm_disconnect(comm, ierror)
      import
      type(MPI_Comm) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_disconnect
  end interface
  procedure(MPI_Comm_disconnect) :: PMPI_Comm_disconnect
  interface
    subroutine MPI_Comm_get_parent(parent, ierror)
      import
      type(MPI_Comm) :: parent
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_get_parent
  end interface
  procedure(MPI_Comm_get_parent) :: PMPI_Comm_get_parent
  interface
    subroutine MPI_Comm_join(fd, intercomm, ierror)
      import
      integer, intent(in) :: fd
      type(MPI_Comm) :: intercomm
      integer, optional, intent(out) :: ierror
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
      type(MPI_Info), intent(in) :: info
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm) :: intercomm
      integer :: array_of_errcodes(*)
      integer, optional, intent(out) :: ierror
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
      type(MPI_Info), intent(in) :: array_of_info(*)
      integer, intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm) :: intercomm
      integer :: array_of_errcodes(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_spawn_multiple
  end interface
  procedure(MPI_Comm_spawn_multiple) :: PMPI_Comm_spawn_multiple
  interface
    subroutine MPI_Finalize(ierror)
      import
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Finalize
  end interface
  procedure(MPI_Finalize) :: PMPI_Finalize
  interface
    subroutine MPI_Finalized(flag, ierror)
      import
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Finalized
  end interface
  procedure(MPI_Finalized) :: PMPI_Finalized
  interface
    subroutine MPI_Get_hw_resource_info(hw_info, ierror)
      import
      type(MPI_Info) :: hw_info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_hw_resource_info
  end interface
  procedure(MPI_Get_hw_resource_info) :: PMPI_Get_hw_resource_info
  interface
    subroutine MPI_Init(ierror)
      import
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Init
  end interface
  procedure(MPI_Init) :: PMPI_Init
  interface
    subroutine MPI_Init_thread(required, provided, ierror)
      import
      integer, intent(in) :: required
      integer :: provided
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Init_thread
  end interface
  procedure(MPI_Init_thread) :: PMPI_Init_thread
  interface
    subroutine MPI_Initialized(flag, ierror)
      import
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Initialized
  end interface
  procedure(MPI_Initialized) :: PMPI_Initialized
  interface
    subroutine MPI_Is_thread_main(flag, ierror)
      import
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Is_thread_main
  end interface
  procedure(MPI_Is_thread_main) :: PMPI_Is_thread_main
  interface
    subroutine MPI_Lookup_name(service_name, info, port_name, ierror)
      import
      character(len=*), intent(in) :: service_name
      type(MPI_Info), intent(in) :: info
      character(len=*) :: port_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Lookup_name
  end interface
  procedure(MPI_Lookup_name) :: PMPI_Lookup_name
  interface
    subroutine MPI_Open_port(info, port_name, ierror)
      import
      type(MPI_Info), intent(in) :: info
      character(len=*) :: port_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Open_port
  end interface
  procedure(MPI_Open_port) :: PMPI_Open_port
  interface
    subroutine MPI_Publish_name(service_name, info, port_name, ierror)
      import
      character(len=*), intent(in) :: service_name
      type(MPI_Info), intent(in) :: info
      character(len=*), intent(in) :: port_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Publish_name
  end interface
  procedure(MPI_Publish_name) :: PMPI_Publish_name
  interface
    subroutine MPI_Query_thread(provided, ierror)
      import
      integer :: provided
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Query_thread
  end interface
  procedure(MPI_Query_thread) :: PMPI_Query_thread
  interface
    subroutine MPI_Session_finalize(session, ierror)
      import
      type(MPI_Session) :: session
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_finalize
  end interface
  procedure(MPI_Session_finalize) :: PMPI_Session_finalize
  interface
    subroutine MPI_Session_get_info(session, info_used, ierror)
      import
      type(MPI_Session), intent(in) :: session
      type(MPI_Info) :: info_used
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_get_info
  end interface
  procedure(MPI_Session_get_info) :: PMPI_Session_get_info
  interface
    subroutine MPI_Session_get_nth_pset(session, info, n, pset_len, pset_name, ierror)
      import
      type(MPI_Session), intent(in) :: session
      type(MPI_Info), intent(in) :: info
      integer, intent(in) :: n
      integer :: pset_len
      character(len=*) :: pset_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_get_nth_pset
  end interface
  procedure(MPI_Session_get_nth_pset) :: PMPI_Session_get_nth_pset
  interface
    subroutine MPI_Session_get_num_psets(session, info, npset_names, ierror)
      import
      type(MPI_Session), intent(in) :: session
      type(MPI_Info), intent(in) :: info
      integer :: npset_names
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_get_num_psets
  end interface
  procedure(MPI_Session_get_num_psets) :: PMPI_Session_get_num_psets
  interface
    subroutine MPI_Session_get_pset_info(session, pset_name, info, ierror)
      import
      type(MPI_Session), intent(in) :: session
      character(len=*), intent(in) :: pset_name
      type(MPI_Info) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_get_pset_info
  end interface
  procedure(MPI_Session_get_pset_info) :: PMPI_Session_get_pset_info
  interface
    subroutine MPI_Session_init(info, errhandler, session, ierror)
      import
      type(MPI_Info), intent(in) :: info
      type(MPI_Errhandler), intent(in) :: errhandler
      type(MPI_Session) :: session
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Session_init
  end interface
  procedure(MPI_Session_init) :: PMPI_Session_init
  interface
    subroutine MPI_Unpublish_name(service_name, info, port_name, ierror)
      import
      character(len=*), intent(in) :: service_name
      type(MPI_Info), intent(in) :: info
      character(len=*), intent(in) :: port_name
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Unpublish_name
  end interface
  procedure(MPI_Unpublish_name) :: PMPI_Unpublish_name

  ! One-Sided Communications.
  interface MPI_Accumulate
    subroutine MPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Accumulate
    subroutine MPI_Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Accumulate_c
  end interface MPI_Accumulate
  interface PMPI_Accumulate
    subroutine PMPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Accumulate
    subroutine PMPI_Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Accumulate_c
  end interface PMPI_Accumulate
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
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
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
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Fetch_and_op
  end interface
  procedure(MPI_Fetch_and_op) :: PMPI_Fetch_and_op
  interface MPI_Get
    subroutine MPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get
    subroutine MPI_Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_c
  end interface MPI_Get
  interface PMPI_Get
    subroutine PMPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Get
    subroutine PMPI_Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Get_c
  end interface PMPI_Get
  interface MPI_Get_accumulate
    subroutine MPI_Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer, intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_accumulate
    subroutine MPI_Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer(MPI_COUNT_KIND), intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_accumulate_c
  end interface MPI_Get_accumulate
  interface PMPI_Get_accumulate
    subroutine PMPI_Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer, intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Get_accumulate
    subroutine PMPI_Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer(MPI_COUNT_KIND), intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Get_accumulate_c
  end interface PMPI_Get_accumulate
  interface MPI_Put
    subroutine MPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Put
    subroutine MPI_Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Put_c
  end interface MPI_Put
  interface PMPI_Put
    subroutine PMPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Put
    subroutine PMPI_Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Put_c
  end interface PMPI_Put
  interface MPI_Raccumulate
    subroutine MPI_Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Raccumulate
    subroutine MPI_Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Raccumulate_c
  end interface MPI_Raccumulate
  interface PMPI_Raccumulate
    subroutine PMPI_Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Raccumulate
    subroutine PMPI_Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, &
        target_disp, target_count, target_datatype, op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Raccumulate_c
  end interface PMPI_Raccumulate
  interface MPI_Rget
    subroutine MPI_Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rget
    subroutine MPI_Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rget_c
  end interface MPI_Rget
  interface PMPI_Rget
    subroutine PMPI_Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rget
    subroutine PMPI_Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rget_c
  end interface PMPI_Rget
  interface MPI_Rget_accumulate
    subroutine MPI_Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer, intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rget_accumulate
    subroutine MPI_Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer(MPI_COUNT_KIND), intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rget_accumulate_c
  end interface MPI_Rget_accumulate
  interface PMPI_Rget_accumulate
    subroutine PMPI_Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer, intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rget_accumulate
    subroutine PMPI_Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, &
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, &
        op, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      !GCC$ attributes no_arg_check :: result_addr
      !DEC$ attributes no_arg_check :: result_addr
      !DIR$ ignore_tkr result_addr
      type(*), dimension(*), target :: result_addr
      integer(MPI_COUNT_KIND), intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rget_accumulate_c
  end interface PMPI_Rget_accumulate
  interface MPI_Rput
    subroutine MPI_Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rput
    subroutine MPI_Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Rput_c
  end interface MPI_Rput
  interface PMPI_Rput
    subroutine PMPI_Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rput
    subroutine PMPI_Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
        target_count, target_datatype, win, request, ierror)
      import
      !GCC$ attributes no_arg_check :: origin_addr
      !DEC$ attributes no_arg_check :: origin_addr
      !DIR$ ignore_tkr origin_addr
      type(*), dimension(*), target, intent(in) :: origin_addr
      integer(MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Win), intent(in) :: win
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Rput_c
  end interface PMPI_Rput
  interface
    subroutine MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr) :: baseptr
      type(MPI_Win) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_allocate
  end interface
  procedure(MPI_Win_allocate) :: PMPI_Win_allocate
  interface
    subroutine MPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr) :: baseptr
      type(MPI_Win) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_allocate_shared
  end interface
  procedure(MPI_Win_allocate_shared) :: PMPI_Win_allocate_shared
  interface
    subroutine MPI_Win_attach(win, base, size, ierror)
      import
      type(MPI_Win), intent(in) :: win
      !GCC$ attributes no_arg_check :: base
      !DEC$ attributes no_arg_check :: base
      !DIR$ ignore_tkr base
      type(*), dimension(*), target :: base
      integer(MPI_ADDRESS_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_attach
  end interface
  procedure(MPI_Win_attach) :: PMPI_Win_attach
  interface
    subroutine MPI_Win_complete(win, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
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
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Win) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_create
  end interface
  procedure(MPI_Win_create) :: PMPI_Win_create
  interface
    subroutine MPI_Win_create_dynamic(info, comm, win, ierror)
      import
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Win) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_create_dynamic
  end interface
  procedure(MPI_Win_create_dynamic) :: PMPI_Win_create_dynamic
  interface
    subroutine MPI_Win_detach(win, base, ierror)
      import
      type(MPI_Win), intent(in) :: win
      !GCC$ attributes no_arg_check :: base
      !DEC$ attributes no_arg_check :: base
      !DIR$ ignore_tkr base
      type(*), dimension(*), target, intent(in) :: base
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_detach
  end interface
  procedure(MPI_Win_detach) :: PMPI_Win_detach
  interface
    subroutine MPI_Win_fence(assert, win, ierror)
      import
      integer, intent(in) :: assert
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_fence
  end interface
  procedure(MPI_Win_fence) :: PMPI_Win_fence
  interface
    subroutine MPI_Win_flush(rank, win, ierror)
      import
      integer, intent(in) :: rank
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_flush
  end interface
  procedure(MPI_Win_flush) :: PMPI_Win_flush
  interface
    subroutine MPI_Win_flush_all(win, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_flush_all
  end interface
  procedure(MPI_Win_flush_all) :: PMPI_Win_flush_all
  interface
    subroutine MPI_Win_flush_local(rank, win, ierror)
      import
      integer, intent(in) :: rank
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_flush_local
  end interface
  procedure(MPI_Win_flush_local) :: PMPI_Win_flush_local
  interface
    subroutine MPI_Win_flush_local_all(win, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_flush_local_all
  end interface
  procedure(MPI_Win_flush_local_all) :: PMPI_Win_flush_local_all
  interface
    subroutine MPI_Win_free(win, ierror)
      import
      type(MPI_Win) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_free
  end interface
  procedure(MPI_Win_free) :: PMPI_Win_free
  interface
    subroutine MPI_Win_get_group(win, group, ierror)
      import
      type(MPI_Win), intent(in) :: win
      type(MPI_Group) :: group
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_get_group
  end interface
  procedure(MPI_Win_get_group) :: PMPI_Win_get_group
  interface
    subroutine MPI_Win_get_info(win, info_used, ierror)
      import
      type(MPI_Win), intent(in) :: win
      type(MPI_Info) :: info_used
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_get_info
  end interface
  procedure(MPI_Win_get_info) :: PMPI_Win_get_info
  interface
    subroutine MPI_Win_lock(lock_type, rank, assert, win, ierror)
      import
      integer, intent(in) :: lock_type
      integer, intent(in) :: rank
      integer, intent(in) :: assert
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_lock
  end interface
  procedure(MPI_Win_lock) :: PMPI_Win_lock
  interface
    subroutine MPI_Win_lock_all(assert, win, ierror)
      import
      integer, intent(in) :: assert
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_lock_all
  end interface
  procedure(MPI_Win_lock_all) :: PMPI_Win_lock_all
  interface
    subroutine MPI_Win_post(group, assert, win, ierror)
      import
      type(MPI_Group), intent(in) :: group
      integer, intent(in) :: assert
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_post
  end interface
  procedure(MPI_Win_post) :: PMPI_Win_post
  interface
    subroutine MPI_Win_set_info(win, info, ierror)
      import
      type(MPI_Win), intent(in) :: win
      type(MPI_Info), intent(in) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_set_info
  end interface
  procedure(MPI_Win_set_info) :: PMPI_Win_set_info
  interface
    subroutine MPI_Win_shared_query(win, rank, size, disp_unit, baseptr, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: rank
      integer(MPI_ADDRESS_KIND) :: size
      integer :: disp_unit
      type(c_ptr) :: baseptr
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_shared_query
  end interface
  procedure(MPI_Win_shared_query) :: PMPI_Win_shared_query
  interface
    subroutine MPI_Win_start(group, assert, win, ierror)
      import
      type(MPI_Group), intent(in) :: group
      integer, intent(in) :: assert
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_start
  end interface
  procedure(MPI_Win_start) :: PMPI_Win_start
  interface
    subroutine MPI_Win_sync(win, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_sync
  end interface
  procedure(MPI_Win_sync) :: PMPI_Win_sync
  interface
    subroutine MPI_Win_test(win, flag, ierror)
      import
      type(MPI_Win), intent(in) :: win
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_test
  end interface
  procedure(MPI_Win_test) :: PMPI_Win_test
  interface
    subroutine MPI_Win_unlock(rank, win, ierror)
      import
      integer, intent(in) :: rank
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_unlock
  end interface
  procedure(MPI_Win_unlock) :: PMPI_Win_unlock
  interface
    subroutine MPI_Win_unlock_all(win, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_unlock_all
  end interface
  procedure(MPI_Win_unlock_all) :: PMPI_Win_unlock_all
  interface
    subroutine MPI_Win_wait(win, ierror)
      import
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Win_wait
  end interface
  procedure(MPI_Win_wait) :: PMPI_Win_wait

  ! External Interfaces.
  interface
    subroutine MPI_Grequest_complete(request, ierror)
      import
      type(MPI_Request), intent(in) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Grequest_complete
  end interface
  procedure(MPI_Grequest_complete) :: PMPI_Grequest_complete
  interface
    subroutine MPI_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request, ierror)
      import
      procedure(MPI_Grequest_query_function) :: query_fn
      procedure(MPI_Grequest_free_function) :: free_fn
      procedure(MPI_Grequest_cancel_function) :: cancel_fn
      integer(MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Grequest_start
  end interface
  procedure(MPI_Grequest_start) :: PMPI_Grequest_start
  interface
    subroutine MPI_Status_set_cancelled(status, flag, ierror)
      import
      type(MPI_Status) :: status
      logical, intent(in) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_set_cancelled
  end interface
  procedure(MPI_Status_set_cancelled) :: PMPI_Status_set_cancelled
  interface MPI_Status_set_elements
    subroutine MPI_Status_set_elements(status, datatype, count, ierror)
      import
      type(MPI_Status) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: count
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_set_elements
    subroutine MPI_Status_set_elements_c(status, datatype, count, ierror)
      import
      type(MPI_Status) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_set_elements_c
  end interface MPI_Status_set_elements
  interface PMPI_Status_set_elements
    subroutine PMPI_Status_set_elements(status, datatype, count, ierror)
      import
      type(MPI_Status) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer, intent(in) :: count
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Status_set_elements
    subroutine PMPI_Status_set_elements_c(status, datatype, count, ierror)
      import
      type(MPI_Status) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Status_set_elements_c
  end interface PMPI_Status_set_elements

  ! I/O.
  interface
    subroutine MPI_File_close(fh, ierror)
      import
      type(MPI_File) :: fh
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_close
  end interface
  procedure(MPI_File_close) :: PMPI_File_close
  interface
    subroutine MPI_File_delete(filename, info, ierror)
      import
      character(len=*), intent(in) :: filename
      type(MPI_Info), intent(in) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_delete
  end interface
  procedure(MPI_File_delete) :: PMPI_File_delete
  interface
    subroutine MPI_File_get_amode(fh, amode, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer :: amode
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_amode
  end interface
  procedure(MPI_File_get_amode) :: PMPI_File_get_amode
  interface
    subroutine MPI_File_get_atomicity(fh, flag, ierror)
      import
      type(MPI_File), intent(in) :: fh
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_atomicity
  end interface
  procedure(MPI_File_get_atomicity) :: PMPI_File_get_atomicity
  interface
    subroutine MPI_File_get_byte_offset(fh, offset, disp, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      integer(MPI_OFFSET_KIND) :: disp
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_byte_offset
  end interface
  procedure(MPI_File_get_byte_offset) :: PMPI_File_get_byte_offset
  interface
    subroutine MPI_File_get_group(fh, group, ierror)
      import
      type(MPI_File), intent(in) :: fh
      type(MPI_Group) :: group
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_group
  end interface
  procedure(MPI_File_get_group) :: PMPI_File_get_group
  interface
    subroutine MPI_File_get_info(fh, info_used, ierror)
      import
      type(MPI_File), intent(in) :: fh
      type(MPI_Info) :: info_used
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_info
  end interface
  procedure(MPI_File_get_info) :: PMPI_File_get_info
  interface
    subroutine MPI_File_get_position(fh, offset, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND) :: offset
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_position
  end interface
  procedure(MPI_File_get_position) :: PMPI_File_get_position
  interface
    subroutine MPI_File_get_position_shared(fh, offset, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND) :: offset
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_position_shared
  end interface
  procedure(MPI_File_get_position_shared) :: PMPI_File_get_position_shared
  interface
    subroutine MPI_File_get_size(fh, size, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_size
  end interface
  procedure(MPI_File_get_size) :: PMPI_File_get_size
  interface
    subroutine MPI_File_get_type_extent(fh, datatype, extent, ierror)
      import
      type(MPI_File), intent(in) :: fh
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_ADDRESS_KIND) :: extent
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_type_extent
  end interface
  procedure(MPI_File_get_type_extent) :: PMPI_File_get_type_extent
  interface
    subroutine MPI_File_get_view(fh, disp, etype, filetype, datarep, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND) :: disp
      type(MPI_Datatype) :: etype
      type(MPI_Datatype) :: filetype
      character(len=*) :: datarep
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_get_view
  end interface
  procedure(MPI_File_get_view) :: PMPI_File_get_view
  interface MPI_File_iread
    subroutine MPI_File_iread(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread
    subroutine MPI_File_iread_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_c
  end interface MPI_File_iread
  interface PMPI_File_iread
    subroutine PMPI_File_iread(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread
    subroutine PMPI_File_iread_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_c
  end interface PMPI_File_iread
  interface MPI_File_iread_all
    subroutine MPI_File_iread_all(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_all
    subroutine MPI_File_iread_all_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_all_c
  end interface MPI_File_iread_all
  interface PMPI_File_iread_all
    subroutine PMPI_File_iread_all(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_all
    subroutine PMPI_File_iread_all_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_all_c
  end interface PMPI_File_iread_all
  interface MPI_File_iread_at
    subroutine MPI_File_iread_at(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_at
    subroutine MPI_File_iread_at_c(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_at_c
  end interface MPI_File_iread_at
  interface PMPI_File_iread_at
    subroutine PMPI_File_iread_at(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_at
    subroutine PMPI_File_iread_at_c(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_at_c
  end interface PMPI_File_iread_at
  interface MPI_File_iread_at_all
    subroutine MPI_File_iread_at_all(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_at_all
    subroutine MPI_File_iread_at_all_c(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_at_all_c
  end interface MPI_File_iread_at_all
  interface PMPI_File_iread_at_all
    subroutine PMPI_File_iread_at_all(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_at_all
    subroutine PMPI_File_iread_at_all_c(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_at_all_c
  end interface PMPI_File_iread_at_all
  interface MPI_File_iread_shared
    subroutine MPI_File_iread_shared(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_shared
    subroutine MPI_File_iread_shared_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iread_shared_c
  end interface MPI_File_iread_shared
  interface PMPI_File_iread_shared
    subroutine PMPI_File_iread_shared(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_shared
    subroutine PMPI_File_iread_shared_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iread_shared_c
  end interface PMPI_File_iread_shared
  interface MPI_File_iwrite
    subroutine MPI_File_iwrite(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite
    subroutine MPI_File_iwrite_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_c
  end interface MPI_File_iwrite
  interface PMPI_File_iwrite
    subroutine PMPI_File_iwrite(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite
    subroutine PMPI_File_iwrite_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_c
  end interface PMPI_File_iwrite
  interface MPI_File_iwrite_all
    subroutine MPI_File_iwrite_all(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_all
    subroutine MPI_File_iwrite_all_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_all_c
  end interface MPI_File_iwrite_all
  interface PMPI_File_iwrite_all
    subroutine PMPI_File_iwrite_all(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_all
    subroutine PMPI_File_iwrite_all_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_all_c
  end interface PMPI_File_iwrite_all
  interface MPI_File_iwrite_at
    subroutine MPI_File_iwrite_at(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_at
    subroutine MPI_File_iwrite_at_c(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_at_c
  end interface MPI_File_iwrite_at
  interface PMPI_File_iwrite_at
    subroutine PMPI_File_iwrite_at(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_at
    subroutine PMPI_File_iwrite_at_c(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_at_c
  end interface PMPI_File_iwrite_at
  interface MPI_File_iwrite_at_all
    subroutine MPI_File_iwrite_at_all(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_at_all
    subroutine MPI_File_iwrite_at_all_c(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_at_all_c
  end interface MPI_File_iwrite_at_all
  interface PMPI_File_iwrite_at_all
    subroutine PMPI_File_iwrite_at_all(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_at_all
    subroutine PMPI_File_iwrite_at_all_c(fh, offset, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_at_all_c
  end interface PMPI_File_iwrite_at_all
  interface MPI_File_iwrite_shared
    subroutine MPI_File_iwrite_shared(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_shared
    subroutine MPI_File_iwrite_shared_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_iwrite_shared_c
  end interface MPI_File_iwrite_shared
  interface PMPI_File_iwrite_shared
    subroutine PMPI_File_iwrite_shared(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_shared
    subroutine PMPI_File_iwrite_shared_c(fh, buf, count, datatype, request, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Request) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_shared_c
  end interface PMPI_File_iwrite_shared
  interface
    subroutine MPI_File_open(comm, filename, amode, info, fh, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      character(len=*), intent(in) :: filename
      integer, intent(in) :: amode
      type(MPI_Info), intent(in) :: info
      type(MPI_File) :: fh
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_open
  end interface
  procedure(MPI_File_open) :: PMPI_File_open
  interface
    subroutine MPI_File_preallocate(fh, size, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_preallocate
  end interface
  procedure(MPI_File_preallocate) :: PMPI_File_preallocate
  interface MPI_File_read
    subroutine MPI_File_read(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read
    subroutine MPI_File_read_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_c
  end interface MPI_File_read
  interface PMPI_File_read
    subroutine PMPI_File_read(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read
    subroutine PMPI_File_read_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_c
  end interface PMPI_File_read
  interface MPI_File_read_all
    subroutine MPI_File_read_all(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_all
    subroutine MPI_File_read_all_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_all_c
  end interface MPI_File_read_all
  interface PMPI_File_read_all
    subroutine PMPI_File_read_all(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_all
    subroutine PMPI_File_read_all_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_all_c
  end interface PMPI_File_read_all
  interface MPI_File_read_all_begin
    subroutine MPI_File_read_all_begin(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_all_begin
    subroutine MPI_File_read_all_begin_c(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_all_begin_c
  end interface MPI_File_read_all_begin
  interface PMPI_File_read_all_begin
    subroutine PMPI_File_read_all_begin(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_all_begin
    subroutine PMPI_File_read_all_begin_c(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_all_begin_c
  end interface PMPI_File_read_all_begin
  interface
    subroutine MPI_File_read_all_end(fh, buf, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_all_end
  end interface
  procedure(MPI_File_read_all_end) :: PMPI_File_read_all_end
  interface MPI_File_read_at
    subroutine MPI_File_read_at(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_at
    subroutine MPI_File_read_at_c(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_at_c
  end interface MPI_File_read_at
  interface PMPI_File_read_at
    subroutine PMPI_File_read_at(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_at
    subroutine PMPI_File_read_at_c(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_at_c
  end interface PMPI_File_read_at
  interface MPI_File_read_at_all
    subroutine MPI_File_read_at_all(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_at_all
    subroutine MPI_File_read_at_all_c(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_at_all_c
  end interface MPI_File_read_at_all
  interface PMPI_File_read_at_all
    subroutine PMPI_File_read_at_all(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_at_all
    subroutine PMPI_File_read_at_all_c(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_at_all_c
  end interface PMPI_File_read_at_all
  interface MPI_File_read_at_all_begin
    subroutine MPI_File_read_at_all_begin(fh, offset, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_at_all_begin
    subroutine MPI_File_read_at_all_begin_c(fh, offset, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_at_all_begin_c
  end interface MPI_File_read_at_all_begin
  interface PMPI_File_read_at_all_begin
    subroutine PMPI_File_read_at_all_begin(fh, offset, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_at_all_begin
    subroutine PMPI_File_read_at_all_begin_c(fh, offset, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_at_all_begin_c
  end interface PMPI_File_read_at_all_begin
  interface
    subroutine MPI_File_read_at_all_end(fh, buf, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_at_all_end
  end interface
  procedure(MPI_File_read_at_all_end) :: PMPI_File_read_at_all_end
  interface MPI_File_read_ordered
    subroutine MPI_File_read_ordered(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_ordered
    subroutine MPI_File_read_ordered_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_ordered_c
  end interface MPI_File_read_ordered
  interface PMPI_File_read_ordered
    subroutine PMPI_File_read_ordered(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_ordered
    subroutine PMPI_File_read_ordered_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_ordered_c
  end interface PMPI_File_read_ordered
  interface MPI_File_read_ordered_begin
    subroutine MPI_File_read_ordered_begin(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_ordered_begin
    subroutine MPI_File_read_ordered_begin_c(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_ordered_begin_c
  end interface MPI_File_read_ordered_begin
  interface PMPI_File_read_ordered_begin
    subroutine PMPI_File_read_ordered_begin(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_ordered_begin
    subroutine PMPI_File_read_ordered_begin_c(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_ordered_begin_c
  end interface PMPI_File_read_ordered_begin
  interface
    subroutine MPI_File_read_ordered_end(fh, buf, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_ordered_end
  end interface
  procedure(MPI_File_read_ordered_end) :: PMPI_File_read_ordered_end
  interface MPI_File_read_shared
    subroutine MPI_File_read_shared(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_shared
    subroutine MPI_File_read_shared_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_read_shared_c
  end interface MPI_File_read_shared
  interface PMPI_File_read_shared
    subroutine PMPI_File_read_shared(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_shared
    subroutine PMPI_File_read_shared_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_read_shared_c
  end interface PMPI_File_read_shared
  interface
    subroutine MPI_File_seek(fh, offset, whence, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      integer, intent(in) :: whence
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_seek
  end interface
  procedure(MPI_File_seek) :: PMPI_File_seek
  interface
    subroutine MPI_File_seek_shared(fh, offset, whence, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      integer, intent(in) :: whence
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_seek_shared
  end interface
  procedure(MPI_File_seek_shared) :: PMPI_File_seek_shared
  interface
    subroutine MPI_File_set_atomicity(fh, flag, ierror)
      import
      type(MPI_File), intent(in) :: fh
      logical, intent(in) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_set_atomicity
  end interface
  procedure(MPI_File_set_atomicity) :: PMPI_File_set_atomicity
  interface
    subroutine MPI_File_set_info(fh, info, ierror)
      import
      type(MPI_File), intent(in) :: fh
      type(MPI_Info), intent(in) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_set_info
  end interface
  procedure(MPI_File_set_info) :: PMPI_File_set_info
  interface
    subroutine MPI_File_set_size(fh, size, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_set_size
  end interface
  procedure(MPI_File_set_size) :: PMPI_File_set_size
  interface
    subroutine MPI_File_set_view(fh, disp, etype, filetype, datarep, info, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: disp
      type(MPI_Datatype), intent(in) :: etype
      type(MPI_Datatype), intent(in) :: filetype
      character(len=*), intent(in) :: datarep
      type(MPI_Info), intent(in) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_set_view
  end interface
  procedure(MPI_File_set_view) :: PMPI_File_set_view
  interface
    subroutine MPI_File_sync(fh, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_sync
  end interface
  procedure(MPI_File_sync) :: PMPI_File_sync
  interface MPI_File_write
    subroutine MPI_File_write(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write
    subroutine MPI_File_write_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_c
  end interface MPI_File_write
  interface PMPI_File_write
    subroutine PMPI_File_write(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write
    subroutine PMPI_File_write_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_c
  end interface PMPI_File_write
  interface MPI_File_write_all
    subroutine MPI_File_write_all(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_all
    subroutine MPI_File_write_all_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_all_c
  end interface MPI_File_write_all
  interface PMPI_File_write_all
    subroutine PMPI_File_write_all(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_all
    subroutine PMPI_File_write_all_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_all_c
  end interface PMPI_File_write_all
  interface MPI_File_write_all_begin
    subroutine MPI_File_write_all_begin(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_all_begin
    subroutine MPI_File_write_all_begin_c(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_all_begin_c
  end interface MPI_File_write_all_begin
  interface PMPI_File_write_all_begin
    subroutine PMPI_File_write_all_begin(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_all_begin
    subroutine PMPI_File_write_all_begin_c(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_all_begin_c
  end interface PMPI_File_write_all_begin
  interface
    subroutine MPI_File_write_all_end(fh, buf, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_all_end
  end interface
  procedure(MPI_File_write_all_end) :: PMPI_File_write_all_end
  interface MPI_File_write_at
    subroutine MPI_File_write_at(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_at
    subroutine MPI_File_write_at_c(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_at_c
  end interface MPI_File_write_at
  interface PMPI_File_write_at
    subroutine PMPI_File_write_at(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_at
    subroutine PMPI_File_write_at_c(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_at_c
  end interface PMPI_File_write_at
  interface MPI_File_write_at_all
    subroutine MPI_File_write_at_all(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_at_all
    subroutine MPI_File_write_at_all_c(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_at_all_c
  end interface MPI_File_write_at_all
  interface PMPI_File_write_at_all
    subroutine PMPI_File_write_at_all(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_at_all
    subroutine PMPI_File_write_at_all_c(fh, offset, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_at_all_c
  end interface PMPI_File_write_at_all
  interface MPI_File_write_at_all_begin
    subroutine MPI_File_write_at_all_begin(fh, offset, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_at_all_begin
    subroutine MPI_File_write_at_all_begin_c(fh, offset, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_at_all_begin_c
  end interface MPI_File_write_at_all_begin
  interface PMPI_File_write_at_all_begin
    subroutine PMPI_File_write_at_all_begin(fh, offset, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_at_all_begin
    subroutine PMPI_File_write_at_all_begin_c(fh, offset, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      integer(MPI_OFFSET_KIND), intent(in) :: offset
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_at_all_begin_c
  end interface PMPI_File_write_at_all_begin
  interface
    subroutine MPI_File_write_at_all_end(fh, buf, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_at_all_end
  end interface
  procedure(MPI_File_write_at_all_end) :: PMPI_File_write_at_all_end
  interface MPI_File_write_ordered
    subroutine MPI_File_write_ordered(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_ordered
    subroutine MPI_File_write_ordered_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_ordered_c
  end interface MPI_File_write_ordered
  interface PMPI_File_write_ordered
    subroutine PMPI_File_write_ordered(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_ordered
    subroutine PMPI_File_write_ordered_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_ordered_c
  end interface PMPI_File_write_ordered
  interface MPI_File_write_ordered_begin
    subroutine MPI_File_write_ordered_begin(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_ordered_begin
    subroutine MPI_File_write_ordered_begin_c(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_ordered_begin_c
  end interface MPI_File_write_ordered_begin
  interface PMPI_File_write_ordered_begin
    subroutine PMPI_File_write_ordered_begin(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_ordered_begin
    subroutine PMPI_File_write_ordered_begin_c(fh, buf, count, datatype, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_ordered_begin_c
  end interface PMPI_File_write_ordered_begin
  interface
    subroutine MPI_File_write_ordered_end(fh, buf, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_ordered_end
  end interface
  procedure(MPI_File_write_ordered_end) :: PMPI_File_write_ordered_end
  interface MPI_File_write_shared
    subroutine MPI_File_write_shared(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_shared
    subroutine MPI_File_write_shared_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_File_write_shared_c
  end interface MPI_File_write_shared
  interface PMPI_File_write_shared
    subroutine PMPI_File_write_shared(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_shared
    subroutine PMPI_File_write_shared_c(fh, buf, count, datatype, status, ierror)
      import
      type(MPI_File), intent(in) :: fh
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*), target, intent(in) :: buf
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_File_write_shared_c
  end interface PMPI_File_write_shared
  interface
    subroutine MPI_Register_datarep(datarep, read_conversion_fn, write_conversion_fn, &
        dtype_file_extent_fn, extra_state, ierror)
      import
      character(len=*), intent(in) :: datarep
      procedure(MPI_Datarep_conversion_function) :: read_conversion_fn
      procedure(MPI_Datarep_conversion_function) :: write_conversion_fn
      procedure(MPI_Datarep_extent_function) :: dtype_file_extent_fn
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Register_datarep
  end interface
  procedure(MPI_Register_datarep) :: PMPI_Register_datarep
  interface
    subroutine MPI_Register_datarep_c(datarep, read_conversion_fn, write_conversion_fn, &
        dtype_file_extent_fn, extra_state, ierror)
      import
      character(len=*), intent(in) :: datarep
      procedure(MPI_Datarep_conversion_function_c) :: read_conversion_fn
      procedure(MPI_Datarep_conversion_function_c) :: write_conversion_fn
      procedure(MPI_Datarep_extent_function) :: dtype_file_extent_fn
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Register_datarep_c
  end interface
  procedure(MPI_Register_datarep_c) :: PMPI_Register_datarep_c

  ! Application Binary Interface.
  interface
    subroutine MPI_Abi_get_fortran_info(info, ierror)
      import
      type(MPI_Info) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Abi_get_fortran_info
  end interface
  procedure(MPI_Abi_get_fortran_info) :: PMPI_Abi_get_fortran_info
  interface
    subroutine MPI_Abi_get_info(info, ierror)
      import
      type(MPI_Info) :: info
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Abi_get_info
  end interface
  procedure(MPI_Abi_get_info) :: PMPI_Abi_get_info
  interface
    subroutine MPI_Abi_get_version(abi_major, abi_minor, ierror)
      import
      integer :: abi_major
      integer :: abi_minor
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Abi_get_version
  end interface
  procedure(MPI_Abi_get_version) :: PMPI_Abi_get_version

  ! Deprecated Interfaces.
  interface
    subroutine MPI_Get_elements_x(status, datatype, count, ierror)
      import
      type(MPI_Status), intent(in) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: count
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Get_elements_x
  end interface
  procedure(MPI_Get_elements_x) :: PMPI_Get_elements_x
  interface
    subroutine MPI_Info_get(info, key, valuelen, value, flag, ierror)
      import
      type(MPI_Info), intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(in) :: valuelen
      character(len=*) :: value
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_get
  end interface
  procedure(MPI_Info_get) :: PMPI_Info_get
  interface
    subroutine MPI_Info_get_valuelen(info, key, valuelen, flag, ierror)
      import
      type(MPI_Info), intent(in) :: info
      character(len=*), intent(in) :: key
      integer :: valuelen
      logical :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Info_get_valuelen
  end interface
  procedure(MPI_Info_get_valuelen) :: PMPI_Info_get_valuelen
  interface
    subroutine MPI_Status_set_elements_x(status, datatype, count, ierror)
      import
      type(MPI_Status) :: status
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_set_elements_x
  end interface
  procedure(MPI_Status_set_elements_x) :: PMPI_Status_set_elements_x
  interface
    subroutine MPI_Type_get_extent_x(datatype, lb, extent, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: lb
      integer(MPI_COUNT_KIND) :: extent
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_extent_x
  end interface
  procedure(MPI_Type_get_extent_x) :: PMPI_Type_get_extent_x
  interface
    subroutine MPI_Type_get_true_extent_x(datatype, true_lb, true_extent, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: true_lb
      integer(MPI_COUNT_KIND) :: true_extent
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_get_true_extent_x
  end interface
  procedure(MPI_Type_get_true_extent_x) :: PMPI_Type_get_true_extent_x
  interface
    subroutine MPI_Type_size_x(datatype, size, ierror)
      import
      type(MPI_Datatype), intent(in) :: datatype
      integer(MPI_COUNT_KIND) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Type_size_x
  end interface
  procedure(MPI_Type_size_x) :: PMPI_Type_size_x
end module mpi_f08
