//! The layout of a vertex: `ctype` and `semantic`.

use super::xml::{name, wrong_count};
use crate::fault::not_allowed;
use roxmltree::Node;
use throng::error::{AssetFault, Error, Object, Result};
use throng::mesh::Primitive;

/// The most numbers of one vertex, besides joints and weights.
const MAX_NUMBERS: usize = 64;

/// The form of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// `f`: decimal, or the bits of a 32-bit float after `$`.
    Float,
    /// `d`, `h`, `b`, `c`: decimal.
    Whole,
    /// `x1`, `x2`, `x4`: hexadecimal.
    Hex,
    /// `p`: a word.
    Word,
}

/// The meaning of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Semantic {
    Position,
    Normal,
    Tangent,
    Binormal,
    /// The first or the second set.
    TextureCoordinates(usize),
    Color,
    Weights,
    Indices,
    /// Not read.
    Other,
}

/// Some consecutive numbers of a vertex.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) semantic: Semantic,
    pub(super) codes: Vec<Code>,
}

/// The fields of a vertex buffer, in order.
pub(super) fn read<'a>(buffer: Node<'a, '_>, at: &Object) -> Result<Vec<Field<'a>>> {
    let types: Vec<&str> = name(buffer, "ctype").split_ascii_whitespace().collect();
    let names: Vec<&str> = name(buffer, "semantic").split_ascii_whitespace().collect();
    if types.is_empty() {
        return Err(Error::asset(at.clone(), AssetFault::Missing("ctype")));
    }
    if names.len() != types.len() {
        let (got, need) = (names.len() as u64, types.len() as u64);
        return Err(wrong_count("semantic", got, need, at));
    }
    let mut sets = 0;
    let mut fields: Vec<Field<'a>> = Vec::with_capacity(types.len());
    for (codes, name) in types.into_iter().zip(names) {
        let semantic = semantic(name, &mut sets);
        let is_twice = |field: &Field<'_>| field.semantic == semantic;
        if semantic != Semantic::Other && fields.iter().any(is_twice) {
            let why = not_allowed("semantic", name, "each semantic once");
            return Err(Error::asset(at.clone(), why));
        }
        let field = Field {
            name,
            semantic,
            codes: self::codes(codes, at)?,
        };
        check(&field, codes, at)?;
        fields.push(field);
    }
    let width: usize = fields.iter().map(|field| field.codes.len()).sum();
    let cap = MAX_NUMBERS + 2 * Primitive::MAX_INFLUENCES;
    if width > cap {
        let why = AssetFault::Cap {
            what: "numbers of a vertex",
            asked: width as u64,
            cap: cap as u64,
        };
        return Err(Error::asset(at.clone(), why));
    }
    Ok(fields)
}

fn semantic(name: &str, sets: &mut usize) -> Semantic {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "position" => Semantic::Position,
        "normal" => Semantic::Normal,
        "tangent" => Semantic::Tangent,
        "binormal" => Semantic::Binormal,
        "color" | "colour" | "diffuse" => Semantic::Color,
        "blendweights" | "blendweighting" | "boneweighting" | "boneweights" => Semantic::Weights,
        "blendindices" | "boneindices" => Semantic::Indices,
        _ if name.starts_with("texcoord") || name.starts_with("texel") || name == "tecoord" => {
            *sets += 1;
            match *sets {
                set @ 1..=2 => Semantic::TextureCoordinates(set - 1),
                _ => Semantic::Other,
            }
        }
        _ => Semantic::Other,
    }
}

fn codes(text: &str, at: &Object) -> Result<Vec<Code>> {
    let mut codes = Vec::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        codes.push(match letter.to_ascii_lowercase() {
            'f' => Code::Float,
            'd' | 'h' | 'b' | 'c' => Code::Whole,
            'p' => Code::Word,
            'x' => {
                letters.next_if(|size| matches!(size, '1' | '2' | '4'));
                Code::Hex
            }
            _ => {
                let why = not_allowed("ctype", text, "f, d, h, b, c, p, x1, x2 and x4");
                return Err(Error::asset(at.clone(), why));
            }
        });
    }
    Ok(codes)
}

/// Checks that a field has numbers that fit its meaning.
fn check(field: &Field<'_>, text: &str, at: &Object) -> Result<()> {
    let all = |code| field.codes.iter().all(|one| *one == code);
    let floats = if all(Code::Float) {
        field.codes.len()
    } else {
        0
    };
    let (is_allowed, allowed) = match field.semantic {
        Semantic::Position | Semantic::Normal | Semantic::Binormal => (floats == 3, "fff"),
        Semantic::Tangent => (matches!(floats, 3 | 4), "fff or ffff"),
        Semantic::TextureCoordinates(_) => (matches!(floats, 2 | 3), "ff or fff"),
        Semantic::Color => {
            let is_hex = field.codes == [Code::Hex];
            (is_hex || matches!(floats, 3 | 4), "x4, fff or ffff")
        }
        Semantic::Weights => (floats > 0, "f for each weight"),
        Semantic::Indices => (all(Code::Whole), "h or d for each joint"),
        Semantic::Other => (true, ""),
    };
    if is_allowed {
        return Ok(());
    }
    let mut at = at.clone();
    at.part = format!("{}, {}", at.part, field.name).into();
    Err(Error::asset(at, not_allowed("ctype", text, allowed)))
}
