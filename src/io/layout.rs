//! The variables of the output, with the names, dimensions and units of WRF.

use crate::constituents::{Constituent, Constituents, Diagnostic, interned};
use crate::grid::Shape;

/// Dimensions of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axes {
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

    /// Points along y and x that there are more than cells: 1 on faces.
    pub(in crate::io) fn more(self) -> [usize; 2] {
        match self {
            Self::VolumeX | Self::PlaneX => [0, 1],
            Self::VolumeY | Self::PlaneY => [1, 0],
            _ => [0, 0],
        }
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
pub(crate) struct Variable {
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
    pub(in crate::io) fn of(tracer: &Constituent) -> Self {
        let Constituent { variable: name, units, description, .. } = *tracer;
        let [standard_name, _] = tracer.standard_names;
        Self { standard_name, ..variable(name, Axes::Volume, units, description) }
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
    pub(in crate::io) fn passive(set: &Constituents) -> Vec<Self> {
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

/// Components of the wind on the faces of the cells, in the order of [`crate::frame::Snapshot::winds`].
const WINDS: [Variable; 3] = {
    use Axes::{VolumeX, VolumeY, VolumeZ};
    [
        variable("U", VolumeX, "m s-1", "x-wind component").standard("x_wind"),
        variable("V", VolumeY, "m s-1", "y-wind component").standard("y_wind"),
        variable("W", VolumeZ, "m s-1", "z-wind component").standard("upward_air_velocity"),
    ]
};

/// A plane at the ground or a diagnosed volume; `None` if the output does not have it.
fn of_diagnostic(about: &Diagnostic, axes: Axes) -> Option<Variable> {
    let named = |name| variable(name, axes, about.units, about.description);
    let Diagnostic { standard_name, cell_methods, .. } = *about;
    about.variable.map(|name| Variable { standard_name, cell_methods, ..named(name) })
}

/// Computed fields, in working precision: those of the scheme, wind, diagnosed volumes, planes at the ground.
pub(in crate::io) fn fields(set: &Constituents) -> Vec<Variable> {
    let of_scheme = set.of_scheme_only().iter().map(Variable::of);
    let volumes = volumes(set).map(|(_, variable)| variable);
    let planes = set.planes().iter().filter_map(|plane| of_diagnostic(plane, Axes::Plane));
    of_scheme.chain(WINDS).chain(volumes).chain(planes).collect()
}

/// The diagnosed volumes that the output has, with their numbers among all.
pub(in crate::io) fn volumes(set: &Constituents) -> impl Iterator<Item = (usize, Variable)> {
    let volumes = set.volumes().iter().enumerate();
    volumes.filter_map(|(number, about)| Some((number, of_diagnostic(about, Axes::Volume)?)))
}

/// Variables that can be interpolated to other grids and stations, in the order of [`crate::frame::PointSample`]: the
/// computed fields, with the wind at the cell centres, and the variables for the heights of the layers.
pub(in crate::io) fn sampled(set: &Constituents) -> Vec<Variable> {
    let mut all = fields(set);
    for variable in &mut all {
        variable.description = match variable.name {
            "U" => "Wind along the x axis of the grid of the run",
            "V" => "Wind along the y axis of the grid of the run",
            _ => continue,
        };
        (variable.axes, variable.standard_name) = (Axes::Volume, None);
    }
    all.extend(PLACED);
    all
}

/// Variables for the heights of the layers.
pub(in crate::io) const PLACED: [Variable; 2] = [
    variable("pressure", Axes::Volume, "Pa", "Pressure").standard("air_pressure"),
    variable("height", Axes::VolumeZ, "m", "Geopotential height of the faces of the layers")
        .standard("geopotential_height"),
];

/// Column contents of the species of water, in the order of [`crate::frame::Snapshot::contents`].
pub(in crate::io) fn contents(set: &Constituents) -> impl Iterator<Item = Variable> {
    set.species().iter().map(|water| {
        let name = interned(&format!("{}_PATH", water.variable));
        let what = water.description.trim_end_matches(" mixing ratio");
        let description = interned(&format!("{what} in the column"));
        let [_, standard_name] = water.standard_names;
        Variable { standard_name, ..variable(name, Axes::Plane, "kg m-2", description) }
    })
}

/// Mean and root mean square over each level of the fields of the scheme, in the order of
/// [`crate::frame::Snapshot::profiles`].
pub(in crate::io) fn profiles(set: &Constituents) -> impl Iterator<Item = Variable> {
    set.of_scheme_only().iter().flat_map(|field| {
        let [first, rest @ ..] = field.description.as_bytes() else { unreachable!("described") };
        let what = [&[first.to_ascii_lowercase()], rest].concat();
        let what = String::from_utf8_lossy(&what).into_owned();
        PROFILES.map(|(end, begin, methods)| {
            let name = interned(&format!("{}{end}", field.variable));
            let description = interned(&format!("{begin} over the cells of the level of {what}"));
            let profile = variable(name, Axes::Layer, field.units, description);
            profile.over(methods)
        })
    })
}

/// Suffixes, words and statistics of profiles.
const PROFILES: [(&str, &str, &str); 2] =
    [("_MEAN", "Mean", "area: mean"), ("_RMS", "Root mean square", "area: root_mean_square")];

/// The largest Courant number.
pub(in crate::io) const COURANT: Variable = variable(
    "MAX_COURANT",
    Axes::Scalar,
    "1",
    "Largest share of its air that leaves a cell in a time step",
);

/// All variables in working precision.
pub(in crate::io) fn computed(set: &Constituents) -> impl Iterator<Item = Variable> {
    let summed = contents(set).chain(profiles(set)).chain([COURANT]);
    fields(set).into_iter().chain(summed).chain(Variable::passive(set))
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
