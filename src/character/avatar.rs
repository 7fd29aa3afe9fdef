//! Data of avatar formats such as VRM: expressions, spring bones and humanoid roles.

use super::asset::Character;
use crate::error::{Error, Result, expect_cap, expect_finite};
use crate::id::{Id, find};
use crate::mesh::Expression;
use crate::skeleton::Joint;
use crate::skeleton::role::Role;
use crate::spring::{SpringBones, SpringRig};
use std::sync::Arc;

impl Character {
    /// The named sets of morph weights, indexed by `Id<Expression>`.
    #[must_use]
    pub fn expressions(&self) -> &[Expression] {
        &self.model.expressions
    }

    /// Finds the expression with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that exist.
    pub fn expression(&self, name: &str) -> Result<Id<Expression>> {
        let names = self.model.expressions.iter().map(|e| &*e.name);
        find("expression", names, name)
    }

    /// The same character with other expressions.
    ///
    /// # Errors
    /// - [`Error::Capacity`] for more than 65,535 expressions.
    /// - [`Error::At`] with the index of an expression that names a morph weight which does not
    ///   exist or that it names twice, has a weight that is not finite, or has the name of another
    ///   expression.
    /// - [`Error::At`] with the index of a primitive whose vertices they can move beyond
    ///   [`Self::MAX_EXTENT`].
    pub fn with_expressions(mut self, expressions: Vec<Expression>) -> Result<Self> {
        expect_cap("expressions", expressions.len(), u16::MAX.into())?;
        let mut names = std::collections::HashMap::new();
        for (index, expression) in expressions.iter().enumerate() {
            let checked = match names.insert(&*expression.name, index) {
                Some(of) => Err(Error::duplicate("name", of)),
                None => self.check_morphs(expression),
            };
            checked.map_err(|why| why.at("expression", index))?;
        }
        self.model.expressions = expressions;
        self.check_extent()?;
        Ok(self)
    }

    fn check_morphs(&self, expression: &Expression) -> Result<()> {
        let count = self.model.morph_weights.len();
        let mut numbers = std::collections::HashMap::new();
        for (number, (morph, weight)) in expression.morphs.iter().enumerate() {
            let checked = if morph.index() >= count {
                Err(Error::not_found("morph weight", (*morph).into(), count))
            } else if let Some(of) = numbers.insert(*morph, number) {
                Err(Error::duplicate("morph weight", of))
            } else {
                expect_finite("weight", *weight)
            };
            checked.map_err(|why| why.at("morph", number))?;
        }
        Ok(())
    }

    /// The chains of joints that swing.
    #[must_use]
    pub fn springs(&self) -> &SpringBones {
        self.springs.bones()
    }

    /// The same character with other spring bones.
    ///
    /// # Errors
    /// - [`Error::Capacity`] beyond the limits of [`SpringBones`].
    /// - [`Error::At`] with the chain or collider, and its joint, that does not follow the rules of
    ///   [`SpringBones`].
    pub fn with_springs(mut self, springs: SpringBones) -> Result<Self> {
        self.springs = Arc::new(SpringRig::new(&self.model.skeleton, springs)?);
        Ok(self)
    }

    /// The same character with these joints as the parts of a humanoid.
    pub(crate) fn with_roles(mut self, roles: &[(Role, Id<Joint>)]) -> Result<Self> {
        self.model.skeleton = self.model.skeleton.clone().with_roles(roles)?;
        Ok(self)
    }
}
