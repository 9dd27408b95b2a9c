#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    millrace_fuzz::segment::check_footer(&bytes::Bytes::copy_from_slice(input));
});
