// kafkajs as a producer: see ../README.md for the command line and the content. Its consumer needs a group.

const fs = require('node:fs')
const { setTimeout: pause } = require('node:timers/promises')
const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = require('kafkajs')
const snappy = require('kafkajs-snappy')
const { compressFrame } = require('lz4-napi')
const { ZstdCodec } = require('zstd-codec')
const { PARTITIONS, STREAM_VALUE_BYTES, key, value, headers, pattern } = require('./content')

const CHUNK = 1200
const TYPES = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}
const NO_GROUP = 'its consumer needs a group'

function options() {
  const words = process.argv.slice(2)
  const pairs = []
  for (let i = 0; i < words.length; i += 2) pairs.push([words[i].replace(/^--/, ''), words[i + 1]])
  return Object.fromEntries(pairs)
}

function installCodecs() {
  CompressionCodecs[CompressionTypes.Snappy] = snappy
  CompressionCodecs[CompressionTypes.LZ4] = () => ({ compress: (encoder) => compressFrame(encoder.buffer) })
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({ compress: (encoder) => zstd(encoder.buffer) })
}

function zstd(buffer) {
  return new Promise((resolve) => {
    ZstdCodec.run((codec) => resolve(Buffer.from(new codec.Simple().compress(buffer))))
  })
}

async function create(kafka, topic) {
  const admin = kafka.admin()
  await admin.connect()
  const made = await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS, replicationFactor: 1 }] })
  if (!made) throw new Error(`topic ${topic} exists`)
  await admin.disconnect()
}

function messages(startMs, first, end) {
  const chunk = []
  for (let n = first; n < end; n++) {
    const timestamp = String(startMs + n)
    chunk.push({ key: key(n), value: value(n), headers: headers(n), partition: n % PARTITIONS, timestamp })
  }
  return chunk
}

async function write({ bootstrap, topic, codec, records, 'start-ms': startMs }) {
  const kafka = new Kafka({ clientId: 'interop', brokers: [bootstrap], logLevel: logLevel.ERROR })
  await create(kafka, topic)
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  for (let first = 0; first < Number(records); first += CHUNK) {
    const chunk = messages(Number(startMs), first, Math.min(first + CHUNK, Number(records)))
    for (const { errorCode } of await producer.send({ topic, acks: -1, compression: TYPES[codec], messages: chunk })) {
      if (errorCode !== 0) throw new Error(`produce answered ${errorCode}`)
    }
  }
  await producer.disconnect()
}

function streamed(first, end) {
  const chunk = []
  for (let n = first; n < end; n++) chunk.push({ value: pattern(n, STREAM_VALUE_BYTES), partition: n % PARTITIONS })
  return chunk
}

// The lines for records first to end - 1: of each partition the broker answers with the first offset.
function confirmed(first, end, answers) {
  const next = new Map()
  for (const { partition, errorCode, baseOffset } of answers) {
    if (errorCode !== 0) throw new Error(`produce answered ${errorCode}`)
    next.set(partition, BigInt(baseOffset))
  }
  let lines = ''
  for (let n = first; n < end; n++) {
    const offset = next.get(n % PARTITIONS)
    next.set(n % PARTITIONS, offset + 1n)
    lines += `${n} ${offset}\n`
  }
  return lines
}

// One request at a time, whatever --in-flight allows: this producer's sequences stand no more.
async function stream({ bootstrap, topic, acks, rate }) {
  const retry = { initialRetryTime: 100, maxRetryTime: 500, retries: Number.MAX_SAFE_INTEGER }
  const kafka = new Kafka({ clientId: 'interop', brokers: [bootstrap], logLevel: logLevel.NOTHING, retry })
  await create(kafka, topic)
  const producer = kafka.producer({ allowAutoTopicCreation: false, idempotent: true, maxInFlightRequests: 1, retry })
  await producer.connect()
  const file = fs.openSync(acks, 'a')
  let ended = false
  process.stdin.on('end', () => (ended = true)).resume()
  const started = performance.now()
  for (let sent = 0; !ended; ) {
    const due = Math.floor(((performance.now() - started) / 1000) * Number(rate))
    const end = Math.min(due, sent + CHUNK)
    if (end > sent) {
      const answers = await producer.send({ topic, acks: -1, messages: streamed(sent, end) })
      fs.writeSync(file, confirmed(sent, end, answers))
      sent = end
    }
    await pause(5)
  }
  await producer.disconnect()
  fs.closeSync(file)
}

async function main() {
  const given = options()
  const { version } = require('kafkajs/package.json')
  if (given.mode === 'stream') {
    await stream(given)
    console.log(JSON.stringify({ client: 'kafkajs', version, done: ['idempotence'], cannot: {} }))
    return
  }
  if (given.mode !== 'write') throw new Error(`unknown mode ${given.mode}`)
  installCodecs()
  await write(given)
  const done = ['create topic', `codec ${given.codec}`, 'null and empty keys', 'null and empty values']
  done.push('null key with null value', 'headers', 'repeated headers', 'timestamps')
  const cannot = { 'null header values': 'send refuses them', 'read in order': NO_GROUP, 'seek by offset': NO_GROUP, 'seek by timestamp': NO_GROUP }
  console.log(JSON.stringify({ client: 'kafkajs', version, done, cannot }))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
