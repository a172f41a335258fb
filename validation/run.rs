//! `nwp-mini run` as its users meet it: the job, the file it leaves, what it refuses and how.

#[path = "run/bad_files.rs"]
mod bad_files;
#[path = "run/bad_options.rs"]
mod bad_options;
#[path = "run/blow_up.rs"]
mod blow_up;
#[path = "run/budget.rs"]
mod budget;
#[path = "run/determinism.rs"]
mod determinism;
#[path = "run/diagnostics.rs"]
mod diagnostics;
#[path = "run/driver.rs"]
mod driver;
#[path = "run/hard.rs"]
mod hard;
#[path = "run/interrupt.rs"]
mod interrupt;
#[path = "run/job.rs"]
mod job;
#[path = "run/memory.rs"]
mod memory;
#[path = "run/output.rs"]
mod output;
#[path = "run/place.rs"]
mod place;
#[path = "run/refine.rs"]
mod refine;
#[path = "run/result.rs"]
mod result;
#[path = "run/small.rs"]
mod small;
