//! Compiling CUDA sources at run time.
//!
//! The text that NVRTC compiles is the prelude, which Rust writes, followed by the entry file; headers come from
//! memory. The target is machine code for the device at hand, or PTX, which the driver compiles, if NVRTC does not know
//! the device.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::null_mut;

use super::library::{Nvrtc, Search, find_nvrtc};
use crate::device::driver::Code;
use crate::device::kernel_source::{Architecture, KernelSource};
use crate::error::{Advice, Error, Result};
use crate::os_text::Shown;

/// Log and source of a compilation.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(super) code: Code,
    /// Messages of the compiler and the assembler.
    pub(super) log: String,
    /// The PTX, for inspection.
    pub(super) ptx: String,
}

/// NVRTC with the options of this run.
#[derive(Debug)]
pub struct Compiler {
    nvrtc: Nvrtc,
    fast_math: bool,
}

type Program = *mut c_void;

impl Compiler {
    /// Finds NVRTC at the path `given`, or in all usual places.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with the names and paths of the search.
    pub fn find(given: Option<&Path>, fast_math: bool) -> (Search, Result<Self>) {
        let (search, found) = find_nvrtc(given);
        let compiler = found.map(|nvrtc| Self { nvrtc, fast_math });
        (search, compiler.map_err(|why| Error::Gpu(why).advise(Advice::InstallCompiler)))
    }

    /// Version of NVRTC.
    pub fn version(&self) -> (i32, i32) {
        self.nvrtc.version
    }

    /// Returns `true` if fast, less exact functions are used.
    pub fn fast_math(&self) -> bool {
        self.fast_math
    }

    /// The architectures that this NVRTC makes machine code for.
    pub(crate) fn architectures(&self) -> Result<Vec<Architecture>> {
        type Count = unsafe extern "C" fn(*mut c_int) -> c_int;
        let mut count = 0;
        // SAFETY: the types are those of NVRTC's interface; `list` has room for the counted number.
        let list = unsafe {
            let get_count: Count = self.function(c"nvrtcGetNumSupportedArchs")?;
            let get: Count = self.function(c"nvrtcGetSupportedArchs")?;
            self.check(get_count(&raw mut count), "count architectures")?;
            let mut list = vec![0; count as usize];
            self.check(get(list.as_mut_ptr()), "list architectures")?;
            list
        };
        Ok(list.into_iter().map(|number| Architecture(number as u32)).collect())
    }

    /// Options of all compilations, except that some sources are compiled without fast-math.
    pub fn options(&self, target: &str) -> Vec<String> {
        Self::options_with(target, self.fast_math)
    }

    /// Options of the compilation of this source.
    pub(crate) fn options_of(&self, source: &KernelSource, target: &str) -> Vec<String> {
        Self::options_with(target, self.fast_math && !source.is_exact)
    }

    fn options_with(target: &str, fast_math: bool) -> Vec<String> {
        let mut options = vec![
            format!("--gpu-architecture={target}"),
            "--std=c++17".to_owned(),
            "--generate-line-info".to_owned(),
            "-default-device".to_owned(),
        ];
        if fast_math {
            // cudarc's option of this name sets --fmad alone.
            options.push("--use_fast_math".to_owned());
        }
        options
    }

    /// Compiles to machine code for the architecture, or to PTX if NVRTC is older than the device.
    pub(crate) fn compile(
        &self,
        source: &KernelSource,
        device: Architecture,
        extra: &[&str],
    ) -> Result<Compiled> {
        let (target, is_exact) = self.target(device)?;
        let mut options = self.options_of(source, &target);
        options.extend(extra.iter().map(ToString::to_string));
        let program = Running::new(self, source)?;
        let log = program.compile(&options).map_err(|log| {
            let file = source.file;
            Error::Gpu(format!("kernels/{file} does not compile for {target}:\n{log}"))
        })?;
        let mut ptx = program.bytes(c"nvrtcGetPTXSize", c"nvrtcGetPTX")?;
        let text = String::from_utf8_lossy(&ptx).trim_end_matches('\0').to_owned();
        let code = if is_exact {
            Code::Binary(program.bytes(c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN")?)
        } else {
            if ptx.last() != Some(&0) {
                ptx.push(0);
            }
            Code::Ptx(ptx)
        };
        Ok(Compiled { code, log, ptx: text })
    }

    /// Target of the compilation, and `true` if it is machine code for the device itself.
    pub(crate) fn target(&self, device: Architecture) -> Result<(String, bool)> {
        let known = self.architectures()?;
        if known.contains(&device) {
            return Ok((device.to_string(), true));
        }
        let list = known.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let (major, minor) = self.nvrtc.version;
        match known.into_iter().filter(|&other| other < device).max() {
            Some(below) => Ok((format!("compute_{}", below.0), false)),
            None => Err(Error::Gpu(format!(
                "NVRTC {major}.{minor} does not support {device}, which is too old for it ({list})"
            ))
            .advise(Advice::UseOlderCompiler)),
        }
    }

    /// # Safety
    ///
    /// `F` must be the type that NVRTC documents for it.
    unsafe fn function<F: Copy>(&self, name: &std::ffi::CStr) -> Result<F> {
        // SAFETY: as promised by the caller.
        unsafe { self.nvrtc.function(name) }.map_err(Error::Gpu)
    }

    fn check(&self, code: c_int, action: &str) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let path = self.nvrtc.path.shown();
        Err(Error::Gpu(format!("NVRTC ({path}) could not {action}: error {code}")))
    }
}

/// A program inside NVRTC; dropping it destroys the program.
struct Running<'a> {
    compiler: &'a Compiler,
    program: Program,
}

impl<'a> Running<'a> {
    fn new(compiler: &'a Compiler, source: &KernelSource) -> Result<Self> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        let text = c_string(source.program());
        let name = c_string(format!("kernels/{}", source.file));
        let (names, texts): (Vec<_>, Vec<_>) = source
            .headers()
            .into_iter()
            .map(|(name, text)| {
                (c_string(name), c_string(format!("#line 1 \"kernels/{name}\"\n{text}")))
            })
            .unzip();
        let pointers = |list: &[CString]| {
            list.iter().map(|item| item.as_ptr()).collect::<Vec<*const c_char>>()
        };
        let (names, texts) = (&names[..], &texts[..]);
        let mut program: Program = null_mut();
        // SAFETY: the type is that of NVRTC's interface; all texts live until the call returns,
        // and NVRTC keeps copies.
        let code = unsafe {
            let create: Create = compiler.function(c"nvrtcCreateProgram")?;
            create(
                &raw mut program,
                text.as_ptr(),
                name.as_ptr(),
                names.len() as c_int,
                pointers(texts).as_ptr(),
                pointers(names).as_ptr(),
            )
        };
        compiler.check(code, "take a program")?;
        Ok(Self { compiler, program })
    }

    /// Compiles; the log is returned on success and on failure.
    fn compile(&self, options: &[String]) -> Result<String, String> {
        type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
        let options: Vec<CString> =
            options.iter().map(|option| c_string(option.as_str())).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the type is that of NVRTC's interface; the options live until the call returns.
        let code = unsafe {
            let compile: Compile =
                self.compiler.function(c"nvrtcCompileProgram").map_err(|e| e.to_string())?;
            compile(self.program, pointers.len() as c_int, pointers.as_ptr())
        };
        let log = self
            .bytes(c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog")
            .map_err(|error| error.to_string())?;
        let log = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
        match code {
            0 => Ok(log),
            code if log.is_empty() => Err(format!("error {code} of NVRTC, without a message")),
            _ => Err(log),
        }
    }

    /// Bytes from NVRTC, by a function for their number and a function for their content.
    fn bytes(&self, size: &std::ffi::CStr, content: &std::ffi::CStr) -> Result<Vec<u8>> {
        type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
        type Content = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
        let mut length = 0;
        // SAFETY: the types are those of NVRTC's interface; the buffer has the requested size.
        unsafe {
            let get_size: Size = self.compiler.function(size)?;
            let get: Content = self.compiler.function(content)?;
            self.compiler.check(get_size(self.program, &raw mut length), "tell a size")?;
            let mut bytes = vec![0_u8; length];
            self.compiler.check(get(self.program, bytes.as_mut_ptr().cast()), "hand out code")?;
            Ok(bytes)
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
        // SAFETY: the program was made by NVRTC and is destroyed once.
        unsafe {
            if let Ok(destroy) = self.compiler.function::<Destroy>(c"nvrtcDestroyProgram") {
                destroy(&raw mut self.program);
            }
        }
    }
}

/// A text for NVRTC; no source of the program contains a zero byte.
fn c_string(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).expect("no zero byte in a source")
}
