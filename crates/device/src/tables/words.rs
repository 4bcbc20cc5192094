//! Values that are one of several words, and quantities for a reader.

/// The word of each value in files and reports, and the list of all for a reader.
macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal),* })*) => {$(
        impl $name {
            pub(crate) const WORDS: &[(&'static str, $name)] = &[$(($word, $name::$variant)),*];

            /// The word for it in device files and reports.
            pub const fn key(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }
    )*};
}

pub(crate) use words;

/// A quantity with a space between its number and its unit: `1.5 us` for `1.5us`.
pub(crate) fn spaced(quantity: impl std::fmt::Display) -> String {
    let text = quantity.to_string();
    let number = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(number);
    format!("{number} {unit}")
}
