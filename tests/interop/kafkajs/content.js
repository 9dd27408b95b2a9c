// The rule of the content: see ../README.md. kafkajs refuses a null header value: empty is written.

const PARTITIONS = 6
const STREAM_VALUE_BYTES = 100

function key(n) {
  if (n % 7 === 0) return null
  if (n % 7 === 1) return Buffer.alloc(0)
  return Buffer.concat([Buffer.from(`key-${n}`), Buffer.from([0, 0xff])])
}

function value(n) {
  if (n % 11 === 0) return null
  if (n % 11 === 1) return Buffer.alloc(0)
  return pattern(n, n % 1000 === 500 ? 20000 : 16 + ((n * 37) % 400))
}

function pattern(n, size) {
  const bytes = Buffer.alloc(size)
  bytes.writeBigUInt64BE(BigInt(n))
  const step = (n % 13) + 1
  for (let i = 8; i < bytes.length; i++) bytes[i] = (n + i * step) & 0xff
  return bytes
}

function headers(n) {
  const again = Buffer.from('again')
  const empty = Buffer.alloc(0)
  const bytes = Buffer.from([0, 0xff, 0x80, n & 0xff])
  const kinds = [
    {},
    { h: Buffer.from(`v${n}`) },
    { same: [Buffer.from('1'), Buffer.from('2'), empty] },
    { empty },
    { bytes: [bytes, again], empty, none: empty },
  ]
  return kinds[n % 5]
}

module.exports = { PARTITIONS, STREAM_VALUE_BYTES, key, value, headers, pattern }
