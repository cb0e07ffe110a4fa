// What a tool of Vespe needs and Rust's standard library does not have: JSON, and the way in and out.
// You need not read this file, and you may change it: it is a part of your tool. Vespe wrote it, and does not write it again.
#![allow(dead_code)]
use std::fmt::{self, Write as _};
use std::io::{Read, Write};

/// A value of JSON. An object keeps the order of its members.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

static NULL: Json = Json::Null;

impl Json {
    /// The member of an object; null where there is none.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members.iter().find(|m| m.0 == name).map_or(&NULL, |m| &m.1),
            _ => &NULL,
        }
    }

    /// An input that is a string, by its name.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        match self.get(name) {
            Json::Text(text) => Ok(text),
            other => Err(format!("{name} must be a string, not {other}")),
        }
    }

    /// An input that is a whole number, by its name.
    pub fn integer(&self, name: &str) -> Result<i64, String> {
        match self.get(name) {
            Json::Integer(number) => Ok(*number),
            Json::Number(number) if number.fract() == 0.0 => Ok(*number as i64),
            other => Err(format!("{name} must be a whole number, not {other}")),
        }
    }

    /// An input that is a number, by its name.
    pub fn number(&self, name: &str) -> Result<f64, String> {
        match self.get(name) {
            Json::Integer(number) => Ok(*number as f64),
            Json::Number(number) => Ok(*number),
            other => Err(format!("{name} must be a number, not {other}")),
        }
    }

    /// An input that is true or false, by its name.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            Json::Bool(value) => Ok(*value),
            other => Err(format!("{name} must be true or false, not {other}")),
        }
    }

    /// An input that is a list, by its name.
    pub fn list(&self, name: &str) -> Result<&[Json], String> {
        match self.get(name) {
            Json::List(items) => Ok(items),
            other => Err(format!("{name} must be a list, not {other}")),
        }
    }

    /// Whether the input is there, and is not null.
    pub fn has(&self, name: &str) -> bool {
        self.get(name) != &Json::Null
    }
}

/// An object: `object([("words", 2.into()), ("text", "a b".into())])`.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

macro_rules! made_from {
    ($($kind:ty => $made:expr),*) => { $(impl From<$kind> for Json { fn from(value: $kind) -> Json { ($made)(value) } })* };
}
made_from!(
    bool => Json::Bool, i64 => Json::Integer, f64 => Json::Number, String => Json::Text, Vec<Json> => Json::List,
    i32 => |n| Json::Integer(i64::from(n)), u32 => |n| Json::Integer(i64::from(n)), usize => |n| Json::Integer(n as i64),
    &str => |text: &str| Json::Text(text.to_string()), Vec<String> => |texts: Vec<String>| Json::List(texts.into_iter().map(Json::Text).collect())
);

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Integer(number) => write!(out, "{number}"),
            Json::Number(number) if number.is_finite() => write!(out, "{number:?}"),
            Json::Number(_) => out.write_str("null"),
            Json::Text(text) => quoted(text, out),
            Json::List(items) => {
                out.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if index > 0 { "," } else { "" })?;
                }
                out.write_char(']')
            }
            Json::Object(members) => {
                out.write_char('{')?;
                for (index, (name, value)) in members.iter().enumerate() {
                    out.write_str(if index > 0 { "," } else { "" })?;
                    quoted(name, out)?;
                    write!(out, ":{value}")?;
                }
                out.write_char('}')
            }
        }
    }
}

fn quoted(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(out, "\\{c}")?,
            c if c < ' ' => write!(out, "\\u{:04x}", c as u32)?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

/// Reads JSON that Vespe wrote, and has checked by the tool's schema.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> u8 {
        while matches!(self.text.as_bytes().get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn take(&mut self, wanted: u8) -> Result<(), String> {
        if self.peek() != wanted {
            return Err(format!("the arguments are not JSON at byte {}", self.at));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        word.bytes().try_for_each(|byte| self.take(byte)).map(|()| value)
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.peek() {
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'"' => self.string().map(Json::Text),
            b'[' => {
                let mut items = Vec::new();
                self.members(b'[', b']', |reader| Ok(items.push(reader.value()?)))?;
                Ok(Json::List(items))
            }
            b'{' => {
                let mut members = Vec::new();
                self.members(b'{', b'}', |reader| {
                    let name = reader.string()?;
                    reader.take(b':')?;
                    Ok(members.push((name, reader.value()?)))
                })?;
                Ok(Json::Object(members))
            }
            _ => self.numeral(),
        }
    }

    fn members(&mut self, open: u8, close: u8, mut one: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.take(open)?;
        while self.peek() != close {
            one(self)?;
            if self.peek() != close {
                self.take(b',')?;
            }
        }
        self.take(close)
    }

    fn numeral(&mut self) -> Result<Json, String> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(rest.len());
        self.at += end;
        let whole = rest[..end].parse().map(Json::Integer);
        whole.or_else(|_| rest[..end].parse().map(Json::Number)).map_err(|_| format!("the arguments are not JSON at byte {}", self.at))
    }

    fn string(&mut self) -> Result<String, String> {
        self.take(b'"')?;
        let mut made = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find(&['"', '\\']).ok_or("the arguments are not JSON: a string has no end")?;
            made.push_str(&rest[..end]);
            self.at += end + 1;
            if rest[end..].starts_with('"') {
                return Ok(made);
            }
            let escape = self.text.as_bytes().get(self.at).copied().unwrap_or(0);
            self.at += 1;
            made.push(match escape {
                b'n' => '\n',
                b't' => '\t',
                b'r' => '\r',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'u' => self.unicode()?,
                other => other as char,
            });
        }
    }

    fn unicode(&mut self) -> Result<char, String> {
        let first = self.four()?;
        let code = if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            0x10000 + ((first - 0xd800) << 10) + (self.four()?.wrapping_sub(0xdc00) & 0x3ff)
        } else {
            first
        };
        Ok(char::from_u32(code).unwrap_or('\u{fffd}'))
    }

    fn four(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).ok_or("the arguments are not JSON: an escape is cut off")?;
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| "the arguments are not JSON: an escape is no number".to_string())
    }
}

/// Reads the arguments from stdin, calls the function, and writes its result to stdout. What it returns as an error is the tool's error.
pub fn run(function: fn(&Json) -> Result<Json, String>) {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let inputs = read.and_then(|_| Reader { text: &text, at: 0 }.value());
    match inputs.and_then(|inputs| function(&inputs)) {
        Ok(result) => {
            let _ = std::io::stdout().write_all(result.to_string().as_bytes());
        }
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(1);
        }
    }
}
