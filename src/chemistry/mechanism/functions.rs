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
    /// |x|.
    Abs,
    /// x without its fraction.
    Truncate,
    /// A e^(-B/T).
    ArrAb,
    /// A (T/300)^C.
    ArrAc,
    /// A e^(-B/T) (T/300)^C.
    ArrAbc,
    /// A e^(-B/T) (T/300)^C, with the temperature as the last argument.
    Arr,
    /// A e^(-B/T), with the temperature as the last argument; without it A e^(B/T), as in KPP before version 3.
    Arr2,
    /// k e^(b (1/T - 3.3540e-3)), of KPP before version 3.
    KArr,
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

/// All functions with their names and arguments, of which those in brackets may be omitted, and the numbers of those that
/// may not and that may.
const FORMS: [(Function, &str, usize, usize); 21] = [
    (Function::Exp, "EXP(x)", 1, 0),
    (Function::Log, "LOG(x)", 1, 0),
    (Function::Log10, "LOG10(x)", 1, 0),
    (Function::Sqrt, "SQRT(x)", 1, 0),
    (Function::Abs, "ABS(x)", 1, 0),
    (Function::Truncate, "AINT(x)", 1, 0),
    (Function::ArrAb, "ARR_ab(A, B)", 2, 0),
    (Function::ArrAc, "ARR_ac(A, C)", 2, 0),
    (Function::ArrAbc, "ARR_abc(A, B, C)", 3, 0),
    (Function::Arr, "ARR(A, B, C, TEMP)", 4, 0),
    (Function::Arr2, "ARR2(A, B [, TEMP])", 2, 1),
    (Function::KArr, "k_arr(k298, b, TEMP)", 3, 0),
    (Function::ThermalT2, "THERMAL_T2(C, D, TEMP)", 3, 0),
    (Function::Ep2, "EP2(A0, C0, A2, C2, A3, C3 [, TEMP, C_M])", 6, 2),
    (Function::Ep3, "EP3(A1, C1, A2, C2 [, TEMP, C_M])", 4, 2),
    (Function::Fall, "FALL(A0, B0, C0, A1, B1, C1, F [, TEMP, C_M])", 7, 2),
    (Function::F2, "F2(A0, B0, C0, A1, B1, C1, F, N [, TEMP, C_M])", 8, 2),
    (Function::Troe, "TROE(k0, n, ki, m, TEMP, C_M)", 6, 0),
    (Function::Troee, "TROEE(A, B, k0, n, ki, m, TEMP, C_M)", 8, 0),
    (Function::ThirdJpl, "k3rd_jpl(C_M, k0, n, ki, m, F)", 6, 0),
    (Function::ThirdIupac, "k3rd_iupac(C_M, k0, n, ki, m, F)", 6, 0),
];

impl Function {
    /// The names of all functions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMS.iter().map(|(function, ..)| function.name())
    }

    /// The function with a name, ignoring case, and with the `_dp` that KPP 3 adds to the names of its functions for
    /// arguments of double precision.
    pub fn named(name: &str) -> Option<Self> {
        let is = |wanted: &str| {
            FORMS.iter().find(|(function, ..)| function.name().eq_ignore_ascii_case(wanted))
        };
        let bare = || name.to_ascii_lowercase().strip_suffix("_dp").and_then(is);
        is(name).or_else(bare).map(|&(function, ..)| function)
    }

    /// The value of a function of one number; `None` of others.
    pub fn value(self, x: f64) -> Option<f64> {
        Some(match self {
            Self::Exp => x.exp(),
            Self::Log => x.ln(),
            Self::Log10 => x.log10(),
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
            Self::Truncate => x.trunc(),
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.form().split('(').next().unwrap_or_default()
    }

    /// Possible numbers of arguments; the larger one includes temperature, and air where it is needed.
    pub fn arguments(self) -> Vec<usize> {
        let &(.., own, optional) = self.row();
        if optional > 0 { vec![own, own + optional] } else { vec![own] }
    }

    /// Names of its arguments.
    pub fn form(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> &'static (Self, &'static str, usize, usize) {
        let row = FORMS.iter().find(|(function, ..)| *function == self);
        row.unwrap_or_else(|| unreachable!("the table has all functions"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks of mechanisms go by the numbers, messages by the texts.
    #[test]
    fn numbers_of_arguments_are_those_of_the_texts() {
        for (_, form, needed, omissible) in FORMS {
            let (all, bracketed) = form.split_once('[').unwrap_or((form, ""));
            assert_eq!(all.matches(',').count() + 1, needed, "{form}");
            assert_eq!(bracketed.matches(',').count(), omissible, "{form}");
        }
    }
}
