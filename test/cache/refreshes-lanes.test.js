'use strict'

// Goal: a stale answer is refreshed once in the process, not once in each of its lanes. Method: several I/O threads, and so many connections that
// each of them has some; refreshes that end well, and one that is destroyed.

// Read when the first server starts to listen.
process.env.HTTPSYS_IO_THREADS = '4'

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { dial, get } = require('../helpers/client')
const { silence, until } = require('../helpers/waiting')
const { ofCache, serveCached } = require('./protocols-kit')

const kConnections = 64
const kStale = { 'Cache-Control': 'max-age=5, stale-while-revalidate=60', Age: '10', 'Content-Length': '3' }
const kFresh = { 'Cache-Control': 'max-age=60', 'Content-Length': '3' }

/** @param {import('../helpers/client').Wire} wire @param {string} wanted @returns {Promise<string>} the answer */
async function askOver (wire, wanted) {
  wire.text = ''
  return wire.write(get()).until(wanted)
}

test('the handler refreshes a stale answer once for all lanes', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res, n) => {
    if (n === 1) res.writeHead(200, kStale).end('<1>')
    else setTimeout(() => res.writeHead(200, kFresh).end(`<${n}>`), 300)
  })
  const wires = await Promise.all(Array.from({ length: kConnections }, () => dial(t, port)))
  await askOver(wires[0], '<1>')
  for (let round = 0; round < 2; round++) {
    await Promise.all(wires.map((wire) => askOver(wire, '<1>')))
    await until(() => calls() > 1, 'the refresh')
  }
  await until(async () => !(await askOver(wires[0], '>')).includes('<1>'), 'the refreshed answer')
  for (const answer of await Promise.all(wires.map((wire) => askOver(wire, '>')))) assert.ok(answer.includes('<2>'), answer)
  assert.equal(calls(), 2)
})

test('a refresh that is destroyed lets another one begin, in any lane', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res, n) => {
    if (n === 1) res.writeHead(200, kStale).end('<1>')
    else if (n <= 3) setTimeout(() => res.destroy(), 50)
    else res.writeHead(200, kFresh).end(`<${n}>`)
  })
  const wires = await Promise.all(Array.from({ length: 16 }, () => dial(t, port)))
  for (let at = 0; calls() < 4; at++) {
    assert.ok((await askOver(wires[at % wires.length], '>')).includes('<1>'))
    await silence(20)
  }
})
