//! Faults of mechanisms: each with file, line, column, a caret and the nearest name, several in one go;
//! hostile ones within a second.

use std::fmt::Write;
use std::time::{Duration, Instant};

use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism::diagnostics::Severity;
use nwp_mini::chemistry::mechanism::{parse, read};

fn errors(text: &str) -> String {
    match parse("faulty.kpp", text).mechanism() {
        Ok(_) => panic!("taken for good: {text}"),
        Err(message) => message,
    }
}

#[test]
fn several_faults_are_reported_together() {
    let text = "#ATOMS N; O;\n\
                #DEFVAR\n  NO = N + O; NO2 = N + 2 P; O3 = 3 O\n\
                #EQUATIONS\n\
                <R1> NO + O33 = NO2 : 1.0e-11;\n\
                <R2> NO2 = NO : ARR22(1.0, 2.0, TEMP);\n\
                <R3> 1.5 NO = NO2 : 1;\n\
                <R4> NO = NO2 : EXP(1.0;\n\
                <R5> NO = NO2 1.0;\n\
                <R6> NO = 1e999 NO2 : TEMPP;\n";
    let message = errors(text);
    for expected in [
        "faulty.kpp:3:27: the atom P is not declared",
        "faulty.kpp:5:11: the species O33 is not declared",
        "nearest known name: O3",
        "faulty.kpp:6:17: ARR22 is not a known function",
        "nearest known name: ARR2",
        "faulty.kpp:7:6: the coefficient 1.5 on the left side",
        "faulty.kpp:8:20: the parenthesis that opens here is followed by ;",
        "faulty.kpp:9:15: 1.0 after a species",
        "faulty.kpp:10:11: the coefficient 1e999",
        "faulty.kpp:10:23: TEMPP is not a quantity",
        "nearest known name: TEMP",
    ] {
        assert!(message.contains(expected), "{expected}\n{message}");
    }
    // The caret stands under the name.
    let lines: Vec<&str> = message.lines().collect();
    let at = lines.iter().position(|l| l.contains("species O33")).unwrap();
    assert_eq!(lines[at + 1].find("O33"), lines[at + 2].find("^^^"), "{message}");
}

#[test]
fn every_kind_of_fault_has_its_message() {
    let good = "#DEFVAR A = IGNORE; B = IGNORE; #EQUATIONS A = B : 1;";
    assert!(parse("good", good).mechanism().is_ok());
    for (text, expected) in [
        ("", "no reactions were found"),
        ("#DEFVAR A = IGNORE;", "no reactions were found"),
        ("A = B : 1;", "A outside of a section"),
        ("#DEFVAR A = IGNORE; #EQUATIONS = A : 1;", "= in an equation"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = A : ;", "; in a rate"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A : 1;", ": after a species"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : 1 + ;", "; in a rate"),
        ("#DEFVAR A = IGNORE; A; #EQUATIONS A = PROD : 1;", "declared a second time"),
        ("#DEFVAR A = IGNORE #EQUATIONS A = PROD : 1; { open", "the comment that begins here"),
        ("#INLINE F90_RATES code", "the code that begins here is not closed"),
        ("#DEFVAR A = IGNORE B; #EQUATIONS A = PROD : 1;", "B follows without a semicolon"),
        ("#DEFVAR A = IGNORE; #EQUATIONS 10 A = PROD : 1;", "the coefficient 10"),
        ("#DEFVAR A = IGNORE; #EQUATIONS 5 A + 5 A = PROD : 1;", "the order of the reaction"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : ARR2(1);", "ARR2 has 1 arguments"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : 1e400;", "beyond the range of numbers"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : j(1.5);", "1.5 as the argument of j()"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : J_NO2;", "write j(Pj_no2)"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : 1/0;", "a division of whole numbers by 0"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : (TEMP > 2);", "a rate that is true or false"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : TEMP(1);", "TEMP is not a known function"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : EXP;", "EXP is not a quantity"),
        ("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : 1\n<X> A = PROD : 1;", "without a semicolon"),
        ("#DEFVAR A234567890123456789012345678901;", "a name of 31 characters"),
        ("#DEFVAR 1A = IGNORE;", "expected the name of a species"),
        ("#DEFVAR A = 2; #EQUATIONS A = PROD : 1;", "; in the composition"),
        ("#INITVALUES A = 1;", "the species A is not declared"),
        ("#DEFVAR A; #INITVALUES A = x;", "x as a value"),
        ("#SETFIX NONE;", "the species NONE is not declared"),
        ("#REORDER MAYBE", "MAYBE after #REORDER"),
        ("#INCLUDE other.spc", "a text by itself includes no files"),
        ("#INCLUDE\n", "the name of a file is missing"),
        ("# ;", "# without a command"),
    ] {
        let message = errors(text);
        assert!(message.contains(expected), "{text}\n{message}\nexpected {expected}");
    }
}

#[test]
fn dialects_are_read() {
    let text = "{ a comment\n over lines } // and another\n\
                #WRFCONFORM\n#LANGUAGE Fortran90\n#EQNTAGS ON\n\
                #INLINE F90_RATES\n  { # // \" code }\n#ENDINLINE\n\
                #include atoms\n\
                #DEFVAR o3 = 3O; NO=N+O; NO2 = N + 2O; X = IGNORE; EO = O;\n\
                #DEFFIX M = ignore;\n\
                # SETFIX X;\n\
                #INITVALUES CFACTOR = 2.0; ALL_SPEC = 1.0; O3 = 1.5e2; no = -3;\n\
                #EQUATIONS\n\
                <1> NO + O3 = NO2 {+ O2} : 1.8D-12*EXP(-1370.0_dp/TEMP);) ; // comment\n\
                NO2 + hv = 2*NO - 0.5 O3 : j(Pj_no2);\n\
                2E1X = PROD : 0.0 ;\n";
    let message = errors(text);
    assert!(message.contains("the coefficient 20"), "the exponent wins: {message}");
    let text = text.replace("2E1X = PROD", "2EO + o3 + EO = 0.61NO + NO + X");
    let reading = parse("dialects", &text);
    let warnings = reading.diagnostics.text(Severity::Warning);
    assert!(warnings.contains("a stray ) is skipped"), "{warnings}");
    assert!(warnings.contains("the command #WRFCONFORM is unknown"), "{warnings}");
    assert!(warnings.contains("ALL_SPEC is not used"), "{warnings}");
    let (mechanism, _) = reading.mechanism().unwrap_or_else(|e| panic!("{e}"));
    let equations: Vec<String> = (0..3).map(|r| mechanism.equation(r)).collect();
    assert_eq!(equations, ["NO + o3 = NO2", "NO2 + hv = 2 NO - 0.5 o3", "3 EO + o3 = 1.61 NO + X"]);
    let initial: Vec<Option<f64>> = mechanism.species.iter().map(|s| s.initial).collect();
    assert_eq!(initial[..3], [Some(300.0), Some(-6.0), None]);
    let kinetics = Kinetics::new(&mechanism).unwrap();
    assert_eq!((kinetics.variables(), kinetics.fixed.len()), (4, 1));
}

#[test]
fn files_are_included() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    write("m.def", "#INCLUDE ./m.spc\n#INCLUDE m.eqn\n");
    write("m.spc", "#DEFVAR A = IGNORE; B = IGNORE;");
    write("m.eqn", "#EQUATIONS\nA = B : 1;\nB = A : 2;\n");
    let root = write("m.kpp", "#MODEL m\n#INTEGRATOR rosenbrock\n");
    let reading = read(&root).unwrap();
    let text = reading.text.clone();
    assert_eq!(reading.mechanism().unwrap().0.reactions.len(), 2);
    // The same in one text.
    assert!(!text.contains("INCLUDE") && !text.contains("MODEL"), "{text}");
    assert!(text.contains("#INTEGRATOR rosenbrock"), "{text}");
    assert_eq!(parse("m", &text).mechanism().unwrap().0.reactions.len(), 2);

    write("m.eqn", "#EQUATIONS\nA = BB : 1;\n");
    let message = read(&root).unwrap().mechanism().unwrap_err();
    assert!(message.contains("m.eqn:2:5: the species BB"), "{message}");

    for (name, text, expected) in [
        ("loop.kpp", "#INCLUDE loop.kpp\n", "loop.kpp includes itself"),
        ("none.kpp", "#INCLUDE nowhere.spc\n", "there is no file nowhere.spc"),
        ("dir.kpp", "#INCLUDE .\n", "is not a file"),
    ] {
        let message = read(&write(name, text)).unwrap().mechanism().unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    write("ping.kpp", "#INCLUDE pong.kpp\n");
    let message = read(&write("pong.kpp", "#INCLUDE ping.kpp\n")).unwrap().mechanism().unwrap_err();
    assert!(message.contains("includes itself"), "{message}");
}

/// After so many errors reading stops, and their number is not known.
#[test]
fn many_errors_are_not_counted() {
    let unknown = |count: usize| {
        let text = (0..count).fold("#DEFVAR A;\n#EQUATIONS\n".to_owned(), |mut text, i| {
            let _ = writeln!(text, "A = B{i} : 1;");
            text
        });
        parse("many", &text).mechanism().unwrap_err()
    };
    let errors = |message: &str| message.matches("is not declared").count();
    let fifty = unknown(50);
    assert_eq!(errors(&fifty), 50);
    assert!(!fifty.contains("more"), "{fifty}");
    for count in [51, 78] {
        let message = unknown(count);
        assert_eq!(errors(&message), 50);
        assert!(message.ends_with("\nand more; reading stopped after 50 errors"), "{message}");
    }
}

/// Ends in an error, soon.
fn refuse(what: &str, text: &str) {
    let start = Instant::now();
    let outcome = parse("hostile", text).mechanism().and_then(|(m, _)| Kinetics::new(&m).map(drop));
    assert!(outcome.is_err(), "{what} is taken for good");
    // A second on an idle machine; busy machines are slower.
    assert!(start.elapsed() < Duration::from_secs(3), "{what} takes {:?}", start.elapsed());
}

#[test]
fn hostile_mechanisms_end_in_an_error_soon() {
    let species = |count: usize| {
        (0..count).fold("#DEFVAR ".to_owned(), |mut text, i| {
            let _ = write!(text, "S{i};");
            text
        })
    };
    let one = "#DEFVAR A = IGNORE; #EQUATIONS A = PROD : ";
    refuse("10,000 species", &(species(10_000) + "#EQUATIONS S0 = S1 : 1;"));
    refuse("open parentheses", &format!("{one}{}1;", "(".repeat(900)));
    refuse("many open parentheses", &format!("{one}{}1;", "(".repeat(1_000_000)));
    refuse("signs", &format!("{one}{}1;", "-".repeat(900)));
    refuse("powers", &format!("{one}{}1;", "2**".repeat(300)));
    refuse("calls", &format!("{one}{}1;", "EXP(".repeat(240)));
    refuse("a coefficient", "#DEFVAR A; #EQUATIONS A = 1e999 A : 1;");
    refuse("many undeclared species", &format!("#EQUATIONS {}", "A = B : 1;".repeat(100_000)));
    refuse("many reactions", &format!("{one}1;{}", "A = PROD : 1;".repeat(40_000)));
    refuse("many terms", &format!("{one}1;A = {} : 1;", "A + ".repeat(100_000)));
    refuse("hashes", &"#".repeat(1_000_000));
    refuse("commands", &"#A ".repeat(300_000));
    refuse("braces", &"{".repeat(1_000_000));
    refuse("no text", &"\0\u{fffd}\u{7f}".repeat(100_000));
    // All species react with all: the factors are full.
    let mut dense = species(1_000) + "#EQUATIONS ";
    for i in 0..500 {
        let products: Vec<String> =
            (0..450).map(|k| format!("S{}", (i * 7 + k * 3) % 1_000)).collect();
        let _ = write!(dense, "S{i} + S{} = {} : 1;", 999 - i, products.join("+"));
    }
    refuse("a dense mechanism", &dense);
}

#[test]
fn a_large_mechanism_works() {
    let mut text = (0..232).fold("#DEFVAR ".to_owned(), |mut text, i| {
        let _ = write!(text, "S{i};");
        text
    });
    text += "#EQUATIONS ";
    for r in 0..636_usize {
        let (a, b, c, d) = (r % 232, (r * r + 1) % 40, (r * 7 + 3) % 232, (r * 11 + 5) % 232);
        let _ = write!(text, "S{a} + S{b} = S{c} + 0.5 S{d} : ARR2(1e-12, {r}, TEMP);");
    }
    let (mechanism, _) = parse("large", &text).mechanism().unwrap();
    let kinetics = Kinetics::new(&mechanism).unwrap();
    assert_eq!((kinetics.variables(), kinetics.reactions()), (232, 636));
}
