'use strict'
// compression replaces write(), end() and on() of a response: pieces, flush() in between, a waiting 'drain'.
// covers: 9, 7, 8
// breaks: last-chunk-missing

const compression = require('compression')
const connect = require('connect')
const http = require('node:http')
const zlib = require('node:zlib')
const { answer, dial, listen, log, message, play, program, watch } = require('../../kit')

/** @param {string} text of an answer @returns {string} head, sizes of chunks, and the text */
function decode (text) {
  const at = text.indexOf('\r\n\r\n') + 4
  const pieces = []
  let rest = text.slice(at)
  if (!/chunked/i.test(text)) return text
  for (let size; (size = parseInt(rest, 16)) > 0; rest = rest.slice(size + 2)) {
    rest = rest.slice(rest.indexOf('\r\n') + 2)
    pieces.push(rest.slice(0, size))
  }
  const body = Buffer.from(pieces.join(''), 'latin1')
  return `${text.slice(0, at)}${/gzip/.test(text) ? zlib.gunzipSync(body, { finishFlush: zlib.constants.Z_SYNC_FLUSH }) : body}|${rest}`
}

program(async () => {
  const app = connect()
  app.use(compression({ threshold: 10 }))
  app.use((req, res) => {
    watch(req.url, res, ['finish', 'close'])
    res.setHeader('Content-Type', 'text/plain')
    if (req.url === '/short') return res.end('short')
    res.write('first ')
    log('flushed', typeof res.flush, res.headersSent)
    res.flush()
    setImmediate(() => res.end('second'.repeat(10)))
  })
  const port = await listen(http.createServer(app))
  for (const [path, encoding] of [['/short', 'gzip'], ['/pieces', 'gzip'], ['/pieces', 'identity']]) {
    const wire = await dial(port)
    await play(wire, [message(`GET ${path}`, [`Accept-Encoding: ${encoding}`, 'Connection: close'])])
    answer(decode(await wire.untilClosed()))
  }
})
