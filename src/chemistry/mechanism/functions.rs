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

/// All functions with their names and arguments; those in brackets may be omitted.
const FORMS: [(Function, &str); 18] = [
    (Function::Exp, "EXP(x)"),
    (Function::Log, "LOG(x)"),
    (Function::Log10, "LOG10(x)"),
    (Function::Sqrt, "SQRT(x)"),
    (Function::ArrAb, "ARR_ab(A, B)"),
    (Function::ArrAc, "ARR_ac(A, C)"),
    (Function::ArrAbc, "ARR_abc(A, B, C)"),
    (Function::Arr, "ARR(A, B, C, TEMP)"),
    (Function::Arr2, "ARR2(A, B, TEMP)"),
    (Function::ThermalT2, "THERMAL_T2(C, D, TEMP)"),
    (Function::Ep2, "EP2(A0, C0, A2, C2, A3, C3 [, TEMP, C_M])"),
    (Function::Ep3, "EP3(A1, C1, A2, C2 [, TEMP, C_M])"),
    (Function::Fall, "FALL(A0, B0, C0, A1, B1, C1, F [, TEMP, C_M])"),
    (Function::F2, "F2(A0, B0, C0, A1, B1, C1, F, N [, TEMP, C_M])"),
    (Function::Troe, "TROE(k0, n, ki, m, TEMP, C_M)"),
    (Function::Troee, "TROEE(A, B, k0, n, ki, m, TEMP, C_M)"),
    (Function::ThirdJpl, "k3rd_jpl(C_M, k0, n, ki, m, F)"),
    (Function::ThirdIupac, "k3rd_iupac(C_M, k0, n, ki, m, F)"),
];

impl Function {
    /// The names of all functions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMS.iter().map(|(function, _)| function.name())
    }

    /// The function with a name, ignoring case.
    pub fn named(name: &str) -> Option<Self> {
        let found = FORMS.iter().find(|(function, _)| function.name().eq_ignore_ascii_case(name));
        found.map(|&(function, _)| function)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.form().split('(').next().unwrap_or_default()
    }

    /// Possible numbers of arguments; the larger one includes temperature and air.
    pub fn arguments(self) -> Vec<usize> {
        let (own, more) = self.form().split_once('[').unwrap_or((self.form(), ""));
        let own = own.split(',').count();
        let all = own + more.matches(',').count();
        if all > own { vec![own, all] } else { vec![own] }
    }

    /// Names of its arguments.
    pub fn form(self) -> &'static str {
        FORMS[self as usize].1
    }
}
