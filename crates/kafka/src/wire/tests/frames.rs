//! Whole frames: headers, versions, errors, what is copied and what is not.

use bytes::{Buf, Bytes};
use types::TopicId;

use crate::wire::messages::*;
use crate::wire::*;

/// A request frame without its length prefix.
fn request_frame(version: i16, request: &Request) -> Bytes {
    let mut chunks = encode_any_request(version, 7, Some("tester"), request).unwrap();
    assert_eq!(usize::try_from(chunks.get_i32()), Ok(chunks.len()));
    chunks.to_bytes()
}

fn header(api: ApiKey, version: i16) -> RequestHeader {
    RequestHeader {
        api,
        version,
        correlation_id: 7,
        client_id: Some("tester".into()),
    }
}

fn is_inside(part: &[u8], whole: &[u8]) -> bool {
    whole.as_ptr_range().start <= part.as_ptr()
        && part.as_ptr_range().end <= whole.as_ptr_range().end
}

#[test]
fn request_bytes_are_those_of_the_protocol() {
    let request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some("ab".into()),
            ..Default::default()
        }]),
        ..Default::default()
    };
    let classic = request_frame(1, &request.clone().into());
    assert_eq!(
        classic[..],
        *b"\0\x03\0\x01\0\0\0\x07\0\x06tester\0\0\0\x01\0\x02ab"
    );
    let flexible = request_frame(9, &request.into());
    let body = b"\x02\x03ab\0\x01\0\0\0";
    assert_eq!(
        flexible[..],
        [b"\0\x03\0\x09\0\0\0\x07\0\x06tester\0", &body[..]].concat()
    );
}

#[test]
fn response_bytes_are_those_of_the_protocol() {
    let response = InitProducerIdResponse {
        producer_id: 5,
        ..Default::default()
    };
    let classic = encode_response(1, 7, &response).unwrap().to_bytes();
    let body = b"\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0";
    assert_eq!(classic[..], [b"\0\0\0\x14\0\0\0\x07", &body[..]].concat());
    let flexible = encode_any_response(2, 7, &response.into())
        .unwrap()
        .to_bytes();
    assert_eq!(
        flexible[..],
        [b"\0\0\0\x16\0\0\0\x07\0", &body[..], b"\0"].concat()
    );
}

#[test]
fn a_frame_that_ends_inside_its_header_is_malformed() {
    let frame = request_frame(9, &MetadataRequest::default().into());
    for length in 0..frame.len() {
        let header_is_whole = length >= 17;
        match decode_any_request(&frame.slice(..length)) {
            Err(DecodeError::Malformed {
                header: found,
                source: Malformed::Truncated { .. },
            }) => {
                assert_eq!(found.is_some(), length >= 8, "{length}");
                if header_is_whole {
                    assert_eq!(found, Some(header(ApiKey::Metadata, 9)));
                }
            }
            other => panic!("{length}: {other:?}"),
        }
    }
    assert_eq!(
        decode_any_request(&frame),
        Ok((
            header(ApiKey::Metadata, 9),
            MetadataRequest::default().into()
        ))
    );
}

#[test]
fn an_unknown_key_is_named_with_its_correlation_id() {
    let frame = Bytes::from_static(b"\0\x04\0\x01\0\0\0\x07garbage");
    let error = DecodeError::UnknownKey {
        key: 4,
        version: 1,
        correlation_id: 7,
    };
    assert_eq!(decode_any_request(&frame), Err(error));
    let frame = Bytes::from_static(b"\xff\xff\0\x01\0\0\0\x07");
    assert!(matches!(
        decode_any_request(&frame),
        Err(DecodeError::UnknownKey { key: -1, .. })
    ));
}

#[test]
fn an_unsupported_version_is_told_with_its_header_whatever_follows() {
    for (bytes, version, client_id) in [
        (
            &b"\0\x12\0\x05\0\0\0\x07\0\x06tester\0garbage"[..],
            5,
            Some("tester".to_owned()),
        ),
        (b"\0\x12\x7f\xff\0\0\0\x07\x7f\xff", i16::MAX, None),
        (b"\0\x12\xff\xff\0\0\0\x07", -1, None),
    ] {
        let header = RequestHeader {
            api: ApiKey::ApiVersions,
            version,
            correlation_id: 7,
            client_id,
        };
        let error = DecodeError::UnsupportedVersion { header };
        assert_eq!(
            decode_any_request(&Bytes::copy_from_slice(bytes)),
            Err(error)
        );
    }
}

#[test]
fn produce_below_version_3_is_advertised_and_not_read() {
    assert!(ApiKey::Produce.advertised().contains(&0));
    let frame = Bytes::from_static(b"\0\0\0\x02\0\0\0\x07\0\0");
    assert!(matches!(
        decode_any_request(&frame),
        Err(DecodeError::UnsupportedVersion { .. })
    ));
    assert_eq!(
        encode_request(2, 7, None, &ProduceRequest::default()).unwrap_err(),
        EncodeError::UnknownVersion(2)
    );
}

#[test]
fn a_null_client_id_and_header_tags_are_read() {
    let frame = Bytes::from_static(b"\0\x12\0\x03\0\0\0\x07\xff\xff\x01\x05\x02xy\x02a\x02b\0");
    let (header, request) = decode_any_request(&frame).unwrap();
    assert_eq!(header.client_id, None);
    let expected = ApiVersionsRequest {
        client_software_name: "a".into(),
        client_software_version: "b".into(),
    };
    assert_eq!(request, Request::ApiVersions(expected));
}

#[test]
fn unknown_tagged_fields_and_bytes_behind_the_body_are_skipped() {
    let request = Request::from(DescribeClusterRequest::default());
    let mut frame = request_frame(0, &request).to_vec();
    assert_eq!(frame.pop(), Some(0));
    frame.extend(b"\x02\x00\x00\xff\xff\xff\xff\x0f\x03abc");
    frame.extend(b"and more");
    let decoded = decode_any_request(&frame.into());
    assert_eq!(decoded, Ok((header(ApiKey::DescribeCluster, 0), request)));
}

#[test]
fn a_known_tag_of_a_later_version_is_skipped() {
    let request = FetchRequest {
        replica_state: ReplicaState {
            replica_id: 4,
            replica_epoch: 5,
        },
        ..Default::default()
    };
    let mut frame = request_frame(15, &request.into()).to_vec();
    frame[3] = 14;
    // Version 14 has a replica id where 15 starts with the longest wait.
    let body = 17;
    frame.splice(body..body, (-1i32).to_be_bytes());
    let (_, decoded) = decode_any_request(&frame.into()).unwrap();
    assert_eq!(decoded, FetchRequest::default().into());
}

#[test]
fn null_and_empty_stay_apart() {
    for version in [1, 9] {
        for topics in [None, Some(Vec::new())] {
            let request = Request::from(MetadataRequest {
                topics,
                ..Default::default()
            });
            let (_, decoded) = decode_any_request(&request_frame(version, &request)).unwrap();
            assert_eq!(decoded, request);
        }
    }
    let null = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    assert_eq!(
        encode_request(0, 7, None, &null).unwrap_err(),
        EncodeError::Null
    );
    let frame = Bytes::from_static(b"\0\x03\0\0\0\0\0\x07\0\0\xff\xff\xff\xff");
    let error = decode_any_request(&frame).unwrap_err();
    assert!(matches!(
        error,
        DecodeError::Malformed {
            source: Malformed::Null,
            ..
        }
    ));
}

#[test]
fn null_is_written_from_the_version_on_that_allows_it() {
    let by_id = MetadataRequestTopic {
        name: None,
        ..Default::default()
    };
    let request = MetadataRequest {
        topics: Some(vec![by_id]),
        ..Default::default()
    };
    assert_eq!(
        encode_request(9, 7, None, &request).unwrap_err(),
        EncodeError::Null
    );
    assert!(encode_request(10, 7, None, &request).is_ok());

    let topic = MetadataResponseTopic {
        name: None,
        ..Default::default()
    };
    let response = MetadataResponse {
        topics: vec![topic],
        ..Default::default()
    };
    assert_eq!(
        encode_response(11, 7, &response).unwrap_err(),
        EncodeError::Null
    );
    let written = encode_response(12, 7, &response)
        .unwrap()
        .to_bytes()
        .slice(4..);
    assert!(decode_response::<MetadataRequest>(12, &written).is_ok());
    // Version 11 has the same layout and refuses the null.
    assert_eq!(
        decode_response::<MetadataRequest>(11, &written),
        Err(Malformed::Null)
    );

    let result = DeletableTopicResult {
        name: None,
        ..Default::default()
    };
    let response = DeleteTopicsResponse {
        responses: vec![result],
        ..Default::default()
    };
    assert_eq!(
        encode_response(5, 7, &response).unwrap_err(),
        EncodeError::Null
    );
    assert!(encode_response(6, 7, &response).is_ok());
}

#[test]
fn a_string_too_long_for_its_field_is_an_error() {
    let name = Some("n".repeat(40_000));
    let topics = Some(vec![MetadataRequestTopic {
        name,
        ..Default::default()
    }]);
    let request = MetadataRequest {
        topics,
        ..Default::default()
    };
    assert_eq!(
        encode_request(8, 7, None, &request).unwrap_err(),
        EncodeError::TooLong(40_000)
    );
    assert!(encode_request(9, 7, None, &request).is_ok());
}

#[test]
fn w3_produced_records_are_a_slice_of_the_frame() {
    let records = Some(Bytes::from(vec![9; 5_000]));
    let partition_data = vec![PartitionProduceData {
        index: 3,
        records: records.clone(),
    }];
    let topic = TopicProduceData {
        name: "t".into(),
        partition_data,
        ..Default::default()
    };
    let request = ProduceRequest {
        acks: -1,
        topic_data: vec![topic],
        ..Default::default()
    };
    for version in [3, 12] {
        let frame = request_frame(version, &request.clone().into());
        let (_, Request::Produce(decoded)) = decode_any_request(&frame).unwrap() else {
            panic!("another request");
        };
        assert_eq!(decoded, request);
        let decoded = decoded.topic_data[0].partition_data[0]
            .records
            .clone()
            .unwrap();
        assert!(is_inside(&decoded, &frame));
    }
    // Nor are they copied on their way out of a client.
    let chunks = encode_request(12, 7, None, &request).unwrap();
    assert!(
        chunks
            .parts()
            .any(|part| is_inside(part, records.as_deref().unwrap()))
    );
}

#[test]
fn w3_fetched_records_are_not_copied_unless_small() {
    let header = Bytes::from(vec![1; 61]);
    let body = Bytes::from(vec![2; 4_000]);
    let small = Bytes::from(vec![3; 100]);
    let partition = |pieces: Vec<Bytes>| PartitionData {
        records: Some(Records(pieces)),
        ..Default::default()
    };
    let partitions = vec![
        partition(vec![
            header.clone(),
            body.clone(),
            header.clone(),
            body.clone(),
        ]),
        partition(vec![header, small]),
        PartitionData::default(),
    ];
    let topic_id = TopicId([4; 16]);
    let topic = FetchableTopicResponse {
        topic_id,
        partitions,
        ..Default::default()
    };
    let response = FetchResponse {
        responses: vec![topic],
        ..Default::default()
    };

    let mut chunks = encode_response(17, 7, &response).unwrap();
    let referred = chunks.parts().filter(|part| is_inside(part, &body)).count();
    assert_eq!((chunks.parts().len(), referred), (5, 2));
    assert_eq!(usize::try_from(chunks.get_i32()), Ok(chunks.len()));
    let decoded = decode_response::<FetchRequest>(17, &chunks.to_bytes());
    assert_eq!(decoded, Ok((7, response)));
}

#[test]
fn chunks_are_drained_piece_by_piece() {
    let big = Bytes::from(vec![2; 4_000]);
    let records = Some(Records(vec![big.clone(), big]));
    let partitions = vec![PartitionData {
        records,
        ..Default::default()
    }];
    let topic = FetchableTopicResponse {
        partitions,
        ..Default::default()
    };
    let response = FetchResponse {
        responses: vec![topic],
        ..Default::default()
    };
    let mut chunks = encode_response(12, 7, &response).unwrap();
    let whole = chunks.to_bytes();

    let mut slices = [std::io::IoSlice::new(&[]); 8];
    assert_eq!(chunks.chunks_vectored(&mut slices), 4);
    let gathered: Vec<u8> = slices[..4]
        .iter()
        .flat_map(|slice| slice.to_vec())
        .collect();
    assert_eq!(gathered, whole);
    let mut drained = Vec::new();
    while chunks.has_remaining() {
        let step = chunks.remaining().min(1_500);
        drained.extend_from_slice(&chunks.copy_to_bytes(step));
    }
    assert_eq!(drained, whole);
    assert_eq!(
        (chunks.len(), chunks.is_empty(), chunks.parts().len()),
        (0, true, 0)
    );
}

#[test]
fn the_answer_to_an_unknown_version_of_api_versions_is_in_version_0() {
    let response = ApiVersionsResponse::unsupported_version();
    let frame = encode_response(0, 7, &response).unwrap().to_bytes();
    assert_eq!(
        frame[..],
        *b"\0\0\0\x10\0\0\0\x07\0\x23\0\0\0\x01\0\x12\0\0\0\x04"
    );
    // A client that asked in another version understands it.
    for version in ApiKey::ApiVersions.served() {
        let decoded = decode_response::<ApiVersionsRequest>(version, &frame.slice(4..));
        assert_eq!(decoded, Ok((7, response.clone())));
    }
}

#[test]
fn any_response_comes_back_as_what_it_was() {
    let response = Response::from(DeleteTopicsResponse {
        responses: vec![DeletableTopicResult {
            name: None,
            topic_id: TopicId([1; 16]),
            error_code: ErrorCode::UNKNOWN_TOPIC_ID,
            error_message: Some("no such id".into()),
        }],
        ..Default::default()
    });
    let frame = encode_any_response(6, -3, &response)
        .unwrap()
        .to_bytes()
        .slice(4..);
    assert_eq!(
        decode_any_response(ApiKey::DeleteTopics, 6, &frame),
        Ok((-3, response.clone()))
    );
    assert_eq!(
        encode_any_response(5, -3, &response).unwrap_err(),
        EncodeError::Null
    );
    assert_eq!(
        encode_any_response(7, 0, &response).unwrap_err(),
        EncodeError::UnknownVersion(7)
    );
}
