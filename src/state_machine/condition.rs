//! Conditions of transitions, and their text form.

use crate::error::Error;
use crate::id::unknown;
use core::fmt;
use core::str::FromStr;

/// A test of one parameter, which a transition requires.
///
/// In text: `speed > 0.1`, `lives == 0`, `grounded`, `!grounded`.
///
/// ```
/// use throng::state_machine::{Condition, Test};
///
/// let condition: Condition = "speed >= 1.5".parse()?;
/// assert_eq!(condition.parameter, "speed");
/// assert_eq!(condition.test, Test::GreaterEqual(1.5));
/// assert_eq!(condition.to_string(), "speed >= 1.5");
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The name of the parameter.
    pub parameter: String,
    /// The test that its value must pass.
    pub test: Test,
}

/// A test of a parameter. Numbers are compared in the parameter's own type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    /// Greater than this number.
    Greater(f64),
    /// Greater than or equal to this number.
    GreaterEqual(f64),
    /// Less than this number.
    Less(f64),
    /// Less than or equal to this number.
    LessEqual(f64),
    /// Equal to this number.
    Equal(f64),
    /// Not equal to this number.
    NotEqual(f64),
    /// A bool that is true, or a trigger that is set.
    ///
    /// The transition resets the trigger when it fires.
    True,
    /// A bool that is false.
    False,
}

const SIGNS: [char; 4] = ['<', '>', '=', '!'];

pub(super) fn is_parameter_name(name: &str) -> bool {
    let forbidden = |c: char| {
        c.is_whitespace() || c.is_control() || SIGNS.contains(&c) || matches!(c, '(' | ')' | '"')
    };
    !name.is_empty() && !name.contains(forbidden)
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (name, test) = if let Some(name) = text.strip_prefix('!') {
            (name, Test::False)
        } else if let Some(at) = text.find(SIGNS) {
            let (name, rest) = text.split_at(at);
            (name, comparison(rest)?)
        } else {
            (text, Test::True)
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(invalid(
                "has no parameter, as in `speed > 0.1`, `grounded` or `!grounded`",
            ));
        }
        if !is_parameter_name(name) {
            return Err(invalid(
                "has white space or one of <>=!()\" in the parameter's name",
            ));
        }
        Ok(Self {
            parameter: name.into(),
            test,
        })
    }
}

fn comparison(text: &str) -> Result<Test, Error> {
    let end = text.find(|c| !SIGNS.contains(&c)).unwrap_or(text.len());
    let (sign, number) = text.split_at(end);
    let make = match sign {
        ">" => Test::Greater,
        ">=" => Test::GreaterEqual,
        "<" => Test::Less,
        "<=" => Test::LessEqual,
        "==" => Test::Equal,
        "!=" => Test::NotEqual,
        _ => {
            let known = [">", ">=", "<", "<=", "==", "!="];
            return Err(unknown("comparison", sign, known.into_iter()));
        }
    };
    let number = number.trim().parse();
    number
        .map(make)
        .map_err(|_| invalid("needs a number after the comparison"))
}

fn invalid(why: &'static str) -> Error {
    Error::invalid("condition", why)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.parameter;
        match self.test {
            Test::Greater(x) => write!(f, "{name} > {x}"),
            Test::GreaterEqual(x) => write!(f, "{name} >= {x}"),
            Test::Less(x) => write!(f, "{name} < {x}"),
            Test::LessEqual(x) => write!(f, "{name} <= {x}"),
            Test::Equal(x) => write!(f, "{name} == {x}"),
            Test::NotEqual(x) => write!(f, "{name} != {x}"),
            Test::True => f.write_str(name),
            Test::False => write!(f, "!{name}"),
        }
    }
}
