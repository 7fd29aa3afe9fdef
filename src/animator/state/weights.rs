//! The morph weights of an actor: overrides, expressions, and what clips blend to.

use crate::animator::library::{Library, Mapping, moved};
use crate::clone::clone_fields;
use crate::error::{Result, expect_extent, expect_in, expect_len};
use crate::mesh::add_expressions;

/// The morph weights and expressions that the caller set for an actor.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Weights {
    /// `None` leaves a weight to the clips. Empty if none is set.
    set: Vec<Option<f32>>,
    /// The weights of expressions. Empty if none was set.
    expressions: Vec<f32>,
}

clone_fields! {
    Weights { set, expressions }
}

impl Weights {
    pub(crate) fn set_all(&mut self, weights: &[Option<f32>]) {
        self.set.clear();
        if weights.iter().any(Option::is_some) {
            self.set.extend_from_slice(weights);
        }
    }

    /// Fits them to another character, which has these counts of expressions and morph weights.
    pub(crate) fn adopt(
        &mut self,
        old: &Library,
        map: &Mapping,
        [expressions, weights]: [usize; 2],
        lost: &mut dyn FnMut(&'static str, &str),
    ) {
        let before = core::mem::take(self);
        for (index, weight) in (0..)
            .zip(before.expressions)
            .filter(|(_, weight)| *weight != 0.0)
        {
            match moved(&map.expressions, index) {
                Some(new) => self.set_expression(expressions, new.into(), weight),
                None => lost("expression", &old.expressions[usize::from(index)].name),
            }
        }
        for (index, weight) in (0..).zip(before.set).filter(|(_, weight)| weight.is_some()) {
            match moved(&map.morph_weights, index) {
                Some(new) => self.set(weights, new.into(), weight),
                None => lost("morph weight", &old.morph_names[usize::from(index)]),
            }
        }
    }

    pub(crate) fn set(&mut self, count: usize, index: usize, weight: Option<f32>) {
        self.set.resize(count, None);
        self.set[index] = weight;
    }

    pub(crate) fn set_expression(&mut self, count: usize, index: usize, weight: f32) {
        self.expressions.resize(count, 0.0);
        self.expressions[index] = weight;
    }

    pub(crate) fn expression(&self, index: usize) -> f32 {
        self.expressions.get(index).copied().unwrap_or(0.0)
    }

    /// Adds the expressions to blended weights, and applies the overrides.
    pub(crate) fn apply(&self, library: &Library, out: &mut [f32]) {
        if !self.expressions.is_empty() {
            add_expressions(&library.expressions, &self.expressions, out);
        }
        for (out, set) in out.iter_mut().zip(&self.set) {
            *out = set.unwrap_or(*out);
        }
    }

    /// The index and value of each that is set, ascending, and true for an override. Others are
    /// added to what clips give. `added` has a number for each morph weight of the character.
    #[cfg(feature = "vulkan")]
    pub(crate) fn iter<'a>(
        &'a self,
        library: &Library,
        added: &'a mut [f32],
    ) -> impl Iterator<Item = (u32, f32, bool)> + 'a {
        added.fill(0.0);
        add_expressions(&library.expressions, &self.expressions, added);
        let overrides = self.set.iter().copied().chain(core::iter::repeat(None));
        let all = (0..).zip(overrides).zip(&*added);
        all.filter_map(|((index, set), added)| match set {
            Some(set) => Some((index, set, true)),
            None => (*added != 0.0).then_some((index, *added, false)),
        })
    }

    /// Indices of morph weights, and the most that they can add to the sizes.
    pub(crate) fn added<'a>(
        &'a self,
        library: &'a Library,
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        let set = self.set.iter().enumerate().filter_map(|(index, set)| {
            let size = f64::from((*set)?.abs());
            Some((index, (size - library.reach.rest_weight(index)).max(0.0)))
        });
        let shown = library.expressions.iter().zip(&self.expressions);
        let shown = shown.flat_map(|(expression, weight)| {
            let weight = f64::from(expression.shown(*weight));
            let morphs = expression.morphs.iter();
            morphs.map(move |(morph, part)| (morph.index(), weight * f64::from(part.abs())))
        });
        set.chain(shown)
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self, library: &Library) -> Result<()> {
        if !self.set.is_empty() {
            expect_len("morph weights", self.set.len(), library.morph_weights.len())?;
        }
        expect_extent("morph weight", self.set.iter().copied().flatten())?;
        if !self.expressions.is_empty() {
            let count = library.expressions.len();
            expect_len("expressions", self.expressions.len(), count)?;
        }
        let mut weights = self.expressions.iter();
        weights.try_for_each(|weight| expect_in("weight of an expression", *weight, 0.0, 1.0))
    }
}
