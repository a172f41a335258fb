//! Elements and sections of arrays, read and assigned.

use super::evaluator::Evaluator;
use super::syntax::{Argument, Expr, Fault, Read};
use super::values::{Array, Kind, Scalar, Value};
use crate::chemistry::mechanism::diagnostics::Span;
use crate::chemistry::mechanism::expression::Operator;

/// Selection of a dimension by an index.
pub(super) enum Selection {
    /// A position from 0.
    One(usize),
    /// A position that depends on the cell, as a whole number in the bounds of the dimension.
    OfCell(u32),
    Many(Vec<usize>),
}

impl Evaluator<'_> {
    /// The selections of indices.
    pub(super) fn selections(
        &mut self,
        array: &Array,
        indices: &[Argument],
        span: Span,
    ) -> Read<Vec<Selection>> {
        if indices.len() != array.extents.len() {
            let message = format!("{} has {} indices", self.spelling(span), indices.len());
            let help = format!("expected {}, as the array is declared", array.extents.len());
            return Err(Fault::new(span, message, help));
        }
        let mut all = Vec::new();
        for (dimension, index) in indices.iter().enumerate() {
            let bounds = (array.lower[dimension], array.extents[dimension]);
            all.push(match index {
                Argument::Value(index) => {
                    let scalar = self.scalar(index)?;
                    self.one(scalar, index, bounds)?
                }
                Argument::Section(parts) => Selection::Many(self.section(parts, bounds, span)?),
                Argument::Named(name, _) => {
                    let message = format!("{name}= among the indices of an array");
                    return Err(Fault::new(span, message, "expected whole numbers"));
                }
            });
        }
        Ok(all)
    }

    fn one(&mut self, scalar: Scalar, index: &Expr, bounds: (i64, usize)) -> Read<Selection> {
        let (lower, extent) = bounds;
        if let Some(value) = self.whole(scalar) {
            return Self::position(value, bounds, index.span).map(Selection::One);
        }
        let is_number = matches!(scalar.kind, Kind::Real | Kind::Logical)
            || self.expressions.known(scalar.node).is_some();
        if is_number || extent == 0 {
            let message = format!("{} as an index", self.spelling(index.span));
            return Err(Fault::new(index.span, message, "expected a whole number"));
        }
        let lower = self.number(lower as f64);
        Ok(Selection::OfCell(self.operate(Operator::Subtract, scalar.node, lower)))
    }

    fn position(value: i64, (lower, extent): (i64, usize), span: Span) -> Read<usize> {
        let position = usize::try_from(value - lower).ok().filter(|&position| position < extent);
        position.ok_or_else(|| {
            let message = format!("the index {value} of an array");
            let help = format!("expected {lower} to {}", lower + extent as i64 - 1);
            Fault::new(span, message, help)
        })
    }

    /// A whole number that is the same in all cells.
    pub(super) fn constant(&mut self, expr: &Expr, what: &str) -> Read<i64> {
        let scalar = self.scalar(expr)?;
        self.whole(scalar).ok_or_else(|| {
            let message = format!("{} as {what}", self.spelling(expr.span));
            let help = "expected a whole number that is the same in all cells";
            Fault::new(expr.span, message, help)
        })
    }

    fn section(
        &mut self,
        parts: &[Option<Expr>; 3],
        bounds: (i64, usize),
        span: Span,
    ) -> Read<Vec<usize>> {
        let (lower, extent) = bounds;
        let mut part = |index: usize, default: i64| match &parts[index] {
            Some(expr) => self.constant(expr, "a bound of a section"),
            None => Ok(default),
        };
        let step = part(2, 1)?;
        let upper = lower + extent as i64 - 1;
        let first = part(0, if step > 0 { lower } else { upper })?;
        let last = part(1, if step > 0 { upper } else { lower })?;
        let mut all = Vec::new();
        if step == 0 {
            return Err(Fault::new(span, "a section with a stride of 0", "expected another"));
        }
        let mut index = first;
        while (step > 0 && index <= last) || (step < 0 && index >= last) {
            self.spend(1, span)?;
            all.push(Self::position(index, bounds, span)?);
            index += step;
        }
        Ok(all)
    }

    /// An element or a section.
    pub(super) fn indexed(
        &mut self,
        array: &Array,
        indices: &[Argument],
        span: Span,
    ) -> Read<Value> {
        let selections = self.selections(array, indices, span)?;
        let extents: Vec<usize> = selections
            .iter()
            .filter_map(|selection| match selection {
                Selection::Many(all) => Some(all.len()),
                _ => None,
            })
            .collect();
        if extents.is_empty() {
            let dimension = selections.len();
            return self.picked(array, &selections, dimension, 0, span).map(Value::Scalar);
        }
        let mut elements = Vec::new();
        for place in self.places(array, &selections, span)? {
            elements.push(array.elements[place]);
        }
        let lower = vec![1; extents.len()];
        Ok(Value::Array(Array { lower, extents, elements: elements.into() }))
    }

    /// Places of the elements of a section, in order.
    pub(super) fn places(
        &mut self,
        array: &Array,
        selections: &[Selection],
        span: Span,
    ) -> Read<Vec<usize>> {
        let mut places = vec![0];
        let mut stride: usize = array.extents.iter().product();
        for (dimension, selection) in selections.iter().enumerate().rev() {
            stride /= array.extents[dimension].max(1);
            let positions = match selection {
                Selection::One(position) => std::slice::from_ref(position),
                Selection::Many(all) => all,
                Selection::OfCell(_) => {
                    let help = "expected indices that are the same in all cells beside a section";
                    return Err(Fault::new(span, "an index that depends on the cell", help));
                }
            };
            self.spend(places.len() * positions.len(), span)?;
            places = places
                .iter()
                .flat_map(|place| positions.iter().map(move |position| place + position * stride))
                .collect();
        }
        // The last dimension was taken first, and so is the slowest.
        Ok(places)
    }

    /// An element, with indices that may depend on the cell; not a number out of the bounds.
    fn picked(
        &mut self,
        array: &Array,
        selections: &[Selection],
        dimension: usize,
        place: usize,
        span: Span,
    ) -> Read<Scalar> {
        let Some(next) = dimension.checked_sub(1) else {
            return self.element(array.elements[place], span);
        };
        let stride: usize = array.extents[..next].iter().product();
        match &selections[next] {
            Selection::One(position) => {
                self.picked(array, selections, next, place + position * stride, span)
            }
            Selection::OfCell(index) => {
                let mut picked =
                    Scalar { kind: Kind::Real, node: self.number(f64::NAN), loss: None };
                for position in 0..array.extents[next] {
                    self.spend(1, span)?;
                    let at = place + position * stride;
                    let element = self.picked(array, selections, next, at, span)?;
                    let here = self.number(position as f64);
                    let is_here = self.operate(Operator::Equal, *index, here);
                    let node = self.select(is_here, element.node, picked.node);
                    picked = Scalar { node, loss: element.loss.or(picked.loss), ..element };
                }
                Ok(picked)
            }
            Selection::Many(_) => unreachable!("sections are no elements"),
        }
    }

    /// An array with new values at selected places.
    pub(super) fn replaced(
        &mut self,
        array: &Array,
        selections: &[Selection],
        value: &Value,
        (kind, span): (Kind, Span),
    ) -> Read<Array> {
        let mut elements = (*array.elements).clone();
        let has_section =
            selections.iter().any(|selection| matches!(selection, Selection::Many(_)));
        let is_of_cell =
            selections.iter().any(|selection| matches!(selection, Selection::OfCell(_)));
        if is_of_cell && !has_section {
            let Value::Scalar(value) = value else {
                return Err(Fault::new(span, "an array for an element", "expected a number"));
            };
            let value = self.converted(*value, kind, span)?;
            for (place, element) in elements.iter_mut().enumerate() {
                self.spend(1, span)?;
                let is_here = self.is_at(array, selections, place);
                let old = element.map_or_else(|| self.number(f64::NAN), |element| element.node);
                let node = self.select(is_here, value.node, old);
                *element = Some(Scalar { node, ..value });
            }
            return Ok(array.with(elements));
        }
        let places = self.places(array, selections, span)?;
        match value {
            Value::Scalar(scalar) => {
                let scalar = self.converted(*scalar, kind, span)?;
                for &place in &places {
                    elements[place] = Some(scalar);
                }
            }
            Value::Array(values) => {
                if values.elements.len() != places.len() || !has_section {
                    let message =
                        format!("{} values for {} elements", values.elements.len(), places.len());
                    return Err(Fault::new(span, message, "expected as many"));
                }
                for (&place, value) in places.iter().zip(values.elements.iter()) {
                    let value = self.element(*value, span)?;
                    elements[place] = Some(self.converted(value, kind, span)?);
                }
            }
        }
        Ok(array.with(elements))
    }

    /// The truth of a place being the selected one.
    fn is_at(&mut self, array: &Array, selections: &[Selection], place: usize) -> u32 {
        let mut is_here = self.number(1.0);
        let mut rest = place;
        for (selection, extent) in selections.iter().zip(&array.extents) {
            let position = rest % extent;
            rest /= extent;
            let same = match selection {
                Selection::One(wanted) => self.number(f64::from(u8::from(*wanted == position))),
                Selection::OfCell(index) => {
                    let here = self.number(position as f64);
                    self.operate(Operator::Equal, *index, here)
                }
                Selection::Many(_) => unreachable!("sections have places"),
            };
            is_here = self.and(is_here, same);
        }
        is_here
    }
}
