//! Description of a scheme, as C sees it.

use std::ffi::c_char;

use nwp_mini::embedded::Microphysics;
use nwp_mini::physics as core;
use nwp_mini::physics::scheme::About;

use crate::texts::Texts;

/// A field of a scheme.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name, that of WRF's arguments.
    pub name: *const c_char,
    /// Its units.
    pub units: *const c_char,
    /// Its description.
    pub about: *const c_char,
}

/// A parameter of a scheme, with its value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name among options.
    pub name: *const c_char,
    /// Its units; NULL if they have a fractional power.
    pub units: *const c_char,
    /// Its description.
    pub about: *const c_char,
    /// Its value in this handle.
    pub value: f64,
    /// Its smallest value.
    pub least: f64,
    /// Its largest value.
    pub most: f64,
}

/// Description of the scheme of a handle; texts and arrays live as long as the handle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PhysicsAbout {
    /// Its name among options.
    pub key: *const c_char,
    /// Its name in words.
    pub title: *const c_char,
    /// Place of the calls, in words.
    pub place: *const c_char,
    /// The fields of a call, in the order of their pointers: tracers, which a call changes, fields of the air, which it
    /// reads, and planes at the ground, which it adds to or sets. The first tracer is the full potential temperature.
    pub fields: *const Field,
    /// Number of tracers.
    pub tracers: usize,
    /// Number of fields of the air.
    pub air: usize,
    /// Number of planes at the ground.
    pub planes: usize,
    /// The fields that are diagnosed, in the order of their pointers.
    pub diagnosed: *const Field,
    /// Number of diagnosed fields.
    pub diagnosed_count: usize,
    /// The parameters.
    pub parameters: *const Parameter,
    /// Number of parameters.
    pub parameter_count: usize,
    /// Fewest levels.
    pub fewest_levels: usize,
    /// Most levels.
    pub most_levels: usize,
}

/// The description as C sees it, and what it points to.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) about: PhysicsAbout,
    _fields: [Vec<Field>; 2],
    _parameters: Vec<Parameter>,
    _texts: Texts,
}

// SAFETY: the pointers lead to memory of this value that nobody changes.
unsafe impl Send for Description {}
// SAFETY: as above.
unsafe impl Sync for Description {}

impl Description {
    pub(crate) fn of(microphysics: &Microphysics) -> Self {
        let About { tracers, air, surface, diagnosed, parameters, levels, .. } =
            microphysics.about();
        let mut texts = Texts::default();
        let mut field = |field: &core::Field| Field {
            name: texts.keep(field.name),
            units: texts.keep(field.units),
            about: texts.keep(field.about),
        };
        let all: Vec<Field> = [*tracers, *air, *surface].concat().iter().map(&mut field).collect();
        let of_diagnosis: Vec<Field> = diagnosed.iter().map(&mut field).collect();
        let parameters: Vec<Parameter> = parameters
            .iter()
            .map(|parameter| Parameter {
                name: texts.keep(parameter.name),
                units: parameter.units.map_or(std::ptr::null(), |units| texts.keep(units)),
                about: texts.keep(parameter.description),
                value: microphysics.scheme().get(parameter.name).unwrap_or(parameter.default),
                least: parameter.bounds[0],
                most: parameter.bounds[1],
            })
            .collect();
        let about = PhysicsAbout {
            key: texts.keep(microphysics.about().key),
            title: texts.keep(microphysics.about().title),
            place: texts.keep(&microphysics.place()),
            fields: all.as_ptr(),
            tracers: tracers.len(),
            air: air.len(),
            planes: surface.len(),
            diagnosed: of_diagnosis.as_ptr(),
            diagnosed_count: diagnosed.len(),
            parameters: parameters.as_ptr(),
            parameter_count: parameters.len(),
            fewest_levels: *levels.start(),
            most_levels: *levels.end(),
        };
        Self { about, _fields: [all, of_diagnosis], _parameters: parameters, _texts: texts }
    }
}
