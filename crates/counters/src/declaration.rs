//! Declaration of counters.

/// Declares structs of counters together with the structs of figures in reports.
///
/// `name: type` has the same type in both; `name: type => other = function` has another in reports, made by a function.
/// `[attributes]` after it are serde's for the report: `default` for a counter that
/// older reports lack, `flatten` for nested counters. Other crates cannot build figures field by field, since they are
/// `non_exhaustive`.
macro_rules! counters {
    ($(
        $(#[$about:meta])*
        pub struct $counts:ident => $figures:ident {
            $(
                $(#[$says:meta])*
                $field:ident: $type:ty $(=> $other:ty = $by:path)? $([$($serde:tt)*])?
            ),* $(,)?
        }
    )*) => { $(
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
        pub struct $counts {
            $($(#[$says])* pub $field: $type,)*
        }

        $(#[$about])*
        #[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub struct $figures {
            $(
                $(#[$says])*
                $(#[serde($($serde)*)])?
                pub $field: counters!(@type $type $(, $other)?),
            )*
        }

        impl $counts {
            /// The figures of a report.
            pub fn figures(&self) -> $figures {
                $figures { $($field: counters!(@value self.$field $(, $by)?),)* }
            }
        }
    )* };
    (@type $type:ty) => { $type };
    (@type $type:ty, $other:ty) => { $other };
    (@value $value:expr) => { Clone::clone(&$value) };
    (@value $value:expr, $by:path) => { $by(&$value) };
}
