//! The variables of the output, with the names, dimensions and units of WRF.

use crate::frame::FIELDS;
use crate::grid::Shape;
use crate::tracers::{Tracer, TracerSet};

/// Dimensions of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Axes {
    /// Cell centres.
    Volume,
    /// x-faces.
    VolumeX,
    /// y-faces.
    VolumeY,
    /// z-faces.
    VolumeZ,
    /// Cell centres of the horizontal plane.
    Plane,
    /// x-faces of the horizontal plane.
    PlaneX,
    /// y-faces of the horizontal plane.
    PlaneY,
    /// Layers.
    Layer,
    /// z-faces of the column.
    Face,
    /// A scalar.
    Scalar,
}

impl Axes {
    /// Dimensions of a map factor, from its name.
    pub(in crate::io) fn of_map_factor(name: &str) -> Self {
        match name.strip_prefix("MAPFAC_").and_then(|rest| rest.chars().next()) {
            Some('U') => Self::PlaneX,
            Some('V') => Self::PlaneY,
            _ => Self::Plane,
        }
    }

    /// Names of the dimensions after Time.
    pub(in crate::io) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Volume => &["bottom_top", "south_north", "west_east"],
            Self::VolumeX => &["bottom_top", "south_north", "west_east_stag"],
            Self::VolumeY => &["bottom_top", "south_north_stag", "west_east"],
            Self::VolumeZ => &["bottom_top_stag", "south_north", "west_east"],
            Self::Plane => &["south_north", "west_east"],
            Self::PlaneX => &["south_north", "west_east_stag"],
            Self::PlaneY => &["south_north_stag", "west_east"],
            Self::Layer => &["bottom_top"],
            Self::Face => &["bottom_top_stag"],
            Self::Scalar => &[],
        }
    }

    /// Lengths of the dimensions after Time.
    pub(in crate::io) fn lengths(self, shape: Shape) -> Vec<usize> {
        let all = dimensions(shape);
        let length = |name: &&str| all.iter().find(|(found, _)| found == name).map(|(_, n)| *n);
        self.names().iter().filter_map(length).collect()
    }

    /// WRF's name of the order of dimensions.
    pub(in crate::io) fn memory_order(self) -> &'static str {
        match self.names().len() {
            3 => "XYZ",
            2 => "XY ",
            1 => "Z  ",
            _ => "0  ",
        }
    }

    /// WRF's name of the staggering.
    pub(in crate::io) fn stagger(self) -> &'static str {
        match self {
            Self::VolumeX | Self::PlaneX => "X",
            Self::VolumeY | Self::PlaneY => "Y",
            Self::VolumeZ | Self::Face => "Z",
            _ => "",
        }
    }

    /// Returns `true` if the values are at cell centres in the horizontal, whose coordinates the file has.
    pub(in crate::io) fn have_positions(self) -> bool {
        matches!(self, Self::Volume | Self::VolumeZ | Self::Plane)
    }
}

/// Names and lengths of the dimensions in space.
pub(in crate::io) fn dimensions(shape: Shape) -> [(&'static str, usize); 6] {
    [
        ("west_east", shape.nx),
        ("south_north", shape.ny),
        ("bottom_top", shape.nz),
        ("west_east_stag", shape.nx + 1),
        ("south_north_stag", shape.ny + 1),
        ("bottom_top_stag", shape.nz + 1),
    ]
}

/// Name of the variable that carries the attributes of the map projection.
pub(in crate::io) const GRID_MAPPING: &str = "crs";
/// Suffix of the name of an ensemble mean.
pub(in crate::io) const ENSEMBLE_MEAN: &str = "_ENSEMBLE_MEAN";
/// Suffix of the name of an ensemble spread.
pub(in crate::io) const ENSEMBLE_SPREAD: &str = "_ENSEMBLE_SPREAD";

/// Description of a variable.
#[derive(Clone, Copy, Debug)]
pub(in crate::io) struct Variable {
    pub(in crate::io) name: &'static str,
    pub(in crate::io) axes: Axes,
    pub(in crate::io) units: &'static str,
    pub(in crate::io) description: &'static str,
    /// CF standard name, if there is one.
    pub(in crate::io) standard_name: Option<&'static str>,
    /// Attribute `cell_methods`: the statistics that the values represent.
    pub(in crate::io) cell_methods: Option<&'static str>,
}

impl Variable {
    const fn standard(self, standard_name: &'static str) -> Self {
        Self { standard_name: Some(standard_name), ..self }
    }

    const fn over(self, cell_methods: &'static str) -> Self {
        Self { cell_methods: Some(cell_methods), ..self }
    }

    /// The variable of a tracer.
    pub(in crate::io) fn of(tracer: &Tracer) -> Self {
        variable(tracer.variable, Axes::Volume, tracer.units, tracer.description)
    }

    /// True for a component of the wind.
    pub(in crate::io) fn is_wind(&self) -> bool {
        matches!(self.name, "U" | "V" | "W")
    }

    /// False for variables of which differences are taken, which rounding of the values would spoil: pressure,
    /// geopotential and column mass with their base states, and the description of the grid.
    pub(super) fn may_be_rounded(&self) -> bool {
        !GIVEN.iter().chain(&GRID).any(|other| other.name == self.name)
    }

    /// The variables of the passive tracers of a set.
    pub(in crate::io) fn passive(set: &TracerSet) -> Vec<Self> {
        set.passive().iter().map(Self::of).collect()
    }
}

const fn variable(
    name: &'static str,
    axes: Axes,
    units: &'static str,
    description: &'static str,
) -> Variable {
    Variable { name, axes, units, description, standard_name: None, cell_methods: None }
}

/// Computed fields, in working precision, in the order of [`crate::frame::Snapshot`].
pub(in crate::io) const COMPUTED: [Variable; 16] = {
    use Axes::{Plane, Volume, VolumeX, VolumeY, VolumeZ};
    [
        variable("T", Volume, "K", "perturbation potential temperature theta-t0"),
        variable("QVAPOR", Volume, "kg kg-1", "Water vapor mixing ratio")
            .standard("humidity_mixing_ratio"),
        variable("QCLOUD", Volume, "kg kg-1", "Cloud water mixing ratio")
            .standard("cloud_liquid_water_mixing_ratio"),
        variable("QRAIN", Volume, "kg kg-1", "Rain water mixing ratio"),
        variable("QICE", Volume, "kg kg-1", "Ice mixing ratio").standard("cloud_ice_mixing_ratio"),
        variable("QSNOW", Volume, "kg kg-1", "Snow mixing ratio"),
        variable("U", VolumeX, "m s-1", "x-wind component").standard("x_wind"),
        variable("V", VolumeY, "m s-1", "y-wind component").standard("y_wind"),
        variable("W", VolumeZ, "m s-1", "z-wind component").standard("upward_air_velocity"),
        variable("REFL_10CM", Volume, "dBZ", "Radar reflectivity (lamda = 10 cm)")
            .standard("equivalent_reflectivity_factor"),
        variable("RE_CLOUD", Volume, "m", "Effective radius cloud water"),
        variable("RE_ICE", Volume, "m", "Effective radius cloud ice"),
        variable("RE_SNOW", Volume, "m", "Effective radius snow"),
        variable("RAINNC", Plane, "mm", "ACCUMULATED TOTAL GRID SCALE PRECIPITATION")
            .standard("lwe_thickness_of_stratiform_precipitation_amount")
            .over("XTIME: sum"),
        variable("SNOWNC", Plane, "mm", "ACCUMULATED TOTAL GRID SCALE SNOW AND ICE"),
        variable("SR", Plane, "1", "fraction of frozen precipitation"),
    ]
};

/// Variables that can be interpolated to other grids and stations, in the order of [`crate::frame::PointSample`]: the
/// computed fields, with the wind at the cell centres, and the variables for the heights of the layers.
pub(in crate::io) const SAMPLED: [Variable; FIELDS] = {
    use Axes::{Volume, VolumeZ};
    let pressure = variable("pressure", Volume, "Pa", "Pressure").standard("air_pressure");
    let height = variable("height", VolumeZ, "m", "Geopotential height of the faces of the layers");
    let mut all = [height.standard("geopotential_height"); COMPUTED.len() + 2];
    all[COMPUTED.len()] = pressure;
    let mut n = 0;
    while n < COMPUTED.len() {
        all[n] = COMPUTED[n];
        n += 1;
    }
    all[6] = variable("U", Volume, "m s-1", "Wind along the x axis of the grid of the run");
    all[7] = variable("V", Volume, "m s-1", "Wind along the y axis of the grid of the run");
    all
};

/// Column contents of the species of water, in the order of [`crate::frame::Snapshot::contents`].
pub(in crate::io) const CONTENTS: [Variable; 5] = {
    use Axes::Plane;
    [
        variable("QVAPOR_PATH", Plane, "kg m-2", "Water vapor in the column")
            .standard("atmosphere_mass_content_of_water_vapor"),
        variable("QCLOUD_PATH", Plane, "kg m-2", "Cloud water in the column")
            .standard("atmosphere_mass_content_of_cloud_liquid_water"),
        variable("QRAIN_PATH", Plane, "kg m-2", "Rain water in the column"),
        variable("QICE_PATH", Plane, "kg m-2", "Ice in the column")
            .standard("atmosphere_mass_content_of_cloud_ice"),
        variable("QSNOW_PATH", Plane, "kg m-2", "Snow in the column"),
    ]
};

const fn profile(
    name: &'static str,
    units: &'static str,
    description: &'static str,
    cell_methods: &'static str,
) -> Variable {
    variable(name, Axes::Layer, units, description).over(cell_methods)
}

/// Mean and root mean square over each level of a field.
macro_rules! profiles {
    ($name:literal, $units:literal, $what:literal) => {{
        let mean = concat!("Mean over the cells of the level of ", $what);
        let rms = concat!("Root mean square over the cells of the level of ", $what);
        [
            profile(concat!($name, "_MEAN"), $units, mean, "area: mean"),
            profile(concat!($name, "_RMS"), $units, rms, "area: root_mean_square"),
        ]
    }};
}

/// Profiles of the fields of the state, in the order of [`crate::frame::Snapshot::profiles`].
pub(in crate::io) const PROFILES: [[Variable; 2]; 6] = [
    profiles!("T", "K", "perturbation potential temperature theta-t0"),
    profiles!("QVAPOR", "kg kg-1", "water vapor mixing ratio"),
    profiles!("QCLOUD", "kg kg-1", "cloud water mixing ratio"),
    profiles!("QRAIN", "kg kg-1", "rain water mixing ratio"),
    profiles!("QICE", "kg kg-1", "ice mixing ratio"),
    profiles!("QSNOW", "kg kg-1", "snow mixing ratio"),
];

/// The largest Courant number.
pub(in crate::io) const COURANT: Variable = variable(
    "MAX_COURANT",
    Axes::Scalar,
    "1",
    "Largest share of its air that leaves a cell in a time step",
);

/// All variables in working precision.
pub(in crate::io) fn computed(tracers: &TracerSet) -> impl Iterator<Item = Variable> {
    let summed = CONTENTS.into_iter().chain(PROFILES.into_iter().flatten()).chain([COURANT]);
    COMPUTED.into_iter().chain(summed).chain(Variable::passive(tracers))
}

/// Fields that pass through from the input, in the order of [`crate::frame::PassThrough`].
pub(in crate::io) const GIVEN: [Variable; 6] = {
    use Axes::{Plane, Volume, VolumeZ};
    [
        variable("P", Volume, "Pa", "perturbation pressure"),
        variable("PB", Volume, "Pa", "BASE STATE PRESSURE"),
        variable("PH", VolumeZ, "m2 s-2", "perturbation geopotential"),
        variable("PHB", VolumeZ, "m2 s-2", "base-state geopotential"),
        variable("MU", Plane, "Pa", "perturbation dry air mass in column"),
        variable("MUB", Plane, "Pa", "base state dry air mass in column"),
    ]
};

/// Description of the grid, in the order of the values in [`crate::io::out::output`].
pub(in crate::io) const GRID: [Variable; 23] = {
    use Axes::{Face, Layer, Plane, PlaneX, PlaneY, Scalar};
    [
        variable("ZNU", Layer, "1", "eta values on half (mass) levels"),
        variable("ZNW", Face, "1", "eta values on full (w) levels"),
        variable("DNW", Layer, "1", "d(eta) values between full (w) levels"),
        variable("RDNW", Layer, "1", "inverse d(eta) values between full (w) levels"),
        variable("DN", Layer, "1", "d(eta) values between half (mass) levels"),
        variable("RDN", Layer, "1", "inverse d(eta) values between half (mass) levels"),
        variable("FNM", Layer, "1", "upper weight for vertical stretching"),
        variable("FNP", Layer, "1", "lower weight for vertical stretching"),
        variable("C1H", Layer, "1", "half levels, c1h = d bf / d eta"),
        variable("C2H", Layer, "Pa", "half levels, c2h = (1-c1h)*(p0-pt)"),
        variable("C1F", Face, "1", "full levels, c1f = d bf / d eta"),
        variable("C2F", Face, "Pa", "full levels, c2f = (1-c1f)*(p0-pt)"),
        variable("P_TOP", Scalar, "Pa", "PRESSURE TOP OF THE MODEL"),
        variable("XLAT", Plane, "degree_north", "LATITUDE, SOUTH IS NEGATIVE").standard("latitude"),
        variable("XLONG", Plane, "degree_east", "LONGITUDE, WEST IS NEGATIVE")
            .standard("longitude"),
        variable("HGT", Plane, "m", "Terrain Height").standard("surface_altitude"),
        variable("MAPFAC_MX", Plane, "1", "Map scale factor on mass grid, x direction"),
        variable("MAPFAC_MY", Plane, "1", "Map scale factor on mass grid, y direction"),
        variable("MAPFAC_UX", PlaneX, "1", "Map scale factor on u-grid, x direction"),
        variable("MAPFAC_UY", PlaneX, "1", "Map scale factor on u-grid, y direction"),
        variable("MAPFAC_VX", PlaneY, "1", "Map scale factor on v-grid, x direction"),
        variable("MAPFAC_VY", PlaneY, "1", "Map scale factor on v-grid, y direction"),
        variable("MAPFAC_M", Plane, "1", "Map scale factor on mass grid"),
    ]
};
