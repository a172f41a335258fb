//! A small grid for the tests of the parts: open sides, air at rest.

use std::sync::Arc;

use ndarray::{Array2, Array3};

use crate::constituents::{Constituent, Constituents, Inflow};
use crate::dry_mass::{MassCoordinate, MassFlux};
use crate::forcing::Forcing;
use crate::grid::{Grid, Shape, Side, Sides};
use crate::physics::registry::usual_set;
use crate::state::Environment;

pub(super) const SHAPE: Shape = Shape { nx: 6, ny: 5, nz: 4 };

/// Spacing in both directions, m, such that areas are powers of two.
const SPACING: f64 = 1024.0;

pub(super) fn grid() -> Grid {
    Grid::whole(SHAPE, [SPACING; 2], Sides::all(Side::Open))
}

pub(super) fn coordinate() -> MassCoordinate {
    let Shape { nx, ny, nz } = SHAPE;
    let plane = Array2::ones((ny, nx));
    MassCoordinate {
        mu: plane.mapv(|x: f64| x * 65536.0),
        map_x: plane.clone(),
        map_y: plane,
        c1: vec![1.0; nz],
        c2: vec![0.0; nz],
        rdnw: vec![-(nz as f64); nz],
        fnm: vec![0.5; nz],
        fnp: vec![0.5; nz],
        unit: SPACING * SPACING / 8.0,
    }
}

/// Air of this density at rest.
pub(super) fn forcing(rho: f64) -> Forcing<f64> {
    let field = |value: f64| Array3::from_elem(SHAPE.centre(), value);
    let flux = MassFlux {
        x: Array3::zeros(SHAPE.x_face()),
        y: Array3::zeros(SHAPE.y_face()),
        z: Array3::zeros(SHAPE.z_face()),
    };
    let [rho, exner, p, dz] = [rho, 0.9, 7.0e4, 500.0].map(field);
    Forcing {
        flux,
        environment: Environment { rho, exner, p, dz, w: None },
        inflow: vec![None; with_passive().len()],
        photolysis: Vec::new(),
    }
}

/// The water and two passive tracers, of which the second decays.
pub(super) fn with_passive() -> Arc<Constituents> {
    let passive = |name, decay| Constituent {
        inflow: Inflow::ZeroGradient,
        decay,
        ..Constituent::passive(name)
    };
    let passive = [passive("stable", None), passive("unstable", Some(2.0))];
    usual_set().with_passive(passive).shared()
}
