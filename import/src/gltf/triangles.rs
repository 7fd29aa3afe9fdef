//! Conversion of indices and modes: lists, strips and fans to lists.

use super::component::Component;
use super::json::Primitive;
use super::mesh::{At, Reader};
use throng::error::{AssetFault, Result};
use throng::import::RepairKind;

impl Reader<'_, '_> {
    /// Triangles as a list, for any mode. Trailing indices that make no triangle are dropped.
    pub(super) fn triangles(
        &mut self,
        at: &At,
        raw: &Primitive,
        mode: u64,
        vertices: u64,
    ) -> Result<Vec<u32>> {
        let count = match raw.indices {
            None => vertices,
            Some(index) => self.source.count(index as usize),
        };
        let (total, trailing) = match mode {
            4 => (count - count % 3, count % 3),
            _ if count < 3 => (0, count),
            _ => ((count - 2).saturating_mul(3), 0),
        };
        self.leave_out(at, "indices", RepairKind::TrailingIndices, trailing);
        let cap = self.source.options.limits.indices as u64;
        self.indices = self.indices.saturating_add(total);
        at.check_cap("triangle indices", self.indices, cap)?;
        self.source
            .charge(total.max(count).saturating_mul(4), || at.object("indices"))?;
        let mut corners = match raw.indices {
            None => (0..vertices).map(|index| index as u32).collect(),
            Some(index) => self.indices(at, index, vertices)?,
        };
        corners.truncate(corners.len() - trailing as usize);
        Ok(match mode {
            5 => strip(&corners),
            6 => fan(&corners),
            _ => corners,
        })
    }

    fn indices(&mut self, at: &At, index: u64, vertices: u64) -> Result<Vec<u32>> {
        let allow = |component, normalized: bool| {
            let unsigned = matches!(component, Component::U8 | Component::U16 | Component::U32);
            unsigned && !normalized
        };
        let object = || at.object("indices");
        let allowed = "5121, 5123, 5125, not normalised";
        let (index, _) = self.source.typed(index, "SCALAR", allowed, allow, object)?;
        let elements = self.source.elements(index, usize::MAX, 4)?;
        let restart = match elements.component {
            Component::U8 => u8::MAX.into(),
            Component::U16 => u16::MAX.into(),
            _ => u32::MAX,
        };
        let mut indices = Vec::with_capacity(elements.count);
        for element in 0..elements.count {
            let value = elements.integer(element, 0);
            let part = || format!("indices[{element}]");
            if value == restart {
                let why = AssetFault::Invalid("is the primitive restart value");
                return Err(at.fault(&part(), why));
            }
            if u64::from(value) >= vertices {
                let (what, index, count) = ("vertex", value.into(), vertices);
                return Err(at.fault(&part(), AssetFault::Dangling { what, index, count }));
            }
            indices.push(value);
        }
        Ok(indices)
    }
}

/// The triangles of a strip (glTF 2.0, 3.7.2.1), without degenerate ones (a line or a point).
fn strip(corners: &[u32]) -> Vec<u32> {
    let turned = |(number, c): (usize, &[u32])| match number % 2 {
        0 => [c[0], c[1], c[2]],
        _ => [c[0], c[2], c[1]],
    };
    proper(corners.windows(3).enumerate().map(turned))
}

/// The triangles of a fan (glTF 2.0, 3.7.2.1), without degenerate ones (a line or a point).
fn fan(corners: &[u32]) -> Vec<u32> {
    let Some((hub, rim)) = corners.split_first() else {
        return Vec::new();
    };
    proper(rim.windows(2).map(|edge| [edge[0], edge[1], *hub]))
}

fn proper(triangles: impl Iterator<Item = [u32; 3]>) -> Vec<u32> {
    triangles
        .filter(|[a, b, c]| a != b && b != c && a != c)
        .flatten()
        .collect()
}
