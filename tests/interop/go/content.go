package main

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The rule of the content: see ../README.md.
const (
	partitions       = 6
	streamValueBytes = 100
)

func key(n int64) []byte {
	switch n % 7 {
	case 0:
		return nil
	case 1:
		return []byte{}
	}
	return append(fmt.Appendf(nil, "key-%d", n), 0, 0xff)
}

func pattern(n int64, size int) []byte {
	bytes := make([]byte, size)
	binary.BigEndian.PutUint64(bytes, uint64(n))
	for i := 8; i < size; i++ {
		bytes[i] = byte(n + int64(i)*(n%13+1))
	}
	return bytes
}

func value(n int64) []byte {
	switch {
	case n%11 == 0:
		return nil
	case n%11 == 1:
		return []byte{}
	case n%1000 == 500:
		return pattern(n, 20000)
	}
	return pattern(n, int(16+n*37%400))
}

func headers(n int64) []kgo.RecordHeader {
	switch n % 5 {
	case 0:
		return nil
	case 1:
		return []kgo.RecordHeader{{Key: "h", Value: fmt.Appendf(nil, "v%d", n)}}
	case 2:
		return []kgo.RecordHeader{
			{Key: "same", Value: []byte("1")}, {Key: "same", Value: []byte("2")}, {Key: "same", Value: nil},
		}
	case 3:
		return []kgo.RecordHeader{{Key: "empty", Value: []byte{}}}
	}
	return []kgo.RecordHeader{
		{Key: "bytes", Value: []byte{0, 0xff, 0x80, byte(n)}},
		{Key: "bytes", Value: []byte("again")},
		{Key: "empty", Value: []byte{}},
		{Key: "none", Value: nil},
	}
}

// writtenHeaders is what a reader finds when the writer could not express everything.
func (j *job) writtenHeaders(n int64) []kgo.RecordHeader {
	full := headers(n)
	if j.lacks("headers") {
		return nil
	}
	if !j.lacks("null-headers") && !j.lacks("map-headers") {
		return full
	}
	for i := range full {
		full[i].Value = filled(full[i].Value)
	}
	if j.lacks("null-headers") {
		return full
	}
	last := map[string][]byte{}
	for _, h := range full {
		last[h.Key] = h.Value
	}
	var distinct []kgo.RecordHeader
	for name, bytes := range last {
		distinct = append(distinct, kgo.RecordHeader{Key: name, Value: bytes})
	}
	sort.Slice(distinct, func(a, b int) bool { return distinct[a].Key < distinct[b].Key })
	return distinct
}

func filled(bytes []byte) []byte {
	if bytes == nil {
		return []byte{}
	}
	return bytes
}

// verify compares one record with the rule, byte for byte.
func (j *job) verify(r *kgo.Record) {
	n := r.Offset*partitions + int64(r.Partition)
	at := fmt.Sprintf("%s-%d@%d", r.Topic, r.Partition, r.Offset)
	wantedKey, wantedValue := key(n), value(n)
	if wantedValue == nil && j.lacks("both-null") || len(wantedValue) == 0 && j.lacks("keyless-empty") {
		wantedKey = filled(wantedKey)
	}
	if j.lacks("null-values") {
		wantedValue = filled(wantedValue)
	}
	check(at+" key", wantedKey, r.Key)
	check(at+" value", wantedValue, r.Value)
	wanted := j.writtenHeaders(n)
	check(at+" count of headers", len(wanted), len(r.Headers))
	for i, h := range wanted {
		check(at+" header name", h.Key, r.Headers[i].Key)
		check(at+" header "+h.Key, h.Value, r.Headers[i].Value)
	}
	if !j.lacks("timestamps") {
		check(at+" timestamp", j.timestamp(n).UnixMilli(), r.Timestamp.UnixMilli())
	}
}
