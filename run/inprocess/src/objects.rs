//! The executable and its shared libraries, as the dynamic linker has loaded them.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ops::Range;

use crate::pristine;
use crate::symbol;

/// A constructor.
pub type First = extern "C" fn(c_int, *mut *mut i8, *mut *mut i8);
/// A destructor.
pub type Last = extern "C" fn();

/// Memory that can be written.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub start: *mut u8,
    pub length: usize,
    /// True if nothing else that changes is in the same pages.
    pub has_pages: bool,
}

/// The executable or a library.
#[derive(Clone, Debug, Default)]
pub struct Object {
    name: String,
    path: CString,
    needed: Vec<String>,
    /// Its address range.
    pub extent: Range<usize>,
    /// The pages of its code.
    pub code: Vec<Range<usize>>,
    /// The memory that can be written, its thread-local variables included.
    pub parts: Vec<Part>,
    /// Its thread-local variables, as the loader numbers them, and how many bytes they are.
    pub locals: Option<(usize, usize)>,
    pub constructors: Vec<First>,
    /// In the order in which they run.
    pub destructors: Vec<Last>,
}

/// Libraries with these beginnings are there once for all ranks: those of the system and of
/// compilers whose state is nobody's or is looked after otherwise, our own, and those that compute
/// with threads, which all ranks may use.
const SHARED: &[&str] = &[
    "linux-",
    "ld-",
    "libc.",
    "libm.",
    "libpthread.",
    "libdl.",
    "librt.",
    "libutil.",
    "libresolv.",
    "libnss",
    "libgcc_s.",
    "libstdc++.",
    "libc++",
    "libheddle",
    "libmpi.",
    "libmpi_",
    "libmpich",
    "libmpicxx.",
    "libmpifort.",
    "libgomp.",
    "libomp.",
    "libiomp",
    "libtbb",
    "libopenblas",
    "libblis",
    "libmkl",
    "libasan.",
    "libubsan.",
    "liblsan.",
    "libtsan.",
];

/// An object's file.
fn path(info: &libc::dl_phdr_info) -> &CStr {
    // SAFETY: the loader's promise.
    if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } }
}

/// Its name, without its folders.
fn name(info: &libc::dl_phdr_info) -> &[u8] {
    let path = path(info).to_bytes();
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// True if a library is there once for all ranks.
pub fn is_shared(info: &libc::dl_phdr_info) -> bool {
    SHARED.iter().any(|beginning| name(info).starts_with(beginning.as_bytes()))
}

impl Object {
    /// True if each rank has its own copy of a library's variables.
    fn is_for_each_rank(&self, allocator: Option<usize>) -> bool {
        !allocator.is_some_and(|place| self.extent.contains(&place))
            && self.parts.iter().all(pristine::knows)
    }

    /// True if a library defines a variable.
    pub fn defines(&self, variable: &CStr) -> bool {
        // SAFETY: the library is there, so that nothing of it runs.
        unsafe {
            let library = libc::dlopen(self.path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() {
                return false;
            }
            let place = libc::dlsym(library, variable.as_ptr());
            libc::dlclose(library);
            self.extent.contains(&place.addr())
        }
    }
}

/// The executable, and in front of it those libraries of which ranks have their own variables: each
/// behind what it needs.
pub fn of_each_rank() -> Vec<Object> {
    let mut all: Vec<Object> = Vec::new();
    // SAFETY: the function is called for each object while this lives.
    unsafe { libc::dl_iterate_phdr(Some(object), (&raw mut all).cast()) };
    // Whoever takes memory back is the allocator. A library may have a `malloc` of its own around
    // that of the C library (OpenFOAM).
    let allocator = symbol::<*const u8>(c"free").map(<*const u8>::addr);
    let (mut order, mut seen) = (Vec::new(), vec![false; all.len()]);
    visit(&all, 0, &mut seen, &mut order);
    // What nobody needs, such as a tool that is loaded first (LD_PRELOAD), is ready before the
    // executable, too.
    let executable = order.pop();
    (0..all.len()).for_each(|place| visit(&all, place, &mut seen, &mut order));
    order.extend(executable);
    let chosen = |place: &usize| {
        let one = all.get(*place)?;
        (*place == 0 || one.is_for_each_rank(allocator)).then(|| one.clone())
    };
    order.iter().filter_map(chosen).collect()
}

/// The folders of the system's libraries.
const SYSTEM: [&[u8]; 2] = [b"/lib", b"/usr/lib"];

/// The libraries that the program itself has loaded and not unloaded, but for those of the system:
/// ranks share their variables.
pub fn loaded_by_program() -> Vec<String> {
    let mut found: (usize, Vec<String>) = (0, Vec::new());
    // SAFETY: the function is called for each object while this lives.
    unsafe { libc::dl_iterate_phdr(Some(later), (&raw mut found).cast()) };
    found.1
}

/// Takes in the name of an object that was not there when the process began.
unsafe extern "C" fn later(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: what `loaded_by_program` passes, and what the loader promises.
    let (found, info) = unsafe { (&mut *found.cast::<(usize, Vec<String>)>(), &*info) };
    found.0 += 1;
    if found.0 > pristine::objects() && !is_shared(info) {
        let path = path(info).to_bytes();
        if !SYSTEM.iter().any(|folder| path.starts_with(folder)) {
            found.1.push(String::from_utf8_lossy(path).into_owned());
        }
    }
    0
}

/// Functions that start threads, and `dlopen`, behind which there may be more of them.
const STARTS: &[&CStr] = &[
    c"pthread_create",
    c"thrd_create",
    c"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
    c"GOMP_parallel",
    c"GOMP_parallel_start",
    c"__kmpc_fork_call",
    c"dlopen",
    c"dlmopen",
];

/// True if the program or one of its own libraries may start threads.
pub fn may_start_threads() -> bool {
    /// Notes whether an object may do so.
    unsafe extern "C" fn asks(info: *mut libc::dl_phdr_info, _: usize, any: *mut c_void) -> c_int {
        // SAFETY: what is passed below, and what the loader promises.
        let (any, info) = unsafe { (&mut *any.cast::<bool>(), &*info) };
        if !is_shared(info) {
            for table in [(PLT_RELOCATIONS, PLT_SIZE), (RELOCATIONS, RELOCATIONS_SIZE)] {
                relocated(info, table, |_, _, name| *any |= STARTS.contains(&name));
            }
        }
        0
    }
    let mut any = false;
    // SAFETY: the function is called for each object while this lives.
    unsafe { libc::dl_iterate_phdr(Some(asks), (&raw mut any).cast()) };
    any
}

/// Adds the objects that one needs, and itself.
fn visit(all: &[Object], place: usize, seen: &mut [bool], order: &mut Vec<usize>) {
    let Some(false) = seen.get_mut(place).map(|seen| std::mem::replace(seen, true)) else { return };
    for name in all.get(place).iter().flat_map(|one| &one.needed) {
        if let Some(needed) = all.iter().position(|other| other.name == *name) {
            visit(all, needed, seen, order);
        }
    }
    order.push(place);
}

/// The writable parts of an object: what is not fixed once it has been loaded.
pub fn parts(info: &libc::dl_phdr_info, mut take: impl FnMut(Part)) {
    let base = info.dlpi_addr as usize;
    let fixed = headers(info).iter().find(|header| header.p_type == libc::PT_GNU_RELRO);
    let fixed = fixed.map_or(0, |header| base + (header.p_vaddr + header.p_memsz) as usize) & !4095;
    for header in headers(info) {
        let (start, length) = (base + header.p_vaddr as usize, header.p_memsz as usize);
        match header.p_type {
            libc::PT_LOAD if header.p_flags & libc::PF_W != 0 => {
                let end = start + length;
                let start = start.max(fixed.min(end));
                take(Part { start: start as *mut u8, length: end - start, has_pages: true });
            }
            libc::PT_TLS if info.dlpi_tls_modid != 0 => {
                // What `info` says itself may be nothing, as long as this thread has not used them.
                let start = thread_locals(info.dlpi_tls_modid);
                take(Part { start, length, has_pages: false });
            }
            _ => {}
        }
    }
}

fn headers(info: &libc::dl_phdr_info) -> &[libc::Elf64_Phdr] {
    if info.dlpi_phdr.is_null() {
        return &[];
    }
    // SAFETY: the loader's promise.
    unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
}

/// The place of an object's variables in this thread, by the loader's number of the object.
pub fn thread_locals(object: usize) -> *mut u8 {
    // SAFETY: as compilers call it: a module of the loader's, and a place in it.
    unsafe { __tls_get_addr(&[object, 0]) }
}

/// The address ranges of the libraries whose names begin so.
pub fn extents(names: &[&str]) -> Vec<Range<usize>> {
    let mut all: Vec<Object> = Vec::new();
    // SAFETY: the function is called for each object while this lives.
    unsafe { libc::dl_iterate_phdr(Some(object), (&raw mut all).cast()) };
    all.retain(|one| names.iter().any(|beginning| one.name.starts_with(beginning)));
    all.into_iter().map(|one| one.extent).collect()
}

unsafe extern "C" {
    fn __tls_get_addr(place: &[usize; 2]) -> *mut u8;
}

/// Takes in an object; the executable comes first.
unsafe extern "C" fn object(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> c_int {
    // SAFETY: what `of_each_rank` passes, and what the loader promises.
    let (all, info) = unsafe { (&mut *all.cast::<Vec<Object>>(), &*info) };
    let name = String::from_utf8_lossy(name(info)).into_owned();
    let mut one = Object { name, path: path(info).to_owned(), ..Object::default() };
    let base = info.dlpi_addr as usize;
    let place = |header: &libc::Elf64_Phdr| base + header.p_vaddr as usize;
    let loaded = || headers(info).iter().filter(|header| header.p_type == libc::PT_LOAD);
    let start = loaded().map(place).min().unwrap_or(base);
    let end = loaded().map(|header| place(header) + header.p_memsz as usize).max();
    one.extent = start..end.unwrap_or(start);
    let is_code = |header: &&libc::Elf64_Phdr| header.p_flags & libc::PF_X != 0;
    let code = loaded().filter(is_code).map(|header| {
        place(header) & !4095..(place(header) + header.p_memsz as usize).next_multiple_of(4096)
    });
    one.code = code.collect();
    parts(info, |part| one.parts.push(part));
    let locals = headers(info).iter().find(|header| header.p_type == libc::PT_TLS);
    let locals = locals.filter(|_| info.dlpi_tls_modid != 0);
    one.locals = locals.map(|header| (info.dlpi_tls_modid, header.p_memsz as usize));
    if let Some(header) = headers(info).iter().find(|header| header.p_type == libc::PT_DYNAMIC) {
        dynamic(&mut one, base, place(header));
    }
    all.push(one);
    0
}

/// Entries of the dynamic section.
const NEEDED: i64 = 1;
const STRINGS: i64 = 5;
const SYMBOLS: i64 = 6;
const RELOCATIONS: i64 = 7;
const RELOCATIONS_SIZE: i64 = 8;
const PLT_SIZE: i64 = 2;
const PLT_RELOCATIONS: i64 = 23;
const INIT: i64 = 12;
const FINI: i64 = 13;
const INIT_ARRAY: i64 = 25;
const FINI_ARRAY: i64 = 26;
const INIT_ARRAY_SIZE: i64 = 27;
const FINI_ARRAY_SIZE: i64 = 28;

/// Entries of the dynamic section, and their values.
fn entries(section: usize) -> impl Iterator<Item = (i64, usize)> {
    let section = section as *const (i64, usize);
    // SAFETY: the dynamic section ends with an entry 0.
    (0..).map(move |place| unsafe { *section.wrapping_add(place) }).take_while(|entry| entry.0 != 0)
}

/// `R_X86_64_COPY` and `R_AARCH64_COPY`.
const COPY: u64 = if cfg!(target_arch = "x86_64") { 5 } else { 1024 };

/// The variables of libraries that the executable has copies of: where each copy is, how long it
/// is, and its name.
pub fn copied(info: &libc::dl_phdr_info, mut take: impl FnMut(*const u8, usize, &CStr)) {
    relocated(info, (RELOCATIONS, RELOCATIONS_SIZE), |one, symbol, name| {
        if one.r_info & 0xffff_ffff == COPY {
            let copy = info.dlpi_addr as usize + one.r_offset as usize;
            take(copy as *const u8, symbol.st_size as usize, name);
        }
    });
}

/// The relocations of an object that name a symbol, of a table given by its place and its size.
fn relocated(
    info: &libc::dl_phdr_info,
    (place, size): (i64, i64),
    mut take: impl FnMut(&libc::Elf64_Rela, &libc::Elf64_Sym, &CStr),
) {
    let base = info.dlpi_addr as usize;
    let Some(header) = headers(info).iter().find(|header| header.p_type == libc::PT_DYNAMIC) else {
        return;
    };
    let entry = |wanted| {
        let section = base + header.p_vaddr as usize;
        entries(section).find(|(kind, _)| *kind == wanted).map(|entry| entry.1)
    };
    let (Some(strings), Some(symbols)) = (entry(STRINGS), entry(SYMBOLS)) else { return };
    let (Some(list), Some(bytes)) = (entry(place), entry(size)) else { return };
    // SAFETY: the loader has relocated the places of these tables, and the numbers in them lie
    // within.
    unsafe {
        let relocations: &[libc::Elf64_Rela] =
            std::slice::from_raw_parts(list as *const _, bytes / size_of::<libc::Elf64_Rela>());
        for one in relocations.iter().filter(|one| one.r_info >> 32 != 0) {
            let symbol = &*(symbols as *const libc::Elf64_Sym).add((one.r_info >> 32) as usize);
            take(one, symbol, CStr::from_ptr((strings + symbol.st_name as usize) as *const _));
        }
    }
}

/// Finds what an object needs, its constructors and its destructors.
fn dynamic(object: &mut Object, base: usize, section: usize) {
    let entries: Vec<_> = entries(section).collect();
    let entry = |wanted| entries.iter().find(|(kind, _)| *kind == wanted).map(|entry| entry.1);
    if let Some(strings) = entry(STRINGS).filter(|place| *place >= base) {
        let needed = entries.iter().filter(|(kind, _)| *kind == NEEDED);
        // SAFETY: the loader has relocated the place of the strings.
        let name = |offset: usize| unsafe { CStr::from_ptr((strings + offset) as *const _) };
        let own = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        object.needed = needed.map(|entry| own(&name(entry.1).to_string_lossy())).collect();
    }
    let known = |single, list, size| {
        let (single, list) = (entry(single), entry(list).zip(entry(size)));
        // SAFETY: so many addresses are there, relocated by now.
        let array = list.map_or(&[][..], |(list, bytes)| unsafe {
            std::slice::from_raw_parts((base + list) as *const usize, bytes / 8)
        });
        let array = array.iter().copied().filter(|place| *place != 0 && *place != usize::MAX);
        single.map(|place| base + place).into_iter().chain(array).collect::<Vec<usize>>()
    };
    let first = known(INIT, INIT_ARRAY, INIT_ARRAY_SIZE).into_iter();
    let last = known(FINI, FINI_ARRAY, FINI_ARRAY_SIZE).into_iter().rev();
    // SAFETY: they are functions of these types.
    unsafe {
        object.constructors = first.map(|place| std::mem::transmute::<usize, _>(place)).collect();
        object.destructors = last.map(|place| std::mem::transmute::<usize, _>(place)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, needed: &[&str]) -> Object {
        let needed = needed.iter().map(ToString::to_string).collect();
        Object { name: name.to_owned(), needed, ..Object::default() }
    }

    /// An object comes behind those that it needs, each once, also if two need each other.
    #[test]
    fn libraries_come_behind_what_they_need() {
        let all = [
            object("program", &["a", "b"]),
            object("b", &["c", "missing"]),
            object("a", &["b", "d"]),
            object("c", &[]),
            object("d", &["a"]),
        ];
        let (mut order, mut seen) = (Vec::new(), vec![false; all.len()]);
        visit(&all, 0, &mut seen, &mut order);
        let names: Vec<&str> = order.iter().map(|place| all[*place].name.as_str()).collect();
        assert_eq!(names, ["c", "b", "d", "a", "program"]);
    }

    static VARIABLE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

    /// The executable is the last, and its variables are in its parts; the C library is nobody's.
    #[test]
    fn objects_of_this_process() {
        let all = of_each_rank();
        let executable = all.last().expect("the executable");
        let place = (&raw const VARIABLE).addr();
        let has =
            |part: &Part| (part.start.addr()..part.start.addr() + part.length).contains(&place);
        assert!(executable.extent.contains(&place) && executable.parts.iter().any(has));
        assert!(all.iter().all(|one| !one.name.starts_with("libc.")));
        let code = objects_of_this_process as fn() as usize;
        assert!(executable.extent.contains(&code));
    }
}
