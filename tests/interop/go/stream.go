package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// confirmed writes a line for every confirmed record.
type confirmed struct {
	mutex sync.Mutex
	file  *bufio.Writer
}

func (c *confirmed) add(n, offset int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	fmt.Fprintf(c.file, "%d %d\n", n, offset)
}

func (c *confirmed) flush() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	must(c.file.Flush())
}

// stream sends with idempotence until standard input ends.
func (j *job) stream() {
	j.create()
	file, err := os.Create(j.acks)
	must(err)
	acks := &confirmed{file: bufio.NewWriter(file)}
	options := []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MaxBufferedRecords(1_000_000),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
	}
	// With idempotence it may only be lowered.
	if j.inFlight == 1 {
		options = append(options, kgo.MaxProduceRequestsInflightPerBroker(1))
	}
	client := j.client(options...)
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	j.sendUntil(ended, client, acks)
	must(client.Flush(context.Background()))
	client.Close()
	acks.flush()
	must(file.Close())
	j.done = append(j.done, "idempotence")
}

func (j *job) sendUntil(ended <-chan struct{}, client *kgo.Client, acks *confirmed) {
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	started := time.Now()
	for sent := int64(0); ; {
		select {
		case <-ended:
			return
		case <-ticks.C:
		}
		for due := int64(time.Since(started).Seconds() * float64(j.rate)); sent < due; sent++ {
			j.send(client, sent, acks)
		}
		acks.flush()
	}
}

func (j *job) send(client *kgo.Client, n int64, acks *confirmed) {
	record := &kgo.Record{Topic: j.topic, Partition: int32(n % partitions), Value: pattern(n, streamValueBytes)}
	client.Produce(context.Background(), record, func(r *kgo.Record, err error) {
		must(err)
		acks.add(n, r.Offset)
	})
}
