//! The options of merging.

use crate::retarget::JointMap;

/// The options of [`Character::with_parts_of`](crate::character::Character::with_parts_of).
///
/// Minor versions may add fields. Name the fields that you set and take the others from the
/// default.
#[derive(Debug, Clone, PartialEq)]
pub struct OutfitOptions {
    /// The names of the parts to take, see [`Character::parts`]. If empty, all are taken.
    ///
    /// [`Character::parts`]: crate::character::Character::parts
    pub parts: Vec<Box<str>>,
    /// Text before the names of the added parts and before the owners of their morph weights.
    pub prefix: Box<str>,
    /// The map from joints of the other character, its source, to joints of this one.
    ///
    /// A joint that several joints here follow is matched with the first of them. `None` uses
    /// [`JointMap::by_names`].
    pub joints: Option<JointMap>,
    /// The largest distance of a joint from its match at rest, as a fraction of the longest edge of
    /// [`Character::rest_bounds`]. At least 0.
    ///
    /// [`Character::rest_bounds`]: crate::character::Character::rest_bounds
    pub max_distance: f32,
    /// If true, rest poses are not compared, and inverse bind matrices stay as they are.
    ///
    /// For files of one skeleton whose nodes rest in different poses, such as in mid-step.
    pub keep_binds: bool,
    /// If true, joints without a match are held: what follows them follows the nearest joint above
    /// that has a match, as at rest. An additional bone of a cape is then stiff.
    ///
    /// If false, parts that such a joint bends are left out. What follows one joint alone, such as
    /// a sword on a node below the hand, is always held.
    pub hold_joints: bool,
}

impl Default for OutfitOptions {
    fn default() -> Self {
        Self {
            parts: Vec::new(),
            prefix: Box::default(),
            joints: None,
            max_distance: 0.03,
            keep_binds: false,
            hold_joints: false,
        }
    }
}
