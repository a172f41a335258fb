//! Names in expressions: variables, quantities of the cell, species, quantities of the host.

use super::evaluator::Evaluator;
use super::syntax::{Argument, ExprKind, Fault, Read};
use super::tokens::Name;
use super::values::{Array, Content, Kind, Scalar, Value};
use crate::chemistry::mechanism::diagnostics::{Span, nearest};
use crate::chemistry::mechanism::expression::Input;
use crate::chemistry::mechanism::functions::Function;
use crate::chemistry::mechanism::quantity::Origin;

/// Quantities of the air by their names: those that go before species, and those that species go before.
const OF_AIR: [(&str, Origin, bool); 7] = [
    ("c_h2o", Origin::Water, true),
    ("rh", Origin::Humidity, true),
    ("m", Origin::Air, false),
    ("air", Origin::Air, false),
    ("o2", Origin::Oxygen, false),
    ("n2", Origin::Nitrogen, false),
    ("h2o", Origin::Water, false),
];

/// Arrays of photolysis frequencies: of WRF and MCM, of MECCA, of GEOS-Chem.
const PHOTOLYSIS: [&str; 3] = ["j", "jx", "photol"];

/// Prefixes of the indices of species, which KPP makes.
const INDICES: [&str; 2] = ["ind_", "indf_"];

/// Shortest name that is taken for a misspelt one if it differs in one character.
const SHORTEST_MISSPELT: usize = 4;

impl Evaluator<'_> {
    /// The value of a name.
    pub(super) fn named(&mut self, name: &Name, span: Span) -> Read<Value> {
        if let Some(variable) = self.state.local.get(name) {
            return match &variable.content {
                Content::Value(value) => Ok(value.clone()),
                Content::Faulty(fault) => Err(Box::new((**fault).clone())),
                Content::Unset => Self::unset(name, span),
            };
        }
        let mut kind = Kind::Real;
        let mut is_declared = false;
        if let Some(variable) = self.state.global.get(name) {
            match &variable.content {
                Content::Value(Value::Array(array))
                    if !self.set.contains(name) && array.elements.iter().any(Option::is_none) =>
                {
                    let (array, kind) = (array.clone(), variable.kind);
                    return self.array_of_host(name, &array, kind, span).map(Value::Array);
                }
                Content::Value(value) => return Ok(value.clone()),
                Content::Faulty(fault) => return Err(Box::new((**fault).clone())),
                Content::Unset if self.set.contains(name) => return Self::unset(name, span),
                Content::Unset => (kind, is_declared) = (variable.kind, true),
            }
        }
        if !is_declared {
            kind = Kind::Open;
        }
        self.quantity_named(name, span, (kind, is_declared)).map(Value::Scalar)
    }

    /// True of the name of a quantity of the cell, or of a species.
    pub(super) fn is_quantity(&self, name: &Name) -> bool {
        Input::NAMES.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
            || OF_AIR.iter().any(|(known, ..)| *known == &**name)
            || self.species.contains_key(&name.to_ascii_uppercase())
    }

    fn unset<T>(name: &Name, span: Span) -> Read<T> {
        let message = format!("{name} is used before it is set");
        Err(Fault::new(span, message, "expected an assignment before this, in all branches"))
    }

    /// A quantity of the cell or of the host.
    fn quantity_named(
        &mut self,
        name: &Name,
        span: Span,
        (kind, is_declared): (Kind, bool),
    ) -> Read<Scalar> {
        let known = Input::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some(&(_, input)) = known {
            return Ok(self.input(input));
        }
        let of_air = OF_AIR.iter().find(|(known, ..)| *known == &**name);
        if let Some(&(_, origin, true)) = of_air {
            return Ok(self.quantity(origin, &self.spelling(span), Kind::Real));
        }
        if let Some(&species) = self.species.get(&name.to_ascii_uppercase()) {
            return Ok(self.concentration(species, span));
        }
        if let Some(&(_, origin, false)) = of_air {
            return Ok(self.quantity(origin, &self.spelling(span), Kind::Real));
        }
        if !is_declared {
            self.refuse_misspelt(name, span)?;
        }
        Ok(self.quantity(Origin::Host(None), &self.spelling(span), kind))
    }

    pub(super) fn concentration(&mut self, species: usize, span: Span) -> Scalar {
        let spelling = self.spelling(span);
        let bare = INDICES.iter().find_map(|prefix| {
            let start = spelling.get(..prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then(|| spelling[prefix.len()..].to_owned())
        });
        self.quantity(Origin::Species(species), &bare.unwrap_or(spelling), Kind::Real)
    }

    /// A fault if a name is that of a function, of a photolysis frequency, or nearly one of the quantities.
    fn refuse_misspelt(&self, name: &Name, span: Span) -> Read<()> {
        let text = self.spelling(span);
        let message = format!("{text} is not a quantity that a rate can depend on");
        let names = Input::NAMES.map(|(name, _)| name);
        let expected = format!(
            "expected one of {}, a species, or a variable of the mechanism",
            names.join(", ")
        );
        if Function::named(name).is_some() || self.code.procedures.contains_key(name) {
            return Err(Fault::new(span, message, "expected its arguments in parentheses"));
        }
        if name.starts_with("j_") || name.starts_with("pj_") {
            let bare = name.split_once('_').map_or("", |(_, bare)| bare);
            let help = format!(
                "for a photolysis frequency write j(Pj_{bare}); for a quantity that the model \
                 sets, declare it in #INLINE F90_GLOBAL"
            );
            return Err(Fault::new(span, message, help));
        }
        if let Some(near) = nearest(name, names)
            && name.len() > SHORTEST_MISSPELT
            && near.len() >= SHORTEST_MISSPELT
            && strsim::damerau_levenshtein(&near.to_ascii_lowercase(), name) <= 1
        {
            let help = format!(
                "{expected}; nearest known name: {near}; a quantity of this name that the model \
                 sets can be declared in #INLINE F90_GLOBAL"
            );
            return Err(Fault::new(span, message, help));
        }
        Ok(())
    }

    /// An array with the elements that have no value from the host.
    pub(super) fn array_of_host(
        &mut self,
        name: &Name,
        array: &Array,
        kind: Kind,
        span: Span,
    ) -> Read<Array> {
        let mut all = Vec::new();
        for (number, element) in array.elements.iter().enumerate() {
            self.spend(1, span)?;
            all.push(Some(match element {
                Some(element) => *element,
                None => self.quantity(Origin::Host(Some(number)), name, kind),
            }));
        }
        Ok(array.with(all))
    }

    /// An element, a section or a call.
    pub(super) fn reference(
        &mut self,
        name: &Name,
        arguments: &[Argument],
        span: Span,
    ) -> Read<Value> {
        let found = self.state.local.get(name).map(|variable| (variable, true));
        let found = found.or_else(|| self.state.global.get(name).map(|variable| (variable, false)));
        if let Some((variable, is_local)) = found {
            let (content, kind, is_array) =
                (variable.content.clone(), variable.kind, variable.is_array);
            match content {
                Content::Faulty(fault) => return Err(Box::new((*fault).clone())),
                Content::Value(Value::Array(mut array)) => {
                    let has_gaps = array.elements.iter().any(Option::is_none);
                    if has_gaps && !is_local && !self.set.contains(name) {
                        array = self.array_of_host(name, &array, kind, span)?;
                    }
                    return self.indexed(&array, arguments, span);
                }
                _ if is_array => return Self::unset(name, span),
                _ if is_local && !self.code.procedures.contains_key(name) => {
                    let message = format!("{name} is a number, not an array or a function");
                    return Err(Fault::new(span, message, "expected no parentheses after it"));
                }
                _ => {}
            }
        }
        if let Some(procedure) = self.code.procedures.get(name) {
            return self.call(procedure, arguments, span).map(Value::Scalar);
        }
        if let (true, [Argument::Value(index)]) =
            (matches!(&**name, "c" | "var" | "fix"), arguments)
            && let ExprKind::Name(index_name) = &index.kind
            && let Some(species) = INDICES.iter().find_map(|prefix| index_name.strip_prefix(prefix))
        {
            let Some(&species) = self.species.get(&species.to_ascii_uppercase()) else {
                let message = format!("the species {species} is not declared");
                return Err(Fault::new(index.span, message, "declare it in #DEFVAR or #DEFFIX"));
            };
            return Ok(Value::Scalar(self.concentration(species, index.span)));
        }
        if PHOTOLYSIS.contains(&&**name) {
            return self.frequency(name, arguments, span).map(Value::Scalar);
        }
        self.library(name, arguments, span)
    }

    /// `j(name)`, or `j(4)`.
    fn frequency(&mut self, array: &Name, arguments: &[Argument], span: Span) -> Read<Scalar> {
        let help = "expected the name of a photolysis frequency, as in j(Pj_no2)";
        let [Argument::Value(index)] = arguments else {
            let message = format!("{} arguments of {array}()", arguments.len());
            return Err(Fault::new(span, message, help));
        };
        let name = match &index.kind {
            ExprKind::Name(_) => self.spelling(index.span),
            ExprKind::Integer(number) if *number > 0 => {
                format!("{}{number}", self.spelling(span).split('(').next().unwrap_or("j").trim())
            }
            _ => {
                let message = format!("{} as the argument of {array}()", self.spelling(index.span));
                return Err(Fault::new(index.span, message, help));
            }
        };
        let next = self.photolysis.len();
        let number = *self.frequencies.entry(name.to_ascii_lowercase()).or_insert(next);
        if number == next {
            self.photolysis.push(name);
        }
        Ok(self.input(Input::Photolysis(number)))
    }
}
