'use strict'

// A server whose requests throw. Arguments: the module with the server, what is around what throws, and for a crash where the only request
// throws. Without the last one, each place has its turn with each kind of message, and who hears of the error is printed.

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
// eslint-disable-next-line n/no-deprecated-api -- Applications still use domains, and errors must reach theirs.
const domain = require('node:domain')
const net = require('node:net')

const [module_, context, crashAt] = process.argv.slice(2)
const http = require(module_)
const storage = new AsyncLocalStorage()
const error = new Error('made elsewhere')

function fail () {
  throw error
}

/** @type {Record<string, (req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => void>} */
const kPlaces = {
  rethrown: fail,
  tick: () => process.nextTick(fail),
  microtask: () => queueMicrotask(fail),
  rejection: () => { Promise.resolve().then(fail) },
  timer: () => { setTimeout(fail, 1) },
  body: (req) => { req.on('data', fail) },
  'end of the body': (req) => { req.on('end', fail).resume() },
  finish: (_req, res) => { res.on('finish', fail).end() },
  close: (_req, res) => { res.on('close', fail).end() },
  'request-event': (req) => { req.emit('error', error) },
  'response-event': (_req, res) => { res.emit('error', error) }
}

/** @type {Record<string, string[]>} */
const kMessages = {
  'no body': ['GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  'a body': ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody'],
  'a late body': ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n', 'body']
}

const outside = new AsyncResource('OUTSIDE')
let heard = () => {}
let sendRest = () => {}
let place = ''

/** @param {string} listener @param {string} [origin] */
function note (listener, origin) {
  const { domain: active } = /** @type {NodeJS.Process & { domain?: domain.Domain & { label: string } | null }} */ (process)
  console.log(`  ${listener}: ${origin ?? ''} store ${storage.getStore()}, domain ${active?.label}`)
  heard()
}

/** @param {string} label */
function createDomain (label) {
  return Object.assign(domain.create(), { label }).on('error', () => note(`domain ${label}`))
}

/** @type {import('node:http').RequestListener} */
function onRequest (req, res) {
  outside.runInAsyncScope(sendRest) // It comes later than what the listener does at once.
  const run = () => kPlaces[place](req, res)
  if (context === 'store inside') storage.run('inner', run)
  else if (context === 'domain inside') createDomain('inner').run(run)
  else if (context === 'domains and stores') storage.run('inner', () => createDomain('inner').run(run))
  else {
    if (context === 'entered store') storage.enterWith('entered')
    run()
  }
}

/** @param {number} port @param {string[]} pieces */
function send (port, [head, body]) {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  socket.write(head)
  sendRest = () => { if (body !== undefined) socket.write(body) }
  return socket
}

/** @param {number} port */
async function playAll (port) {
  process.on('uncaughtException', (_error, origin) => note('process', origin))
  for (place of Object.keys(kPlaces)) {
    for (const [message, pieces] of Object.entries(kMessages)) {
      if (place === 'body' && message === 'no body') continue
      console.log(`${place}, ${message}`)
      const done = new Promise((resolve) => { heard = () => resolve(undefined) })
      const socket = outside.runInAsyncScope(send, undefined, port, pieces)
      await done
      socket.destroy()
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
  }
  process.exit()
}

function start () {
  const server = http.createServer(onRequest).listen(0, '127.0.0.1', () => {
    const { port } = /** @type {net.AddressInfo} */ (server.address())
    outside.runInAsyncScope(() => {
      if (crashAt === undefined) return playAll(port)
      place = crashAt
      send(port, kMessages['a body'])
    })
  })
}

/** @type {() => void} */
let begin = start
if (context === 'domain around' || context === 'domains and stores') begin = () => createDomain('outer').run(start)
if (context === 'domains and stores') storage.run('outer', begin)
else begin()
