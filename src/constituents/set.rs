//! The constituents of a run, in their order.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::{Constituent, Diagnostic, Kind, Precipitating, known};

/// The constituents of a run, in the order of its fields: potential temperature, vapour and other water, properties of
/// the water, then passive tracers and species of chemistry; and the planes, volumes and air of its scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Constituents {
    /// Name of the scheme in words.
    scheme: &'static str,
    list: Vec<Constituent>,
    water: Range<usize>,
    properties: Range<usize>,
    planes: Vec<Diagnostic>,
    volumes: Vec<Diagnostic>,
    has_vertical_wind: bool,
    levels: RangeInclusive<usize>,
}

impl Constituents {
    /// The set of a scheme with this title: its constituents in any order, the planes at the ground and the volumes
    /// that it diagnoses, `true` if it reads the vertical wind, and the numbers of levels that it takes. Temperature and vapour are of every set.
    ///
    /// # Panics
    ///
    /// When the scheme declares a passive tracer, or a property of a species that it does not have.
    pub fn of_scheme(
        scheme: &'static str,
        declared: &[Constituent],
        [planes, volumes]: [Vec<Diagnostic>; 2],
        (has_vertical_wind, levels): (bool, RangeInclusive<usize>),
    ) -> Self {
        assert!(declared.iter().all(|one| one.kind.is_of_scheme()), "constituents of a scheme");
        let of = |wanted: fn(Kind) -> bool| declared.iter().filter(move |one| wanted(one.kind));
        let mut list = vec![known::THETA, known::VAPOUR];
        for of_kind in [
            of(|kind| matches!(kind, Kind::Temperature | Kind::Water(_))),
            of(|kind| matches!(kind, Kind::Property { .. })),
        ] {
            for one in of_kind {
                match list.iter_mut().find(|other| other.column == one.column) {
                    Some(other) => *other = *one,
                    None => list.push(*one),
                }
            }
        }
        let is_property = |one: &Constituent| matches!(one.kind, Kind::Property { .. });
        let end = list.iter().position(is_property).unwrap_or(list.len());
        for one in &list {
            if let Kind::Property { of } = one.kind {
                let has = list[1..end].iter().any(|water| water.name == of);
                assert!(has, "{scheme} has no {of}, of which {} is a property", one.name);
            }
        }
        let properties = end..list.len();
        let water = 1..end;
        Self { scheme, list, water, properties, planes, volumes, has_vertical_wind, levels }
    }

    /// The same without passive tracers, followed by these.
    #[must_use]
    pub fn with_passive(&self, passive: impl IntoIterator<Item = Constituent>) -> Self {
        let of_scheme = self.of_scheme_only().iter().copied();
        Self { list: of_scheme.chain(passive).collect(), ..self.clone() }
    }

    /// The same with a shared owner.
    pub fn shared(self) -> Arc<Self> {
        Arc::new(self)
    }

    /// Name of the scheme in words.
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// All constituents, in the order of their fields.
    pub fn iter(&self) -> std::slice::Iter<'_, Constituent> {
        self.list.iter()
    }

    /// Those of the scheme: potential temperature, water and properties.
    pub fn of_scheme_only(&self) -> &[Constituent] {
        &self.list[..self.properties.end]
    }

    /// Number of those of the scheme, which precede all others.
    pub fn carried(&self) -> usize {
        self.properties.end
    }

    /// Indices of the species of water, vapour first.
    pub fn water(&self) -> Range<usize> {
        self.water.clone()
    }

    /// The species of water, vapour first.
    pub fn species(&self) -> &[Constituent] {
        &self.list[self.water()]
    }

    /// Indices of what the scheme changes with the limiter of the run: the species of water and their properties.
    pub fn limited(&self) -> Range<usize> {
        self.water.start..self.properties.end
    }

    /// Passive tracers and species of chemistry.
    pub fn passive(&self) -> &[Constituent] {
        &self.list[self.properties.end..]
    }

    /// Number of constituents.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True of an empty set.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The index of the constituent with this name or variable name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.iter().position(|tracer| tracer.name == name || tracer.variable == name)
    }

    /// The index of the field with this name in files of columns.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.of_scheme_only().iter().position(|one| one.column == name)
    }

    /// The planes at the ground, in their order.
    pub fn planes(&self) -> &[Diagnostic] {
        &self.planes
    }

    /// The volumes that are diagnosed from the state, in their order.
    pub fn volumes(&self) -> &[Diagnostic] {
        &self.volumes
    }

    /// Indices of the planes that the output has.
    pub fn shown_planes(&self) -> impl Iterator<Item = usize> {
        let shown = self.planes.iter().enumerate().filter(|(_, plane)| plane.variable.is_some());
        shown.map(|(number, _)| number)
    }

    /// Index of the plane of all precipitation since the start, if there is one.
    pub fn precipitation(&self) -> Option<usize> {
        self.planes.iter().position(|plane| plane.gathers == Some(Precipitating::All))
    }

    /// Indices of the planes of its frozen parts.
    pub fn frozen_precipitation(&self) -> impl Iterator<Item = usize> {
        let is_frozen = |plane: &Diagnostic| plane.gathers == Some(Precipitating::Frozen);
        let frozen = self.planes.iter().enumerate().filter(move |(_, plane)| is_frozen(plane));
        frozen.map(|(number, _)| number)
    }

    /// Index of the reflectivity among the volumes, if it is diagnosed.
    pub fn reflectivity(&self) -> Option<usize> {
        self.volumes.iter().position(|volume| volume.name == known::REFLECTIVITY)
    }

    /// Numbers of levels that the scheme takes.
    pub fn levels(&self) -> &RangeInclusive<usize> {
        &self.levels
    }

    /// `true` if the vertical wind is part of the air.
    pub fn has_vertical_wind(&self) -> bool {
        self.has_vertical_wind
    }
}

impl<'a> IntoIterator for &'a Constituents {
    type Item = &'a Constituent;
    type IntoIter = std::slice::Iter<'a, Constituent>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::ops::Index<usize> for Constituents {
    type Output = Constituent;

    fn index(&self, number: usize) -> &Constituent {
        &self.list[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: Constituent = Constituent::property("nr", "QNRAIN", "qr");

    fn set(declared: &[Constituent]) -> Constituents {
        let snow = known::diagnostic("snow").expect("a plane");
        let rain = known::diagnostic("rain").expect("a plane");
        let planes = vec![snow, Diagnostic::internal("hidden", "mm"), rain];
        Constituents::of_scheme("Toy", declared, [planes, Vec::new()], (false, 1..=9))
    }

    #[test]
    fn temperature_vapour_water_properties_and_passive_tracers_follow_one_another() {
        let set = set(&[NUMBER, known::RAIN, known::THETA, known::GRAUPEL]);
        let set = set.with_passive([Constituent::passive("smoke")]);
        let names: Vec<_> = set.iter().map(|one| one.name).collect();
        assert_eq!(names, ["theta", "qv", "qr", "qg", "nr", "smoke"]);
        assert_eq!((set.water(), set.limited(), set.carried()), (1..4, 1..5, 5));
        assert_eq!(set.passive().len(), 1);
        assert_eq!(
            (set.position("QNRAIN"), set.column("th"), set.column("smoke")),
            (Some(4), Some(0), None)
        );
        assert_eq!(set.with_passive([]).len(), set.carried());
    }

    #[test]
    fn planes_are_shown_and_counted_by_what_they_gather() {
        let set = set(&[]);
        assert_eq!(set.shown_planes().collect::<Vec<_>>(), [0, 2]);
        assert_eq!(set.precipitation(), Some(2));
        assert_eq!(set.frozen_precipitation().collect::<Vec<_>>(), [0]);
        assert_eq!(set.reflectivity(), None);
    }

    #[test]
    #[should_panic(expected = "Toy has no qr, of which nr is a property")]
    fn a_property_has_its_species() {
        set(&[NUMBER]);
    }
}
