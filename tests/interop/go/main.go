// franz-go: see ../README.md for the command line and the content.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const silence = 30 * time.Second

type job struct {
	mode, bootstrap, topic, codec, without, acks string
	records, startMs, rate, inFlight             int64
	done                                         []string
}

func (j *job) lacks(what string) bool {
	return slices.Contains(strings.Split(j.without, ","), what)
}

func (j *job) timestamp(n int64) time.Time {
	return time.UnixMilli(j.startMs + n)
}

// end is the number of records in a partition.
func (j *job) end(partition int64) int64 {
	return (j.records - partition + partitions - 1) / partitions
}

func (j *job) client(options ...kgo.Opt) *kgo.Client {
	options = append(options, kgo.SeedBrokers(j.bootstrap))
	client, err := kgo.NewClient(options...)
	must(err)
	return client
}

func (j *job) create() {
	client := j.client()
	defer client.Close()
	_, err := kadm.NewClient(client).CreateTopic(context.Background(), partitions, 1, nil, j.topic)
	must(err)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func check(what string, expected, found any) {
	if !reflect.DeepEqual(expected, found) {
		log.Fatalf("%s: expected %#v, found %#v", what, expected, found)
	}
}

func (j *job) write() {
	j.create()
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	client := j.client(
		kgo.ProducerBatchCompression(codecs[j.codec]),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(5*time.Millisecond),
	)
	defer client.Close()
	for n := range j.records {
		record := &kgo.Record{
			Topic: j.topic, Partition: int32(n % partitions), Timestamp: j.timestamp(n),
			Key: key(n), Value: value(n), Headers: headers(n),
		}
		client.Produce(context.Background(), record, func(r *kgo.Record, err error) {
			must(err)
			check("offset", n/partitions, r.Offset)
		})
	}
	must(client.Flush(context.Background()))
	j.done = append(j.done, "create topic", "codec "+j.codec, "null and empty keys", "null and empty values",
		"null key with null value", "headers", "repeated headers", "null header values", "timestamps")
}

// reader hands over records one by one.
type reader struct {
	client  *kgo.Client
	fetched []*kgo.Record
}

func (j *job) readerAt(offsets map[int32]kgo.Offset) *reader {
	return &reader{client: j.client(
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{j.topic: offsets}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxWait(20*time.Millisecond),
	)}
}

func (r *reader) next() *kgo.Record {
	for len(r.fetched) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), silence)
		fetches := r.client.PollFetches(ctx)
		cancel()
		must(fetches.Err())
		r.fetched = fetches.Records()
	}
	record := r.fetched[0]
	r.fetched = r.fetched[1:]
	return record
}

func (j *job) readAll() {
	starts := map[int32]kgo.Offset{}
	for p := range int32(partitions) {
		starts[p] = kgo.NewOffset().AtStart()
	}
	r := j.readerAt(starts)
	defer r.client.Close()
	var following [partitions]int64
	for range j.records {
		record := r.next()
		check("next offset", following[record.Partition], record.Offset)
		following[record.Partition]++
		j.verify(record)
	}
	j.done = append(j.done, "read in order")
}

func (j *job) one(partition int32, offset kgo.Offset, wanted int64) {
	r := j.readerAt(map[int32]kgo.Offset{partition: offset})
	defer r.client.Close()
	record := r.next()
	check("offset sought", wanted, record.Offset)
	j.verify(record)
}

func (j *job) read() {
	j.readAll()
	for p := range int64(partitions) {
		for _, offset := range []int64{j.end(p) / 2, j.end(p) - 1} {
			j.one(int32(p), kgo.NewOffset().At(offset), offset)
		}
	}
	j.done = append(j.done, "seek by offset")
	n := j.records / 3
	for p := range int64(partitions) {
		if j.lacks("timestamps") {
			j.one(int32(p), kgo.NewOffset().AfterMilli(0), 0)
			continue
		}
		wanted := (n - p + partitions - 1) / partitions
		j.one(int32(p), kgo.NewOffset().AfterMilli(j.startMs+n), wanted)
	}
	j.pastTheEnd()
	j.done = append(j.done, "seek by timestamp")
}

// pastTheEnd asks for a time after the last record: kadm answers with the end.
func (j *job) pastTheEnd() {
	client := j.client()
	defer client.Close()
	later := time.Now().Add(time.Minute).UnixMilli()
	listed, err := kadm.NewClient(client).ListOffsetsAfterMilli(context.Background(), later, j.topic)
	must(err)
	must(listed.Error())
	for p := range int64(partitions) {
		found, _ := listed.Lookup(j.topic, int32(p))
		check("offset after the last timestamp", j.end(p), found.Offset)
	}
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/twmb/franz-go" {
			return module.Version
		}
	}
	return "unknown"
}

func main() {
	j := &job{}
	flag.StringVar(&j.mode, "mode", "", "write, read or stream")
	flag.StringVar(&j.bootstrap, "bootstrap", "", "host:port")
	flag.StringVar(&j.topic, "topic", "", "topic")
	flag.StringVar(&j.codec, "codec", "none", "codec")
	flag.StringVar(&j.without, "lacks", "", "what the writer could not express")
	flag.StringVar(&j.acks, "acks", "", "file for the confirmed records of a stream")
	flag.Int64Var(&j.records, "records", 100000, "number of records")
	flag.Int64Var(&j.startMs, "start-ms", 0, "timestamp of record 0")
	flag.Int64Var(&j.rate, "rate", 1000, "records per second of a stream")
	flag.Int64Var(&j.inFlight, "in-flight", 5, "requests in flight of a stream")
	flag.Parse()
	switch j.mode {
	case "write":
		j.write()
	case "read":
		j.read()
	case "stream":
		j.stream()
	default:
		log.Fatalf("unknown mode %q", j.mode)
	}
	report, err := json.Marshal(map[string]any{
		"client": "franz-go", "version": version(), "done": j.done, "cannot": map[string]string{},
	})
	must(err)
	fmt.Println(string(report))
}
