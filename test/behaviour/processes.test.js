'use strict'

// Goal: whole processes: how they end while they serve, worker threads, and several that share a port.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { backend } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { startChild } = require('../helpers/child')
const { request } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')

/** A machine that is busy starts processes slowly. */
const slow = { ...needs(), timeout: 90_000 }
/** What stands for the kernel there is in each process by itself. */
const double = process.env.HTTPSYS_HTTPAPI_DOUBLE !== undefined && 'the double of httpapi.dll lacks other processes'
const withPrefixes = { ...slow, ...(backend === 'node' && { skip: 'stock Node has no URL prefixes' }) }

test('an answer that was ended leaves before process.exit()', slow, async () => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      res.end('bye')
      process.exit(7)
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  assert.equal((await request(await child.message('port'))).body, 'bye')
  assert.equal((await child.exit).code, 7)
})

test('process.exit() ends a process with requests that wait, and their clients hear of it', { ...slow, ...needs('aborts') }, async () => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => setImmediate(() => process.exit(3)))
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  await assert.rejects(request(await child.message('port')))
  assert.equal((await child.exit).code, 3)
})

test('a process ends by itself when its server has closed', slow, async () => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      res.end('x')
      server.close()
      process.disconnect()
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  assert.equal((await request(await child.message('port'))).body, 'x')
  assert.equal((await child.exit).code, 0)
})

test('what a handler throws ends the process, or is caught and the server serves on', slow, async () => {
  for (const catches of [false, true]) {
    const child = startChild(({ http, report, args }) => {
      if (args[0]) process.on('uncaughtException', (error) => report({ caught: error.message }))
      const server = http.createServer((req, res) => {
        res.end('answered')
        if (req.url === '/throw') throw new Error('of the handler')
      })
      server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
    }, { args: [catches] })
    const port = await child.message('port')
    assert.equal((await request({ port, path: '/throw' })).body, 'answered')
    if (catches) {
      assert.equal(await child.message('caught'), 'of the handler')
      assert.equal((await request(port)).body, 'answered')
      await child.kill()
    } else {
      const { code, stderr } = await child.exit
      assert.equal(code, 1)
      assert.match(stderr, /of the handler/)
    }
  }
})

test('a worker thread that serves can be terminated', slow, async () => {
  for (let i = 0; i < 3; i++) {
    const worker = new Worker(`
      const { parentPort } = require('node:worker_threads')
      const http = require('@httpsys/core-native')
      const server = http.createServer((req, res) => res.end('of a worker'))
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
    `, { eval: true })
    const [port] = await once(worker, 'message')
    assert.equal((await request(port)).body, 'of a worker')
    await worker.terminate()
  }
})

test('three processes share a port, each with a prefix of its own', { ...withPrefixes, ...(double && { skip: double }) }, async () => {
  const port = await freePort()
  const prefixes = [`http://localhost:${port}/`, `http://localhost:${port}/shop/`, `http://localhost:${port}/shop/cart/`]
  const children = []
  for (const prefix of prefixes) {
    const child = startChild(({ http, report, args }) => {
      const server = http.createServer((req, res) => res.end(JSON.stringify([process.pid, args[0], req.url])))
      server.on('error', (error) => report({ listening: error.message }))
      server.listen(args[0], () => report({ listening: process.pid }))
    }, { args: [prefix] })
    children.push(child)
    assert.equal(typeof await child.message('listening'), 'number')
  }
  const pids = await Promise.all(children.map((child) => child.message('listening')))
  assert.equal(new Set(pids).size, 3)
  for (const [path, owner] of /** @type {[string, number][]} */ ([['/', 0], ['/shop', 1], ['/shop/a', 1], ['/shop/cart/b', 2], ['/shopping', 0]])) {
    const { body } = await request({ port, path, headers: { Host: `localhost:${port}` } })
    assert.deepEqual(JSON.parse(body), [pids[owner], prefixes[owner], path])
  }
  await Promise.all(children.map((child) => child.kill()))
})
