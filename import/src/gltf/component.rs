//! Component types of accessors, and the sizes of elements made of them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    pub(super) fn from_code(code: u64) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }
}

/// The bytes of an element without the padding after a matrix's last column, which the last element
/// of a file may omit.
pub(super) fn unpadded(kind: &str, component: Component, size: usize) -> usize {
    let rows = match kind {
        "MAT2" => 2,
        "MAT3" => 3,
        "MAT4" => 4,
        _ => return size,
    };
    let column = rows * component.size();
    size - (column.next_multiple_of(4) - column)
}

/// The number of components of an element, and its bytes including the padding between matrix
/// columns.
pub(super) fn shape(kind: &str, component: Component) -> Option<(usize, usize)> {
    let size = component.size();
    let matrix = |n: usize| (n * n, (n * size).next_multiple_of(4) * n);
    Some(match kind {
        "SCALAR" => (1, size),
        "VEC2" => (2, 2 * size),
        "VEC3" => (3, 3 * size),
        "VEC4" => (4, 4 * size),
        "MAT2" => matrix(2),
        "MAT3" => matrix(3),
        "MAT4" => matrix(4),
        _ => return None,
    })
}
