//! `crash` where there is no served drive: whatever it is given.

use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
pub(crate) struct CrashArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) given: Vec<OsString>,
}
