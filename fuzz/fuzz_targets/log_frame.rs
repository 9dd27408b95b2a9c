#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    millrace_fuzz::log_frame::check(&bytes::Bytes::copy_from_slice(input));
});
