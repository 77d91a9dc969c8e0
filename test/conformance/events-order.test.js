'use strict'

// Goal: the events of requests, responses and sockets come in Node's order. Each situation runs on
// node:http and on the server under test, and the logs are compared.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const stream = require('node:stream')
const nodeHttp = require('node:http')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, get, serve, stop } = require('../helpers/client')
const { drained, silence, until } = require('../helpers/waiting')

const kPost = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n'
const kChunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
const kUpgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'

/** @typedef {{ server: any, note: (line: string) => void, req?: any, res?: any, socket?: any }} Context */

/**
 * @typedef {object} Situation
 * @property {(req: any, res: any, context: Context) => void} [request]
 * @property {(context: Context) => void} [setUp]
 * @property {(wire: import('../helpers/client').Wire, context: Context) => Promise<any>} client
 */

const kReqEvents = ['end', 'close', 'aborted', 'error', 'timeout']
const kResEvents = ['prefinish', 'finish', 'close', 'error', 'timeout', 'pipe', 'unpipe']
const kSocketEvents = ['end', 'prefinish', 'finish', 'close', 'error', 'timeout']

/** @param {Context} context @param {any} target @param {string} name @param {string[]} events */
function watch ({ note }, target, name, events) {
  for (const event of events) {
    target.on(event, (/** @type {any} */ arg) => {
      const detail = arg instanceof Error ? ` ${/** @type {any} */ (arg).code ?? arg.message}` : typeof arg === 'boolean' ? ` ${arg}` : ''
      const states = event !== 'close'
        ? ''
        : name.startsWith('req')
          ? ` ${target.complete} ${target.aborted} ${target.readableEnded}`
          : name.startsWith('res') ? ` ${target.finished} ${target.writableFinished} ${target.writableEnded}` : ''
      note(`${name} ${event}${detail}${states}`)
    })
  }
}

/** @param {typeof nodeHttp} from @param {Situation} situation @param {boolean} watchesSockets @param {import('node:test').TestContext} t @param {number} wanted events to wait for @returns {Promise<string[]>} */
async function logOf (from, situation, watchesSockets, t, wanted) {
  const log = /** @type {string[]} */ ([])
  const server = from.createServer()
  const context = /** @type {Context} */ ({ server, note: (line) => log.push(line) })
  let count = 0
  server.on('request', (req, res) => {
    const n = ++count
    context.note(`request ${n}`)
    Object.assign(context, { req, res, socket: req.socket })
    watch(context, req, `req${n}`, kReqEvents)
    watch(context, res, `res${n}`, kResEvents)
    situation.request?.(req, res, context)
  })
  if (watchesSockets) server.on('connection', (socket) => watch(context, socket, 'socket', kSocketEvents))
  situation.setUp?.(context)
  const wire = await dial(t, await serve(t, server))
  await situation.client(wire, context)
  wire.destroy()
  await wire.untilClosed()
  await drained(server)
  // The last events follow the end of the connection, none of them marked as the last.
  if (wanted > 0) await until(() => log.length >= wanted, `${wanted} events: ${log.join(', ')}`).catch(() => {})
  await silence(30)
  await stop(server)
  return log
}

/** @param {any} res @param {string} [body] */
const late = (res, body = 'x') => setTimeout(() => res.end(body), 20)

/** More than the sockets of both ends take. */
const kUnreadBytes = 12_000_000

// The client reads nothing, ends its direction, and goes when the server has seen that.
/** @param {import('../helpers/client').Wire} wire @param {Context} context */
async function goBehindEnd (wire, { server }) {
  const requested = once(server, 'request')
  wire.socket.pause()
  wire.write(get())
  await requested
  await silence(50) // What is written fills the sockets meanwhile.
  wire.socket.end()
  await silence(50)
  // On a busy machine the silence may be over before the loop, which stock Node's server shares, has looked.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  wire.socket.resetAndDestroy()
}

/** @type {Record<string, Situation>} */
const kSituations = {
  'a GET answered at once': {
    request: (req, res) => res.end('x'),
    client: (wire) => wire.write(get()).until('\r\n\r\nx')
  },
  'a GET answered later, in pieces': {
    request: (req, res, { note }) => {
      res.write('a', () => note('wrote'))
      setTimeout(() => {
        note('end called')
        res.end('x', () => note('ended'))
      }, 20)
    },
    client: (wire) => wire.write(get()).until('0\r\n\r\n')
  },
  'ticks and microtasks around end()': {
    request: (req, res, { note }) => {
      process.nextTick(note, 'tick before')
      Promise.resolve().then(() => note('microtask before'))
      res.end('x', () => note('ended'))
      process.nextTick(note, 'tick behind')
      Promise.resolve().then(() => note('microtask behind'))
    },
    client: (wire) => wire.write(get()).until('\r\n\r\nx')
  },
  'a HEAD': {
    request: (req, res) => {
      res.setHeader('X-Last', '1')
      res.end('x')
    },
    client: (wire) => wire.write('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n').until('\r\n\r\n')
  },
  'an answer that closes': {
    request: (req, res) => res.end('x'),
    client: (wire) => wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').untilClosed()
  },
  'a body that is read, then answered': {
    request: (req, res) => req.resume().on('end', () => res.end('x')),
    client: (wire) => wire.write(kPost + 'abcde').until('\r\n\r\nx')
  },
  'a body that is read while it is answered': {
    request: (req, res) => {
      req.resume()
      res.end('x')
    },
    client: (wire) => wire.write(kPost + 'abcde').until('\r\n\r\nx')
  },
  'a body that nobody reads': {
    request: (req, res) => late(res),
    client: (wire) => wire.write(kPost + 'abcde').until('\r\n\r\nx')
  },
  'an answer before the body comes': {
    request: (req, res) => res.end('x'),
    client: async (wire, context) => {
      await wire.write(kPost).until('\r\n\r\nx')
      const closed = once(context.req, 'close')
      wire.write('abcde')
      await closed
      await wire.write(get()).until('\r\n\r\nx', 2)
    }
  },
  'a chunked body with trailers': {
    request: (req, res, { note }) => {
      req.on('data', (/** @type {Buffer} */ piece) => note(`data ${piece}`))
      req.on('end', () => {
        note(`trailers ${req.rawTrailers}`)
        res.end('x')
      })
    },
    client: (wire) => wire.write(kChunked + '3\r\nabc\r\n0\r\nT: v\r\n\r\n').until('\r\n\r\nx')
  },
  'a body read by async iteration': {
    request: async (req, res, { note }) => {
      for await (const piece of req) note(`piece ${piece}`)
      note('iterated')
      res.end('x')
    },
    client: (wire) => wire.write(kPost + 'abcde').until('\r\n\r\nx')
  },
  'an iteration that stops in the middle': {
    request: async (req, res, { note, server }) => {
      const pieces = req[Symbol.asyncIterator]()
      note(`piece ${(await pieces.next()).value}`)
      await pieces.return()
      note('stopped')
      server.emit('stopped')
    },
    client: async (wire, { server }) => {
      const stopped = once(server, 'stopped')
      wire.write(kPost + 'ab')
      await stopped
    }
  },
  'a body piped back': {
    request: (req, res) => req.pipe(res),
    client: (wire) => wire.write(kPost + 'abcde').until('0\r\n\r\n')
  },
  'stream.pipeline() and finished()': {
    request: (req, res, { note }) => {
      stream.finished(res, (error) => note(`finished ${error?.message}`))
      stream.pipeline(req, new stream.PassThrough(), res, (error) => note(`pipeline ${error?.message}`))
    },
    client: (wire) => wire.write(kPost + 'abcde').until('0\r\n\r\n')
  },
  'a large answer': {
    request: (req, res, { note }) => res.end(Buffer.alloc(1024 * 1024, 'x'), () => note('ended')),
    client: async (wire) => {
      // All of it: what a client leaves unread is answered with a reset.
      const head = (await wire.write(get()).until('\r\n\r\n')).indexOf('\r\n\r\n') + 4
      while (wire.text.length < head + 1024 * 1024) await once(wire.socket, 'data')
    }
  },
  'a client that leaves before the answer': {
    client: async (wire, { server }) => {
      const requested = once(server, 'request')
      wire.write(get())
      const [, res] = await requested
      wire.destroy()
      await once(res, 'close')
    }
  },
  'a client that leaves, and an answer nevertheless': {
    request: (req, res, { note }) => res.on('close', () => {
      note(`write ${res.write('x', (/** @type {any} */ error) => note(`wrote ${error?.code}`))}`)
      res.end((/** @type {any} */ error) => note(`ended ${error?.code}`))
    }),
    client: async (wire, { server }) => {
      const requested = once(server, 'request')
      wire.write(get())
      const [, res] = await requested
      wire.destroy()
      await once(res, 'close')
    }
  },
  'a client that leaves within the answer': {
    request: (req, res) => res.write('begun'),
    client: async (wire, context) => {
      await wire.write(get()).until('begun')
      wire.destroy()
      await once(context.res, 'close')
    }
  },
  'a client that leaves within a body that is read': {
    request: (req, res, { note, server }) => req.on('data', (/** @type {Buffer} */ piece) => {
      note(`data ${piece}`)
      server.emit('piece')
    }),
    client: async (wire, context) => {
      const piece = once(context.server, 'piece')
      wire.write(kPost + 'ab')
      await piece
      wire.destroy()
      await once(context.res, 'close')
    }
  },
  'a client that leaves within a body that nobody reads': {
    client: async (wire, context) => {
      const requested = once(context.server, 'request')
      wire.write(kPost + 'ab')
      await requested
      wire.destroy()
      await once(context.res, 'close')
    }
  },
  'a client that ends within a body': {
    client: async (wire, { server }) => {
      const requested = once(server, 'request')
      wire.write(kPost + 'ab')
      await requested
      wire.socket.end()
      await wire.untilClosed()
    }
  },
  'a client that ends before the answer': {
    request: (req, res) => late(res),
    client: async (wire) => {
      wire.socket.allowHalfOpen = true
      wire.socket.end(get())
      await wire.untilClosed()
    }
  },
  'a client that ends before the answer, and httpAllowHalfOpen': {
    setUp: ({ server }) => { server.httpAllowHalfOpen = true },
    request: (req, res) => late(res),
    client: async (wire) => {
      wire.socket.allowHalfOpen = true
      wire.socket.end(get())
      await wire.until('\r\n\r\nx')
      await wire.untilClosed()
    }
  },
  'a client that resets the connection': {
    client: async (wire, context) => {
      const requested = once(context.server, 'request')
      wire.write(get())
      await requested
      wire.socket.resetAndDestroy()
      await once(context.res, 'close')
    }
  },
  'a client that resets the connection before it has taken an answer that has ended': {
    request: (req, res) => {
      req.resume()
      res.end(Buffer.alloc(kUnreadBytes))
    },
    client: async (wire, { server }) => {
      const requested = once(server, 'request')
      wire.socket.pause()
      wire.write(get())
      await requested
      wire.socket.resetAndDestroy()
    }
  },
  'a client that ends and goes before it has taken what was written': {
    request: (req, res, { note }) => {
      for (let i = 0; i < 3; i++) res.write(Buffer.alloc(kUnreadBytes), (/** @type {any} */ error) => note(`write ${i} ${error?.code}`))
    },
    client: goBehindEnd
  },
  'a client that ends and goes before it has taken an answer that has ended': {
    request: (req, res, { note }) => res.end(Buffer.alloc(kUnreadBytes), (/** @type {any} */ error) => note(`ended ${error?.code}`)),
    client: goBehindEnd
  },
  'res.destroy()': {
    request: (req, res) => res.destroy(),
    client: (wire) => wire.write(get()).untilClosed()
  },
  'res.destroy(error)': {
    request: (req, res) => res.destroy(new Error('mine')),
    client: (wire) => wire.write(get()).untilClosed()
  },
  'req.destroy()': {
    request: (req) => req.destroy(),
    client: (wire) => wire.write(get()).untilClosed()
  },
  'req.destroy(error) within a body': {
    request: (req) => req.destroy(new Error('mine')),
    client: (wire) => wire.write(kPost + 'ab').untilClosed()
  },
  'socket.destroy()': {
    request: (req) => req.socket.destroy(),
    client: (wire) => wire.write(get()).untilClosed()
  },
  'socket.destroy(error) with a listener there': {
    setUp: ({ server, note }) => server.on('clientError', (/** @type {Error} */ e, /** @type {any} */ socket) => {
      note(`clientError ${e.message}`)
      socket.destroy()
    }),
    request: (req) => req.socket.destroy(new Error('mine')),
    client: (wire) => wire.write(get()).untilClosed()
  },
  'socket.end() instead of an answer': {
    request: (req) => req.socket.end('raw'),
    client: (wire) => wire.write(get()).untilClosed()
  },
  'destroy() after end()': {
    request: (req, res) => {
      res.end('x')
      res.destroy()
    },
    client: (wire) => wire.write(get()).untilClosed()
  },
  'two requests, one after the other': {
    request: (req, res) => res.end('x'),
    client: async (wire) => {
      await wire.write(get()).until('\r\n\r\nx')
      await wire.write(get()).until('\r\n\r\nx', 2)
    }
  },
  'a second request while the first is answered': {
    request: (req, res, { server }) => {
      if (req.url === '/1') server.once('second', () => late(res))
      else server.emit('second', res.end('y'))
    },
    client: async (wire, { server }) => {
      const requested = once(server, 'request')
      wire.write(get('/1'))
      await requested
      await wire.write(get('/2')).until('\r\n\r\ny')
    }
  },
  'a client that leaves with two requests open': {
    client: async (wire, context) => {
      for (const path of ['/1', '/2']) {
        const requested = once(context.server, 'request')
        wire.write(get(path))
        await requested
      }
      wire.destroy()
      await new Promise((resolve) => context.req.once('close', resolve))
    }
  },
  'a timeout of the response': {
    // The connection is over before so much time has passed again after the answer.
    request: (req, res) => res.setTimeout(400, () => res.end('x')),
    client: (wire) => wire.write(get()).until('\r\n\r\nx')
  },
  'a timeout of the server': {
    // The request comes within it, also on a busy machine.
    setUp: ({ server, note }) => server.setTimeout(400, (/** @type {any} */ socket) => {
      note('server timeout')
      socket.destroy()
    }),
    client: (wire) => wire.write(kPost + 'ab').untilClosed()
  },
  'a malformed request behind an answered one': {
    setUp: ({ server, note }) => server.on('clientError', (/** @type {any} */ e, /** @type {any} */ socket) => {
      note(`clientError ${e.code}`)
      socket.end('mine')
    }),
    request: (req, res) => res.end('x'),
    client: async (wire) => {
      await wire.write(get()).until('\r\n\r\nx')
      await wire.write('rubbish\r\n\r\n').untilClosed()
    }
  },
  'a body that turns out malformed': {
    request: (req, res, { note, server }) => req.on('data', (/** @type {Buffer} */ piece) => {
      note(`data ${piece}`)
      server.emit('piece')
    }),
    client: async (wire, { server }) => {
      const piece = once(server, 'piece')
      wire.write(kChunked + '2\r\nab\r\n')
      await piece
      await wire.write('rubbish\r\n').untilClosed()
    }
  },
  'an expectation': {
    request: (req, res) => req.resume().on('end', () => res.end('x')),
    client: async (wire) => {
      await wire.write(kPost.replace('Host', 'Expect: 100-continue\r\nHost')).until('100 Continue')
      await wire.write('abcde').until('\r\n\r\nx')
    }
  },
  'an upgraded socket that the client ends': {
    setUp: (context) => context.server.on('upgrade', (/** @type {any} */ req, /** @type {any} */ socket) => {
      context.note('upgrade')
      watch(context, req, 'req', kReqEvents)
      watch(context, socket, 'upgraded', kSocketEvents)
      socket.on('data', (/** @type {Buffer} */ piece) => context.note(`data ${piece}`))
      socket.on('end', () => socket.end('bye'))
      socket.write('switched')
    }),
    client: async (wire) => {
      await wire.write(kUpgrade).until('switched')
      wire.socket.end('last')
      await wire.untilClosed()
    }
  },
  'an upgraded socket that the server ends': {
    setUp: (context) => context.server.on('upgrade', (/** @type {any} */ req, /** @type {any} */ socket) => {
      watch(context, socket, 'upgraded', kSocketEvents)
      socket.resume()
      socket.end('switched', () => context.note('ended'))
    }),
    client: (wire) => wire.write(kUpgrade).untilClosed()
  }
}

for (const [name, situation] of Object.entries(kSituations)) {
  for (const watchesSockets of [false, true]) {
    test(`${name}: ${watchesSockets ? 'with' : 'without'} listeners of the socket, events come as with node:http`, async (t) => {
      const expected = await logOf(nodeHttp, situation, watchesSockets, t, 0)
      assert.notEqual(expected.length, 0)
      assert.deepEqual(await logOf(http, situation, watchesSockets, t, expected.length), expected)
    })
  }
}
