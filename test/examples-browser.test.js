'use strict'

// The pages of the examples in two windows of a headless Chromium, which Debian's package brings (tools/setup.js).
// HTTPSYS_SCREENSHOTS names a folder that gets pictures of them.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')
const { chromium } = require('playwright-core')
const { findChromium } = require('../tools/lib/packages')
const { freePort } = require('./helpers/free-port')

const kExamples = path.join(__dirname, '..', 'examples')
const kFlags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'
]
// Ends what hangs; on an idle machine a step takes milliseconds.
const kStepMs = 30_000

const executablePath = findChromium()
const browser = { skip: executablePath === null && 'there is no Chromium, and nothing on this platform that tools/setup.js could bring it with' }
const sharing = { skip: browser.skip || (process.env.HTTPSYS_BACKEND === 'node' && 'two processes on one port are the engine\'s work') }

/** @type {import('playwright-core').BrowserContext} */
let context
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-chromium-'))

before(async () => {
  if (executablePath === null) return
  context = await chromium.launchPersistentContext(profile, {
    executablePath, args: kFlags, headless: true, viewport: { width: 900, height: 620 }, colorScheme: 'light'
  })
  context.setDefaultTimeout(kStepMs)
})

after(async () => {
  await context?.close()
  fs.rmSync(profile, { recursive: true, force: true })
})

/** Runs an example until it listens. */
async function start (t, file, ...args) {
  const child = spawn(process.execPath, [path.join(kExamples, file), ...args.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  t.after(() => {
    child.kill('SIGKILL')
    return exited
  })
  await once(child.stdout, 'data')
  return { child, exited }
}

/** A window; what goes wrong in its page fails the test at its end. */
async function open (t, url) {
  const page = await context.newPage()
  const sockets = []
  const errors = []
  page.on('websocket', (socket) => sockets.push(socket.url()))
  page.on('pageerror', (error) => errors.push(error))
  t.after(async () => {
    await page.close()
    assert.deepEqual(errors, [])
  })
  await page.goto(url)
  return { page, sockets }
}

/** @param {import('playwright-core').Page} page @param {string} name */
async function picture (page, name) {
  if (process.env.HTTPSYS_SCREENSHOTS) await page.screenshot({ path: path.join(process.env.HTTPSYS_SCREENSHOTS, `${name}.png`) })
}

async function call (page, name) {
  await page.fill('[name=name]', name)
  await page.press('[name=name]', 'Tab')
  await seen(page, '#people li', name)
}

async function say (page, text) {
  await page.fill('[name=text]', text)
  await page.press('[name=text]', 'Enter')
}

const seen = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor()

test('megachat: two windows chat in one room, and go on after its process was killed', sharing, async (t) => {
  const port = await freePort()
  const first = await start(t, '301-megachat.js', 1, port)
  await start(t, '301-megachat.js', 2, port)
  const [ada, bob] = [await open(t, `http://localhost:${port}/1/lobby`), await open(t, `http://localhost:${port}/1/lobby`)]
  const eve = await open(t, `http://localhost:${port}/2/kitchen`)
  for (const [{ page }, name] of [[ada, 'Ada'], [bob, 'Bob'], [eve, 'Eve']]) await call(page, name)
  await seen(ada.page, '#people li', 'Bob')
  await seen(ada.page, '#process', String(first.child.pid))
  await say(ada.page, 'Hello Bob, can you read this?')
  await seen(bob.page, '#messages li:not(.own)', 'Hello Bob')
  await say(bob.page, 'I can. It came over a WebSocket, to the process that this room lives in.')
  await seen(ada.page, '#messages li:not(.own)', 'I can.')
  await say(ada.page, 'And nobody in front of it.')
  await seen(bob.page, '#messages li:not(.own)', 'nobody in front')
  await say(eve.page, 'Here it is quiet.')
  await seen(eve.page, '#messages li.own', 'quiet')
  assert.equal(await eve.page.locator('#messages li').count(), 1)
  for (const { sockets } of [ada, bob]) assert.match(sockets[0], new RegExp(`^ws://localhost:${port}/1/lobby\\?`))
  await picture(ada.page, 'megachat-ada')
  await picture(bob.page, 'megachat-bob')

  first.child.kill('SIGKILL')
  await seen(ada.page, '#state:not(.open)', 'trying again')
  await picture(ada.page, 'megachat-cut-off')
  const again = await start(t, '301-megachat.js', 1, port)
  for (const { page } of [ada, bob]) {
    await seen(page, '#process', String(again.child.pid))
    await seen(page, '#people li', 'Bob')
  }
  await say(bob.page, 'There you are again.')
  await seen(ada.page, '#messages li:not(.own)', 'There you are again.')
  await say(eve.page, 'I noticed nothing.')
  await seen(eve.page, '#messages li.own', 'noticed nothing')
  await picture(ada.page, 'megachat-again')
  await ada.page.emulateMedia({ colorScheme: 'dark' })
  await ada.page.setViewportSize({ width: 390, height: 640 })
  await picture(ada.page, 'megachat-small-dark')
})

test('socket.io: two windows chat, first by polling, then by WebSocket', browser, async (t) => {
  const port = await freePort()
  await start(t, '203-socket-io.js', port)
  const [ada, bob] = [await open(t, `http://localhost:${port}/`), await open(t, `http://localhost:${port}/`)]
  for (const [{ page }, name] of [[ada, 'Ada'], [bob, 'Bob']]) await call(page, name)
  for (const { page } of [ada, bob]) await seen(page, '#transport', 'websocket, after polling')
  await say(ada.page, 'Hello Bob')
  await seen(bob.page, '#messages li:not(.own)', 'Hello Bob')
  await say(bob.page, 'Hello Ada')
  await seen(ada.page, '#messages li:not(.own)', 'Hello Ada')
  await picture(ada.page, 'socket-io')
})

test('broadcast: what is drawn in one window appears in the other', browser, async (t) => {
  const port = await freePort()
  await start(t, '202-broadcast.js', port)
  const [near, far] = [await open(t, `http://localhost:${port}/`), await open(t, `http://localhost:${port}/`)]
  for (const { page } of [near, far]) await seen(page, '#state', 'connected')
  const ink = (page) => page.evaluate(() => {
    /* global document */
    const { width, height } = document.querySelector('canvas')
    return document.querySelector('canvas').getContext('2d').getImageData(0, 0, width, height).data.filter((value) => value !== 0).length
  })
  assert.equal(await ink(far.page), 0)
  const box = await near.page.locator('canvas').boundingBox()
  const at = (turn) => [box.x + box.width * (0.5 + 0.035 * turn * Math.cos(turn)), box.y + box.height * (0.5 + 0.035 * turn * Math.sin(turn))]
  await near.page.mouse.move(...at(0))
  await near.page.mouse.down()
  for (let turn = 0; turn < 12; turn += 0.2) await near.page.mouse.move(...at(turn))
  await near.page.mouse.up()
  const drawn = await ink(near.page)
  assert.ok(drawn > 1000)
  while (await ink(far.page) !== drawn) await far.page.waitForTimeout(20)
  await picture(far.page, 'broadcast')
})
