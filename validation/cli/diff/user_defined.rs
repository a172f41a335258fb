//! Variables of user-defined types.

use std::fs;

use netcdf::types::{EnumType, EnumTypeValues, NcVariableType};
use serde_json::Value;

use super::{Tools, alone, report};

/// Files with an enumeration, whose values are not read: they are not different, and not the same.
#[test]
fn user_defined_types_cannot_be_compared() {
    let _alone = alone();
    let tools = Tools::new();
    let write = |name: &str, f: f32| {
        let mut file = netcdf::create(tools.path(name)).expect("a new file");
        file.add_dimension("x", 3).expect("a dimension");
        let sky = NcVariableType::Enum(EnumType {
            name: "sky_type".to_owned(),
            fieldnames: vec!["clear".to_owned(), "overcast".to_owned()],
            fieldvalues: EnumTypeValues::U8(vec![0, 1]),
        });
        file.add_type_from_descriptor(sky.clone()).expect("a type");
        file.add_variable_with_type("sky", &["x"], &sky).expect("a variable");
        let mut variable = file.add_variable::<f32>("f", &["x"]).expect("a variable");
        variable.put_values(&[1.0, 2.0, f], ..).expect("values");
        file.close().expect("complete");
    };
    write("a.nc", 3.0);
    let compare = |name: &str, code: i32, words: &[&str]| {
        fs::copy(tools.path(name), tools.path("b.nc")).expect("a copy");
        let (found, stdout, facts) = tools.compare(name, &[]);
        assert_eq!((found, &facts["same"]), (Some(code), &Value::from(false)), "{stdout}");
        assert_eq!(report(&facts, "sky")["verdict"], "not_comparable");
        let stderr = tools.program(&["a.nc", "b.nc"]).stderr;
        let stderr = String::from_utf8_lossy(&stderr);
        for word in words {
            assert!(stderr.contains(word), "{word:?} is not in {stderr}");
        }
    };
    compare(
        "a.nc",
        3,
        &["a.nc: the values of sky are of user-defined types", "the other 1 variables"],
    );
    // A difference elsewhere is one.
    write("c.nc", 3.5);
    compare("c.nc", 1, &["a.nc and b.nc differ in sky, f"]);
    let itself = tools.program(&["a.nc", "a.nc"]);
    assert_eq!(itself.status.code(), Some(3));
}
