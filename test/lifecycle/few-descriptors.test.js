'use strict'

// Goal: with few descriptors (ulimit -n) no request is lost that waits a moment: connections that have ended give theirs back at once, and
// newcomers wait in the backlog. Method: a server in a process that may have 100.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const nodeHttp = require('node:http')
const nodeHttps = require('node:https')
const net = require('node:net')
const { test } = require('node:test')
const { backend } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { until } = require('../helpers/waiting')

const kLimit = 100
const kClients = 20
const options = {
  skip: backend === 'node' ? 'node:http closes what it has no descriptor for' : process.platform === 'win32' && 'there is no ulimit',
  timeout: 30_000
}

const kServer = `
const core = require('@httpsys/core-native')
const { tls, ...options } = JSON.parse(process.argv[1])
const server = (tls ? core.https : core).createServer({ ...tls, ...options }, (req, res) => res.end('served'))
server.listen(0, '127.0.0.1', () => process.stdout.write(String(server.address().port)))
process.stdin.on('end', () => process.exit()).resume()
`

/** @param {import('node:test').TestContext} t @param {object} config @param {NodeJS.ProcessEnv} [env] @returns {Promise<number>} the port */
async function serveWithFew (t, config, env = {}) {
  const child = spawn('sh', ['-c', `ulimit -n ${kLimit}; exec "$0" "$@"`, process.execPath, '-e', kServer, JSON.stringify(config)], {
    cwd: __dirname, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit']
  })
  t.after(() => child.kill('SIGKILL'))
  const [port] = await once(child.stdout, 'data')
  return Number(port)
}

/** @type {Record<string, { count: number, tls?: object, env?: NodeJS.ProcessEnv }>} */
const kServers = {
  'one I/O thread': { count: 1000, env: { HTTPSYS_IO_THREADS: '1' } },
  'three I/O threads': { count: 1000, env: { HTTPSYS_IO_THREADS: '3' } },
  TLS: { count: 300, tls: certificate('localhost') }
}

for (const [name, { count, tls, env }] of Object.entries(kServers)) {
  test(`requests on connections of their own are all answered, ${kClients} at a time (${name})`, options, async (t) => {
    const port = await serveWithFew(t, { tls }, env)
    const { get } = tls === undefined ? nodeHttp : nodeHttps
    let left = count
    const client = async () => {
      while (left-- > 0) {
        const [res] = await once(get({ port, host: '127.0.0.1', agent: false, rejectUnauthorized: false, headers: { Connection: 'close' } }), 'response')
        assert.equal(res.statusCode, 200)
        await once(res.resume(), 'end')
      }
    }
    await Promise.all(Array.from({ length: kClients }, client))
  })
}

test('a client for whom there is no descriptor waits until another one has gone', options, async (t) => {
  const port = await serveWithFew(t, { keepAliveTimeout: 60_000 })
  let answered = 0
  const clients = Array.from({ length: kLimit + 20 }, () => {
    const client = net.connect(port, '127.0.0.1', () => client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
    return client.once('data', () => { answered++ })
  })
  t.after(() => { for (const client of clients) client.destroy() })
  /** @type {number[]} */
  const ends = []
  clients.forEach((client, i) => client.on('close', () => ends.push(i)))
  // Some have to wait, as the server itself has descriptors.
  await until(() => answered > kLimit / 4, 'the first ones are answered')
  clients[0].destroy()
  await until(() => {
    for (const client of clients.filter(({ bytesRead, destroyed }) => bytesRead > 0 && !destroyed).slice(0, 10)) client.destroy()
    return answered === clients.length
  }, 'all are answered')
  assert.ok(ends.every((i) => clients[i].bytesRead > 0), 'nobody was closed without an answer')
})
