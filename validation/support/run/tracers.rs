//! A file of passive tracers.

/// One tracer of each kind, with all kinds of sides and limiters.
pub const TRACERS: &str = r#"
[[tracer]]
name = "smoke"
units = "1"
initial = { kind = "constant", value = 1.0 }

[[tracer]]
name = "vapour"
units = "kg kg-1"
initial = { kind = "field", variable = "QVAPOR" }

[[tracer]]
name = "hill"
units = "ppbv"
initial = { kind = "gaussian", width = 9000, value = 40, background = 2 }
sides = "zero-gradient"
limiter = "monotonic"
decay = 600.0

[[tracer]]
name = "low"
units = "ug m-3"
initial = { kind = "layer", bottom = 0, top = 2000 }
sides = 0.0
limiter = "none"
decay = 3600.0

[[tracer]]
name = "pressure_wave"
units = "Pa"
description = "what the pressure was"
initial = { kind = "field", variable = "P" }
limiter = "none"

[[tracer]]
name = "echo"
units = "1"
initial = { kind = "tracer", name = "hill" }
"#;
/// Their names.
pub const NAMES: [&str; 6] = ["smoke", "vapour", "hill", "low", "pressure_wave", "echo"];
