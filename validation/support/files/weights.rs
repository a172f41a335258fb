//! A weight file in the making, for a test to read or to break.

use std::collections::BTreeMap;
use std::path::Path;

/// Values of a variable.
#[derive(Clone, Debug)]
pub enum Values {
    Whole(Vec<i32>),
    Real(Vec<f64>),
}

/// A variable: dimensions, units, values.
#[derive(Clone, Debug)]
pub struct Variable {
    pub dimensions: Vec<&'static str>,
    pub units: &'static str,
    pub values: Values,
}

/// A weight file of either form.
#[derive(Clone, Debug)]
pub struct File {
    pub lengths: BTreeMap<&'static str, usize>,
    pub attributes: BTreeMap<&'static str, String>,
    pub variables: BTreeMap<&'static str, Variable>,
}

/// Links of a small target: 3x2 cells from a grid of 12x10, of which the last touches nothing.
pub const LINKS: [(i32, i32, f64); 9] = [
    (1, 1, 0.25),
    (2, 1, 0.75),
    (15, 2, 1.0),
    (40, 3, 0.5),
    (41, 3, 0.3),
    (52, 3, 0.2),
    (100, 4, 1.0),
    (119, 5, 0.5),
    (120, 5, 0.5),
];

/// Cells of source and target.
pub const SIZES: [usize; 2] = [120, 6];

impl File {
    /// The form of SCRIP, with the normalisation fracarea.
    pub fn scrip() -> Self {
        let mut file = Self::of([
            ("src_grid_size", SIZES[0]),
            ("dst_grid_size", SIZES[1]),
            ("num_links", LINKS.len()),
            ("num_wgts", 1),
            ("src_grid_rank", 2),
            ("dst_grid_rank", 2),
        ]);
        file.whole("src_address", &["num_links"], LINKS.map(|link| link.0).to_vec());
        file.whole("dst_address", &["num_links"], LINKS.map(|link| link.1).to_vec());
        file.whole("src_grid_dims", &["src_grid_rank"], vec![12, 10]);
        file.whole("dst_grid_dims", &["dst_grid_rank"], vec![3, 2]);
        let weights = LINKS.map(|link| link.2).to_vec();
        file.real("remap_matrix", &["num_links", "num_wgts"], "1", weights);
        file.real("dst_grid_frac", &["dst_grid_size"], "unitless", fraction());
        let [x, y] = target();
        let radians = |values: Vec<f64>| values.iter().map(|x| x.to_radians()).collect();
        file.real("dst_grid_center_lon", &["dst_grid_size"], "radians", radians(x));
        file.real("dst_grid_center_lat", &["dst_grid_size"], "radians", radians(y));
        file
    }

    /// The weights in the format of ESMF.
    pub fn esmf() -> Self {
        let mut file = Self::of([
            ("n_a", SIZES[0]),
            ("n_b", SIZES[1]),
            ("n_s", LINKS.len()),
            ("src_grid_rank", 2),
            ("dst_grid_rank", 2),
        ]);
        file.whole("col", &["n_s"], LINKS.map(|link| link.0).to_vec());
        file.whole("row", &["n_s"], LINKS.map(|link| link.1).to_vec());
        file.whole("src_grid_dims", &["src_grid_rank"], vec![12, 10]);
        file.whole("dst_grid_dims", &["dst_grid_rank"], vec![3, 2]);
        file.real("S", &["n_s"], "1", LINKS.map(|link| link.2).to_vec());
        file.real("frac_b", &["n_b"], "unitless", fraction());
        let [x, y] = target();
        file.real("xc_b", &["n_b"], "degrees", x);
        file.real("yc_b", &["n_b"], "degrees", y);
        file
    }

    fn of<const N: usize>(lengths: [(&'static str, usize); N]) -> Self {
        let attributes = [("normalization", "fracarea"), ("map_method", "Conservative remapping")];
        Self {
            lengths: lengths.into(),
            attributes: attributes.map(|(name, text)| (name, text.to_owned())).into(),
            variables: BTreeMap::new(),
        }
    }

    /// Adds or replaces a variable of whole numbers.
    pub fn whole(&mut self, name: &'static str, dimensions: &[&'static str], values: Vec<i32>) {
        let (dimensions, values) = (dimensions.to_vec(), Values::Whole(values));
        self.variables.insert(name, Variable { dimensions, units: "1", values });
    }

    /// Adds or replaces a variable of numbers.
    pub fn real(
        &mut self,
        name: &'static str,
        dimensions: &[&'static str],
        units: &'static str,
        values: Vec<f64>,
    ) {
        let (dimensions, values) = (dimensions.to_vec(), Values::Real(values));
        self.variables.insert(name, Variable { dimensions, units, values });
    }

    /// The values of a variable of numbers, to be changed.
    pub fn numbers(&mut self, name: &str) -> &mut Vec<f64> {
        match &mut self.variables.get_mut(name).expect("a variable").values {
            Values::Real(values) => values,
            Values::Whole(_) => panic!("{name} has whole numbers"),
        }
    }

    /// The values of a variable of whole numbers, to be changed.
    pub fn indices(&mut self, name: &str) -> &mut Vec<i32> {
        match &mut self.variables.get_mut(name).expect("a variable").values {
            Values::Whole(values) => values,
            Values::Real(_) => panic!("{name} has no whole numbers"),
        }
    }

    /// Takes a variable out.
    pub fn remove(&mut self, name: &str) {
        assert!(self.variables.remove(name).is_some(), "no {name}");
    }

    /// Gives a global attribute another text.
    pub fn set(&mut self, name: &'static str, text: &str) {
        self.attributes.insert(name, text.to_owned());
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) {
        self.put(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    fn put(&self, path: &Path) -> netcdf::Result<()> {
        let mut file = netcdf::create(path)?;
        for (name, length) in &self.lengths {
            file.add_dimension(name, *length)?;
        }
        for (name, text) in &self.attributes {
            file.add_attribute(name, text.as_str())?;
        }
        for (name, Variable { dimensions, units, values }) in &self.variables {
            match values {
                Values::Whole(values) => {
                    file.add_variable::<i32>(name, dimensions)?.put_values(values, ..)?;
                }
                Values::Real(values) => {
                    file.add_variable::<f64>(name, dimensions)?.put_values(values, ..)?;
                }
            }
            let mut variable = file.variable_mut(name).expect("added above");
            variable.put_attribute("units", *units)?;
        }
        file.close()
    }
}

fn fraction() -> Vec<f64> {
    vec![1.0, 0.5, 1.0, 1.0, 0.25, 0.0]
}

/// Longitudes and latitudes of the target's cells.
fn target() -> [Vec<f64>; 2] {
    [vec![9.0, 9.5, 10.0, 9.0, 9.5, 10.0], vec![45.5, 45.5, 45.5, 46.0, 46.0, 46.0]]
}
