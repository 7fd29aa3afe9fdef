//! The XML of EZMesh: parsing within bounds, and access to elements and numbers.

use crate::budget::Budget;
use crate::fault::{check_cap, fault, file_part, malformed, message, not_allowed};
use core::str::FromStr;
use roxmltree::{Document, Node, ParsingOptions};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::import::{Repair, RepairKind};

/// The longest tag in bytes.
const MAX_TAG_BYTES: usize = 8192;
/// The most attributes of a tag. The parser compares each of them with all others.
const MAX_ATTRIBUTES: usize = 100;
/// The most elements, texts and comments. The parser takes about 100 bytes for each.
const MAX_NODES: u32 = 1 << 20;
/// The most namespaces. The parser copies those of an element for each of its children.
const MAX_NAMESPACES: usize = 64;

/// Parses the document, if its size is within bounds.
///
/// Documents with a DTD are rejected: EZMesh has none, and entities can expand without bounds.
pub(super) fn document<'a>(bytes: &'a [u8], budget: &Budget<'_>) -> Result<Document<'a>> {
    budget.text(bytes)?;
    let text = core::str::from_utf8(bytes)
        .map_err(|error| malformed("the XML is not UTF-8", error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = bytes.len() - text.len();
    check_tags(text, skipped)?;
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| xml_fault(&error, bytes.len()))
}

/// The error of a text that ends at byte `end`.
fn xml_fault(error: &roxmltree::Error, end: usize) -> Error {
    // The parser has no position for these.
    match error {
        roxmltree::Error::NoRootNode => return malformed("the XML ends without an element", end),
        roxmltree::Error::UnclosedRootNode => {
            return malformed("the XML ends before its root element", end);
        }
        roxmltree::Error::UnexpectedEndOfStream => return malformed("the XML ends early", end),
        roxmltree::Error::NodesLimitReached => {
            let (what, cap) = ("XML nodes", MAX_NODES.into());
            let why = AssetFault::Cap {
                what,
                asked: cap + 1,
                cap,
            };
            return fault(ObjectKind::File, None, "", why);
        }
        _ => {}
    }
    let words = error.to_string();
    // The parser's message ends with the position, which has its own fields here.
    let end = words.rfind(" at ").unwrap_or(words.len());
    let at = error.pos();
    let why = AssetFault::Xml {
        what: message(&words[..end]),
        line: at.row as usize,
        column: at.col as usize,
    };
    fault(ObjectKind::File, None, "", why)
}

fn cap(what: &'static str, asked: usize, cap: usize) -> Result<()> {
    check_cap(|| file_part(""), what, asked as u64, cap as u64)
}

/// Checks the length and the attributes of each tag, the number of namespaces, and that there is
/// no DTD. The text starts at byte `first` of the file.
fn check_tags(text: &str, first: usize) -> Result<()> {
    let mut namespaces = 0;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        let end = match rest {
            comment if comment.starts_with("<!--") => comment.find("-->"),
            data if data.starts_with("<![CDATA[") => data.find("]]>"),
            instruction if instruction.starts_with("<?") => instruction.find("?>"),
            dtd if dtd.starts_with("<!DOCTYPE") => {
                let at = first + (text.len() - dtd.len());
                return Err(malformed("a DTD, which is not supported, starts", at));
            }
            tag => {
                let (length, attributes) = measure_tag(tag);
                cap("bytes of one tag", length, MAX_TAG_BYTES)?;
                cap("attributes of one tag", attributes, MAX_ATTRIBUTES)?;
                namespaces += tag[..length].matches("xmlns").count();
                Some(length)
            }
        };
        // The parser reports what does not end.
        rest = end.and_then(|end| rest.get(end..)).unwrap_or_default();
    }
    cap("namespaces", namespaces, MAX_NAMESPACES)
}

/// The length of a tag and the number of its attributes.
///
/// The tag goes up to its `>` outside quotation marks, or up to the end of the text.
fn measure_tag(tag: &str) -> (usize, usize) {
    let mut quote = None;
    let mut attributes = 0;
    let end = tag.bytes().position(|byte| match quote {
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
        None => {
            if matches!(byte, b'"' | b'\'') {
                quote = Some(byte);
            }
            attributes += usize::from(byte == b'=');
            byte == b'>'
        }
    });
    (end.unwrap_or(tag.len()), attributes)
}

/// The root element, if it is one of EZMesh.
pub(super) fn root<'a, 'input>(document: &'a Document<'input>) -> Result<Node<'a, 'input>> {
    let root = document.root_element();
    if ["MeshSystem", "SceneGraph", "Mesh"]
        .iter()
        .any(|name| is(root, name))
    {
        return Ok(root);
    }
    let allowed = "MeshSystem, SceneGraph or Mesh";
    let why = not_allowed("the root element", root.tag_name().name(), allowed);
    Err(fault(ObjectKind::File, None, "", why))
}

/// Reports elements that are not read.
pub(super) fn note_left_out(root: Node<'_, '_>, repairs: &mut Vec<Repair>) {
    for name in [
        "TetraMesh",
        "NodeTriangle",
        "NodeInstance",
        "MeshCollisionRepresentation",
    ] {
        let count = elements(root, name).count() as u64;
        Repair::note(repairs, &file_part(name), RepairKind::LeftOut, count);
    }
}

/// Returns true for an element with this name, in any case.
pub(super) fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name().eq_ignore_ascii_case(name)
}

/// The element itself and all elements in it with this name, in order.
pub(super) fn elements<'a, 'input>(
    root: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    root.descendants().filter(move |node| is(*node, name))
}

/// The children with this name, in order.
pub(super) fn children<'a, 'input>(
    parent: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    parent.children().filter(move |node| is(*node, name))
}

/// The value of an attribute. Its name may have any case.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let found =
        |attribute: &roxmltree::Attribute<'_, '_>| attribute.name().eq_ignore_ascii_case(name);
    node.attributes().find(found).map(|found| found.value())
}

/// The value of an attribute, or an empty text.
pub(super) fn name<'a>(node: Node<'a, '_>, attribute_name: &str) -> &'a str {
    attribute(node, attribute_name).unwrap_or_default()
}

/// A whole number in an attribute.
pub(super) fn count(node: Node<'_, '_>, name: &'static str, at: &Object) -> Result<Option<u64>> {
    let Some(text) = attribute(node, name) else {
        return Ok(None);
    };
    let number = text.trim().parse().map_err(|_| {
        let why = not_allowed(name, text, "a whole number");
        Error::asset(at.clone(), why)
    })?;
    Ok(Some(number))
}

/// Checks a count that the file may state.
pub(super) fn check_count(
    node: Node<'_, '_>,
    name: &'static str,
    got: u64,
    at: &Object,
) -> Result<()> {
    match count(node, name, at)? {
        Some(need) if need != got => Err(wrong_count(name, got, need, at)),
        _ => Ok(()),
    }
}

/// The error of a list with another length than the file states.
pub(super) fn wrong_count(what: &'static str, got: u64, need: u64, at: &Object) -> Error {
    Error::asset(at.clone(), AssetFault::Count { what, got, need })
}

pub(super) fn number(node: Node<'_, '_>, name: &'static str, at: &Object) -> Result<Option<f64>> {
    let parse = |text: &str| parse::<f64>(text, at, 0);
    attribute(node, name).map(str::trim).map(parse).transpose()
}

/// The numbers in an attribute, exactly `N` of them.
pub(super) fn numbers<const N: usize>(
    node: Node<'_, '_>,
    name: &'static str,
    at: &Object,
) -> Result<Option<[f32; N]>> {
    let Some(text) = attribute(node, name) else {
        return Ok(None);
    };
    let mut all = [0.0; N];
    let got = split(text).count();
    if got != N {
        return Err(wrong_count(name, got as u64, N as u64, at));
    }
    for (index, (value, text)) in all.iter_mut().zip(split(text)).enumerate() {
        *value = parse(text, at, index as u64)?;
    }
    Ok(Some(all))
}

/// A number of a list, by its index.
pub(super) fn parse<T: FromStr>(text: &str, at: &Object, index: u64) -> Result<T> {
    text.parse().map_err(|_| {
        let mut at = at.clone();
        let number = format!("number {index}");
        at.part = match &*at.part {
            "" => number.into(),
            part => format!("{part}, {number}").into(),
        };
        let why = not_allowed("the text", text, "a number");
        Error::asset(at, why)
    })
}

/// The words of a list. Commas and white space separate them.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c == ',' || c.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
}

/// The words in an element, without those in elements inside it.
pub(super) fn words<'a>(node: Node<'a, '_>) -> impl Iterator<Item = &'a str> {
    let texts = node.children().filter(Node::is_text);
    texts.filter_map(|text| text.text()).flat_map(split)
}
