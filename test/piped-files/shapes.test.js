'use strict'

// Goal: nobody sees whether a lane or a stream of Node's reads a file that is piped into a response. Every shape runs on stock Node and on
// the engine: the events of the stream and of the response, their order and states, what the application logs, and what the client gets are
// the same, over each protocol. HTTP/2 is compared with HTTP/1.1 of stock Node, whose own HTTP/2 has other responses.

const { describe, it, before } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { backend } = require('../helpers/backend')
const { kIsThorough } = require('../helpers/thorough')
const { shapes } = require('./shapes')

const kRegister = path.resolve(__dirname, '..', '..', 'packages', 'core-native', 'register.js')
/** Ends a run that hangs; all shapes take a fifth of it on a busy machine. */
const kRunMs = 180_000

/** @typedef {import('./client').Answer} Answer */
/** @typedef {{ name: string, sources: string[][], res: string[], rest: string[], answers: Answer[], piped: { taken: number, returned: number, reason: string } }} Outcome */

/**
 * By protocol of the client: that of stock Node to compare with, and whether it is the turn of the response when the file is open.
 *
 * @type {Record<string, { stock: string, isInTurn: boolean, isQuick?: boolean }>}
 */
const kProtocols = {
  http1: { stock: 'http1', isInTurn: true, isQuick: true },
  pipelined: { stock: 'pipelined', isInTurn: true },
  behind: { stock: 'behind', isInTurn: false },
  tls: { stock: 'tls', isInTurn: true },
  http2: { stock: 'http1', isInTurn: true, isQuick: true }
}

/** @param {string} protocol @param {boolean} isStock @returns {Promise<Map<string, Outcome>>} */
function run (protocol, isStock) {
  const preloads = [path.join(__dirname, 'watch-emit.js'), ...isStock ? [] : [kRegister]]
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: '', HTTPSYS_BACKEND: '' }
  const child = spawn(process.execPath, [...preloads.flatMap((file) => ['--require', file]), path.join(__dirname, 'run-shapes.js'), protocol], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), kRunMs)
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => { output += piece })
  child.stderr.setEncoding('utf8').on('data', (piece) => { errors += piece })
  return new Promise((resolve, reject) => {
    child.on('close', (status) => {
      clearTimeout(timer)
      if (status !== 0) return reject(new Error(`${protocol} on ${isStock ? 'stock Node' : 'the engine'} ended with ${status}: ${errors}`))
      resolve(new Map(output.trim().split('\n').map((line) => {
        const outcome = JSON.parse(line)
        return [outcome.name, outcome]
      })))
    })
  })
}

/**
 * What has to be the same. Where the scheduler decides how much of an answer the client gets, only answers that came to an end count.
 *
 * @param {Outcome} outcome
 * @param {string} protocol
 */
function comparable ({ name, sources, res, rest, answers }, protocol) {
  const { isLoose = false, isRace = false, endsConnection = false } = shapes[name]
  // Over HTTP/2 the end of one answer says nothing of the next one.
  const ofFile = protocol === 'http2' ? answers.slice(0, 1) : answers
  const seen = ofFile.filter(({ how, status }) => status !== undefined && !(isLoose && how !== 'end'))
    .map(({ bytes, hash, ...answer }) => isLoose ? answer : { ...answer, bytes, hash })
  return { ...isRace ? {} : { sources, res }, rest, answers: endsConnection ? [] : seen }
}

for (const [protocol, { stock, isInTurn, isQuick = false }] of Object.entries(kProtocols)) {
  const skip = backend === 'node' ? 'the engine takes files over' : !(isQuick || kIsThorough) && 'one of several protocols: with --all'
  describe(`a file that is piped into a response: ${protocol}`, { skip }, () => {
    /** @type {Map<string, Outcome>} */
    let expected
    /** @type {Map<string, Outcome>} */
    let actual
    before(async () => {
      [expected, actual] = await Promise.all([run(stock, true), run(protocol, false)])
    }, { timeout: kRunMs })

    for (const [name, shape] of Object.entries(shapes)) {
      it(`${name}: as on stock Node${shape.taken && isInTurn ? ', by the lane' : ''}`, () => {
        const ours = /** @type {Outcome} */ (actual.get(name))
        const theirs = /** @type {Outcome} */ (expected.get(name))
        assert.deepEqual(comparable(ours, protocol), comparable(theirs, protocol))
        if (!isInTurn) return
        assert.equal(ours.piped.taken > 0, shape.taken === true, `taken: ${JSON.stringify(ours.piped)}`)
        if (shape.reason !== undefined) assert.equal(ours.piped.reason, shape.reason)
        const last = ours.answers[ours.answers.length - 1]
        if (protocol === 'http2' && last.how === 'end' && ours.answers.length === 2) assert.equal(last.bytes, 5, 'the connection goes on')
      })
    }
  })
}
