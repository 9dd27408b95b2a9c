#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    millrace_fuzz::kafka_wire::check_response(&bytes::Bytes::copy_from_slice(input));
});
