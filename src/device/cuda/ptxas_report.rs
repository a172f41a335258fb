//! Resources of a compiled kernel, as the assembler reports them.

use serde::Serialize;

use super::nvrtc::{Compiled, Compiler};
use crate::device::kernel_source::{Architecture, KernelSource};
use crate::error::{Advice, Error, Result};

/// Resources of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PtxasReport {
    /// Name of the kernel.
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread: its stack frame, bytes.
    pub local_bytes: u32,
    /// Register spills: bytes stored and loaded.
    pub spill_bytes: u32,
    /// Shared memory of a block that is known when compiling, bytes.
    pub shared_bytes: u32,
    /// Instructions on double-precision numbers in the PTX.
    pub f64_instructions: u32,
}

/// Compiles a source for an architecture, without a device, and reads the resources of its kernels.
///
/// # Errors
///
/// Those of the compilation, and [`Error::Gpu`] when NVRTC cannot make machine code for the architecture.
pub fn ptxas_reports(
    compiler: &Compiler,
    source: &KernelSource,
    architecture: Architecture,
) -> Result<Vec<PtxasReport>> {
    let known = compiler.architectures()?;
    if !known.contains(&architecture) {
        let list = known.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        return Err(Error::Usage(format!(
            "this NVRTC compiles for {list} only, not for {architecture}"
        ))
        .advise(Advice::ChooseArchitecture));
    }
    // Machine code from NVRTC's own cache comes without the assembler's report.
    let mut extra = vec!["--ptxas-options=-v"];
    if compiler.version() >= (12, 9) {
        extra.push("--no-cache");
    }
    let Compiled { log, ptx, .. } = compiler.compile(source, architecture, &extra)?;
    let reports = read(&log, &ptx);
    if reports.is_empty() {
        let file = source.file;
        return Err(Error::Gpu(format!("the assembler reported no kernel of {file}:\n{log}")));
    }
    Ok(reports)
}

/// Reads the report of the assembler.
fn read(log: &str, ptx: &str) -> Vec<PtxasReport> {
    let mut reports: Vec<PtxasReport> = Vec::new();
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            reports.push(PtxasReport {
                f64_instructions: f64_instructions(ptx, &name),
                name,
                ..PtxasReport::default()
            });
        }
        let Some(last) = reports.last_mut() else { continue };
        if let Some(bytes) = before(line, " bytes stack frame") {
            last.local_bytes = bytes;
            let stores = before(line, " bytes spill stores").unwrap_or(0);
            let loads = before(line, " bytes spill loads").unwrap_or(0);
            last.spill_bytes = stores + loads;
        }
        if let Some(registers) = before(line, " registers") {
            last.registers = registers;
            last.shared_bytes = before(line, " bytes smem").unwrap_or(0);
        }
    }
    reports
}

/// The number that precedes `words`.
fn before(line: &str, words: &str) -> Option<u32> {
    let text = &line[..line.find(words)?];
    let digits = text.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Instructions with an operand of type f64 in the body of a kernel; functions that were not inlined count for every
/// kernel.
fn f64_instructions(ptx: &str, kernel: &str) -> u32 {
    let mut in_other_entry = false;
    let mut count = 0;
    for line in ptx.lines() {
        let words = line.trim_start();
        if words.contains(".entry ") {
            let name = words.split(".entry ").nth(1).unwrap_or_default();
            in_other_entry =
                name.split(|c: char| c == '(' || c.is_whitespace()).next() != Some(kernel);
        } else if words.contains(".func ") {
            in_other_entry = false;
        }
        let is_declaration = words.starts_with('.') || words.starts_with("//");
        if !in_other_entry && !is_declaration && words.split([' ', ';']).any(|w| w.contains(".f64"))
        {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_assembler_reports() {
        let log = "ptxas info    : 0 bytes gmem\n\
                   ptxas info    : Compiling entry function 'first' for 'sm_90'\n\
                   ptxas info    : Function properties for first\n    \
                   16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
                   ptxas info    : Used 42 registers, used 1 barriers, 6144 bytes smem\n\
                   ptxas info    : Compiling entry function 'second' for 'sm_90'\n\
                   ptxas info    : Used 8 registers, 16 bytes cumulative stack size\n";
        let ptx = ".visible .entry first(\n.reg .f64 %fd<2>;\nadd.f64 %fd1, %fd0, %fd0;\n}\n\
                   .visible .entry second(\nadd.f32 %f1, %f0, %f0;\n}\n";
        let reports = read(log, ptx);
        let first = PtxasReport {
            name: "first".into(),
            registers: 42,
            local_bytes: 16,
            spill_bytes: 12,
            shared_bytes: 6144,
            f64_instructions: 1,
        };
        let second = PtxasReport { name: "second".into(), registers: 8, ..PtxasReport::default() };
        assert_eq!(reports, [first, second]);
    }
}
