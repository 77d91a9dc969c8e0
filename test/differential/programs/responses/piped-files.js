'use strict'
// Static middleware and frameworks pipe files into responses: whole ones, ranges, with a tail, with listeners for the pieces, in a context.
// covers: 9, 29, 32, 36
// breaks: piped-bytes-uncounted, piped-context-lost, piped-tail-lost, piped-range-ignored, piped-listener-ignored, piped-encoding-ignored

const fs = require('node:fs')
const http = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const { pipeline } = require('node:stream')
const { listen, log, logged, message, program, talk } = require('../../kit')

fs.writeFileSync('file', 'abcdefghijklmnopqrstuvwxyz'.repeat(3))
fs.writeFileSync('latin', Buffer.from([0xc3, 0xa9, 0xe9, 0x0a]))

/** @type {Record<string, (res: http.ServerResponse) => fs.ReadStream>} */
const pages = {
  '/whole': (res) => {
    res.setHeader('Content-Length', 78)
    const source = fs.createReadStream('file')
    source.pipe(res)
    return source
  },
  '/range': (res) => {
    res.writeHead(206, { 'Content-Length': 5 })
    const source = fs.createReadStream('file', { start: 2, end: 6 })
    pipeline(source, res, (error) => { if (error) log('/range', error.code) })
    return source
  },
  '/tail': (res) => {
    const source = fs.createReadStream('file')
    source.pipe(res, { end: false })
    source.on('end', () => res.end(' and a tail'))
    return source
  },
  '/pieces': (res) => {
    const source = fs.createReadStream('file')
    source.pipe(res)
    source.on('data', (piece) => log('/pieces', String(piece)))
    return source
  },
  '/latin': (res) => {
    const source = fs.createReadStream('latin')
    source.setEncoding('latin1')
    source.pipe(res)
    return source
  },
  '/none': (res) => {
    const source = fs.createReadStream('none')
    source.on('error', () => { res.statusCode = 404; res.end() })
    source.pipe(res)
    return source
  }
}

program(async () => {
  const storage = new AsyncLocalStorage()
  const server = http.createServer((req, res) => {
    const path = /** @type {string} */ (req.url)
    const source = storage.run(path, () => pages[path](res))
    for (const event of ['open', 'end']) source.on(event, () => log(path, event, storage.getStore(), source.bytesRead, source.readableDidRead, source.destroyed))
    // The file is closed on another thread.
    Promise.all([once(source, 'close'), once(res, 'close')]).then(() => log(path, 'closed', source.closed, source.bytesRead, res.writableFinished), (error) => log(path, error.code))
    res.on('unpipe', () => log(path, 'unpipe', res.writableFinished))
    source.on('close', () => { if (storage.getStore() !== path) log(path, 'closed elsewhere') })
  })
  const port = await listen(server)
  for (const path of Object.keys(pages)) {
    await talk(port, message(`GET ${path}`))
    await logged(path === '/none' ? `${path} ENOENT` : `${path} closed`)
  }
})
