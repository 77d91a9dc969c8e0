'use strict'

// Goal: what application code throws reaches whom it reaches on Node, in the same context, and a crash prints the same.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')

const kProgram = path.join(__dirname, 'throwing-server.js')

/**
 * @param {'node:http' | '@httpsys/core-native'} module
 * @param {string[]} words
 * @returns {Promise<{ out: string, crash: string[] }>} what was printed; of a crash the lines without the stack
 */
function play (module, ...words) {
  return new Promise((resolve) => {
    execFile(process.execPath, [kProgram, module, ...words], { env: { ...process.env, NODE_TEST_CONTEXT: undefined }, timeout: 20_000 }, (_error, out, text) => {
      resolve({ out, crash: text.split('\n').filter((line) => !/^ +(at |\[\.\.\. lines)/.test(line)) })
    })
  })
}

for (const context of ['none', 'store inside', 'entered store', 'domain inside', 'domain around', 'domains and stores']) {
  test(`errors thrown by requests are reported as on Node: ${context}`, async () => {
    const [stock, ours] = await Promise.all([play('node:http', context), play('@httpsys/core-native', context)])
    assert.match(stock.out, /request-event/)
    assert.equal(ours.out, stock.out, ours.crash.join('\n'))
  })
}

for (const where of ['rethrown', 'tick', 'response-event', 'body']) {
  test(`a crash prints the line that threw, as on Node: ${where}`, async () => {
    const [stock, ours] = await Promise.all([play('node:http', 'none', where), play('@httpsys/core-native', 'none', where)])
    if (where === 'response-event') assert.match(stock.crash.join('\n'), /throw er; \/\/ Unhandled 'error' event\n[^]*Emitted 'error' event on ServerResponse instance at:/)
    else assert.match(stock.crash.join('\n'), /throw error/)
    assert.deepEqual(ours.crash, stock.crash)
  })
}
