#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    millrace_fuzz::log_directory::check(&bytes::Bytes::copy_from_slice(input));
});
