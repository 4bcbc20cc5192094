//! Why a run has no report: the user's input, a scheme that does not support the device, or a bug.

use thiserror::Error;
use wordline_device::ConfigErrors;
use wordline_ftl::Refusal;
use wordline_report::class_without_file;
use wordline_schemes::SchemeError;
use wordline_trace::WorkloadError;
use wordline_units::{Face, Message};

/// Whose move it is after an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blame {
    /// The input is wrong: fix it and try again.
    User,
    /// The input is valid, but the scheme does not support the device.
    Refused,
    /// An illegal decision of a scheme, or a bug of Wordline.
    Fault,
    /// The machine: an output could not be written.
    Machine,
    /// Nobody: the caller asked to stop.
    Interrupted,
}

/// Why a run has no report.
#[derive(Debug, Error)]
pub enum RunError {
    /// The device file or an override of it is wrong.
    #[error(transparent)]
    Device(#[from] ConfigErrors),
    /// The workload is wrong.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The scheme does not exist, or its parameters are invalid.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// Something else that was given is wrong.
    #[error("{0}")]
    Input(String),
    /// An option is invalid or missing: each interface spells options in its own way.
    #[error("{0}")]
    Option(Message),
    /// The scheme does not support the device.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// An illegal decision of a scheme, or a bug of Wordline.
    #[error("{what}\n  replay: {replay}{}", class_without_file(replay).map_or(String::new(), |says| format!("\n  hint: {says}")))]
    Fault {
        /// What went wrong.
        what: String,
        /// The command that leads here again.
        replay: String,
    },
    /// An output file of the run could not be written.
    #[error("{0}")]
    Output(String),
    /// An error of a run that executed elsewhere: its kind, and its text for the command line and Python.
    #[error("{}", said[0])]
    Executor {
        /// Whose move it is.
        blame: Blame,
        /// The text by interface.
        said: [String; 2],
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<Message> for RunError {
    fn from(message: Message) -> RunError {
        RunError::Option(message)
    }
}

impl RunError {
    /// Whose move it is.
    pub fn blame(&self) -> Blame {
        match self {
            // What is read or written when somebody wants the program to stop breaks off with whatever error.
            RunError::Workload(_) | RunError::Output(_) if wordline_units::is_interrupted() => {
                Blame::Interrupted
            }
            RunError::Device(_)
            | RunError::Workload(_)
            | RunError::Scheme(_)
            | RunError::Input(_)
            | RunError::Option(_) => Blame::User,
            RunError::Refused(refusal) if !refusal.has_failed => Blame::Refused,
            RunError::Refused(_) | RunError::Fault { .. } => Blame::Fault,
            RunError::Output(_) => Blame::Machine,
            RunError::Executor { blame, .. } => *blame,
            RunError::Interrupted => Blame::Interrupted,
        }
    }

    /// The error as one face words it.
    pub fn on(&self, face: Face) -> String {
        match self {
            RunError::Device(e) => e.on(face),
            RunError::Workload(e) => e.on(face),
            RunError::Scheme(e) => e.on(face),
            RunError::Option(message) => message.on(face),
            RunError::Executor { said: [_, in_python], .. } if face == Face::Python => in_python.clone(),
            _ => self.to_string(),
        }
    }

    /// The exit code of a command that ends with it: 2 for what the user can fix, 1 for a fault or a file that
    /// cannot be written, 130 for an interruption.
    pub fn exit_code(&self) -> i32 {
        match self.blame() {
            Blame::User | Blame::Refused => 2,
            Blame::Fault | Blame::Machine => 1,
            Blame::Interrupted => 130,
        }
    }
}
