'use strict'

// The process under measurement. run.js starts it and talks to it over the channel of child_process.
//
//   server.js <scenario> <implementation>

const { kImplementations } = require('./lib/implementations')

const [, , scenarioName, implementationName] = process.argv
/** @type {import('./lib/types').Scenario} */
const scenario = require(`./scenarios/${scenarioName}`)
const implementation = kImplementations[implementationName]

const counter = { bytes: 0 }
const { listener, express } = scenario.application(counter)

function announce () {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ port })
}

const server = express === undefined
  ? implementation.forListener(/** @type {import('node:http').RequestListener} */ (listener), announce)
  : implementation.forExpress(express, announce)

if (scenario.keepAliveTimeoutMs !== undefined) server.keepAliveTimeout = scenario.keepAliveTimeoutMs

async function collect () {
  // Finalizers and weak callbacks of one collection make garbage for the next.
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  process.send?.({ rss: process.memoryUsage.rss() })
}

process.on('message', (message) => {
  if (message === 'count') process.send?.(counter)
  if (message === 'collect') collect()
})
process.on('disconnect', () => process.exit())
