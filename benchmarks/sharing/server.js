'use strict'

// A process under measurement in the scenario port-sharing.
//
//   server.js httpsys <prefix> ...           on URL prefixes of a shared port
//   server.js queue <prefix> [<key file> <certificate file>]
//                                            the same, on one queue; tells its process id; /block/<ms> and /sleep/<ms> block it, with and
//                                            without using the CPU, and tell since when
//   server.js table <port> <number> <count>  on `count` prefixes of a shared port, /t<number>/0/, …; a message { changes, perSecond } makes it
//                                            add and remove that many others, one after the other unless perSecond is above 0, and is
//                                            answered with { changed }
//   server.js addresses <port> <count>       the same, each prefix bound to an address of its own, with a socket of its own
//   server.js node                           node:http on a port of the system's choice
//   server.js express                        an Express application on node:http, on a port of the system's choice
//   server.js express-cluster <workers>      the same in workers of node:cluster
//   server.js express-httpsys <prefix>       the same by the adapter on a URL prefix
//   server.js httpxy <port of /p1/> ...      a proxy on node:http

/** @type {import('node:cluster').Cluster} */
const cluster = /** @type {any} */ (require('node:cluster')) // @types/node describes the ES module's form.
const fs = require('node:fs')
const http = require('node:http')
const { once } = require('node:events')
const { setTimeout } = require('node:timers/promises')

const [, , kind, ...args] = process.argv
/** What a handler takes that asks nobody else. */
const kHandlerNs = 12_000n

/** @type {import('node:http').RequestListener} */
function answer (req, res) {
  res.setHeader('Content-Type', 'text/plain')
  res.end('Hello, world!')
}

/** @type {import('node:http').RequestListener} */
function answerOnQueue (req, res) {
  const [, how, text] = /^\/(block|sleep)\/(\d+)$/.exec(req.url ?? '') ?? []
  const began = process.hrtime.bigint()
  if (how === undefined) {
    while (process.hrtime.bigint() < began + kHandlerNs);
    res.end(String(process.pid))
    return
  }
  if (how === 'sleep') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(text))
  else while (process.hrtime.bigint() < began + BigInt(text) * 1_000_000n);
  res.end(`${process.pid} ${Number(began) / 1e6}`)
}

/** @returns {any} */
function expressApplication () {
  const app = require('express')()
  app.get('/p1/', (/** @type {any} */ req, /** @type {any} */ res) => { res.send('Hello, world!') })
  return app
}

/** @returns {Promise<import('node:http').Server>} */
async function create () {
  if (kind === 'express' || kind === 'express-cluster') return http.createServer(expressApplication())
  if (kind === 'express-httpsys') return require('@httpsys/express-adapter').createAdapter(expressApplication()).server
  if (kind === 'httpsys' || kind === 'table' || kind === 'addresses') return require('@httpsys/core-native').createServer(answer)
  if (kind === 'queue') {
    const ours = require('@httpsys/core-native')
    const [, key, cert] = args
    return key === undefined
      ? ours.createServer(answerOnQueue)
      : ours.https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) }, answerOnQueue)
  }
  if (kind === 'node') return http.createServer(answer)
  const { createProxyServer } = await import('httpxy')
  const proxy = createProxyServer({ agent: new http.Agent({ keepAlive: true }) })
  const targets = args.map((port) => `http://127.0.0.1:${port}`)
  return http.createServer((req, res) => {
    const number = Number.parseInt(/** @type {string} */ (req.url).slice(2))
    proxy.web(req, res, { target: targets[number - 1] }).catch((/** @type {Error} */ error) => {
      console.error(error)
      res.statusCode = 502
      res.end()
    })
  })
}

/** @param {number} count of workers that inherit the arguments */
async function startWorkers (count) {
  const workers = Array.from({ length: count }, () => cluster.fork())
  const listening = await Promise.all(workers.map((worker) => once(worker, 'listening')))
  process.send?.({ port: listening[0][0].port, milliseconds: 0 })
}

async function start () {
  if (kind === 'express-cluster' && cluster.isPrimary) return startWorkers(Number(args[0]))
  const server = await create()
  const since = performance.now()
  const listening = () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    process.send?.({ port, milliseconds: performance.now() - since })
  }
  if (kind === 'table') {
    const [port, number, count] = args.map(Number)
    startTable(/** @type {any} */ (server), count, (name) => `http://*:${port}/t${number}/${name}/`, listening)
  } else if (kind === 'addresses') {
    const [port, count] = args.map(Number)
    // Each of these sockets beyond 64 is warned of: other processes do not share it.
    process.removeAllListeners('warning')
    startTable(/** @type {any} */ (server), count, (name) => `http://${addressOf(name)}:${port}/`, listening)
  } else if (kind === 'httpsys' || kind === 'express-httpsys') {
    /** @type {any} */ (server).listen(args, listening)
  } else if (kind === 'queue') {
    /** @type {any} */ (server).listen({ prefix: args[0], queueName: 'bench', queueMode: 'createOrAttach' }, listening)
  } else {
    server.listen(0, '127.0.0.1', listening)
  }
}

/** One call of listen() takes no more. */
const kPrefixesPerListen = 1000
/** Changes that are under way at a time. */
const kUnderWayMax = 200

/** Addresses of this machine only; those of the changes behind the others. @param {number | string} name of a prefix @returns {string} */
function addressOf (name) {
  const [, changing, digits] = /** @type {RegExpExecArray} */ (/^(changing-)?(\d+)$/.exec(String(name)))
  const number = Number(digits) + 1
  return `127.${changing === undefined ? 1 : 2}.${number >> 8}.${number & 0xff}`
}

/**
 * @param {import('@httpsys/core-native').Server} server
 * @param {number} count
 * @param {(name: number | string) => string} prefixOf a number, or `changing-` and a number
 * @param {() => void} listening
 */
async function startTable (server, count, prefixOf, listening) {
  const prefixes = Array.from({ length: count }, (_, index) => prefixOf(index))
  server.listen(prefixes.slice(0, kPrefixesPerListen))
  await once(server, 'listening')
  for (const prefix of prefixes.slice(kPrefixesPerListen)) await server.addPrefix(prefix)
  process.on('message', async (/** @type {{ changes: number, perSecond: number }} */ { changes, perSecond }) => {
    await (perSecond > 0 ? changeInTime : changeInTurn)(server, (change) => prefixOf(`changing-${change}`), changes, perSecond)
    process.send?.({ changed: changes })
  })
  listening()
}

/** @param {import('@httpsys/core-native').Server} server @param {(change: number) => string} prefixOf @param {number} changes */
async function changeInTurn (server, prefixOf, changes) {
  for (let change = 0; change < changes; change += 2) {
    await server.addPrefix(prefixOf(change))
    await server.removePrefix(prefixOf(change))
  }
}

/** @param {import('@httpsys/core-native').Server} server @param {(change: number) => string} prefixOf @param {number} changes @param {number} perSecond */
async function changeInTime (server, prefixOf, changes, perSecond) {
  const began = performance.now()
  const underWay = new Set()
  for (let change = 0; change < changes; change += 2) {
    const pair = changeInTurn(server, () => prefixOf(change), 2).finally(() => underWay.delete(pair))
    underWay.add(pair)
    while (underWay.size > kUnderWayMax) await Promise.race(underWay)
    const ahead = began + (change + 2) / perSecond * 1000 - performance.now()
    if (ahead > 1) await setTimeout(ahead)
  }
  await Promise.all(underWay)
}

process.on('disconnect', () => process.exit())
start()
