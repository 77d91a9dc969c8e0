'use strict'

// Deterministic mutations of raw HTTP messages.

const kSeeds = [
  'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /path?q=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'GET / HTTP/1.0\r\n\r\n',
  'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  'HEAD /x HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nX-Empty:\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n5;a=b;c="d"\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n',
  'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET http://a/b?c HTTP/1.1\r\nHost: a\r\n\r\n',
  'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, x-y\r\nCookie: a=b; c=d\r\nUser-Agent: x (y; z)\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
].map((text) => Buffer.from(text, 'latin1'))

const kPieces = [
  '\r\n', '\r', '\n', '\0', ' ', '\t', ':', ',', ';', '\x7f', '\x80', '\xff', '0', '-1', '+5', '0x5', '00',
  '18446744073709551616', 'Content-Length: 1\r\n', 'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: x\r\n',
  'transfer-encoding:\tchunked\r\n', 'Host: b\r\n', ' folded\r\n', 'Connection: close\r\n', 'Expect: x\r\n',
  'HTTP/1.1', 'HTTP/1.0', 'GET ', '\r\n\r\n', 'chunked, chunked', '"', '\\', '%00', '\xe9', '0\r\n\r\n', 'f;x\r\n'
].map((text) => Buffer.from(text, 'latin1'))

/** Small fast PRNG (xorshift32): the same seed gives the same run. */
class Random {
  /** @param {number} seed */
  constructor (seed) {
    this.state = (seed | 0) || 1
  }

  /** @param {number} below @returns {number} */
  next (below) {
    let x = this.state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.state = x
    return (x >>> 0) % below
  }

  /** @template T @param {T[]} list @returns {T} */
  pick (list) {
    return list[this.next(list.length)]
  }
}

/** @param {Random} random @param {Buffer[]} seeds @returns {Buffer} */
function mutate (random, seeds) {
  let bytes = Buffer.from(random.pick(seeds))
  const rounds = 1 + random.next(3)
  for (let i = 0; i < rounds; i++) {
    const at = random.next(bytes.length + 1)
    const until = Math.min(bytes.length, at + 1 + random.next(4))
    switch (random.next(7)) {
      case 0: // insert
        bytes = Buffer.concat([bytes.subarray(0, at), random.pick(kPieces), bytes.subarray(at)])
        break
      case 1: // replace
        bytes = Buffer.concat([bytes.subarray(0, at), random.pick(kPieces), bytes.subarray(until)])
        break
      case 2: // delete
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(until)])
        break
      case 3: // truncate
        bytes = bytes.subarray(0, at)
        break
      case 4: // any byte
        if (at < bytes.length) {
          bytes = Buffer.from(bytes)
          bytes[at] = random.next(256)
        }
        break
      case 5: // repeat
        bytes = Buffer.concat([bytes.subarray(0, until), bytes.subarray(at)])
        break
      default: // splice
        bytes = Buffer.concat([bytes.subarray(0, at), random.pick(seeds)])
    }
  }
  return bytes
}

module.exports = { Random, kSeeds, mutate }
