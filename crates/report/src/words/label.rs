//! Names of schemes of any length: broken into lines at suitable places, never cut.

/// Characters after which a spelling can be broken.
fn breaks_after(c: char) -> bool {
    matches!(c, '-' | '+' | ':' | ',' | '=' | '/' | '_' | ' ' | ';')
}

/// The pieces of a name between which a line may end.
pub(crate) fn pieces(name: &str) -> impl Iterator<Item = &str> {
    name.split_inclusive(breaks_after)
}

/// A name in lines that fit; a piece that is too long is broken anywhere.
pub(crate) fn lines(name: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces(name) {
        let last = lines.last().cloned().unwrap_or_default();
        if last.is_empty() || fits(format!("{last}{piece}").trim_end()) {
            lines.pop();
            lines.push(last + piece);
        } else {
            lines.push(piece.to_string());
        }
        while let Some(long) = lines.pop_if(|l| !fits(l.trim_end()) && l.chars().count() > 1) {
            let room = (1..long.chars().count()).rev().find(|n| fits(&first(&long, *n))).unwrap_or(1);
            lines.push(first(&long, room));
            lines.push(long.chars().skip(room).collect());
        }
    }
    lines.iter().map(|l| l.trim_end().to_string()).collect()
}

fn first(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_name_breaks_between_parts_and_loses_nothing() {
        let at = |width: usize| move |line: &str| line.chars().count() <= width;
        assert_eq!(lines("turbo-write+pa-ssd:QDS+UBS", at(12)), ["turbo-write+", "pa-ssd:QDS+", "UBS"]);
        assert_eq!(lines("conventional", at(12)), ["conventional"]);
        assert_eq!(lines("conventional", at(8)), ["conventi", "onal"]);
        assert_eq!(lines("", at(8)), [""]);
        for width in 1..30 {
            let name = "a:very=long,name+with-parts_and/more";
            let broken = lines(name, at(width));
            assert_eq!(broken.concat(), name);
            assert!(broken.iter().all(|l| l.chars().count() <= width), "{broken:?}");
        }
    }
}
