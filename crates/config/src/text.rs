//! Values in the form of a file that is read again.

/// A TOML basic string for any text.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out += &format!("\\u{:04X}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A text for a TOML comment: on one line, without control characters.
pub fn comment(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problems;
    use crate::section::Section;

    #[test]
    fn whatever_is_written_reads_back() {
        for text in ["", "a \"quoted\" \\ name", "two\nlines\r\t", "\0\u{7f}\u{85}\u{200b}", "µ 漢字 ''"] {
            let file = format!("key = {} # {}\n", quoted(text), comment(text));
            let problems = Problems::default();
            let mut read = Section::from_toml(&file, "file", &[], "", &problems).unwrap();
            assert_eq!(read.take::<String>("key").as_deref(), Some(text), "{file}");
        }
    }
}
