//! Declarations of constants and tables in CUDA.

use std::fmt::Write;

use crate::cuda_abi::literal;
use crate::simd::double;

/// Text that declares constants and tables.
#[derive(Default)]
pub(super) struct Declarations(pub(super) String);

impl Declarations {
    /// Constants of `kernels/chemistry/functions.cuh`.
    pub(super) fn functions(&mut self) {
        self.named_numbers(double::constants());
        for (name, values) in double::series() {
            self.coefficients(name, values);
        }
        let (range, mantissa_bits, bias) = double::LAYOUT;
        self.number("EXP_RANGE", range);
        self.whole("MANTISSA_BITS", mantissa_bits);
        self.whole("EXPONENT_BIAS", bias);
        self.number("SMALLEST_NORMAL", f64::MIN_POSITIVE);
        self.0 += "#define INFINITE __longlong_as_double(0x7ff0000000000000)\n";
    }

    pub(super) fn whole(&mut self, name: &str, value: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "constexpr int {name} = {value};");
    }

    pub(super) fn truth(&mut self, name: &str, value: bool) {
        let _ = writeln!(self.0, "constexpr bool {name} = {value};");
    }

    pub(super) fn number(&mut self, name: &str, value: f64) {
        let _ = writeln!(self.0, "constexpr double {name} = {};", literal(value));
    }

    pub(super) fn named_numbers(&mut self, all: impl IntoIterator<Item = (&'static str, f64)>) {
        all.into_iter().for_each(|(name, value)| self.number(name, value));
    }

    /// Declares a table; C++ has no empty ones.
    pub(super) fn table<T>(&mut self, head: &str, values: &[T], text: impl Fn(&T) -> String) {
        let values: Vec<String> = values.iter().map(text).collect();
        let list = if values.is_empty() { "{}".to_owned() } else { values.join(",") };
        let _ = writeln!(self.0, "{head}[] = {{{list}}};");
    }

    /// An array of integers of a type of CUDA.
    pub(super) fn integers<T: ToString>(&mut self, kind: &str, name: &str, values: &[T]) {
        self.table(&format!("static __device__ const {kind} {name}"), values, T::to_string);
    }

    pub(super) fn distance(&mut self, name: &str, value: u32) {
        let _ = writeln!(self.0, "constexpr unsigned {name} = {value}u;");
    }

    /// Structs of byte offsets and indices.
    pub(super) fn records<const N: usize>(&mut self, kind: &str, name: &str, values: &[[u32; N]]) {
        let head = format!("static __device__ const {kind} {name}");
        self.table(&head, values, |values| {
            format!("{{{}}}", values.map(|value| value.to_string()).join(","))
        });
    }

    /// Structs of products of a rate constant and concentrations.
    pub(super) fn products(&mut self, name: &str, count: usize, values: &[Vec<u32>]) {
        let head = format!("static __device__ const Factors<{count}> {name}");
        self.table(&head, values, |values| {
            let numbers: Vec<String> = values.iter().map(u32::to_string).collect();
            match &numbers[1..] {
                [] => format!("{{{}}}", numbers[0]),
                concentrations => format!("{{{},{{{}}}}}", numbers[0], concentrations.join(",")),
            }
        });
    }

    pub(super) fn numbers(&mut self, name: &str, values: &[f64]) {
        let head = format!("static __device__ const double {name}");
        self.table(&head, values, |&value| literal(value));
    }

    /// Coefficients of a method, which are substituted in unrolled loops.
    pub(super) fn coefficients(&mut self, name: &str, values: &[f64]) {
        self.table(&format!("constexpr double {name}"), values, |&value| literal(value));
    }
}
