//! `serve` and `ctl` where there is no served drive: whatever they are given.

use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) given: Vec<OsString>,
}

/// As for `serve`.
pub(crate) type CtlArgs = ServeArgs;
