#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    millrace_fuzz::kafka_wire::check_request(&bytes::Bytes::copy_from_slice(input));
});
