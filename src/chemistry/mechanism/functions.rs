//! Named rate functions: the libraries of KPP and of WRF-Chem, and those of Fortran.

/// A function that rates may call.
///
/// T is the temperature (K), M the number density of air (molecules cm-3). Functions of KPP's library take both from
/// the cell; those of WRF's library take them as their last arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// e^x.
    Exp,
    /// ln x.
    Log,
    /// log₁₀ x.
    Log10,
    /// √x.
    Sqrt,
    /// A e^(-B/T).
    ArrAb,
    /// A (T/300)^C.
    ArrAc,
    /// A e^(-B/T) (T/300)^C.
    ArrAbc,
    /// A e^(-B/T) (T/300)^C, with the temperature as the last argument.
    Arr,
    /// A e^(-B/T), with the temperature as the last argument.
    Arr2,
    /// T² C e^(-D/T).
    ThermalT2,
    /// q₀ + q₃ M / (1 + q₃ M / q₂) with qᵢ = Aᵢ e^(-Cᵢ/T).
    Ep2,
    /// A₁ e^(-C₁/T) + A₂ e^(-C₂/T) M.
    Ep3,
    /// Fall-off between low and high pressure with broadening F, limits of Arrhenius form.
    Fall,
    /// Fall-off with broadening F and its width N as arguments.
    F2,
    /// Fall-off after Troe with a broadening of 0.6.
    Troe,
    /// Reverse of [`Function::Troe`]: its product with A e^(-B/T).
    Troee,
    /// Fall-off of the JPL evaluation.
    ThirdJpl,
    /// Fall-off of the IUPAC evaluation, with a width that depends on F.
    ThirdIupac,
}

impl Function {
    /// All functions.
    pub const ALL: [Self; 18] = [
        Self::Exp,
        Self::Log,
        Self::Log10,
        Self::Sqrt,
        Self::ArrAb,
        Self::ArrAc,
        Self::ArrAbc,
        Self::Arr,
        Self::Arr2,
        Self::ThermalT2,
        Self::Ep2,
        Self::Ep3,
        Self::Fall,
        Self::F2,
        Self::Troe,
        Self::Troee,
        Self::ThirdJpl,
        Self::ThirdIupac,
    ];

    /// The function with a name, ignoring case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name().eq_ignore_ascii_case(name))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exp => "EXP",
            Self::Log => "LOG",
            Self::Log10 => "LOG10",
            Self::Sqrt => "SQRT",
            Self::ArrAb => "ARR_ab",
            Self::ArrAc => "ARR_ac",
            Self::ArrAbc => "ARR_abc",
            Self::Arr => "ARR",
            Self::Arr2 => "ARR2",
            Self::ThermalT2 => "THERMAL_T2",
            Self::Ep2 => "EP2",
            Self::Ep3 => "EP3",
            Self::Fall => "FALL",
            Self::F2 => "F2",
            Self::Troe => "TROE",
            Self::Troee => "TROEE",
            Self::ThirdJpl => "k3rd_jpl",
            Self::ThirdIupac => "k3rd_iupac",
        }
    }

    /// Possible numbers of arguments; the larger one includes temperature and air.
    pub fn arguments(self) -> &'static [usize] {
        match self {
            Self::Exp | Self::Log | Self::Log10 | Self::Sqrt => &[1],
            Self::ArrAb | Self::ArrAc => &[2],
            Self::ArrAbc | Self::Arr2 | Self::ThermalT2 => &[3],
            Self::Arr => &[4],
            Self::Ep2 => &[6, 8],
            Self::Ep3 => &[4, 6],
            Self::Fall => &[7, 9],
            Self::F2 => &[8, 10],
            Self::Troe | Self::ThirdJpl | Self::ThirdIupac => &[6],
            Self::Troee => &[8],
        }
    }

    /// Names of its arguments.
    pub fn form(self) -> &'static str {
        match self {
            Self::Exp => "EXP(x)",
            Self::Log => "LOG(x)",
            Self::Log10 => "LOG10(x)",
            Self::Sqrt => "SQRT(x)",
            Self::ArrAb => "ARR_ab(A, B)",
            Self::ArrAc => "ARR_ac(A, C)",
            Self::ArrAbc => "ARR_abc(A, B, C)",
            Self::Arr => "ARR(A, B, C, TEMP)",
            Self::Arr2 => "ARR2(A, B, TEMP)",
            Self::ThermalT2 => "THERMAL_T2(C, D, TEMP)",
            Self::Ep2 => "EP2(A0, C0, A2, C2, A3, C3 [, TEMP, C_M])",
            Self::Ep3 => "EP3(A1, C1, A2, C2 [, TEMP, C_M])",
            Self::Fall => "FALL(A0, B0, C0, A1, B1, C1, F [, TEMP, C_M])",
            Self::F2 => "F2(A0, B0, C0, A1, B1, C1, F, N [, TEMP, C_M])",
            Self::Troe => "TROE(k0, n, ki, m, TEMP, C_M)",
            Self::Troee => "TROEE(A, B, k0, n, ki, m, TEMP, C_M)",
            Self::ThirdJpl => "k3rd_jpl(C_M, k0, n, ki, m, F)",
            Self::ThirdIupac => "k3rd_iupac(C_M, k0, n, ki, m, F)",
        }
    }
}
