'use strict'

// Goal: what keeps a process alive is what keeps it alive on Node.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { startChild } = require('../helpers/child')
const { dial, get, request } = require('../helpers/client')

/** @param {import('../helpers/child').Exit} exit */
function endedWell ({ code, signal, stderr }) {
  assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
}

test('an unreferenced server lets the process end', async () => {
  const child = startChild(({ http }) => {
    http.createServer().listen(0).unref()
  })
  endedWell(await child.exit)
})

test('unref() before listen() counts too', async () => {
  const child = startChild(({ http }) => {
    const server = http.createServer()
    server.unref()
    server.listen(0)
  })
  endedWell(await child.exit)
})

test('unref() in the "listening" event lets the process end', async () => {
  const child = startChild(({ http }) => {
    const server = http.createServer().listen(0, '127.0.0.1', () => server.unref())
  })
  endedWell(await child.exit)
})

test('ref() after unref() keeps the process, which then serves', async () => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      res.end('kept')
      server.close()
    })
    server.unref()
    server.ref()
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  assert.equal((await request(await child.message('port'))).body, 'kept')
  endedWell(await child.exit)
})

test('ref() and unref() return the server and may be repeated', async () => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer().listen(0)
    report({ same: [server.unref() === server, server.unref() === server, server.ref() === server, server.unref() === server] })
  })
  assert.deepEqual(await child.message('same'), [true, true, true, true])
  endedWell(await child.exit)
})

test('a connection keeps the process of an unreferenced server until it closes', async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      server.unref()
      setTimeout(() => res.end('after unref'), 50).unref()
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  const wire = await dial(t, await child.message('port'))
  wire.write(get())
  await wire.until('after unref')
  wire.destroy()
  endedWell(await child.exit)
})

test('the process ends by itself when the server is closed and its last connection ends', async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      res.end('x')
      if (req.url === '/last') server.close()
    })
    server.keepAliveTimeout = 1
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  const wire = await dial(t, await child.message('port'))
  wire.write(get('/'))
  await wire.until('\r\n\r\nx')
  wire.write(get('/last'))
  await wire.untilClosed()
  endedWell(await child.exit)
})

test('an unreferenced socket does not keep the process', async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      res.end('x')
      req.socket.unref()
      server.unref()
    })
    server.keepAliveTimeout = 0
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  const wire = await dial(t, await child.message('port'))
  wire.write(get())
  await wire.until('\r\n\r\nx')
  endedWell(await child.exit)
})

test('a closed server leaves nothing that keeps the process', async () => {
  const child = startChild(({ http }) => {
    const server = http.createServer()
    server.listen(0, () => server.close())
  })
  endedWell(await child.exit)
})

test('an upgraded socket that nobody looks at does not keep the process once its peer has ended', async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer()
    server.on('upgrade', () => {
      server.close()
      process.disconnect()
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  const wire = await dial(t, await child.message('port'))
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  wire.socket.end()
  endedWell(await child.exit)
})

test('a large write to an upgraded socket whose peer has ended its side is sent before the process ends', async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer()
    server.on('upgrade', (req, socket) => {
      server.close()
      process.disconnect()
      socket.on('end', () => socket.end(Buffer.alloc(20_000_000, 'x')))
      socket.resume()
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  const wire = await dial(t, await child.message('port'))
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  wire.socket.end()
  assert.equal((await wire.untilClosed()).length, 20_000_000)
  endedWell(await child.exit)
})

for (const way of ['end', 'destroy']) {
  test(`${way}() of an upgraded socket whose peer has ended keeps the process until its 'close'`, async (t) => {
    for (let round = 0; round < 5; round++) {
      const child = startChild(({ http, report, args }) => {
        const server = http.createServer()
        server.on('upgrade', (req, socket) => {
          server.close()
          process.disconnect()
          socket.on('end', () => socket[args[0]]()).on('close', () => console.log('closed')).resume()
        })
        server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
      }, { args: [way] })
      const wire = await dial(t, await child.message('port'))
      wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      wire.socket.end()
      const exit = await child.exit
      endedWell(exit)
      assert.equal(exit.stdout, 'closed\n')
    }
  })
}
