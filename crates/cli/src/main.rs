//! The native binary. Everything is in the library, which the Python script calls too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(wordline_cli::main(std::env::args_os()) as u8)
}
