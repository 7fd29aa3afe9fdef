//! Vertex buffers and index buffers.

use super::layout::{self, Code, Field, Semantic};
use super::xml::{count, parse, words, wrong_count};
use crate::budget::Budget;
use crate::fault::not_allowed;
use crate::framed::srgb::linear;
use roxmltree::Node;
use throng::error::{AssetFault, Error, Object, Result};
use throng::glam::{Vec2, Vec3};
use throng::import::{RawPrimitive, Repair, RepairKind};

#[derive(Debug, Clone)]
pub(super) struct Vertices {
    /// Lists of absent semantics are empty.
    pub(super) streams: RawPrimitive,
    /// The bytes of one vertex.
    pub(super) size: u64,
}

pub(super) fn read(
    buffer: Node<'_, '_>,
    budget: &mut Budget<'_>,
    at: &Object,
    repairs: &mut Vec<Repair>,
) -> Result<Vertices> {
    let fields = layout::read(buffer, at)?;
    let width: u64 = fields.iter().map(|field| field.codes.len() as u64).sum();
    let missing = || Error::asset(at.clone(), AssetFault::Missing("count"));
    let vertices = count(buffer, "count", at)?.ok_or_else(missing)?;
    let (got, need) = (words(buffer).count() as u64, vertices.saturating_mul(width));
    if got != need {
        return Err(wrong_count("the list of numbers", got, need, at));
    }
    let influences = influences(&fields, at)?;
    if !fields
        .iter()
        .any(|field| field.semantic == Semantic::Position)
    {
        return Err(Error::asset(at.clone(), AssetFault::Missing("position")));
    }
    for field in fields.iter().filter(|f| f.semantic == Semantic::Other) {
        let mut at = at.clone();
        at.part = format!("{}, {}", at.part, field.name).into();
        Repair::note(repairs, &at, RepairKind::LeftOut, vertices);
    }
    // Each number has a word of the text, so the sizes are bounded by that of the file.
    let size = width.saturating_mul(4);
    budget.vertices(vertices, size, at)?;
    let mut all = RawPrimitive {
        influences_per_vertex: influences,
        ..RawPrimitive::default()
    };
    let mut signs = Vec::new();
    let mut words = words(buffer);
    let mut index = 0;
    let mut row = Vec::new();
    for _ in 0..vertices {
        let mut binormal = None;
        let first_tangent = all.tangents.len();
        for field in &fields {
            row.clear();
            for code in &field.codes {
                row.push(value(*code, words.next().unwrap_or_default(), at, index)?);
                index += 1;
            }
            push(&mut all, field, &row, &mut binormal);
        }
        if let (Some(binormal), Some(normal)) = (binormal, all.normals.last())
            && all.tangents.len() > first_tangent
        {
            let tangent = all.tangents[first_tangent].truncate();
            let is_flipped = normal.cross(tangent).dot(binormal) < 0.0;
            signs.push(if is_flipped { -1.0 } else { 1.0 });
        }
    }
    for (tangent, sign) in all.tangents.iter_mut().zip(signs) {
        tangent.w = sign;
    }
    Ok(Vertices { streams: all, size })
}

/// The number of joints and weights of each vertex, which must be the same.
fn influences(fields: &[Field<'_>], at: &Object) -> Result<usize> {
    let width = |semantic| {
        let field = fields.iter().find(|field| field.semantic == semantic);
        field.map_or(0, |field| field.codes.len())
    };
    let (weights, joints) = (width(Semantic::Weights), width(Semantic::Indices));
    if weights == joints {
        return Ok(joints);
    }
    let (got, need) = (weights as u64, joints as u64);
    Err(wrong_count("the list of blendweights", got, need, at))
}

/// A number of a vertex. A float is never rounded, and a whole number has at most 32 bits.
fn value(code: Code, word: &str, at: &Object, index: u64) -> Result<f64> {
    match code {
        Code::Float => match word.strip_prefix('$') {
            Some(bits) => Ok(f64::from(f32::from_bits(hex(bits, at, index)?))),
            None => Ok(f64::from(parse::<f32>(word, at, index)?)),
        },
        Code::Whole => {
            let value: f64 = parse(word, at, index)?;
            if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) {
                return Ok(value);
            }
            let allowed = "a whole number of at most 32 bits";
            let why = AssetFault::value("number", index as usize, value, allowed);
            Err(Error::asset(at.clone(), why))
        }
        Code::Hex => Ok(f64::from(hex(word, at, index)?)),
        Code::Word => Ok(0.0),
    }
}

fn hex(word: &str, at: &Object, index: u64) -> Result<u32> {
    let digits = word.trim_start_matches(['$', '#']);
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let value = is_hex.then(|| u32::from_str_radix(digits, 16).ok());
    value.flatten().ok_or_else(|| {
        let mut at = at.clone();
        at.part = format!("{}, number {index}", at.part).into();
        Error::asset(
            at,
            not_allowed("the text", word, "1 to 8 hexadecimal digits"),
        )
    })
}

/// Adds the values of a field to a vertex.
fn push(to: &mut RawPrimitive, field: &Field<'_>, row: &[f64], binormal: &mut Option<Vec3>) {
    let at = |index: usize| row.get(index).map(|value| *value as f32);
    let number = |index| at(index).unwrap_or_default();
    let vector = || Vec3::new(number(0), number(1), number(2));
    match field.semantic {
        Semantic::Position => to.positions.push(vector()),
        Semantic::Normal => to.normals.push(vector()),
        Semantic::Tangent => to.tangents.push(vector().extend(at(3).unwrap_or(1.0))),
        Semantic::Binormal => *binormal = Some(vector()),
        Semantic::TextureCoordinates(0) => to.uvs.push(Vec2::new(number(0), number(1))),
        Semantic::TextureCoordinates(_) => to.uvs1.push(Vec2::new(number(0), number(1))),
        Semantic::Color => to.colors.push(match field.codes.as_slice() {
            [Code::Hex] => {
                let [alpha, rgb @ ..] = (row[0] as u32).to_be_bytes();
                let [r, g, b] = rgb.map(|value| linear(f32::from(value) / 255.0));
                [r, g, b, f32::from(alpha) / 255.0]
            }
            _ => {
                let [r, g, b] = [0, 1, 2].map(|index| linear(number(index)));
                [r, g, b, at(3).unwrap_or(1.0)]
            }
        }),
        Semantic::Weights => to.weights.extend(row.iter().map(|value| *value as f32)),
        Semantic::Indices => to.joints.extend(row.iter().map(|value| *value as u32)),
        Semantic::Other => {}
    }
}

/// The indices of a triangle list. The file states the number of triangles.
pub(super) fn indices(
    buffer: Node<'_, '_>,
    budget: &mut Budget<'_>,
    at: &Object,
) -> Result<Vec<u32>> {
    let stated = match count(buffer, "triangle_count", at)? {
        Some(triangles) => Some(triangles),
        None => count(buffer, "count", at)?,
    };
    let missing = || Error::asset(at.clone(), AssetFault::Missing("count"));
    let need = stated.ok_or_else(missing)?.saturating_mul(3);
    let got = words(buffer).count() as u64;
    if got != need {
        return Err(wrong_count("the list of indices", got, need, at));
    }
    budget.indices(got, at)?;
    let indices = (0..).zip(words(buffer));
    indices
        .map(|(index, word)| parse(word, at, index))
        .collect()
}
