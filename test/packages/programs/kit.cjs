'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')

/** Of a program in all: long enough for an emulated processor. */
const timer = setTimeout(() => { throw new Error('no end within 60 s') }, 60_000)
timer.unref()
process.on('warning', (warning) => { if (!/ExperimentalWarning|DEP0/.test(`${warning.name} ${warning.code}`)) throw warning })

/** @param {import('node:events').EventEmitter} server @param {() => Promise<void>} use */
async function served (server, use) {
  await once(server, 'listening')
  await use()
}

module.exports = { expect: assert.deepEqual, served }
