//! Functions and variables of a mechanism in Fortran and in C, against values worked out here.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nwp_mini::chemistry::cells::{Cells, rate_constants};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism::diagnostics::Severity;
use nwp_mini::chemistry::mechanism::quantity::{Origin, Quantity};
use nwp_mini::chemistry::mechanism::{Mechanism, RateCode, parse, parse_with};

use nwp_mini_support::chemistry::relative;

/// Temperatures of the cells, K, and their air, molecules cm-3.
const T: [f64; 3] = [215.0, 250.0, 301.0];
const M: f64 = 1e19;

/// A mechanism with a reaction for each rate.
fn mechanism_of(rates: &[&str], blocks: &str) -> String {
    let equations = rates.iter().enumerate().fold(String::new(), |mut text, (number, rate)| {
        let _ = writeln!(text, "<R{number}> A = B : {rate} ;");
        text
    });
    format!("#DEFVAR A = IGNORE; B = IGNORE; PX = IGNORE;\n#EQUATIONS\n{equations}{blocks}")
}

fn in_rates(code: &str) -> String {
    format!("#INLINE F90_RATES\n{code}\n#ENDINLINE\n")
}

/// Values of quantities in all cells: PX is a concentration, an index of the host grows with the cell.
fn quantity(quantity: &Quantity, cell: usize) -> f64 {
    match (quantity.origin, quantity.name.to_ascii_lowercase().as_str()) {
        (Origin::Species(_), _) => 5e8,
        (Origin::Water, _) => 3e17,
        (Origin::Humidity, _) => 0.4,
        (Origin::Host(None), "place") => 1.0 + cell as f64,
        (Origin::Host(Some(element)), _) => 10.0 * (element + 1) as f64,
        (Origin::Host(None), _) => 0.25,
        _ => M,
    }
}

/// Rate constants of a mechanism by reaction and cell.
fn values(mechanism: &Mechanism) -> Vec<[f64; 3]> {
    let kinetics = Kinetics::new(mechanism).unwrap();
    let quantities =
        (0..3).flat_map(|cell| mechanism.quantities.iter().map(move |q| quantity(q, cell)));
    let cells = Cells {
        temperature: T.to_vec(),
        air_factor: vec![M / 1e6; 3],
        air_density: vec![M; 3],
        hydrolysis: vec![0.0; 3],
        photolysis: vec![7e-3; 3 * mechanism.photolysis.len()],
        quantities: quantities.collect(),
        start: vec![0.0; 3],
        ..Cells::default()
    };
    let all = rate_constants(&kinetics, &cells);
    let count = kinetics.reactions();
    (0..count).map(|r| [0, 1, 2].map(|cell| all[cell * count + r])).collect()
}

fn check(text: &str, expected: &[&dyn Fn(f64) -> f64]) {
    let (mechanism, _) = parse("m.kpp", text).mechanism().unwrap_or_else(|e| panic!("{e}"));
    for (number, (found, expected)) in values(&mechanism).iter().zip(expected).enumerate() {
        for (found, t) in found.iter().zip(T) {
            let right = expected(t);
            let is_right = relative(*found, right) < 1e-13 || (found.is_nan() && right.is_nan());
            assert!(is_right, "rate {number} at {t} K: {found:e}, expected {right:e}\n{text}");
        }
    }
}

#[test]
fn functions_branch_and_call_each_other_and_the_library() {
    let code = in_rates(
        "  REAL(KIND=dp) FUNCTION three_ways( temp, air )   ! don't stop # here\n\
         \x20   IMPLICIT NONE\n    REAL(KIND=dp), INTENT(IN) :: TEMP, air\n\
         \x20   REAL(dp), PARAMETER :: step = 2.0D-12, half = step/2\n    real(dp) k\n\
         \x20   If (temp .lt. 220.d0) Then\n      k = step\n\
         \x20   ELSE IF (TEMP >= 220._dp .AND. temp < 260.) then\n      k = half*air/1.0E19\n\
         \x20   else\n      k = over(temp, 3.0_dp) + ARR2(1.0D-12, 500._dp, temp)\n    endif\n\
         \x20   if (temp == 250.) k = k + 1.0D-15\n\
         \x20   three_ways = max(1.0e-13, k, 2*half*0) &   ! goes on\n\n      & *1\n  END FUNCTION\n\
         FUNCTION over(t, n) RESULT( q )\nREAL(dp), INTENT(IN) :: t, n\nREAL(dp) :: q\n\
         q = 1.0D-12*DSQRT(t/n)*dsign(1.0D0, 290.D0-t)\nIF (q < 0) RETURN\nq = q + 1.D-12\n\
         END FUNCTION over\n",
    );
    let over = |t: f64| {
        let q = 1e-12 * (t / 3.0).sqrt() * (290.0 - t).signum();
        if q < 0.0 { q } else { q + 1e-12 }
    };
    let ways = move |t: f64| {
        let k = if t < 220.0 {
            2e-12
        } else if t < 260.0 {
            1e-12
        } else {
            over(t) + 1e-12 * (-500.0 / t).exp()
        };
        (if t == 250.0 { k + 1e-15 } else { k }).max(1e-13)
    };
    let rates = ["three_ways(TEMP, C_M)", "0.5*Three_Ways(temp, 2.*c_m) + over(TEMP, 3._dp)"];
    let scaled = move |t: f64| {
        let k = if (220.0..260.0).contains(&t) { 2e-12 + 1e-15 } else { ways(t) };
        0.5 * k + over(t)
    };
    check(&mechanism_of(&rates, &code), &[&ways, &scaled]);
}

#[test]
fn variables_are_set_before_the_rates() {
    let blocks = "#INLINE F90_GLOBAL\n REAL(dp) :: KSUM, KLOW, FC, RO2\n INTEGER, PARAMETER :: n = 3\n\
        \x20REAL(dp) :: part(n)\n#ENDINLINE\n\
        #INLINE F90_RCONST\n ! in the order of the text\n KLOW = 2.0E-30*C_M*(TEMP/300.)**(-4)\n\
        \x20FC = 0.41; KSUM = KLOW*FC\n RO2 = C(ind_PX) + &\n   C(ind_PX)\n\
        \x20IF (TEMP > 240.) THEN\n  part = 0.5\n ELSE\n  part(1) = 1.\n  part(2:3) = (/ 2., 3. /)\n END IF\n\
        \x20KUNDECLARED = 2*n\n CALL not_here(OTHER)\n#ENDINLINE\n";
    let low = |t: f64| 2e-30 * M * (t / 300.0).powi(-4);
    let rates = ["KSUM + 0.*RO2", "1.E-20*RO2", "SUM(part)", "KUNDECLARED/4", "1e-20*PX*M*H2O"];
    check(
        &mechanism_of(&rates, blocks),
        &[
            &|t| low(t) * 0.41,
            &|_| 1e-20 * 1e9,
            &|t| if t > 240.0 { 1.5 } else { 6.0 },
            &|_| 1.5,
            &|_| 1e-20 * 5e8 * M * 3e17,
        ],
    );
}

#[test]
fn loops_turn_at_reading_and_end_where_the_cell_says() {
    let code = in_rates(
        "REAL(dp) FUNCTION table(which, t)\n INTEGER, INTENT(IN) :: which\n REAL(dp) :: t, a(2,3), b(0:2)\n\
         INTEGER :: i, j\n DATA a / 1., 2., 2*3., 5., 6. /\n DATA b(0), b(1) / 1., 2. /, b(2) / 4. /\n\
         table = 0.\n DO i = 1, 2\n  DO 10 j = 3, 1, -1\n   IF (j == 2 .and. i == 1) CYCLE\n\
         \x20  table = table + a(i,j)*b(j-1)\n 10 CONTINUE\n ENDDO\n table = table*t\n\
         SELECT CASE (which)\n CASE (1, 4:6)\n  table = -table\n CASE DEFAULT\n  table = table + SIZE(a)\n END SELECT\n\
         END FUNCTION\n\
         REAL(dp) FUNCTION first_beyond(t)\n REAL(dp), INTENT(IN) :: t\n REAL(dp) :: edge(4)\n INTEGER :: i\n\
         edge = (/ 200._dp, 230._dp, 260._dp, 290._dp /)\n DO i = 1, 4\n  IF (edge(i) > t) EXIT\n END DO\n\
         first_beyond = i\n END FUNCTION first_beyond\n\
         REAL(dp) FUNCTION mean(x, n)\n REAL(dp), INTENT(IN) :: x(:)\n INTEGER :: n\n\
         mean = SUM(x(1:n))/SIZE(x(1:n)) + x(size(x))\n END FUNCTION mean\n\
         REAL(dp) FUNCTION pick(k)\n INTEGER, INTENT(IN) :: k\n REAL(dp) :: v(3)\n v = (/ 5., 7., 9. /)\n\
         v(k) = v(k) + 1.\n pick = v(k)*10. + v(2)\n END FUNCTION pick\n\
         REAL(dp) FUNCTION twice(t)\n REAL(dp) :: t, x\n INTEGER :: n\n x = 0.\n n = 0\n DO WHILE (n < 4)\n\
         n = n + 1\n IF (n == 2) CYCLE\n x = x + n*t\n END DO\n IF (t > 240.) THEN\n twice = x\n RETURN\n END IF\n\
         \x20twice = -x\n END FUNCTION twice\n",
    ) + "#INLINE F90_GLOBAL\n REAL(dp) :: of_host(3)\n#ENDINLINE\n";
    // a(1,:) is 1, 3, 5 and a(2,:) 2, 3, 6; b is 1, 2, 4; (1, 2) is left out.
    let sum = 1.0 + 20.0 + 2.0 + 6.0 + 24.0;
    let rates = [
        "table(1, TEMP)",
        "table(3, TEMP)",
        "first_beyond(TEMP)",
        "mean(of_host, 2)",
        "pick(2)",
        "pick(PLACE)",
        "twice(TEMP) + of_host(3)",
    ];
    check(
        &mechanism_of(&rates, &code),
        &[
            &|t| -sum * t,
            &|t| sum * t + 6.0,
            &|t| {
                [200.0, 230.0, 260.0, 290.0]
                    .iter()
                    .position(|e| *e > t)
                    .map_or(5.0, |i| i as f64 + 1.0)
            },
            &|_| 45.0,
            &|_| 88.0,
            &|t| {
                if t == 215.0 {
                    67.0
                } else if t == 250.0 {
                    88.0
                } else {
                    107.0
                }
            },
            &|t| (if t > 240.0 { 8.0 * t } else { -8.0 * t }) + 30.0,
        ],
    );
}

#[test]
fn what_the_file_defines_goes_before_the_library() {
    let code = in_rates(
        "REAL(dp) FUNCTION ARR2(a, b, t)\nREAL(dp) :: a, b, t\nARR2 = a*b + t\nEND FUNCTION\n\
         REAL(dp) FUNCTION shadow(t)\nREAL(dp) :: t, troe, temp\ntroe = 2.*t\ntemp = 3.\nshadow = troe + temp\n\
         END FUNCTION\n",
    );
    check(
        &mechanism_of(&["ARR2(2., 3., TEMP)", "shadow(TEMP)"], &code),
        &[&|t| 6.0 + t, &|t| 2.0 * t + 3.0],
    );
}

#[test]
fn quotients_of_whole_numbers_are_whole_and_named() {
    let code = in_rates(
        "REAL(dp) FUNCTION third(n)\nINTEGER, INTENT(IN) :: n\nINTEGER :: m\nm = 7/n\nthird = m + 1/n\nEND FUNCTION\n",
    );
    let rates = ["2/3*TEMP", "TEMP*2/4", "third(2)", "10**(-12)*C_M", "6/3 + 1.E-30*TEMP"];
    let text = mechanism_of(&rates, &code);
    check(&text, &[&|_| 0.0, &|t| t / 2.0, &|_| 3.0, &|_| 0.0, &|_| 2.0]);
    let reading = parse("m.kpp", &text);
    let warnings = reading.diagnostics.text(Severity::Warning);
    let warnings: Vec<&str> =
        warnings.lines().filter(|line| line.contains("it changes the rate of")).collect();
    let warnings = warnings.join("\n");
    for (number, is_changed) in [true, false, true, true, false].into_iter().enumerate() {
        assert_eq!(warnings.contains(&format!("<R{number}>")), is_changed, "{number}: {warnings}");
    }
    // MATLAB has real numbers only.
    let (mechanism, _) = parse("m.kpp", &format!("#LANGUAGE MATLAB\n{text}")).mechanism().unwrap();
    assert!(relative(values(&mechanism)[0][0], 2.0 / 3.0 * T[0]) < 1e-14);
}

#[test]
fn what_cannot_be_read_is_refused_where_a_rate_needs_it() {
    let function = |body: &str| {
        in_rates(&format!(
            "REAL(dp) FUNCTION f(t)\nREAL(dp), INTENT(IN) :: t\n{body}\nEND FUNCTION f"
        ))
    };
    for (body, line, expected) in [
        ("f = t%x", 7, "t is a variable of a derived type: a rate needs the function f"),
        ("GOTO 10", 7, "10 in the code: a rate needs the function f"),
        (
            "TYPE(box) :: b\nf = b",
            7,
            "b is a variable of a type that rates cannot use: a rate needs the function f",
        ),
        ("REAL(dp) :: x\nf = x", 8, "x is used before it is set: a rate needs the function f"),
        ("f = gone(t)", 7, "gone is not a known function: a rate needs the function f"),
        ("f = f2(t)", 13, "f2 sets no result: a rate needs the functions f, f2"),
        ("INTEGER :: i\nDO i = 1, INT(t)\nENDDO\nf = 1.", 8, "INT(t) as a bound of a loop"),
        ("REAL(dp) :: x(2)\nx(3) = 1.\nf = 1.", 8, "the index 3 of an array"),
        ("t = 1.\nf = t", 5, "f changes its argument t"),
        ("y = 1.\nf = t", 7, "y is not declared in the function"),
        ("IF (t) f = 1.", 7, "a number where true or false is needed"),
        ("IF (t > 1.) THEN\nf = 1.", 7, "the IF that begins here is followed by END"),
        ("f = SIN(t)", 7, "sin of a quantity that depends on the cell"),
        ("REAL(dp), SAVE :: x = 1.\nx = x + 1.\nf = x", 8, "x is used before it is set"),
    ] {
        let second = if body.contains("f2") {
            "\n#INLINE F90_RATES\n\nREAL(dp) FUNCTION f2(t)\nREAL(dp) :: t\nIF (t < 0.) RETURN\nEND FUNCTION\n#ENDINLINE\n"
        } else {
            ""
        };
        let text = mechanism_of(&["f(TEMP)"], &(function(body) + second));
        let message = parse("m.kpp", &text).mechanism().err().unwrap_or_else(|| panic!("{body}"));
        let wanted = format!("m.kpp:{line}:");
        assert!(message.contains(expected) && message.contains(&wanted), "{body}\n{message}");
        // A function that no rate reaches may hold anything.
        let text = mechanism_of(&["1."], &function(body));
        assert!(parse("m.kpp", &text).mechanism().is_ok(), "{body}");
    }
    let text = mechanism_of(&["KX"], "#INLINE F90_RCONST\nCALL elsewhere(KX)\n#ENDINLINE\n");
    let message = parse("m.kpp", &text).mechanism().unwrap_err();
    assert!(message.contains("m.kpp:5:1: the subroutine elsewhere is not in"), "{message}");
}

#[test]
fn what_the_host_sets_is_asked_for_by_name_or_given() {
    let text = mechanism_of(&["nume/(nume + den)", "1e-20*rh*RO2"], "");
    let (mechanism, _) = parse("m.kpp", &text).mechanism().unwrap();
    let labels: Vec<String> = mechanism.quantities.iter().map(Quantity::label).collect();
    assert_eq!(labels, ["nume", "den", "rh", "RO2"]);
    let code = RateCode {
        constants: vec![("NUME".to_owned(), 3.0), ("den".to_owned(), 1.0), ("ro2".to_owned(), 4.0)],
        ..RateCode::default()
    };
    let (mechanism, _) = parse_with("m.kpp", &text, &code).mechanism().unwrap();
    assert!(relative(values(&mechanism)[0][0], 0.75) < 1e-15);
    assert_eq!(mechanism.quantities.len(), 1);
}

#[test]
fn functions_of_another_file_and_subroutines_are_read() {
    let module = "MODULE laws\n USE precision\n IMPLICIT NONE\n REAL(dp) :: shared\nCONTAINS\n\
        SUBROUTINE set(t, low, high)\n  REAL(dp), INTENT(IN) :: t\n  REAL(dp), INTENT(OUT) :: low, high(2)\n\
        \x20 low = t - 1.\n  high = (/ t + 1., t + 2. /)\n  shared = 2.*t\nEND SUBROUTINE set\n\
        FUNCTION law( x ) RESULT( k )\n  REAL(dp), INTENT(IN) :: x\n  REAL(dp) :: k\n  k = x*shared\nEND FUNCTION law\n\
        END MODULE laws\n";
    let blocks = "#INLINE F90_RCONST_USE\n USE laws\n#ENDINLINE\n#INLINE F90_RCONST\n\
        REAL(dp) :: low, high(2)\nCALL set(TEMP, low, high)\n#ENDINLINE\n";
    let text = mechanism_of(&["law(2._dp) + low + high(2)"], blocks);
    let message = parse("m.kpp", &text).mechanism().unwrap_err();
    assert!(
        message.contains("law is not a known function") && message.contains("laws"),
        "{message}"
    );
    let mut code = RateCode::default();
    code.files.push((PathBuf::from("laws.F90"), module.to_owned()));
    let (mechanism, _) =
        parse_with("m.kpp", &text, &code).mechanism().unwrap_or_else(|e| panic!("{e}"));
    for (found, t) in values(&mechanism)[0].iter().zip(T) {
        assert!(relative(*found, 4.0 * t + 2.0 * t + 1.0) < 1e-14, "{found}");
    }
}

#[test]
fn c_is_read_where_it_is_the_language() {
    let text = "#LANGUAGE C\n".to_owned()
        + &mechanism_of(
            &["kcold(TEMP, C_M) + ko", "pow(TEMP/300., 2) + 3/2", "kloop(4)"],
            "#INLINE C_GLOBAL\n double ko;\n#ENDINLINE\n#INLINE C_RCONST\n ko = KREF*TEMP; /* set */\n#ENDINLINE\n\
             #INLINE C_RATES\n#define KREF 2.0e-3\n#define UNUSED(x) (x)\n\
             double kcold(double t, double m) {\n  double k = 1.0; // one\n  if (t < 240. && m > 0.) { k += t; return k; }\n\
             \x20 else k = t > 300. ? 2.0*exp(-1.0) : fabs(-3.0);\n  return k;\n}\n\
             double kloop(int n) {\n double w[3] = {1., 2., 4.}; double s = 0.; int i;\n\
             \x20for (i = 0; i < 3; i++) s += w[i]*n;\n while (s > 100.) s /= 2.;\n return s;\n}\n#ENDINLINE\n",
        );
    let cold = |t: f64| {
        if t < 240.0 {
            1.0 + t
        } else if t > 300.0 {
            2.0 * (-1.0_f64).exp()
        } else {
            3.0
        }
    };
    check(&text, &[&|t| cold(t) + 2e-3 * t, &|t| (t / 300.0).powi(2) + 1.0, &|_| 28.0]);
}

#[test]
fn hostile_code_ends_soon() {
    let function = |body: &str| {
        in_rates(&format!(
            "REAL(dp) FUNCTION f(t)\nREAL(dp) :: t, x\nINTEGER :: i, j, k\nf = t\n{body}\nEND FUNCTION f"
        ))
    };
    let deep = "IF (t > 1.) THEN\n".repeat(10_000);
    let chain = "ELSE IF (t > 1.) THEN\nf = f + 1.\n".repeat(10_000);
    let chain = format!("IF (t < 0.) THEN\n{chain}END IF");
    let ends = "IF (t > 1.) RETURN\n".repeat(10_000);
    let branches = "IF (f > 1.) f = f*f + 1.\n".repeat(20_000);
    for body in [
        "DO WHILE (.true.)\nf = f + 1.\nEND DO",
        "DO\nEND DO",
        "DO i = 1, 1000000000\nf = f + 1.\nEND DO",
        "DO i = 1, 30000\nDO j = 1, 30000\nDO k = 1, 30000\nx = 1.\nENDDO\nENDDO\nENDDO",
        "f = f(t)",
        "f = g(t)\nEND FUNCTION\nREAL(dp) FUNCTION g(t)\nREAL(dp) :: t\ng = f(t)",
        "REAL(dp) :: a(1000000000)\na = 1.",
        "DATA x / 2000000000*1. /",
        deep.as_str(),
        "i = 2**31",
        "DO i = 1, 100000\nIF (f > i) f = f*f\nEND DO",
        branches.as_str(),
        chain.as_str(),
        ends.as_str(),
    ] {
        let start = Instant::now();
        let text = mechanism_of(&["f(TEMP)"], &function(body));
        let outcome = parse("hostile", &text).mechanism().and_then(|(m, _)| Kinetics::new(&m));
        drop(outcome);
        let time = start.elapsed();
        assert!(time < Duration::from_secs(20), "{}: {time:?}", &body[..body.len().min(60)]);
    }
}
