//! Pairs of functions in Rust and in a kernel.

use nwp_mini::physics::wsm5::scheme::Scheme;

use super::values::{Draw, Precision};

/// A device function with its Rust twin.
pub(crate) struct Pair<R> {
    /// The path of the device function.
    pub(crate) name: &'static str,
    /// Draws arguments and records them in order, with the results of the Rust twin: the return value first, then the
    /// arguments that it changes.
    pub(crate) call: fn(&Scheme<R>, &mut Draw<R>),
    /// Largest difference of the two, in ULP.
    pub(crate) ulps: f64,
}

/// Defines pairs. Each line has the path of a device function, the source of its arguments (all but the parameters of
/// the scheme), the call of the Rust twin, the arguments that it changes, and the largest difference of the results in
/// ULP, by default 0.
macro_rules! pairs {
    ($p:ident, $d:ident: $(
        $name:literal($($argument:ident = $value:expr),*) => $result:expr $(, $changed:ident)*; $(within $ulps:ident;)?
    )*) => {
        vec![$( $crate::pair::Pair {
            name: $name,
            call: |$p, $d| {
                let _ = $p;
                $(
                    #[allow(unused_mut, reason = "most twins change no argument")]
                    let mut $argument = $value;
                    $d.give(&$argument);
                )*
                let result = $result;
                $d.keep(&result);
                $( $d.keep(&$changed); )*
            },
            ulps: 0.0 $( + $ulps )?,
        } ),*]
    };
}

pub(crate) use pairs;

/// No result: the twin only changes its arguments.
pub(crate) fn nothing(change: impl FnOnce()) -> [f64; 0] {
    change();
    []
}

/// A truth value, as the program gives it.
pub(crate) fn truth<R: Precision>(value: bool) -> R {
    if value { R::ONE } else { R::ZERO }
}

/// A whole number, as the program gives it.
pub(crate) fn whole<R: Precision>(value: usize) -> R {
    R::of(value as f64)
}
