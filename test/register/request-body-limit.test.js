'use strict'

// Goal: req.maxRequestBodySize is there for applications of Express, whichever way they get to the engine, and for programs
// that are served by `register`; with HTTPSYS_BACKEND=node setting it is an error.

const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { test } = require('node:test')
const core = require('@httpsys/core-native')
const { createAdapter } = require('@httpsys/express-adapter')
const { request, serve } = require('../helpers/client')

const kRoot = path.resolve(__dirname, '..', '..')
const kFrameworks = { 'Express 5': require('express'), 'Express 4': require('express4') }
// More requests than a server needs to learn the prototypes of its listener.
const kRequests = 20
const onlyOnEngine = { skip: core.backend === 'node' && 'stock Node has no maxRequestBodySize', timeout: 60_000 }

for (const [name, express] of Object.entries(kFrameworks)) {
  const application = () => {
    const app = express()
    app.post('/limited', (/** @type {any} */ req, /** @type {any} */ _res, /** @type {any} */ next) => {
      req.maxRequestBodySize = req.query.limit === undefined ? req.maxRequestBodySize : Number(req.query.limit)
      next()
    }, express.text(), (/** @type {any} */ req, /** @type {any} */ res) => res.send(`${req.maxRequestBodySize} ${req.body}`))
    app.post('/late', express.text(), (/** @type {any} */ req, /** @type {any} */ res) => {
      try {
        req.maxRequestBodySize = 5
      } catch (/** @type {any} */ { code }) {
        res.send(code)
      }
    })
    return app
  }

  /** @type {Record<string, (app: any, options: any) => any>} */
  const kWays = {
    'createServer(app)': (app, options) => core.createServer(options, app),
    'a function around the application': (app, options) => core.createServer(options, (req, res) => app(req, res)),
    'an adapter': (app, options) => createAdapter(app, options)
  }

  for (const [way, create] of Object.entries(kWays)) {
    test(`${name} with ${way} limits the body of a request, and raises its limit`, onlyOnEngine, async (t) => {
      const made = create(application(), { maxRequestBodySize: 20, maxRequestBodySizeCeiling: 40 })
      const server = made.server ?? made
      const port = await serve(t, server)
      const ask = (/** @type {string} */ target, /** @type {number} */ bytes) => request({ port, path: target, method: 'POST', headers: { 'Content-Type': 'text/plain' } }, 'x'.repeat(bytes))
      for (let i = 0; i < kRequests; i++) {
        assert.equal((await ask('/limited', 20)).body, `20 ${'x'.repeat(20)}`)
        assert.equal((await ask('/limited', 21)).status, 413)
        assert.equal((await ask('/limited?limit=10', 10)).body, '10 xxxxxxxxxx')
        assert.equal((await ask('/limited?limit=10', 11)).status, 413)
        assert.equal((await ask('/limited?limit=40', 40)).body, `40 ${'x'.repeat(40)}`)
        assert.equal((await ask('/limited?limit=41', 20)).status, 500)
        assert.equal((await ask('/late', 3)).body, 'ERR_HTTPSYS_BODY_BEGUN')
      }
    })
  }
}

/** Says what a request with 10 and one with 11 bytes gets whose handler allows 10. */
const kProgram = `
const http = require('node:http')
const server = http.createServer((req, res) => {
  try {
    req.maxRequestBodySize = 10
  } catch (error) {
    return res.end(error.code)
  }
  req.on('error', () => {}).resume().on('end', () => res.end('taken ' + req.maxRequestBodySize))
}).listen(0, '127.0.0.1', async () => {
  const ask = (bytes) => new Promise((resolve) => {
    http.request({ port: server.address().port, host: '127.0.0.1', method: 'POST', agent: false }, async (res) => {
      let text = ''
      for await (const piece of res) text += piece
      resolve(res.statusCode + ' ' + text)
    }).end('x'.repeat(bytes))
  })
  console.log(await ask(10) + ', ' + await ask(11))
  server.close()
})`

/** @param {string[]} args @param {NodeJS.ProcessEnv} env @param {string} program */
function run (args, env, program) {
  const { stdout, stderr } = spawnSync(process.execPath, [...args, '-e', program], { cwd: kRoot, encoding: 'utf8', timeout: 30_000, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } })
  return stdout.trim() || stderr
}

test('a program that register serves limits the body of a request', onlyOnEngine, () => {
  assert.equal(run(['--require', '@httpsys/core-native/register'], {}, kProgram), '200 taken 10, 413')
})

test('setting the limit of a request is ERR_HTTPSYS_CAPABILITY with HTTPSYS_BACKEND=node', { timeout: 60_000 }, () => {
  for (const program of [kProgram.replace('node:http', '@httpsys/core-native'), kProgram.replace('http.createServer', "require('@httpsys/core-native').createServer")]) {
    assert.equal(run([], { HTTPSYS_BACKEND: 'node' }, program), '200 ERR_HTTPSYS_CAPABILITY, 200 ERR_HTTPSYS_CAPABILITY')
  }
})
