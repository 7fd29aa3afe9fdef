//! Morph weights, and named sets of them, such as facial expressions.

use crate::id::Id;

/// A named set of morph weights, such as a smile or the mouth of a vowel.
///
/// An import of a VRM file fills in those of the file, under the names of VRM 1.0 (`happy`, `aa`,
/// `blinkLeft`). [`Character::with_expressions`](crate::character::Character::with_expressions)
/// sets them for any character, and
/// [`Actor::set_expression`](crate::animator::Actor::set_expression) shows one.
///
/// `W` names a morph weight: an [`Id`], or another kind of index before an import.
///
/// ```
/// use throng::Id;
/// use throng::mesh::{Expression, ExpressionOverride};
///
/// let smile: Expression = Expression {
///     blink: ExpressionOverride::Blend,
///     ..Expression::new("happy", vec![(Id::new(3), 1.0), (Id::new(7), 0.4)])
/// };
/// assert_eq!(smile.morphs.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[doc(alias = "blend shape group")]
#[doc(alias = "viseme")]
pub struct Expression<W = Id<MorphWeight>> {
    /// Its name.
    pub name: Box<str>,
    /// Morph weights, and how much is added to each while the expression is fully shown.
    pub morphs: Vec<(W, f32)>,
    /// If true, a weight above 0.5 counts as 1, and any other as 0.
    pub binary: bool,
    /// Its effect on `blink`, `blinkLeft` and `blinkRight`.
    pub blink: ExpressionOverride,
    /// Its effect on `lookUp`, `lookDown`, `lookLeft` and `lookRight`.
    pub look: ExpressionOverride,
    /// Its effect on `aa`, `ih`, `ou`, `ee` and `oh`.
    pub mouth: ExpressionOverride,
}

/// The effect of an expression on others that would spoil it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExpressionOverride {
    /// Both are shown.
    #[default]
    None,
    /// The others are not shown while this one has a weight above 0.
    Block,
    /// The weights of the others are multiplied by 1 minus the weight of this one.
    Blend,
}

/// The kinds of expressions that others may override.
const KINDS: [&[&str]; 3] = [
    &["blink", "blinkLeft", "blinkRight"],
    &["lookUp", "lookDown", "lookLeft", "lookRight"],
    &["aa", "ih", "ou", "ee", "oh"],
];

impl<W> Expression<W> {
    /// An expression that overrides no other.
    #[must_use]
    pub fn new(name: &str, morphs: Vec<(W, f32)>) -> Self {
        Self {
            name: name.into(),
            morphs,
            binary: false,
            blink: ExpressionOverride::None,
            look: ExpressionOverride::None,
            mouth: ExpressionOverride::None,
        }
    }

    /// The kind that it belongs to, if others may override it.
    fn kind(&self) -> Option<usize> {
        KINDS.iter().position(|names| names.contains(&&*self.name))
    }

    /// The weight that is shown for a weight that was set, before others override it.
    pub(crate) fn shown(&self, weight: f32) -> f32 {
        match self.binary {
            true => f32::from(weight > 0.5),
            false => weight.clamp(0.0, 1.0),
        }
    }
}

/// Adds expressions at their weights to morph weights.
///
/// The rules for overrides are those of VRM 1.0.
pub(crate) fn add_expressions(expressions: &[Expression], weights: &[f32], out: &mut [f32]) {
    let mut taken = [0.0_f32; 3];
    for (expression, weight) in expressions.iter().zip(weights) {
        let weight = expression.shown(*weight);
        let own = expression.kind();
        let overrides = [expression.blink, expression.look, expression.mouth];
        for (kind, effect) in overrides.into_iter().enumerate() {
            taken[kind] += match effect {
                _ if own == Some(kind) || weight <= 0.0 => 0.0,
                ExpressionOverride::None => 0.0,
                ExpressionOverride::Block => 1.0,
                ExpressionOverride::Blend => weight,
            };
        }
    }
    for (expression, weight) in expressions.iter().zip(weights) {
        let mut weight = expression.shown(*weight);
        if let Some(kind) = expression.kind() {
            weight *= match expression.binary {
                true => f32::from(taken[kind] <= 0.0),
                false => 1.0 - taken[kind].min(1.0),
            };
        }
        if weight > 0.0 {
            for (morph, part) in &expression.morphs {
                if let Some(out) = out.get_mut(morph.index()) {
                    *out += weight * part;
                }
            }
        }
    }
}

/// A weight that drives one morph target in every primitive of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphWeight {
    /// The target's name in the file, or empty.
    pub name: Box<str>,
    /// The name of the node or mesh that has the weight, or empty.
    pub owner: Box<str>,
    /// The value if neither a clip nor the caller sets another.
    pub rest: f32,
}

impl MorphWeight {
    /// The largest number of morph weights of a character.
    pub const MAX_COUNT: usize = 1 << 16;
}
