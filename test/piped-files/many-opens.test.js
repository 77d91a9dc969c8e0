'use strict'

// Goal: many requests at once for different files are answered by a process that may have fewer descriptors than there are requests. Method:
// streams of HTTP/2 that stand still, on a server with `ulimit -n 256`.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const os = require('node:os')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { needs } = require('../helpers/capabilities')

const kFiles = 300
const kPerSession = 75
const kBytes = 128 * 1024
const kServer = `
  const fs = require('node:fs')
  const [folder] = process.argv.slice(1)
  const http = require(${JSON.stringify(require.resolve('@httpsys/core-native'))})
  const pipes = []
  const server = http.createServer({ http2: true }, (req, res) => {
    pipes.push(() => fs.createReadStream(folder + req.url).on('error', ({ code }) => { res.statusCode = 500; res.end(code) }).pipe(res))
    if (pipes.length < ${kFiles}) return
    for (const pipe of pipes) pipe()
    // Streams open their files in the next tick. Node's threads are done with them before JavaScript hears of the first one.
    process.nextTick(() => process.nextTick(() => { for (const end = Date.now() + 300; Date.now() < end;); }))
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

test('300 files are piped at once by a process that may have 256 descriptors', needs('sendsFiles', 'slowReaders'), async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-opens-'))
  const child = spawn('sh', ['-c', 'ulimit -n 256; exec "$@"', 'sh', process.execPath, '-e', kServer, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => {
    child.kill()
    fs.rmSync(folder, { recursive: true })
  })
  for (let i = 0; i < kFiles; i++) fs.writeFileSync(path.join(folder, String(i)), Buffer.alloc(kBytes, String(i)))
  const [line] = await once(child.stdout, 'data')
  const sessions = Array.from({ length: kFiles / kPerSession }, () => http2.connect(`http://127.0.0.1:${Number(line)}`))
  t.after(() => { for (const session of sessions) session.destroy() })
  const statuses = await Promise.all(Array.from({ length: kFiles }, async (_, i) => {
    // Nobody reads the body.
    const stream = sessions[i % sessions.length].request({ ':path': `/${i}` })
    const [headers] = await once(stream, 'response')
    return headers[':status']
  }))
  assert.deepEqual(statuses.filter((status) => status !== 200), [])
})
