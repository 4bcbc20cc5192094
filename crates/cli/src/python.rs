//! Commands that are done in Python. The tree here knows their arguments and help; the script that
//! pip installs brings the interpreter, and the native binary says how to get it.

use crate::args::ValidateArgs;
use crate::error::Failure;

/// The value of an argument of a Python function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A flag.
    Flag(bool),
    /// A text.
    Text(String),
}

/// A call of `main` in a Python module, with keyword arguments; it returns the exit code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The module.
    pub module: &'static str,
    /// Its arguments; those that were not given are left out.
    pub arguments: Vec<(&'static str, Argument)>,
}

pub(crate) fn validate(args: ValidateArgs) -> Result<Call, Failure> {
    let path = |p: std::path::PathBuf| {
        let shown = p.display().to_string();
        p.into_os_string().into_string().map_err(|_| Failure::Input(format!("{shown}: this is not UTF-8")))
    };
    let mut arguments = vec![("quick", Argument::Flag(args.quick))];
    if let Some(pattern) = args.only {
        arguments.push(("only", Argument::Text(pattern)));
    }
    if let Some(folder) = args.out {
        arguments.push(("out", Argument::Text(path(folder)?)));
    }
    if let Some(file) = args.claims {
        arguments.push(("claims", Argument::Text(path(file)?)));
    }
    Ok(Call { module: "wordline.validate", arguments })
}

/// The answer of a binary without an interpreter.
pub(crate) fn missing(call: &Call) -> Failure {
    let extra = call.module.rsplit('.').next().unwrap_or_default();
    Failure::Input(format!(
        "{extra} is done in Python, which this binary goes without; pip install 'wordline[{extra}]', and use \
         the wordline command that it brings"
    ))
}
