//! Two columns whose results the specification gives digit by digit.

use nwp_mini::physics::wsm5::params::SchemeConstants;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::{Air, Cell, Column};
use nwp_mini::thermo::{saturation, saturation_water};

use super::variant::parameters;

/// A column of four levels, from the ground up, as single precision holds it.
struct Given {
    p: [f32; 4],
    th: [f32; 4],
    q: [f32; 4],
    qr: [f32; 4],
    qi: [f32; 4],
    qs: [f32; 4],
    rho: [f32; 4],
    dz: [f32; 4],
}

/// Rain below melting snow.
const MELTING: Given = Given {
    p: [95_000.0, 85_000.0, 73_000.0, 60_000.0],
    th: [285.0, 288.0, 292.0, 297.0],
    q: [8e-3, 6e-3, 4e-3, 2.5e-3],
    qr: [1e-3, 5e-4, 0.0, 0.0],
    qi: [0.0, 0.0, 0.0, 1e-5],
    qs: [0.0, 0.0, 5e-4, 1e-3],
    rho: [1.15, 1.05, 0.93, 0.80],
    dz: [150.0, 900.0, 1200.0, 1500.0],
};

/// Snow above an empty thin layer, which sets the number of sub-steps.
const THIN_LAYER: Given = Given {
    p: [95_000.0, 92_000.0, 80_000.0, 65_000.0],
    th: [262.0, 264.0, 268.0, 273.0],
    q: [1.5e-3, 1.3e-3, 9e-4, 5e-4],
    qr: [0.0; 4],
    qi: [0.0; 4],
    qs: [0.0, 0.0, 1e-4, 2e-4],
    rho: [1.25, 1.22, 1.08, 0.90],
    dz: [10.0, 400.0, 900.0, 1200.0],
};

impl Given {
    /// The column after one call, and potential temperature, rain, snow and frozen fraction.
    fn call<R: SchemeConstants>(&self, dt: f64) -> (Column<R>, [f64; 4], [f64; 3]) {
        let mut column = Column::<R>::new(4);
        let exner = self.p.map(|p| (f64::from(p) / 1e5).powf(287.0 / 1004.5) as f32);
        for k in 0..4 {
            let [th, exner, qv, qr, qi, qs, rho, p, dz] =
                [self.th, exner, self.q, self.qr, self.qi, self.qs, self.rho, self.p, self.dz]
                    .map(|field| R::of(field[k].into()));
            column.cells[k] = Cell { t: th * exner, qv, qc: R::ZERO, qr, qi, qs };
            column.air[k] = Air { rho, p, dz, ..Air::default() };
        }
        let sum = column.call(&parameters(), R::of(dt));
        let th = [0, 1, 2, 3].map(|k| (column.cells[k].t / R::of(exner[k].into())).f64());
        (column, th, [sum.rain, sum.snow, sum.sr].map(R::f64))
    }
}

/// Values that are off by more than `relative`, or `absolute` if that is more.
fn compare(name: &str, found: &[f64], expected: &[f64], relative: f64, absolute: f64) {
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let limit = (relative * expected.abs()).max(absolute);
        let error = (found - expected).abs();
        assert!(error <= limit, "{name} [{k}]: {found:.10e}, not {expected:.10e} within {limit:e}");
    }
}

/// One unit in the tenth digit: the columns are published with ten.
const DIGITS: f64 = 1.0e-9;

/// Absolute limits of single precision, four times the errors of WRF's own at dt = 60 (specification, section 15): th,
/// q, qc, qr, qi, qs, surface.
const SINGLE: [f64; 7] = [3.0e-4, 5.2e-8, 5.6e-8, 3.3e-8, 1.8e-8, 3.4e-8, 1.2e-6];

/// Compares with the ten digits in double precision, with absolute limits in single precision.
fn check<R: SchemeConstants>(given: &Given, dt: f64, expected: &[(&str, &[f64])]) {
    let (column, th, [rain, snow, sr]) = given.call::<R>(dt);
    let cells = |value: fn(&Cell<R>) -> R| {
        column.cells.iter().map(|cell| value(cell).f64()).collect::<Vec<_>>()
    };
    let is_double = R::NAME == "f64";
    for (name, expected) in expected {
        let (found, index) = match *name {
            "th" => (th.to_vec(), 0),
            "q" => (cells(|cell| cell.qv), 1),
            "qc" => (cells(|cell| cell.qc), 2),
            "qr" => (cells(|cell| cell.qr), 3),
            "qi" => (cells(|cell| cell.qi), 4),
            "qs" => (cells(|cell| cell.qs), 5),
            "rain" => (vec![rain], 6),
            "snow" => (vec![snow], 6),
            "sr" => (vec![sr], 6),
            other => panic!("no result {other}"),
        };
        let (relative, absolute) = if is_double { (DIGITS, 0.0) } else { (0.0, SINGLE[index]) };
        compare(name, &found, expected, relative, absolute);
    }
}

fn check_melting<R: SchemeConstants>() {
    let (column, ..) = MELTING.call::<R>(60.0);
    assert_eq!(column.substeps(), [3, 1]);
    check::<R>(
        &MELTING,
        60.0,
        &[
            ("th", &[286.214_260_0, 289.197_172_4, 293.217_747_2, 298.604_375_6]),
            ("q", &[7.512_461_005e-3, 5.537_718_573e-3, 3.558_767_802e-3, 1.966_168_083e-3]),
            ("qc", &[4.721_153_043e-4, 4.473_026_522e-4, 4.047_556_516e-4, 4.038_921_184e-4]),
            ("qr", &[3.584_055_871e-4, 3.643_303_387e-4, 0.0, 0.0]),
            ("qi", &[0.0, 0.0, 1.735_987_777e-6, 2.505_684_691e-5]),
            ("qs", &[8.556_652_964e-7, 3.709_002_920e-5, 5.562_716_694e-4, 1.065_517_675e-3]),
            ("rain", &[0.255_710_694_9]),
            ("snow", &[1.226_568_822e-6]),
            ("sr", &[4.796_705_209e-6]),
        ],
    );
}

#[test]
fn rain_below_melting_snow() {
    check_melting::<f64>();
    check_melting::<f32>();
}

fn check_thin_layer<R: SchemeConstants>() {
    let (column, ..) = THIN_LAYER.call::<R>(120.0);
    assert_eq!(column.substeps(), [4, 1], "an empty layer counts");
    check::<R>(
        &THIN_LAYER,
        120.0,
        &[
            ("qs", &[1.769_886_430e-5, 2.645_597_670e-5, 1.244_459_462e-4, 2.223_079_562e-4]),
            ("snow", &[6.866_972_527e-5]),
            ("th", &[262.492_154_7, 264.090_393_4, 268.137_371_7, 273.250_206_3]),
        ],
    );
}

#[test]
fn an_empty_thin_layer_sets_the_number_of_substeps() {
    check_thin_layer::<f64>();
    check_thin_layer::<f32>();
}

/// If the saturation vapour pressure exceeds the pressure, the quotient is negative and the smallest mixing ratio
/// replaces it; the default variant bounds the vapour pressure instead.
#[test]
fn saturation_of_hot_thin_air_has_no_bound() {
    let (t, p) = (300.0, 100.0);
    let older = saturation(t, p, parameters::<f64>().vapour_pressure_cap);
    assert_eq!([older.water, older.ice], [1e-15; 2]);
    let cap = Scheme::<f64>::default().vapour_pressure_cap;
    let bounded = 287.0 / 461.6 * 0.99 / 0.01;
    assert!((saturation_water(t, p, cap) / bounded - 1.0).abs() < 1e-6);
}
