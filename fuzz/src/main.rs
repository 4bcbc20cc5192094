//! The fuzzer: libFuzzer on the target that `WORDLINE_FUZZ` names. Without one it prints all targets, and writes their seeds
//! to the folder of each in `WORDLINE_FUZZ_CORPUS`. `make fuzz` builds and runs it.
#![no_main]
#![allow(clippy::print_stdout, clippy::exit)]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

fn lay_out_targets() {
    let corpus = PathBuf::from(std::env::var_os("WORDLINE_FUZZ_CORPUS").unwrap_or_default());
    for target in wordline_fuzz::targets() {
        println!("{target}");
        for (number, seed) in wordline_fuzz::seeds(target).into_iter().enumerate() {
            let folder = corpus.join(target);
            let written = fs::create_dir_all(&folder)
                .and_then(|()| fs::write(folder.join(format!("seed{number}")), seed));
            written.unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        }
    }
}

libfuzzer_sys::fuzz_target!(init: if std::env::var_os("WORDLINE_FUZZ").is_none() {
    lay_out_targets();
    std::process::exit(0);
}, |data: &[u8]| {
    static TARGET: OnceLock<String> = OnceLock::new();
    let target = TARGET.get_or_init(|| std::env::var("WORDLINE_FUZZ").unwrap_or_default());
    wordline_fuzz::run(target, data);
});
