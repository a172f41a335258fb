//! Parameters of the scheme: every number with its default, its bounds and its unit.

use crate::physics::scheme::Parameter;

/// A struct of parameters with their defaults, units and bounds.
macro_rules! tuning {
    ($(#[$about:meta])* $tuning:ident; $(
        #[doc = $doc:literal]
        $name:ident: $number:ident = $value:expr, $units:expr, $bounds:expr;
    )*) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $tuning {
            $( #[doc = $doc] pub $name: $number, )*
        }

        impl Default for $tuning {
            /// The values of WRF 4.
            fn default() -> Self {
                Self { $( $name: $value, )* }
            }
        }

        impl $tuning {
            /// All of them, named after the members.
            #[allow(clippy::unnecessary_cast, reason = "numbers of either precision")]
            pub const PARAMETERS: &'static [Parameter] = &[ $( Parameter {
                name: stringify!($name),
                description: $doc.trim_ascii(),
                units: $units,
                bounds: $bounds,
                default: { const DEFAULT: $number = $value; DEFAULT as f64 },
            }, )* ];

            /// The value of a parameter; `None` for an unknown name.
            pub fn get(&self, name: &str) -> Option<f64> {
                match name {
                    $( stringify!($name) => Some(self.$name.into()), )*
                    _ => None,
                }
            }

            /// The same parameters with one changed, to `value` rounded to its precision. A name that is not in
            /// `PARAMETERS` changes nothing.
            #[allow(clippy::unnecessary_cast, reason = "numbers of either precision")]
            pub fn with(mut self, name: &str, value: f64) -> Self {
                match name {
                    $( stringify!($name) => self.$name = value as $number, )*
                    _ => {}
                }
                self
            }
        }
    };
}

pub(crate) use tuning;

tuning! {
    /// Tunable parameters of the scheme, in the units of their WRF names.
    Tuning;
    /// Intercept of the rain size distribution (WRF `n0r`), m⁻⁴.
    n0r: f32 = 8.0e6, Some("m-4"), [1e3, 1e11];
    /// Intercept of the snow size distribution at freezing (WRF `n0s`), m⁻⁴.
    n0s: f32 = 2.0e6, Some("m-4"), [1e3, 1e11];
    /// Largest intercept of the snow size distribution (WRF `n0smax`), m⁻⁴.
    n0s_max: f32 = 1.0e11, Some("m-4"), [1e4, 1e14];
    /// Growth of the snow intercept with cold (WRF `alpha`), K⁻¹.
    alpha: f64 = 0.12, Some("K-1"), [0.0, 1.0];
    /// Factor of the fall speed of rain, v = a D^b (WRF `avtr`), m¹⁻ᵇ s⁻¹.
    fall_rain: f32 = 841.9, None, [1.0, 1e5];
    /// Exponent of the fall speed of rain (WRF `bvtr`), 1.
    fall_rain_exponent: f64 = 0.8, Some("1"), [0.0, 2.0];
    /// Factor of the fall speed of snow (WRF `avts`), m¹⁻ᵇ s⁻¹.
    fall_snow: f32 = 11.72, None, [0.1, 1e4];
    /// Exponent of the fall speed of snow (WRF `bvts`), 1.
    fall_snow_exponent: f64 = 0.41, Some("1"), [0.0, 2.0];
    /// Largest slope of the rain size distribution (WRF `lamdarmax`), m⁻¹.
    slope_rain_max: f32 = 8.0e4, Some("m-1"), [1e3, 1e7];
    /// Largest slope of the snow size distribution (WRF `lamdasmax`), m⁻¹.
    slope_snow_max: f32 = 1.0e5, Some("m-1"), [1e3, 1e7];
    /// Diameter of an ice crystal over the root of its mass (WRF `dicon`), m kg⁻¹ᐟ².
    ice_shape: f64 = 11.9, None, [0.1, 1e3];
    /// Largest diameter of an ice crystal (WRF `dimax`), m.
    ice_diameter_max: f64 = 5.0e-4, Some("m"), [1e-5, 1e-2];
    /// Radius of cloud drops at which autoconversion sets in (WRF `r0`), m.
    drop_radius: f32 = 8.0e-6, Some("m"), [1e-7, 1e-4];
    /// Collection efficiency of autoconversion (WRF `peaut`), 1.
    autoconversion_efficiency: f32 = 0.55, Some("1"), [0.0, 1.0];
    /// Number of cloud drops (WRF `xncr`), m⁻³.
    drop_number: f32 = 3.0e8, Some("m-3"), [1e5, 1e11];
    /// Dynamic viscosity of air in autoconversion (WRF `xmyu`), kg m⁻¹ s⁻¹.
    air_viscosity: f32 = 1.718e-5, Some("kg m-1 s-1"), [1e-6, 1e-4];
    /// Rate of freezing of drops (WRF `pfrz1`), m⁻³ s⁻¹.
    freezing_rate: f64 = 100.0, Some("m-3 s-1"), [0.0, 1e6];
    /// Growth of freezing with cold (WRF `pfrz2`), K⁻¹.
    freezing_growth: f64 = 0.66, Some("K-1"), [0.0, 1.5];
    /// Collection efficiency of cloud water by rain (WRF `eacrr`), 1.
    collection_rain: f32 = 1.0, Some("1"), [0.0, 1.0];
    /// Collection efficiency of cloud water by snow (WRF `eacrc`), 1.
    collection_snow: f32 = 1.0, Some("1"), [0.0, 1.0];
}
