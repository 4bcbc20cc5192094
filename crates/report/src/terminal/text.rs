//! Text for a terminal, laid out as styled segments and cut by display width, so that no line is longer than
//! asked, with color or without.

use crate::words::number;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a terminal wants its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Use ANSI colors.
    pub colour: bool,
    /// Columns of text; less than 40 counts as 40.
    pub width: usize,
}

impl Default for TerminalStyle {
    fn default() -> TerminalStyle {
        TerminalStyle { colour: false, width: 80 }
    }
}

/// A paragraph of lines that are no longer than the terminal, all behind `indent`.
pub fn paragraph(indent: &str, text: &str, style: TerminalStyle) -> String {
    let mut page = Page::new(style);
    page.wrap(indent, text, Look::Plain);
    page.finish()
}

/// The text in at most `width` columns, with an ellipsis where something is missing. Control
/// characters are dropped: a name cannot move the cursor.
fn cut(text: &str, width: usize) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    if clean.width() <= width {
        return clean;
    }
    let mut out = String::new();
    let mut used = 1;
    for c in clean.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        out.push(c);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Bold,
    Dim,
    Best,
}

/// One line as segments, with its width so far.
#[derive(Default)]
pub(crate) struct Line {
    segments: Vec<(String, Look)>,
    width: usize,
}

impl Line {
    pub(crate) fn of(text: &str, look: Look) -> Line {
        let mut line = Line::default();
        line.add(text, look);
        line
    }

    /// Columns of text so far.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn add(&mut self, text: &str, look: Look) {
        let clean: String = text.chars().filter(|c| !c.is_control()).collect();
        let clean = clean.replace(number::NO_BREAK, " ");
        self.width += clean.width();
        match self.segments.last_mut() {
            Some((text, before)) if *before == look => text.push_str(&clean),
            _ => self.segments.push((clean, look)),
        }
    }

    pub(crate) fn pad_to(&mut self, width: usize) {
        self.add(&" ".repeat(width.saturating_sub(self.width)), Look::Plain);
    }

    /// Add text so that it ends before column `end`.
    pub(crate) fn right(&mut self, text: &str, end: usize, look: Look) {
        self.pad_to(end.saturating_sub(text.width()));
        self.add(text, look);
    }
}

pub(crate) struct Page {
    text: String,
    colour: bool,
    width: usize,
}

impl Page {
    pub(crate) fn new(style: TerminalStyle) -> Page {
        Page { text: String::new(), colour: style.colour, width: style.width.max(40) }
    }

    /// Whether it has colors.
    pub(crate) fn has_colors(&self) -> bool {
        self.colour
    }

    /// Columns of text.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// A line as it is, cut at the width.
    pub(crate) fn line(&mut self, text: &str, look: Look) {
        self.push(Line::of(text, look));
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A line that is copied and must not be cut: it may exceed the terminal width.
    pub(crate) fn verbatim(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(crate) fn push(&mut self, line: Line) {
        let mut room = self.width;
        let mut out = String::new();
        for (text, look) in &line.segments {
            let text = cut(text, room);
            room -= text.width();
            let code = match look {
                _ if !self.colour || text.trim().is_empty() => "",
                Look::Plain => "",
                Look::Bold => "\x1b[1m",
                Look::Dim => "\x1b[2m",
                Look::Best => "\x1b[1;32m",
            };
            out.push_str(code);
            out.push_str(&text);
            if !code.is_empty() {
                out.push_str("\x1b[0m");
            }
        }
        self.text.push_str(out.trim_end());
        self.text.push('\n');
    }

    /// A paragraph, its later lines indented to where the text after `head` began.
    pub(crate) fn wrap(&mut self, head: &str, text: &str, look: Look) {
        let mut line = Line::of(head, Look::Bold);
        let start = line.width;
        let mut first = true;
        for word in text.split(' ').filter(|w| !w.is_empty()) {
            let space = usize::from(!first);
            if !first && line.width + space + word.width() > self.width {
                let done = std::mem::take(&mut line);
                self.push(done);
                line.pad_to(start);
                first = true;
            }
            line.add(if first { "" } else { " " }, look);
            line.add(word, look);
            first = false;
        }
        self.push(line);
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}
