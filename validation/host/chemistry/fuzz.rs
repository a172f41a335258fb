//! Mechanisms with random faults: none ends in a panic or takes long.

use std::time::{Duration, Instant};

use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::lifetime::lifetimes;
use nwp_mini::chemistry::mechanism::parse;
use nwp_mini_support::project;
use nwp_mini_support::random::Random;

/// Pieces that are put in at random places.
const PIECES: [&str; 56] = [
    "#",
    "#EQUATIONS",
    "#DEFVAR",
    "#INLINE",
    "#ENDINLINE",
    "{",
    "}",
    "//",
    ";",
    ":",
    "=",
    "+",
    "-",
    "*",
    "**",
    "/",
    "(",
    ")",
    ",",
    "<",
    ">",
    "1e999",
    "2E1",
    "1.5",
    "0",
    "hv",
    "PROD",
    "j(",
    "EXP(",
    "ARR2(",
    "é",
    "\n",
    "\nIF (",
    ") THEN\n",
    "\nELSE\n",
    "\nEND IF\n",
    "\nDO i = 1, 1000000000\n",
    "\nDO WHILE (temp > 1.)\n",
    "\nEND DO\n",
    "\nEXIT\n",
    "\nRETURN\n",
    "\nEND FUNCTION\n",
    "\nREAL(dp) FUNCTION spoiled(t)\n",
    "\nREAL(dp) :: x(",
    "\nDATA ",
    "\nCALL ",
    "\nSELECT CASE (n)\nCASE (",
    "(/",
    "/)",
    "1/0",
    "C(ind_",
    "spoiled(",
    ".and.",
    "%",
    "&\n",
    "!",
];

/// Code of all kinds that mechanisms have, beside rates that use it.
const CODE: &str = "#DEFVAR\nA = IGNORE; B = IGNORE; D = IGNORE;\n#EQUATIONS\n\
    <R1> A = B : table(1, TEMP) + KX ;\n<R2> B = D : fall(1.D-30, 2._dp, TEMP)*RO2 ;\n\
    <R3> A + B = D : branch(TEMP, C_M)/HOST ;\n<R4> D = A : (TEMP/300.)**(-2)*2/3 ;\n\
    #INLINE F90_GLOBAL\n REAL(dp) :: KX, RO2, part(3)\n INTEGER, PARAMETER :: n = 3\n#ENDINLINE\n\
    #INLINE F90_RCONST\n RO2 = C(ind_A) + &\n  C(ind_B)\n part(1:2) = (/ 1., 2. /)\n part(n) = SUM(part(1:2))\n\
    IF (TEMP > 260.) THEN\n  KX = part(3)\n ELSE\n  KX = 0.\n END IF\n CALL set(TEMP, KX)\n#ENDINLINE\n\
    #INLINE F90_RATES\n REAL(dp) FUNCTION table(k, t)\n INTEGER :: k, i, j\n REAL(dp) :: t, a(3,3), b(3)\n\
    DATA b / 150., 2*0. /\n DATA a / 9*1. /\n table = 0.\n DO i = 1, n\n  DO j = 1, n\n\
    IF (i .NE. j) CYCLE\n table = table + a(i,j)*EXP(b(i)/t)\n  ENDDO\n ENDDO\n table = table*k\n END FUNCTION\n\
    FUNCTION fall(k0, m, t) RESULT( q )\n REAL(dp), INTENT(IN) :: k0, m, t\n REAL(dp) :: q\n\
    q = k0*(300._dp/t)**m\n q = q/(1. + q)*0.6**(1./(1. + LOG10(q)**2))\n END FUNCTION fall\n\
    REAL(dp) FUNCTION branch(t, m)\n REAL(dp) :: t, m\n INTEGER :: i\n branch = 1.\n DO i = 1, 4\n\
    IF (t > 200. + i*25) EXIT\n branch = branch + MIN(m, ABS(t))\n END DO\n SELECT CASE (i)\n CASE (1:2)\n\
    branch = SIGN(branch, -t)\n RETURN\n CASE DEFAULT\n branch = fall(m, t, 2.)\n END SELECT\n END FUNCTION branch\n\
    SUBROUTINE set(t, k)\n REAL(dp) :: t, k\n k = k + t\n END SUBROUTINE set\n#ENDINLINE\n";

/// The same in C.
const C_CODE: &str = "#LANGUAGE C\n#DEFVAR\nA = IGNORE; B = IGNORE;\n#EQUATIONS\n\
    <R1> A = B : own(TEMP, 2) + ko ;\n<R2> B = A : pow(TEMP, 0.5)*HOST ;\n\
    #INLINE C_GLOBAL\n double ko;\n#ENDINLINE\n#INLINE C_RCONST\n ko = REF*TEMP;\n#ENDINLINE\n\
    #INLINE C_RATES\n#define REF 2.0e-3\n double own(double t, int n) {\n double w[3] = {1., 2., 4.}, s = 0.; int i;\n\
    for (i = 0; i < n; i++) { s += w[i]*t; }\n if (t > 250. && s > 1.) return s; else s = t < 1. ? 2. : fabs(s);\n\
    while (i > 1) { i--; s /= 2.; }\n return s;\n}\n#ENDINLINE\n";

fn spoiled(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=(random.between(0.0, 1.0) * 6.0) as usize {
        let mut place = || (random.between(0.0, 1.0) * bytes.len() as f64) as usize;
        let (at, other) = (place(), place());
        let piece = PIECES[(random.between(0.0, 1.0) * PIECES.len() as f64) as usize].as_bytes();
        match (random.between(0.0, 1.0) * 6.0) as usize {
            0 => bytes.insert(at, (random.between(0.0, 1.0) * 256.0) as u8),
            1 => drop(bytes.drain(at..(at + 1 + other % 20).min(bytes.len()))),
            2 => bytes.swap(at, other),
            3 => {
                let copy = bytes[other..(other + 40).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            4 => bytes.truncate(at.max(1)),
            _ => drop(bytes.splice(at..at, piece.iter().copied())),
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn fuzz(count: usize, seed: u64) {
    let sources = ["small_strato", "radm2"].map(|name| {
        std::fs::read_to_string(project().join(format!("data/chemistry/{name}.kpp"))).unwrap()
    });
    let [small, large] = sources;
    let small = [small, CODE.to_owned(), C_CODE.to_owned(), CODE.to_owned()];
    for text in &small {
        assert!(parse("whole", text).mechanism().is_ok(), "{text}");
    }
    let mut random = Random::new(seed);
    let (mut good, mut longest) = (0, Duration::ZERO);
    for number in 0..count {
        // The large one is spoiled more rarely, since it takes ten times as long.
        let source = if number % 10 == 0 { &large } else { &small[number % small.len()] };
        let text = spoiled(source, &mut random);
        let start = Instant::now();
        let outcome = parse("spoiled", &text).mechanism();
        if let Ok((mechanism, _)) = outcome
            && let Ok(kinetics) = Kinetics::new(&mechanism)
        {
            lifetimes(&mechanism, &kinetics);
            good += 1;
        }
        longest = longest.max(start.elapsed());
        assert!(longest < Duration::from_secs(5), "mechanism {number} of seed {seed}:\n{text}");
    }
    // Some faults are none: in a comment, or another number.
    assert!(good > 0 && good < count, "{good} of {count} are good");
}

#[test]
fn ten_thousand_spoiled_mechanisms_neither_panic_nor_hang() {
    fuzz(10_000, 35);
}

#[test]
#[ignore = "takes minutes"]
fn many_more_spoiled_mechanisms_neither_panic_nor_hang() {
    for seed in 1..=50 {
        fuzz(10_000, seed);
    }
}
