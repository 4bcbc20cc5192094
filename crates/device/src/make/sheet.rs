//! A device file for readers: tables of keys, each value with its source next to it.

use std::fmt::Display;
use wordline_config::{comment, quoted};

/// The lines of a device file to be.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    text: String,
}

/// Column of comments, if the value leaves space.
const COMMENTS: usize = 40;

impl Sheet {
    /// A file that begins with remarks and the name of the drive.
    pub fn new(remarks: &[String], name: &str, description: &str) -> Sheet {
        let mut text: String = remarks.iter().map(|r| format!("# {}\n", comment(r))).collect();
        text += &format!("\n[device]\nname = {}\ndescription = {}\n", quoted(name), quoted(description));
        Sheet { text }
    }

    pub fn table(&mut self, name: &str) {
        self.text += &format!("\n[{name}]\n");
    }

    /// A number or a table in TOML's own form, with its source.
    pub fn put(&mut self, key: &str, value: impl Display, source: impl Display) {
        let line = format!("{key} = {value}");
        self.text += &format!("{line:<COMMENTS$} # {}\n", comment(&source.to_string()));
    }

    /// A word or a quantity.
    pub fn put_text(&mut self, key: &str, value: impl Display, source: impl Display) {
        self.put(key, quoted(&value.to_string()), source);
    }

    /// One value for all page types of a mode, or one each.
    pub fn put_by_type<T: Display + PartialEq>(&mut self, key: &str, values: &[T], source: impl Display) {
        match values {
            [first, rest @ ..] if rest.iter().all(|v| v == first) => self.put_text(key, first, source),
            each => {
                let each: Vec<String> = each.iter().map(|v| quoted(&v.to_string())).collect();
                self.put(key, format!("[{}]", each.join(", ")), source);
            }
        }
    }

    pub fn finish(self) -> String {
        self.text
    }
}
