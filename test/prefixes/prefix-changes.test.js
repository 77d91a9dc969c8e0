'use strict'

// Prefixes come and go while a server serves.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const net = require('node:net')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const express = require('express')
const { createAdapter } = require('@httpsys/express-adapter')
const { http, backend } = require('../helpers/backend')
const { dial, listen, request, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')

const kSkip = backend === 'node' && 'node:http does not route'

const echo = (/** @type {any} */ req, /** @type {any} */ res) => res.end(JSON.stringify([req.urlPrefix, req.url]))
const isRefused = (/** @type {number} */ port) => assert.rejects(request({ port, host: '127.0.0.1' }), { code: 'ECONNREFUSED' })

describe('addPrefix() and removePrefix()', { skip: kSkip }, () => {
  it('route the next request of a connection that is open already', async (t) => {
    const port = await freePort()
    const server = http.createServer(echo)
    await serve(t, server, `http://*:${port}/a/`)
    const wire = await dial(t, port)
    const ask = async (/** @type {string} */ path, /** @type {RegExp} */ answer, /** @type {number} */ times) => {
      wire.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`)
      await wire.until(answer, times)
    }
    await ask('/b/x', /404 Not Found/, 1)
    await server.addPrefix(`http://*:${port}/b`)
    assert.deepEqual(server.prefixes, [`http://*:${port}/a/`, `http://*:${port}/b/`])
    await ask('/b/x', new RegExp(`\\["http://\\*:${port}/b/","/b/x"\\]`), 1)
    await server.removePrefix(`http://*:${port}/A/`)
    await ask('/a/x', /404 Not Found/, 2)
    await ask('/b/y', /"\/b\/y"\]/, 1)
    assert.deepEqual(server.prefixes, [`http://*:${port}/b/`])
  })

  it('are in force for every request that is sent after them, on busy connections too', async (t) => {
    const port = await freePort()
    const server = http.createServer(echo)
    await serve(t, server, `http://*:${port}/a/`)
    const wires = await Promise.all(Array.from({ length: 8 }, () => dial(t, port)))
    const statuses = () => Promise.all(wires.map(async (wire) => {
      wire.text = ''
      wire.write('GET /b/ HTTP/1.1\r\nHost: h\r\n\r\n')
      return (await wire.until(/(?:"\]|<\/h1>\n)$/)).slice(9, 12)
    }))
    for (let round = 0; round < 300; round++) {
      await server.addPrefix(`http://*:${port}/b/`)
      assert.deepEqual(new Set(await statuses()), new Set(['200']), `added, round ${round}`)
      await server.removePrefix(`http://*:${port}/b/`)
      assert.deepEqual(new Set(await statuses()), new Set(['404']), `removed, round ${round}`)
    }
  })

  it('open and close the sockets that the prefixes need', async (t) => {
    const [first, second] = [await freePort(), await freePort()]
    const server = http.createServer(echo)
    await serve(t, server, `http://*:${first}/`)
    await isRefused(second)
    await server.addPrefix(`http://127.0.0.1:${second}/x/`)
    assert.equal((await request({ port: second, path: '/x/' })).body, `["http://127.0.0.1:${second}/x/","/x/"]`)
    await server.removePrefix(`http://*:${first}/`)
    await isRefused(first)
    assert.equal(server.address().port, second)
    assert.equal((await request({ port: second, path: '/x/' })).status, 200)
    await server.addPrefix(`http://*:${first}/`)
    assert.equal((await request(first)).status, 200)
    server.close()
    await once(server, 'close')
    await isRefused(first)
    await isRefused(second)
  })

  it('open every address beside single ones', { skip: process.platform === 'win32' && 'HTTP.SYS binds itself' }, async (t) => {
    const port = await freePort()
    const server = http.createServer(echo)
    await serve(t, server, [`http://127.0.0.1:${port}/a/`, `http://[::1]:${port}/a/`])
    const ask = async (/** @type {string} */ host, /** @type {string} */ path) => (await request({ port, host, path })).body
    await server.addPrefix(`http://*:${port}/b/`)
    // 127.0.0.2 is an address of every Linux; elsewhere the wildcard shows on the others.
    for (const host of ['127.0.0.1', '::1', ...(process.platform === 'linux' ? ['127.0.0.2'] : [])]) {
      assert.equal(await ask(host, '/b/x'), `["http://*:${port}/b/","/b/x"]`, host)
    }
    assert.equal(await ask('127.0.0.1', '/a/x'), `["http://127.0.0.1:${port}/a/","/a/x"]`)
    await server.removePrefix(`http://*:${port}/b/`)
    assert.equal(await ask('127.0.0.1', '/a/x'), `["http://127.0.0.1:${port}/a/","/a/x"]`)
    assert.equal((await request({ port, host: '127.0.0.1', path: '/b/x' })).status, 404)
  })

  it('make the prefix of a server that listens on a port explicit', async (t) => {
    const server = http.createServer(echo)
    const port = await serve(t, server, 0)
    assert.deepEqual(server.prefixes, [`http://*:${port}/`])
    assert.equal((await request(port)).body, '[null,"/"]')
    await server.addPrefix(`http://*:${port}/b/`)
    assert.equal((await request(port)).body, `["http://*:${port}/","/"]`)
    assert.equal((await request({ port, path: '/b/' })).body, `["http://*:${port}/b/","/b/"]`)
    await server.removePrefix(`http://*:${port}/`)
    assert.equal((await request(port)).status, 404)
  })

  it('refuse what cannot be, and change nothing then', async (t) => {
    const port = await freePort()
    const taken = net.createServer()
    const takenPort = await listen(taken, 0, '127.0.0.1')
    t.after(() => taken.close())
    const server = http.createServer(echo)
    await assert.rejects(server.addPrefix(`http://*:${port}/`), { code: 'ERR_SERVER_NOT_RUNNING' })
    await assert.rejects(server.removePrefix(`http://*:${port}/`), { code: 'ERR_SERVER_NOT_RUNNING' })
    assert.deepEqual(server.prefixes, [])
    await serve(t, server, `http://*:${port}/a/`)
    await assert.rejects(server.addPrefix('8080'), { code: 'ERR_HTTPSYS_PREFIX_SYNTAX' })
    await assert.rejects(server.addPrefix(`http://*:${port}/A`), { code: 'EADDRINUSE', pid: process.pid, prefix: `http://*:${port}/A/` })
    await assert.rejects(server.addPrefix(`http://127.0.0.1:${takenPort}/`), { code: 'EADDRINUSE', port: takenPort })
    await assert.rejects(server.removePrefix(`http://*:${port}/b/`), { code: 'ERR_HTTPSYS_PREFIX_STATE' })
    await assert.rejects(server.removePrefix(`http://*:${port}/a/`), { code: 'ERR_HTTPSYS_PREFIX_STATE', message: /last prefix/ })
    assert.deepEqual(server.prefixes, [`http://*:${port}/a/`])
    assert.equal((await request({ port, path: '/a/' })).status, 200)
  })

  it('may be called a thousand times', async (t) => {
    const port = await freePort()
    const server = http.createServer(echo)
    await serve(t, server, `http://*:${port}/`)
    for (let i = 0; i < 1000; i++) {
      await server.addPrefix(`http://*:${port}/${i}/`)
      if (i > 0) await server.removePrefix(`http://*:${port}/${i - 1}/`)
      if (i % 100 === 99) assert.equal((await request({ port, path: `/${i}/` })).body, `["http://*:${port}/${i}/","/${i}/"]`)
    }
    assert.equal(server.prefixes.length, 2)
  })

  it('have no place on a Unix socket', async (t) => {
    const server = http.createServer(echo)
    await serve(t, server, `/tmp/httpsys-prefix-${process.pid}.sock`)
    await assert.rejects(server.addPrefix('http://*:80/'), { code: 'ERR_HTTPSYS_PREFIX_STATE', message: /Unix socket/ })
    await assert.rejects(server.removePrefix('http://*:80/'), { code: 'ERR_HTTPSYS_PREFIX_STATE', message: /Unix socket/ })
    assert.deepEqual(server.prefixes, [])
  })

  it('take a string', async (t) => {
    const server = http.createServer(echo)
    await serve(t, server)
    for (const name of /** @type {const} */ (['addPrefix', 'removePrefix'])) {
      await assert.rejects(server[name](/** @type {any} */ (5)), { code: 'ERR_INVALID_ARG_TYPE', message: 'The "prefix" argument must be of type string. Received type number' })
    }
  })
})

describe('stripPrefix', { skip: kSkip }, () => {
  it('hands the path below the prefix to the application', async (t) => {
    const port = await freePort()
    const server = http.createServer({ stripPrefix: true }, (/** @type {any} */ req, /** @type {any} */ res) => {
      res.end(JSON.stringify([req.url, req.baseUrl, req.originalUrl]))
    })
    await serve(t, server, [`http://*:${port}/shop/`, `http://*:${port}/`])
    for (const [path, ...expected] of [
      ['/shop', '/', '/shop'], ['/Shop/cart?x=1', '/cart?x=1', '/Shop'], ['/other?y', '/other?y', '']
    ]) {
      assert.equal((await request({ port, path })).body, JSON.stringify([...expected, path]))
    }
  })

  it('looks to Express like a router that is mounted there', async (t) => {
    const port = await freePort()
    const app = express()
    const cart = express.Router()
    cart.get('/items/:id', (req, res) => { res.json([req.url, req.baseUrl, req.originalUrl, req.params.id]) })
    app.use('/cart', cart)
    const adapter = createAdapter(app, { stripPrefix: true })
    await serve(t, adapter.server, `http://*:${port}/shop/`)
    assert.equal((await request({ port, path: '/shop/cart/items/7?q' })).body,
      '["/items/7?q","/shop/cart","/shop/cart/items/7?q","7"]')
  })
})

describe('req.urlPrefixPath', { skip: kSkip }, () => {
  const answer = (/** @type {any} */ req, /** @type {any} */ res) => res.end(JSON.stringify([req.urlPrefixPath, req.url]))
  const kTargets = /** @type {const} */ ([
    ['/shop', '/shop'], ['/shop/cart?x=/shop/', '/shop'], ['/SHOP/cart', '/SHOP'], ['/sh%6Fp/cart', '/sh%6Fp'],
    ['/x/../shop/./cart', '/x/../shop'], ['/shop/../shop/cart', '/shop/../shop'], ['/caf%C3%A9/Menu/1', '/caf%C3%A9/Menu'],
    ['/caf%c3%89/m%45nu', '/caf%c3%89/m%45nu'], ['/elsewhere', ''], ['/', '']
  ])
  const prefixesOf = (/** @type {number} */ port) => ['/shop/', '/caf%C3%A9/menu/', '/'].map((path) => `http://*:${port}${path}`)

  it('is the part that the prefix matched, as the client wrote it', async (t) => {
    const port = await freePort()
    await serve(t, http.createServer(answer), prefixesOf(port))
    for (const [path, matched] of [...kTargets, /** @type {const} */ ([`http://h:${port}/Shop/x`, '/Shop'])]) {
      assert.deepEqual(JSON.parse((await request({ port, path })).body), [matched, path])
    }
  })

  it('is so on HTTP/2', async (t) => {
    const port = await freePort()
    await serve(t, http.createServer({ http2: true }, answer), prefixesOf(port))
    const client = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => client.destroy())
    for (const [path, matched] of kTargets) {
      const stream = client.request({ ':path': path })
      let text = ''
      for await (const piece of stream.setEncoding('utf8')) text += piece
      assert.deepEqual(JSON.parse(text), [matched, path])
    }
  })

  it('is what stripPrefix takes off', async (t) => {
    const port = await freePort()
    const server = http.createServer({ stripPrefix: true }, (/** @type {any} */ req, /** @type {any} */ res) => {
      res.end(JSON.stringify([req.urlPrefixPath, req.baseUrl]))
    })
    await serve(t, server, prefixesOf(port))
    for (const [path, matched] of kTargets) assert.deepEqual(JSON.parse((await request({ port, path })).body), [matched, matched])
  })

  it('is there within routers of Express, and stays what it was', async (t) => {
    const port = await freePort()
    const app = express()
    const shop = express.Router()
    shop.get('/cart', (/** @type {any} */ req, res) => {
      const first = req.urlPrefixPath
      req.originalUrl = req.url = '/rewritten'
      res.json([first, req.urlPrefixPath, Object.keys(req).includes('urlPrefixPath')])
    })
    app.use('/Shop', shop)
    await serve(t, createAdapter(app).server, `http://*:${port}/shop/`)
    assert.deepEqual(JSON.parse((await request({ port, path: '/SHOP/cart' })).body), ['/SHOP', '/SHOP', false])
  })

  it('is undefined on a server without prefixes, as urlPrefix is', async (t) => {
    const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
      res.end(String([req.urlPrefix, 'urlPrefixPath' in req, req.urlPrefixPath]))
    })
    await serve(t, server, 0)
    assert.equal((await request(server.address().port)).body, ',true,')
  })
})
