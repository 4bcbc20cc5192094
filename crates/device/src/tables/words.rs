//! Values that are one of several words.

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
