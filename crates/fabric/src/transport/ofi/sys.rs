//! libfabric's calls, made safe: a library, and an endpoint with its buffers.
//!
//! An [`Endpoint`] owns the buffers that operations use ([`Slot`]s, named by their numbers) and
//! knows which of them the provider holds, so nobody reads or frees what is being written. All of
//! one endpoint's objects belong to one domain of its own and are used by one thread at a time
//! (FI_THREAD_DOMAIN), the one that owns the [`Endpoint`].
//!
//! Teardown: endpoint, regions, completion queue, address vector, domain, fabric; only then the
//! buffers. A provider may let two endpoints of one process reach into each other's memory (shm
//! does), so each of such two keeps the other one's objects until both are gone.

#![allow(unsafe_code)]

use super::abi;
use crate::region::{Memory, Region};
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{self, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Bytes of a buffer.
pub const SLOT: usize = 32 * 1024;

/// The longest endpoint address; the longest in use (shm) has at most 256.
pub const NAME_MAX: usize = 256;

/// Signals whose actions the shm provider replaces.
const SIGNALS: [c_int; 4] = [libc::SIGBUS, libc::SIGSEGV, libc::SIGTERM, libc::SIGINT];

/// A call that failed.
#[derive(Debug, thiserror::Error)]
#[error("libfabric cannot {doing}: {text}")]
pub struct Failure {
    doing: &'static str,
    text: String,
    code: c_int,
}

impl Failure {
    /// The system's error, if it is one of those.
    pub fn system(&self) -> Option<std::io::Error> {
        // libfabric's own begin there (FI_ERRNO_OFFSET).
        (self.code < 256).then(|| std::io::Error::from_raw_os_error(self.code))
    }
}

type Outcome<T> = std::result::Result<T, Failure>;

/// Takes a function out of a library.
macro_rules! symbol {
    ($handle:expr, $path:expr, $name:literal, $type:ty) => {{
        // SAFETY: the handle is open, and the name ends with a zero.
        let address = unsafe { libc::dlsym($handle, $name.as_ptr()) };
        if address.is_null() {
            return Err(format!("{} is no libfabric: it lacks {:?}", $path, $name));
        }
        // SAFETY: libfabric's headers give this function the type that the field has.
        unsafe { std::mem::transmute::<*mut c_void, $type>(address) }
    }};
}

/// libfabric, open for the rest of this process's life.
#[derive(Clone, Copy)]
pub struct Library {
    version: abi::Version,
    getinfo: abi::GetInfo,
    dupinfo: abi::DupInfo,
    freeinfo: abi::FreeInfo,
    fabric: abi::OpenFabric,
    strerror: abi::StrError,
}

impl Library {
    /// Opens the first of these that there is.
    pub fn open(paths: &[&OsStr]) -> std::result::Result<Library, String> {
        let mut why = Vec::new();
        for path in paths {
            let name = CString::new(path.as_bytes()).map_err(|_| "its path contains a zero")?;
            // SAFETY: the name is a C string; libfabric's constructors may run in any thread.
            let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            if !handle.is_null() {
                return Library::of(handle, &path.to_string_lossy());
            }
            // SAFETY: dlerror gives none or a C string that lives until the next call.
            let error = unsafe {
                let text = libc::dlerror();
                (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
            };
            why.push(error.unwrap_or_else(|| path.to_string_lossy().into_owned()));
        }
        Err(why.join("; "))
    }

    fn of(handle: *mut c_void, path: &str) -> std::result::Result<Library, String> {
        Ok(Library {
            version: symbol!(handle, path, c"fi_version", abi::Version),
            getinfo: symbol!(handle, path, c"fi_getinfo", abi::GetInfo),
            dupinfo: symbol!(handle, path, c"fi_dupinfo", abi::DupInfo),
            freeinfo: symbol!(handle, path, c"fi_freeinfo", abi::FreeInfo),
            fabric: symbol!(handle, path, c"fi_fabric", abi::OpenFabric),
            strerror: symbol!(handle, path, c"fi_strerror", abi::StrError),
        })
    }

    /// Its version: major and minor.
    pub fn version(&self) -> (u32, u32) {
        // SAFETY: it takes nothing and may be called at any time.
        let version = unsafe { (self.version)() };
        (version >> 16, version & 0xffff)
    }

    fn failure(&self, doing: &'static str, code: isize) -> Failure {
        let code = c_int::try_from(code.abs()).unwrap_or(c_int::MAX);
        // SAFETY: it gives a C string that lives as long as the library, for any number.
        let text = unsafe { CStr::from_ptr((self.strerror)(code)) };
        Failure { doing, text: text.to_string_lossy().into_owned(), code }
    }

    fn checked(&self, doing: &'static str, code: c_int) -> Outcome<()> {
        if code == 0 { Ok(()) } else { Err(self.failure(doing, code as isize)) }
    }

    /// What a provider offers at a numeric address of this machine, or at none.
    fn info(&self, provider: &CStr, host: Option<&CStr>, slots: usize, rma: bool) -> Outcome<Own> {
        // SAFETY: none means a new one, with all attributes that we set below.
        let hints = unsafe { (self.dupinfo)(ptr::null()) };
        let hints = Own { info: hints, library: *self };
        if hints.info.is_null() {
            return Err(self.failure("allocate", -(libc::ENOMEM as isize)));
        }
        // SAFETY: we own it, and the library allocated its attributes with it; freeinfo frees the
        // name with free(3), so it comes from strdup(3).
        unsafe {
            let info = &mut *hints.info;
            info.caps = abi::FI_MSG | if rma { abi::FI_RMA } else { 0 };
            info.mode = abi::FI_CONTEXT | abi::FI_CONTEXT2;
            let (tx, rx) = (&mut *info.tx_attr, &mut *info.rx_attr);
            (tx.msg_order, rx.msg_order) = (abi::FI_ORDER_SAS, abi::FI_ORDER_SAS);
            (tx.size, rx.size) = (slots, slots);
            (*info.ep_attr).kind = abi::FI_EP_RDM;
            let domain = &mut *info.domain_attr;
            domain.threading = abi::FI_THREAD_DOMAIN;
            domain.control_progress = abi::FI_PROGRESS_MANUAL;
            domain.data_progress = abi::FI_PROGRESS_MANUAL;
            domain.resource_mgmt = abi::FI_RM_ENABLED;
            domain.mr_mode = abi::FI_MR_LOCAL
                | abi::FI_MR_VIRT_ADDR
                | abi::FI_MR_ALLOCATED
                | abi::FI_MR_PROV_KEY
                | abi::FI_MR_ENDPOINT;
            (*info.fabric_attr).prov_name = libc::strdup(provider.as_ptr());
        }
        let mut found = Own { info: null_mut(), library: *self };
        let node = host.map_or(ptr::null(), CStr::as_ptr);
        let flags = if host.is_some() { abi::FI_SOURCE | abi::FI_NUMERICHOST } else { 0 };
        // SAFETY: names are C strings or null, the hints are whole, the result goes to a pointer.
        let code = unsafe {
            let result = &raw mut found.info;
            (self.getinfo)(abi::VERSION, node, ptr::null(), flags, hints.info, result)
        };
        self.checked("find the provider", code)?;
        Ok(found)
    }

    /// Whether there is a provider of this name here.
    pub fn offers(&self, provider: &str) -> Outcome<()> {
        let provider = CString::new(provider).map_err(|_| self.failure("read its name", 22))?;
        self.info(&provider, None, 64, false).map(drop)
    }
}

/// A `fi_info` that is ours to free.
struct Own {
    info: *mut abi::Info,
    library: Library,
}

impl Own {
    /// Whether the provider finds its interfaces by IP addresses. Others (cxi, efa, opx) take a
    /// node for a name of their own kind and find nothing, or another interface.
    fn has_hosts(&self) -> bool {
        // SAFETY: it is there, and nobody changes it.
        has_hosts(unsafe { (*self.info).addr_format })
    }
}

fn has_hosts(format: u32) -> bool {
    use abi::{FI_SOCKADDR, FI_SOCKADDR_IB, FI_SOCKADDR_IN, FI_SOCKADDR_IN6};
    // Verbs gives the third and finds a device by any IP address that it has.
    matches!(format, FI_SOCKADDR | FI_SOCKADDR_IN | FI_SOCKADDR_IN6 | FI_SOCKADDR_IB)
}

impl Drop for Own {
    fn drop(&mut self) {
        if !self.info.is_null() {
            // SAFETY: the library made it, and nobody else has it.
            unsafe { (self.library.freeinfo)(self.info) }
        }
    }
}

/// A buffer, and room for what the provider notes about the operation that uses it.
#[repr(C, align(64))]
struct Slot {
    context: UnsafeCell<abi::Context>,
    bytes: UnsafeCell<[u8; SLOT]>,
}

impl Slot {
    /// So many of them, all zero.
    fn many(count: usize) -> Box<[Slot]> {
        let layout = Layout::array::<Slot>(count).expect("some buffers");
        assert!(layout.size() > 0, "no buffers");
        // SAFETY: the layout has a size; zeros are null pointers and bytes; the box gets what the
        // global allocator made for just this type.
        unsafe {
            let start = alloc_zeroed(layout).cast::<Slot>();
            if start.is_null() {
                handle_alloc_error(layout);
            }
            Box::from_raw(ptr::slice_from_raw_parts_mut(start, count))
        }
    }
}

/// A region that peers may reach, until the endpoint ends or it is taken back.
struct Registered {
    mr: *mut abi::Mr,
    _memory: Arc<dyn Memory>,
}

/// The objects of an endpoint.
struct Objects {
    own: Own,
    fabric: *mut abi::Fabric,
    domain: *mut abi::Domain,
    av: *mut abi::Av,
    cq: *mut abi::Cq,
    ep: *mut abi::Ep,
    local: *mut abi::Mr,
    regions: Mutex<HashMap<u32, Registered>>,
    slots: Box<[Slot]>,
}

// SAFETY: one thread at a time uses them, the owner of the endpoint; whoever else holds them only
// drops them. libfabric's objects are bound to no thread.
unsafe impl Send for Objects {}
// SAFETY: see above; through a shared reference nothing is done but by the endpoint's owner.
unsafe impl Sync for Objects {}

impl Drop for Objects {
    fn drop(&mut self) {
        let regions = std::mem::take(&mut *lock(&self.regions));
        let mut fids: Vec<*mut abi::Fid> = vec![self.ep.cast(), self.local.cast()];
        fids.extend(regions.values().map(|region| region.mr.cast::<abi::Fid>()));
        fids.extend([self.cq.cast::<abi::Fid>(), self.av.cast(), self.domain.cast()]);
        fids.push(self.fabric.cast());
        for fid in fids.into_iter().filter(|fid| !fid.is_null()) {
            // SAFETY: it is open, nobody uses it, and what depends on it was closed before. Regions
            // and buffers are freed after this.
            let code = unsafe { ((*(*fid).ops).close)(fid) };
            debug_assert_eq!(code, 0, "an object of libfabric is still in use");
        }
    }
}

/// All endpoints of this process, by their names.
static HERE: Mutex<Option<HashMap<Vec<u8>, Weak<Objects>>>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who has a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Here,
    Receive,
    Send,
    Copy,
}

/// An operation that has ended.
#[derive(Debug)]
pub enum Done {
    /// A message of so many bytes is in this buffer.
    Received(usize, usize),
    /// A message has left its buffer.
    Sent,
    /// This buffer's bytes are at the peer, or the peer's in it.
    Copied(usize),
    /// What a buffer was used for has failed; its bytes are nothing.
    Failed(Failure),
}

/// Where a peer reaches a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The provider's key.
    pub key: u64,
    /// The address of its first byte, as the provider counts.
    pub address: u64,
}

/// One end of a connection to one peer.
pub struct Endpoint {
    objects: Arc<Objects>,
    twin: Option<Arc<Objects>>,
    held: Box<[Held]>,
    name: Vec<u8>,
    peer: u64,
    wait: Option<RawFd>,
    rma: bool,
}

impl Endpoint {
    /// Opens an endpoint with so many buffers, at this numeric address of this machine where the
    /// provider's endpoints have such addresses.
    pub fn open(library: &Library, provider: &str, host: &str, slots: usize) -> Outcome<Endpoint> {
        let text = |text: &str| CString::new(text).map_err(|_| library.failure("read a name", 22));
        let (provider, host) = (text(provider)?, text(host)?);
        let find = |host: Option<&CStr>| match library.info(&provider, host, slots, true) {
            Ok(own) => Ok((own, true)),
            Err(_) => library.info(&provider, host, slots, false).map(|own| (own, false)),
        };
        let (mut own, mut rma) = find(None)?;
        if own.has_hosts() {
            (own, rma) = find(Some(&host))?;
        }
        let mut objects = Objects {
            own,
            fabric: null_mut(),
            domain: null_mut(),
            av: null_mut(),
            cq: null_mut(),
            ep: null_mut(),
            local: null_mut(),
            regions: Mutex::default(),
            slots: Slot::many(slots),
        };
        let wait = objects.fill()?;
        let name = objects.name()?;
        let objects = Arc::new(objects);
        let mut here = lock(&HERE);
        let here = here.get_or_insert_default();
        here.retain(|_, objects| objects.strong_count() > 0);
        here.insert(name.clone(), Arc::downgrade(&objects));
        let held = vec![Held::Here; slots].into();
        Ok(Endpoint { objects, twin: None, held, name, peer: 0, wait, rma })
    }

    /// Its address, for the peer.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Whether it can put and get.
    pub fn has_rma(&self) -> bool {
        self.rma
    }

    /// Says where the peer is.
    pub fn connect(&mut self, name: &[u8]) -> Outcome<()> {
        let objects = &self.objects;
        let mut padded = [0; NAME_MAX + 1];
        padded[..name.len()].copy_from_slice(name);
        // SAFETY: the address is longer than any format, and a string ends in it.
        let count = unsafe {
            let address = padded.as_ptr().cast();
            ((*(*objects.av).ops).insert)(objects.av, address, 1, &mut self.peer, 0, null_mut())
        };
        if count != 1 {
            return Err(objects.own.library.failure("use the peer's address", count as isize));
        }
        self.twin = lock(&HERE).as_ref().and_then(|here| here.get(name)?.upgrade());
        Ok(())
    }

    /// Takes away the name by which the shm provider's segment is found, so it ends with the last
    /// process that has it mapped, however that one ends.
    pub fn hide(&self) {
        let Some(name) = self.name.strip_prefix(b"fi_shm://") else { return };
        if let Ok(name) = CStr::from_bytes_until_nul(name) {
            // SAFETY: the name is a C string.
            unsafe { libc::shm_unlink(name.as_ptr()) };
        }
    }

    /// A buffer that is free.
    pub fn free(&self, range: std::ops::Range<usize>) -> Option<usize> {
        range.into_iter().find(|slot| self.held[*slot] == Held::Here)
    }

    /// Whether a buffer is with the provider, for sending or copying.
    pub fn is_busy(&self) -> bool {
        self.held.iter().any(|held| matches!(held, Held::Send | Held::Copy))
    }

    /// A buffer's bytes.
    ///
    /// # Panics
    /// When the provider has it.
    pub fn buffer(&mut self, slot: usize) -> &mut [u8; SLOT] {
        assert_eq!(self.held[slot], Held::Here, "slot {slot}");
        // SAFETY: the provider does not have it, and we are borrowed alone.
        unsafe { &mut *self.objects.slots[slot].bytes.get() }
    }

    /// Notes who has a buffer now, if the call was taken; false if it is to be tried again.
    fn start(
        &mut self,
        slot: usize,
        held: Held,
        doing: &'static str,
        code: isize,
    ) -> Outcome<bool> {
        match code {
            0 => self.held[slot] = held,
            again if again == -(libc::EAGAIN as isize) => return Ok(false),
            code => return Err(self.objects.own.library.failure(doing, code)),
        }
        Ok(true)
    }

    /// Gives a buffer to be received into; false if that is to be tried again.
    pub fn receive(&mut self, slot: usize) -> Outcome<bool> {
        let (ep, context, bytes) = self.operands(slot);
        let description = self.objects.description();
        // SAFETY: buffer and context stay until it is done: `Objects` owns them.
        let code = unsafe { ((*(*ep).msg).recv)(ep, bytes, SLOT, description, u64::MAX, context) };
        self.start(slot, Held::Receive, "receive", code)
    }

    /// Sends the first bytes of a buffer; false if that is to be tried again.
    pub fn send(&mut self, slot: usize, size: usize) -> Outcome<bool> {
        assert!(size <= SLOT, "{size} bytes");
        let (ep, context, bytes) = self.operands(slot);
        let description = self.objects.description();
        // SAFETY: buffer and context stay until it is done: `Objects` owns them.
        let code = unsafe { ((*(*ep).msg).send)(ep, bytes, size, description, self.peer, context) };
        self.start(slot, Held::Send, "send", code)
    }

    /// Copies a buffer's first bytes to a place of the peer, or from there; false if that is to be
    /// tried again. It has ended when the peer's memory has them.
    pub fn copy(&mut self, slot: usize, size: usize, to: Place, is_put: bool) -> Outcome<bool> {
        assert!(self.rma && size <= SLOT, "{size} bytes");
        let (ep, context, bytes) = self.operands(slot);
        let mut description = self.objects.description();
        let here = libc::iovec { iov_base: bytes, iov_len: size };
        let there = abi::RmaIov { addr: to.address, len: size, key: to.key };
        let message = abi::MsgRma {
            msg_iov: &here,
            desc: &mut description,
            iov_count: 1,
            addr: self.peer,
            rma_iov: &there,
            rma_iov_count: 1,
            context,
            data: 0,
        };
        let flags = abi::FI_COMPLETION | abi::FI_DELIVERY_COMPLETE;
        // SAFETY: the description is read during the call only; buffer and context stay until it
        // is done: `Objects` owns them.
        let code = unsafe {
            let ops = &*(*ep).rma;
            if is_put {
                (ops.writemsg)(ep, &message, flags)
            } else {
                (ops.readmsg)(ep, &message, abi::FI_COMPLETION)
            }
        };
        self.start(slot, Held::Copy, if is_put { "put" } else { "get" }, code)
    }

    fn operands(&self, slot: usize) -> (*mut abi::Ep, *mut c_void, *mut c_void) {
        assert_eq!(self.held[slot], Held::Here, "slot {slot}");
        let slot = &self.objects.slots[slot];
        (self.objects.ep, slot.context.get().cast(), slot.bytes.get().cast())
    }

    /// Lets the provider get on; the next operation that has ended.
    pub fn poll(&mut self) -> Outcome<Option<Done>> {
        let (cq, library) = (self.objects.cq, self.objects.own.library);
        let mut entry = abi::CqMsgEntry { op_context: null_mut(), flags: 0, len: 0 };
        // SAFETY: there is room for one entry of the format that the queue was opened with.
        let code = unsafe { ((*(*cq).ops).read)(cq, (&raw mut entry).cast(), 1) };
        if code == -(libc::EAGAIN as isize) {
            return Ok(None);
        }
        if code != -abi::FI_EAVAIL && code != 1 {
            return Err(library.failure("read completions", code));
        }
        if code == 1 {
            return Ok(self.ended(entry.op_context).map(|(slot, held)| match held {
                Held::Receive => Done::Received(slot, entry.len),
                Held::Copy => Done::Copied(slot),
                Held::Send | Held::Here => Done::Sent,
            }));
        }
        // SAFETY: all zero is an entry: numbers and null pointers.
        let mut error: abi::CqErrEntry = unsafe { std::mem::zeroed() };
        // SAFETY: there is room for an entry.
        let code = unsafe { ((*(*cq).ops).readerr)(cq, &mut error, 0) };
        if code < 0 && code != -(libc::EAGAIN as isize) {
            return Err(library.failure("read an error", code));
        }
        let failure = library.failure("go on", error.err as isize);
        Ok(self.ended(error.op_context).map(|_| Done::Failed(failure)))
    }

    /// The buffer of an operation that has ended, which is ours again.
    fn ended(&mut self, context: *mut c_void) -> Option<(usize, Held)> {
        let start = self.objects.slots.as_ptr() as usize;
        let offset = (context as usize).checked_sub(start)?;
        let slot = offset / size_of::<Slot>();
        let held = self.held.get_mut(slot)?;
        Some((slot, std::mem::replace(held, Held::Here)))
    }

    /// A descriptor that becomes readable when there is something to poll; none if the provider
    /// has none, or there is something already.
    pub fn waitable(&self) -> Option<BorrowedFd<'_>> {
        let objects = &self.objects;
        let descriptor = self.wait?;
        let mut fid: *mut abi::Fid = objects.cq.cast();
        // SAFETY: one object that is open.
        let code = unsafe { ((*(*objects.fabric).ops).trywait)(objects.fabric, &mut fid, 1) };
        // SAFETY: the queue owns it and lives as long as we do.
        (code == 0).then(|| unsafe { BorrowedFd::borrow_raw(descriptor) })
    }

    /// Whether the provider has a descriptor to wait for.
    pub fn has_descriptor(&self) -> bool {
        self.wait.is_some()
    }

    /// Lets the peer reach a region, which is kept until [`Endpoint::unregister`] or the end. None
    /// if the region is no memory with an address.
    pub fn register(&mut self, number: u32, region: &Region) -> Outcome<Option<Place>> {
        let memory = Arc::clone(region.memory());
        let Some(bytes) = memory.place() else { return Ok(None) };
        let rights = region.rights();
        let access = if rights.read { abi::FI_REMOTE_READ } else { 0 }
            | if rights.write { abi::FI_REMOTE_WRITE } else { 0 };
        let start = bytes.start().as_ptr().cast();
        let mr = self.objects.register(start, memory.size(), access, u64::from(number) + 1)?;
        // SAFETY: it is open.
        let key = unsafe { (*mr).key };
        // SAFETY: the attributes belong to the endpoint's information.
        let mode = unsafe { (*(*self.objects.own.info).domain_attr).mr_mode };
        let address = if mode & abi::FI_MR_VIRT_ADDR == 0 { 0 } else { start as u64 };
        lock(&self.objects.regions).insert(number, Registered { mr, _memory: memory });
        Ok(Some(Place { key, address }))
    }

    /// Ends a region's reachability.
    pub fn unregister(&mut self, number: u32) {
        let Some(region) = lock(&self.objects.regions).remove(&number) else { return };
        let fid: *mut abi::Fid = region.mr.cast();
        // SAFETY: it is open, and nobody else has it.
        unsafe { ((*(*fid).ops).close)(fid) };
    }
}

impl Objects {
    /// Opens all objects, and tells the queue's descriptor. What was opened before an error is
    /// closed when this is dropped.
    fn fill(&mut self) -> Outcome<Option<RawFd>> {
        let (library, info) = (self.own.library, self.own.info);
        let actions = Actions::save();
        // SAFETY: every call gets objects that are open and attributes that live as long as the
        // call; results go to pointers of their types.
        let wait = unsafe {
            let call = |doing, code| library.checked(doing, code);
            let attributes = (*info).fabric_attr;
            call("open", (library.fabric)(attributes, &mut self.fabric, null_mut()))?;
            let ops = &*(*self.fabric).ops;
            let code = (ops.domain)(self.fabric, info, &mut self.domain, null_mut());
            call("open a domain", code)?;
            let ops = &*(*self.domain).ops;
            let mut av: abi::AvAttr = std::mem::zeroed();
            (av.kind, av.count) = (abi::FI_AV_TABLE, 1);
            let code = (ops.av_open)(self.domain, &mut av, &mut self.av, null_mut());
            call("open an address vector", code)?;
            let wait = self.open_queue()?;
            let code = (ops.endpoint)(self.domain, info, &mut self.ep, null_mut());
            call("open an endpoint", code)?;
            let fid: *mut abi::Fid = self.ep.cast();
            let ops = &*(*fid).ops;
            call("bind addresses", (ops.bind)(fid, self.av.cast(), 0))?;
            let both = abi::FI_SEND | abi::FI_RECV;
            call("bind completions", (ops.bind)(fid, self.cq.cast(), both))?;
            call("start an endpoint", (ops.control)(fid, abi::FI_ENABLE, null_mut()))?;
            wait
        };
        drop(actions);
        // SAFETY: the attributes belong to the information.
        if unsafe { (*(*info).domain_attr).mr_mode } & abi::FI_MR_LOCAL != 0 {
            let access = abi::FI_SEND | abi::FI_RECV | abi::FI_READ | abi::FI_WRITE;
            let start = self.slots.as_ptr().cast();
            self.local = self.register(start, size_of_val(&*self.slots), access, 0)?;
        }
        Ok(wait)
    }

    /// Opens the completion queue, with a descriptor to wait for where the provider has one.
    fn open_queue(&mut self) -> Outcome<Option<RawFd>> {
        let library = self.own.library;
        // SAFETY: the domain is open, the attributes are whole, results go to their types.
        unsafe {
            let mut attributes: abi::CqAttr = std::mem::zeroed();
            attributes.size = 2 * self.slots.len();
            attributes.format = abi::FI_CQ_FORMAT_MSG;
            attributes.wait_obj = abi::FI_WAIT_FD;
            let open = (*(*self.domain).ops).cq_open;
            if open(self.domain, &mut attributes, &mut self.cq, null_mut()) == 0 {
                let mut descriptor: c_int = -1;
                let fid: *mut abi::Fid = self.cq.cast();
                let result = (&raw mut descriptor).cast();
                let code = ((*(*fid).ops).control)(fid, abi::FI_GETWAIT, result);
                return Ok((code == 0 && descriptor >= 0).then_some(descriptor));
            }
            attributes.wait_obj = abi::FI_WAIT_NONE;
            let code = open(self.domain, &mut attributes, &mut self.cq, null_mut());
            library.checked("open a completion queue", code)?;
        }
        Ok(None)
    }

    fn name(&self) -> Outcome<Vec<u8>> {
        let mut name = vec![0; NAME_MAX];
        let mut size = name.len();
        // SAFETY: the endpoint is open, and its name goes to so many bytes.
        let code = unsafe {
            ((*(*self.ep).cm).getname)(self.ep.cast(), name.as_mut_ptr().cast(), &mut size)
        };
        self.own.library.checked("tell its address", code)?;
        name.truncate(size);
        Ok(name)
    }

    fn register(
        &self,
        start: *const c_void,
        size: usize,
        access: u64,
        key: u64,
    ) -> Outcome<*mut abi::Mr> {
        let library = self.own.library;
        let mut mr: *mut abi::Mr = null_mut();
        // SAFETY: the memory lives until the region is closed: whoever calls keeps both together.
        let code = unsafe {
            let (fid, reg) = (self.domain.cast(), (*(*self.domain).mr).reg);
            reg(fid, start, size, access, 0, key, 0, &mut mr, null_mut())
        };
        library.checked("register memory", code)?;
        // SAFETY: the attributes belong to the information; the region was opened just now, and is
        // closed if it cannot be used.
        unsafe {
            if (*(*self.own.info).domain_attr).mr_mode & abi::FI_MR_ENDPOINT == 0 {
                return Ok(mr);
            }
            let fid: *mut abi::Fid = mr.cast();
            let ops = &*(*fid).ops;
            let mut code = (ops.bind)(fid, self.ep.cast(), 0);
            if code == 0 {
                code = (ops.control)(fid, abi::FI_ENABLE, null_mut());
            }
            if code != 0 {
                (ops.close)(fid);
            }
            library.checked("start a region", code)?;
        }
        Ok(mr)
    }

    /// What providers that want local buffers registered are told with them.
    fn description(&self) -> *mut c_void {
        match self.local.is_null() {
            true => null_mut(),
            // SAFETY: it is open as long as we are.
            false => unsafe { (*self.local).mem_desc },
        }
    }
}

/// The process's actions for [`SIGNALS`], put back when this is dropped: the shm provider installs
/// its own, for segments whose names we take away ourselves.
struct Actions {
    saved: [libc::sigaction; SIGNALS.len()],
    /// Another thread meanwhile would save the provider's, and put those back.
    _alone: MutexGuard<'static, ()>,
}

impl Actions {
    fn save() -> Actions {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = lock(&ALONE);
        // SAFETY: all zero is an action, and the call only writes it.
        let saved = SIGNALS.map(|signal| unsafe {
            let mut action = std::mem::zeroed();
            libc::sigaction(signal, ptr::null(), &mut action);
            action
        });
        Actions { saved, _alone }
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        for (signal, action) in SIGNALS.iter().zip(&self.saved) {
            // SAFETY: this action was this signal's a moment ago.
            unsafe { libc::sigaction(*signal, action, null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_providers_of_ip_addresses_are_asked_for_one() {
        let is_ip = |format| has_hosts(format);
        assert!([abi::FI_SOCKADDR, 2, 3, 4].into_iter().all(is_ip), "tcp, udp, verbs");
        // FI_ADDR_STR, FI_ADDR_EFA, FI_ADDR_PSMX3, FI_ADDR_OPX, FI_ADDR_CXI, and no word of it.
        assert!(![9, 12, 13, 14, 15, 0].into_iter().any(is_ip));
    }
}
