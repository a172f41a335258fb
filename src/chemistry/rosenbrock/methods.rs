//! Coefficients of Rosenbrock methods.
//!
//! A Rosenbrock method is an implicit Runge-Kutta method that solves linear systems only, all with the
//! same matrix I/(hγ) - J. In the form of Hairer and Wanner (Solving Ordinary Differential Equations
//! II, section IV.7) a step of length h from y at time t is
//!
//! ```text
//! (I/(h γ₁) - J) kᵢ = f(t + αᵢ h, y + Σ aᵢⱼ kⱼ) + Σ (cᵢⱼ/h) kⱼ + h γᵢ ∂f/∂t      (j < i)
//! ynew = y + Σ mᵢ kᵢ,      error = Σ eᵢ kᵢ
//! ```

/// Maximum number of stages.
pub const MOST_STAGES: usize = 6;

/// Number of coefficients below the diagonal.
const PAIRS: usize = MOST_STAGES * (MOST_STAGES - 1) / 2;

/// A Rosenbrock method; unused coefficients are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// Name.
    pub name: &'static str,
    /// Number of stages.
    pub stages: usize,
    /// Order of the error estimate: the exponent of the step control is its inverse.
    pub order: i32,
    /// aᵢⱼ row by row: 21; 31 32; 41 42 43; ...
    pub a: [f64; PAIRS],
    /// cᵢⱼ in the same order.
    pub c: [f64; PAIRS],
    /// Weights of the solution.
    pub m: [f64; MOST_STAGES],
    /// Weights of the error.
    pub e: [f64; MOST_STAGES],
    /// Times of the stages, in steps.
    pub alpha: [f64; MOST_STAGES],
    /// Weights of ∂f/∂t; the first one is that of the matrix.
    pub gamma: [f64; MOST_STAGES],
    /// True if a stage evaluates f; otherwise it uses the value of the preceding stage.
    pub evaluates: [bool; MOST_STAGES],
}

/// Values, padded with blanks.
const fn filled<T: Copy, const N: usize, const M: usize>(values: [T; N], blank: T) -> [T; M] {
    let mut all = [blank; M];
    let mut i = 0;
    while i < N {
        all[i] = values[i];
        i += 1;
    }
    all
}

/// Coefficients, padded with zeros.
const fn coefficients<const N: usize, const M: usize>(values: [f64; N]) -> [f64; M] {
    filled(values, 0.0)
}

/// Truth values, padded with false.
const fn flags<const N: usize>(values: [bool; N]) -> [bool; MOST_STAGES] {
    filled(values, false)
}

/// γ of ROS2, 1 + 1/√2.
const ROS2_GAMMA: f64 = 1.0 + std::f64::consts::FRAC_1_SQRT_2;

/// γ of ROS3.
const ROS3_GAMMA: f64 = 0.435_866_521_508_459;

/// Order 2(1), L-stable, 2 stages (Verwer et al. 1999, SIAM J. Sci. Comput. 20, 1456).
pub const ROS2: Method = Method {
    name: "ros2",
    stages: 2,
    order: 2,
    a: coefficients([1.0 / ROS2_GAMMA]),
    c: coefficients([-2.0 / ROS2_GAMMA]),
    m: coefficients([3.0 / (2.0 * ROS2_GAMMA), 1.0 / (2.0 * ROS2_GAMMA)]),
    e: coefficients([1.0 / (2.0 * ROS2_GAMMA), 1.0 / (2.0 * ROS2_GAMMA)]),
    alpha: coefficients([0.0, 1.0]),
    gamma: coefficients([ROS2_GAMMA, -ROS2_GAMMA]),
    evaluates: flags([true, true]),
};

/// Order 3(2), L-stable, 3 stages and 2 evaluations of f (Sandu et al. 1997, Atmos. Environ. 31, 3459);
/// the choice of WRF-Chem.
pub const ROS3: Method = Method {
    name: "ros3",
    stages: 3,
    order: 3,
    a: coefficients([1.0, 1.0, 0.0]),
    c: coefficients([-1.015_617_108_387_770_3, 4.075_995_645_253_77, 9.207_679_429_833_08]),
    m: coefficients([1.0, 6.169_794_704_382_824_5, -0.427_722_565_432_185_73]),
    e: coefficients([0.5, -2.907_955_871_680_547, 0.223_540_698_978_115_7]),
    alpha: coefficients([0.0, ROS3_GAMMA, ROS3_GAMMA]),
    gamma: coefficients([ROS3_GAMMA, 0.242_919_964_548_168_05, 2.185_138_002_766_406]),
    evaluates: flags([true, true, false]),
};

/// Order 4(3), L-stable, 4 stages and 3 evaluations of f (Hairer and Wanner II).
pub const ROS4: Method = Method {
    name: "ros4",
    stages: 4,
    order: 4,
    a: coefficients([
        2.0,
        1.867_943_637_803_922,
        0.234_444_971_139_915_6,
        1.867_943_637_803_922,
        0.234_444_971_139_915_6,
        0.0,
    ]),
    c: coefficients([
        -7.137_615_036_412_31,
        2.580_708_087_951_457,
        0.651_595_007_644_797_5,
        -2.137_148_994_382_534,
        -0.321_466_969_123_762_6,
        -0.694_974_250_178_177_9,
    ]),
    m: coefficients([
        2.255_570_073_418_735,
        0.287_049_326_218_679_2,
        0.435_317_943_184_018,
        1.093_502_252_409_163,
    ]),
    e: coefficients([
        -0.281_543_193_214_115_5,
        -0.072_761_991_249_389_2,
        -0.108_219_620_149_531_1,
        -1.093_502_252_409_163,
    ]),
    alpha: coefficients([0.0, 1.145_640, 0.655_216_863_815_59, 0.655_216_863_815_59]),
    gamma: coefficients([
        0.572_82,
        -1.769_193_891_319_233,
        0.759_263_343_792_048_2,
        -0.104_902_108_710_045,
    ]),
    evaluates: flags([true, true, true, false]),
};

/// Order 3(2), stiffly accurate, 4 stages and 3 evaluations of f (Sandu et al. 1997); KPP's default.
pub const RODAS3: Method = Method {
    name: "rodas3",
    stages: 4,
    order: 3,
    a: coefficients([0.0, 2.0, 0.0, 2.0, 0.0, 1.0]),
    c: coefficients([4.0, 1.0, -1.0, 1.0, -1.0, -8.0 / 3.0]),
    m: coefficients([2.0, 0.0, 1.0, 1.0]),
    e: coefficients([0.0, 0.0, 0.0, 1.0]),
    alpha: coefficients([0.0, 0.0, 1.0, 1.0]),
    gamma: coefficients([0.5, 1.5, 0.0, 0.0]),
    evaluates: flags([true, false, true, true]),
};

/// Order 4(3), stiffly accurate, 6 stages (Hairer and Wanner II).
pub const RODAS4: Method = Method {
    name: "rodas4",
    stages: 6,
    order: 4,
    a: coefficients([
        1.544,
        0.946_678_528_081_582_6,
        0.255_701_169_898_328_4,
        3.314_825_187_068_521,
        2.896_124_015_972_201,
        0.998_641_913_997_781_7,
        1.221_224_509_226_641,
        6.019_134_481_288_629,
        12.537_083_329_320_87,
        -0.687_886_036_105_895,
        1.221_224_509_226_641,
        6.019_134_481_288_629,
        12.537_083_329_320_87,
        -0.687_886_036_105_895,
        1.0,
    ]),
    c: coefficients([
        -5.6688,
        -2.430_093_356_833_875,
        -0.206_359_915_709_191_5,
        -0.107_352_905_815_137_5,
        -9.594_562_251_023_355,
        -20.470_286_148_096_16,
        7.496_443_313_967_647,
        -10.246_804_314_643_52,
        -33.999_903_528_199_05,
        11.708_908_932_061_6,
        8.083_246_795_921_522,
        -7.981_132_988_064_893,
        -31.521_594_328_743_71,
        16.319_305_431_231_36,
        -6.058_818_238_834_054,
    ]),
    m: coefficients([
        1.221_224_509_226_641,
        6.019_134_481_288_629,
        12.537_083_329_320_87,
        -0.687_886_036_105_895,
        1.0,
        1.0,
    ]),
    e: coefficients([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
    alpha: coefficients([0.0, 0.386, 0.21, 0.63, 1.0, 1.0]),
    gamma: coefficients([0.25, -0.1043, 0.1035, -0.036_200_000_000_002_3, 0.0, 0.0]),
    evaluates: flags([true; 6]),
};

/// All methods, in KPP's numbering from 1.
pub const METHODS: [Method; 5] = [ROS2, ROS3, ROS4, RODAS3, RODAS4];

impl Method {
    /// Coefficients aᵢⱼ of a stage.
    #[inline(always)]
    pub fn a_row(&self, stage: usize) -> &[f64] {
        &self.a[stage * stage.saturating_sub(1) / 2..][..stage]
    }

    /// Coefficients cᵢⱼ of a stage.
    #[inline(always)]
    pub fn c_row(&self, stage: usize) -> &[f64] {
        &self.c[stage * stage.saturating_sub(1) / 2..][..stage]
    }
}
