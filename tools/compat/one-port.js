'use strict'

// The suite `one-port`: four programs that know node:http alone, each on a port of its own on stock Node, and all on one port on ours, by
// HTTPSYS_LISTEN. A browser uses them in the same way both times.

const { spawn } = require('node:child_process')
const { createHash } = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { chromium } = require('playwright-core')
const { freePort } = require('../lib/free-port')
const { ensureNode } = require('../lib/node-version')
const { findChromium } = require('../lib/packages')
const { cleanEnvironment, kRegister, requestsIn } = require('./child')

/**
 * @typedef {import('playwright-core').Page} Page
 * @typedef {import('playwright-core').BrowserContext} BrowserContext
 *
 * @typedef {object} Place
 * @property {string} home the installed programs
 * @property {string} lock the folder of the repository with ours
 * @property {string} scratch
 * @property {number} asked the port that the program is told
 * @property {string} base the path that it is told, with slashes at both ends
 *
 * @typedef {object} Program
 * @property {string} path of its prefix
 * @property {(prefix: string, origin: string) => unknown} entry of HTTPSYS_LISTEN: prefixes
 * @property {(place: Place) => { args: string[], env?: NodeJS.ProcessEnv }} command
 * @property {string} test what the browser does
 * @property {(url: string, open: (url: string) => Promise<Page>) => Promise<void>} use
 */

/** Verdaccio and Node-RED take seconds on an idle machine. */
const kStartMs = 120_000
const kLookMs = 200
/** Ends what hangs; on an idle machine a step takes milliseconds. */
const kStepMs = 60_000
const kEndMs = 10_000
const kFlags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

/** @param {boolean} isSo @param {string} what */
function check (isSo, what) {
  if (!isSo) throw new Error(what)
}

const kPackage = { name: 'one-port-package', version: '1.0.0', tarball: Buffer.from('the tarball') }

/** @type {Record<string, Program>} */
const kPrograms = {
  verdaccio: {
    path: '/npm/',
    entry: (prefix) => [`strip:${prefix}`],
    command: ({ home, scratch, asked, base }) => {
      const config = path.join(scratch, 'verdaccio.yaml')
      fs.writeFileSync(config, JSON.stringify({
        storage: path.join(scratch, 'storage'),
        url_prefix: base,
        auth: { htpasswd: { file: path.join(scratch, 'htpasswd') } },
        packages: { '**': { access: '$all', publish: '$anonymous' } },
        log: { type: 'stdout', format: 'pretty', level: 'warn' },
      }))
      return { args: [path.join(home, 'node_modules', 'verdaccio', 'bin', 'verdaccio'), '--config', config, '--listen', String(asked)] }
    },
    test: 'verdaccio: a package is published, seen in the page, and its tarball comes',
    async use (url, open) {
      const { name, version, tarball } = kPackage
      const file = `${name}-${version}.tgz`
      const published = await fetch(url + name, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          _id: name,
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { name, version, description: 'on one port', readme: 'Hello', dist: { tarball: `${url}${name}/-/${file}`, shasum: createHash('sha1').update(tarball).digest('hex') } } },
          _attachments: { [file]: { content_type: 'application/octet-stream', data: tarball.toString('base64'), length: tarball.length } },
        }),
      })
      check(published.status === 201, `publishing: ${published.status} ${await published.text()}`)
      const page = await open(url)
      await page.getByText(name).first().click()
      await page.getByText('on one port').first().waitFor()
      const { versions } = /** @type {any} */ (await (await fetch(url + name)).json())
      const found = versions[version].dist.tarball
      check(found.startsWith(url), `the tarball is said to be at ${found}`)
      check((await (await fetch(found)).text()) === tarball.toString(), 'another tarball')
    },
  },
  'Node-RED': {
    path: '/red/',
    entry: (prefix) => [prefix],
    command: ({ home, scratch, asked, base }) => ({
      args: [path.join(home, 'node_modules', 'node-red', 'red.js'), '--userDir', path.join(scratch, 'red'), '--port', String(asked), '-D', `httpAdminRoot=${base}`],
    }),
    test: 'Node-RED: the editor loads, a flow is deployed, and what it says comes over a WebSocket',
    async use (url, open) {
      const page = await open(url)
      await page.locator('.red-ui-palette-node').first().waitFor({ state: 'attached' })
      const flow = [
        { id: 'tab', type: 'tab', label: 'One port' },
        { id: 'start', type: 'inject', z: 'tab', x: 100, y: 100, props: [{ p: 'payload' }], payload: 'said by the flow', payloadType: 'str', wires: [['say']] },
        { id: 'say', type: 'debug', z: 'tab', x: 300, y: 100, active: true, tosidebar: true, complete: 'payload', targetType: 'msg', wires: [] },
      ]
      const deployed = await fetch(`${url}flows`, { method: 'POST', headers: { 'Content-Type': 'application/json', 'Node-RED-Deployment-Type': 'full' }, body: JSON.stringify(flow) })
      check(deployed.ok, `deploying: ${deployed.status}`)
      const again = await open(url)
      const socket = again.waitForEvent('websocket')
      await again.reload()
      check((await socket).url() === `${url.replace('http', 'ws')}comms`, `the WebSocket goes to ${(await socket).url()}`)
      await again.locator('.red-ui-palette-node').first().waitFor({ state: 'attached' })
      // The flow starts by and by, and the editor hears of nothing before it has subscribed.
      const heard = again.locator('.red-ui-debug-msg', { hasText: 'said by the flow' }).first().waitFor({ state: 'attached' })
      const timer = setInterval(() => fetch(`${url}inject/start`, { method: 'POST' }).catch(() => {}), kLookMs)
      await heard.finally(() => clearInterval(timer))
    },
  },
  Nuxt: {
    path: '/nuxt/',
    entry: (prefix) => [prefix],
    command: ({ home, asked, base }) => ({
      args: [path.join(home, 'site', '.output', 'server', 'index.mjs')], env: { PORT: String(asked), NUXT_APP_BASE_URL: base }
    }),
    test: 'Nuxt: the page of the server comes to life in the browser',
    async use (url, open) {
      const page = await open(url)
      await page.getByText('Nuxt says hello').waitFor()
      // Before it is alive a click does nothing.
      for (let clicks = 0; await page.getByText('clicked 0').count() > 0 && clicks < kStepMs / kLookMs; clicks++) {
        await page.locator('button').click()
        await sleep(kLookMs)
      }
      await page.getByText(/clicked [1-9]/).waitFor()
    },
  },
  'socket.io': {
    path: '/chat/',
    entry: (prefix, origin) => [`strip:${prefix}`, `${origin}/socket.io/`],
    command: ({ lock, asked }) => ({ args: [path.join(lock, 'programs', 'chat', 'index.js')], env: { PORT: String(asked) } }),
    test: 'the chat of socket.io: two windows talk over WebSockets',
    async use (url, open) {
      const [ada, bob] = [await open(url), await open(url)]
      const socket = bob.waitForEvent('websocket')
      await bob.reload()
      await socket
      await ada.fill('#input', 'Hello Bob')
      await ada.press('#input', 'Enter')
      for (const page of [ada, bob]) await page.locator('li', { hasText: 'Hello Bob' }).waitFor()
      await bob.fill('#input', 'Hello Ada')
      await bob.press('#input', 'Enter')
      await ada.locator('li', { hasText: 'Hello Ada' }).waitFor()
    },
  },
}

/** @param {string} node @param {string[]} args @param {string} cwd @param {NodeJS.ProcessEnv} env */
function startProgram (node, args, cwd, env) {
  const child = spawn(node, args, { cwd, env: cleanEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'] })
  const program = { child, output: '', ended: once(child, 'exit') }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (/** @type {Buffer} */ piece) => { program.output = (program.output + piece).slice(-2000) })
  return program
}

/** @param {ReturnType<typeof startProgram>} program @param {string} url */
async function answers ({ child }, url) {
  for (const deadline = Date.now() + kStartMs; Date.now() < deadline; await sleep(kLookMs)) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}`)
    if (await fetch(url).then(({ ok }) => ok, () => false)) return
  }
  throw new Error(`no answer at ${url} within ${kStartMs / 1000} s`)
}

/**
 * @param {import('./suites').OwnSource} source
 * @param {'stock' | 'ours'} mode
 * @param {string} scratch empty folder for this run
 * @returns {Promise<import('./child').Execution>}
 */
async function executeOnePort ({ lock = '', node: version = '' }, mode, scratch) {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error('Chromium is missing: npm run setup')
  const node = await ensureNode(version)
  const home = path.dirname(fs.realpathSync(path.join(lock, 'node_modules')))
  const report = path.join(scratch, 'served')
  const origin = `http://127.0.0.1:${await freePort()}`
  const began = Date.now()
  /** @type {import('./child').Execution} */
  const execution = { tests: new Map(), requests: 0, timedOut: false, seconds: 0, reaching: new Set(), output: '', wanted: { required: new Set(Object.values(kPrograms).map(({ test }) => test)), optimal: new Set() } }
  /** @type {{ program: Program, url: string, running: ReturnType<typeof startProgram> }[]} */
  const started = []
  for (const [name, program] of Object.entries(kPrograms)) {
    const asked = await freePort()
    const own = path.join(scratch, name)
    fs.mkdirSync(own, { recursive: true })
    const { args, env } = program.command({ home, lock, scratch: own, asked, base: mode === 'ours' ? program.path : '/' })
    const ours = { NODE_OPTIONS: `--require ${JSON.stringify(kRegister)}`, HTTPSYS_REGISTER_REPORT: report, HTTPSYS_LISTEN: JSON.stringify({ [asked]: { prefixes: program.entry(origin + program.path, origin) } }) }
    const url = mode === 'ours' ? origin + program.path : `http://127.0.0.1:${asked}/`
    started.push({ program, url, running: startProgram(node, args, own, { ...env, ...mode === 'ours' ? ours : {} }) })
  }
  const context = await chromium.launchPersistentContext(path.join(scratch, 'chromium'), { executablePath, args: kFlags, headless: true })
  context.setDefaultTimeout(kStepMs)
  try {
    for (const { program, url, running } of started) {
      const open = async (/** @type {string} */ address) => {
        const page = await context.newPage()
        await page.goto(address)
        return page
      }
      let error = ''
      await answers(running, url).then(() => program.use(url, open)).catch((thrown) => { error = `${thrown.stack}\n${running.output}` })
      execution.tests.set(program.test, error === '' ? { result: 'pass' } : { result: 'fail', error })
      for (const page of context.pages()) await page.close()
    }
  } finally {
    await context.close()
    for (const { running: { child } } of started) child.kill()
    const timer = setTimeout(() => { for (const { running: { child } } of started) child.kill('SIGKILL') }, kEndMs)
    await Promise.all(started.map(({ running }) => running.ended))
    clearTimeout(timer)
  }
  return { ...execution, requests: requestsIn(report), seconds: (Date.now() - began) / 1000 }
}

module.exports = { executeOnePort }
