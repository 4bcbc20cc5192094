//! Errors as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use wordline_run::{Blame, RunError};
use wordline_units::{Face, Opt};

create_exception!(wordline, UserError, PyValueError, "The input is wrong: what, where, and what is allowed.");

create_exception!(wordline, Refused, PyValueError, "The scheme does not support the device.");

create_exception!(wordline, Fault, PyRuntimeError, "An illegal decision of a scheme, or a bug of Wordline.");

/// The exception of an error. Its text spells options as in Python; the attribute `on_command_line` has the
/// spelling of the command line.
pub(crate) fn raised(e: &RunError) -> PyErr {
    let text = e.on(Face::Python);
    let exception = match e.blame() {
        Blame::User => UserError::new_err(text),
        Blame::Refused => Refused::new_err(text),
        Blame::Fault => Fault::new_err(text),
        Blame::Machine => PyOSError::new_err(text),
        Blame::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    beside(exception, &e.on(Face::CommandLine))
}

/// An exception with a second text for the command line.
pub(crate) fn beside(exception: PyErr, command_line: &str) -> PyErr {
    let set = Python::attach(|py| exception.value(py).setattr("on_command_line", command_line));
    set.map_or_else(|e| e, |()| exception)
}

/// An exception of a scheme, with the error that it caused.
pub(crate) fn ended_by(exception: PyErr, led_to: &RunError) -> PyErr {
    let led_to = raised(led_to);
    // An exception that takes no attributes does without.
    let _ = Python::attach(|py| exception.value(py).setattr("ended_by", led_to.into_value(py)));
    exception
}

/// An option of the wrong value.
pub(crate) fn unfit(option: Opt, value: impl std::fmt::Display, e: impl std::fmt::Display) -> PyErr {
    raised(&RunError::Option(option.of(value) + format!(": {e}")))
}

pub(crate) fn wrong(e: impl ToString) -> PyErr {
    UserError::new_err(e.to_string())
}
