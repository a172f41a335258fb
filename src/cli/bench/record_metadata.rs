//! Metadata of every figure, by which records of several machines can be told apart.

use std::fs;

use serde_json::Value;
use time::OffsetDateTime;

use super::Bench;
use crate::cli::run::metadata::machine;
use crate::device::Gpu;
use crate::os_text::Shown;

impl Bench {
    /// Adds the metadata to all rows: date, machine and input.
    pub(super) fn stamp(&self, rows: &mut [Value], gpu: Option<&Gpu>) {
        let machine = machine();
        let name = self.input.shown_name();
        let group = self.group.iter().map(|group| format!(", group {group}"));
        let dense = self.dense.then(|| ", only with condensate".to_owned());
        let input: String = [name.into_owned()].into_iter().chain(group).chain(dense).collect();
        let compiler = gpu.map(Gpu::compiler);
        let facts: [(&str, Value); 8] = [
            ("date", OffsetDateTime::now_utc().date().to_string().into()),
            ("cpu", machine.cpu.into()),
            ("cores", machine.cores.into()),
            ("driver", gpu.and_then(|_| driver()).into()),
            ("compiler", compiler.as_ref().map(|compiler| compiler.version.clone()).into()),
            ("fast_math", compiler.map(|compiler| compiler.fast_math).into()),
            ("tuned", gpu.map(|gpu| gpu.tuning().is_some()).into()),
            ("input", input.into()),
        ];
        for fields in rows.iter_mut().filter_map(Value::as_object_mut) {
            fields.extend(facts.iter().map(|(name, fact)| ((*name).to_owned(), fact.clone())));
        }
    }
}

/// Version of the kernel driver, as 580.159.04; `None` if it is not reported.
fn driver() -> Option<String> {
    version_in(&fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// The first word of digits with at least one dot.
fn version_in(text: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    text.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_the_driver_is_found() {
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release\n\
                    GCC version:  gcc version 12.2.0";
        assert_eq!(version_in(text).as_deref(), Some("580.159.04"));
        assert_eq!(version_in("nothing. here"), None);
    }
}
