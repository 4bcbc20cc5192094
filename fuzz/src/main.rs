//! The fuzzer: libFuzzer on the target that `WORDLINE_FUZZ` names. `make fuzz` builds and runs it.
#![no_main]

use std::sync::OnceLock;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    static TARGET: OnceLock<String> = OnceLock::new();
    let target = TARGET.get_or_init(|| std::env::var("WORDLINE_FUZZ").unwrap_or_default());
    wordline_fuzz::run(target, data);
});
