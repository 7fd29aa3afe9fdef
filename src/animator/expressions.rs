//! Expressions of actors.

use super::ActorId;
use super::instances::Animator;
use super::name_or_id::NameOrId;
use crate::error::{Error, Result, expect_in};
use crate::id::{Id, find};
use crate::mesh::Expression;

impl Animator {
    /// Sets the weight at which an actor shows an expression.
    ///
    /// Expressions that are shown together are added, as far as they do not
    /// [override](crate::mesh::ExpressionOverride) each other. The weights of all expressions are 0
    /// at first.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for an expression that the character does
    ///   not have.
    /// - [`Error::Argument`] for a weight outside 0..=1.
    #[doc(alias = "blend shape")]
    #[doc(alias = "face")]
    pub fn set_expression<'a>(
        &mut self,
        id: ActorId,
        expression: impl Into<NameOrId<'a, Id<Expression>>>,
        weight: f32,
    ) -> Result<()> {
        self.actors.check(id)?;
        let index = self.find_expression(expression.into())?;
        expect_in("weight", weight, 0.0, 1.0)?;
        let count = self.library.expressions.len();
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            actor.expressions.resize(count, 0.0);
            actor.expressions[index] = weight;
        }
        Ok(())
    }

    /// The weight at which an actor shows an expression.
    ///
    /// # Errors
    /// As [`Self::set_expression`].
    pub fn expression<'a>(
        &self,
        id: ActorId,
        expression: impl Into<NameOrId<'a, Id<Expression>>>,
    ) -> Result<f32> {
        let weights = &self.actors.get(id)?.expressions;
        let index = self.find_expression(expression.into())?;
        Ok(weights.get(index).copied().unwrap_or(0.0))
    }

    fn find_expression(&self, expression: NameOrId<'_, Id<Expression>>) -> Result<usize> {
        let all = &self.library.expressions;
        match expression {
            NameOrId::Name(name) => {
                find::<Expression>("expression", all.iter().map(|e| &*e.name), name).map(Id::index)
            }
            NameOrId::Id(id) if id.index() < all.len() => Ok(id.index()),
            NameOrId::Id(id) => Err(Error::NotFound {
                what: "expression",
                index: id.into(),
                count: all.len() as u64,
            }),
        }
    }
}
