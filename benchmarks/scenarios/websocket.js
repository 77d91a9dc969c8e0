'use strict'

// WebSocket servers: ws on node:http, ws on ours, and the fast path, beside what the kernel alone costs.

const { against, drawTable, percent, range, saturatedText } = require('../lib/report')
const { ratioOf } = require('../lib/statistics')
const { compare } = require('../websocket/measure')
const { kParts } = require('../websocket/parts')
const { kFloor, kReference, kSides } = require('../websocket/sides')

/** @typedef {import('../websocket/measure').Measured} Measured */
/** @typedef {import('../websocket/parts').Part} Part */
/** @typedef {import('../websocket/parts').Target} Target */
/** @typedef {{ part: Part, measured: Measured[] }} Result */

/** @param {Measured} item @param {Measured | undefined} base @returns {Target} ratios to the reference */
function ratiosOf (item, base) {
  const divide = (/** @type {'process' | 'thread' | 'memory'} */ key) => {
    const [one, other] = [item[key], base?.[key]]
    return item === base || one === undefined || other === undefined ? undefined : ratioOf(one, other)
  }
  const process = divide('process')
  return { process, thread: divide('thread'), memory: divide('memory'), bytes: process === undefined ? undefined : 1 / process }
}

/** @param {number | undefined} ratio @param {number | undefined} least */
function atLeast (ratio, least) {
  if (ratio === undefined) return ''
  return `${ratio.toFixed(2)}×${least === undefined ? '' : ` ${ratio >= least ? '≥' : '< !'} ${least.toFixed(2)}`}`
}

/** @param {Result} result @returns {string[][]} */
function lines ({ part, measured }) {
  const base = measured.find(({ name }) => name === kReference)
  return measured.map((item) => {
    const ratios = ratiosOf(item, base)
    const targets = part.targets[item.name] ?? {}
    if (item.memory !== undefined) {
      return [part.name, item.name, `${range(item.memory)} bytes`, against(ratios.memory, targets.memory), '', '', '', '', '']
    }
    const factor = part.unit === 'byte' ? 2 ** 20 : 1
    const isFloor = item.name === kFloor
    return [
      part.name,
      item.name,
      range(item.process, factor) + (part.unit === 'byte' ? ' /MiB' : ''),
      part.unit === 'byte' ? `${atLeast(ratios.bytes, targets.bytes)}${ratios.bytes === undefined ? '' : ' bytes'}` : against(ratios.process, targets.process),
      isFloor ? '' : range(item.thread, factor),
      isFloor ? '' : against(ratios.thread, targets.thread),
      range(item.messagesPerSecond),
      `${percent(item.serverBusy)}, ${percent(item.clientBusy)}`,
      saturatedText(item),
    ]
  })
}

/** @returns {boolean} */
function hasFastPath () {
  return /** @type {any} */ (require('@httpsys/websocket')).WebSocketServer !== undefined
}

/** @type {import('../lib/types').Suite} */
module.exports = {
  name: 'websocket',
  title: 'WebSocket servers: ws on node:http and on ours, the fast path, and what the kernel alone costs',
  async run (plan, notes) {
    const sides = Object.keys(kSides).filter((name) => name !== '@httpsys/websocket' || hasFastPath())
    /** @type {Result[]} */
    const results = []
    for (const part of kParts.filter(({ name }) => plan.only === undefined || plan.only.includes(name))) {
      console.log(`\n ${part.name}: ${part.title}`)
      results.push({ part, measured: await compare(part, part.floor ? [...sides, kFloor] : sides, plan, notes) })
    }
    const columns = ['part', 'server', 'CPU µs', `to ${kReference}, target`, 'JS thread µs', 'to it, target',
      'messages/s', 'CPUs busy: server, load', 'saturated']
    const text = `## WebSockets

CPU of the server process on one core, per message; clients in a native program on the other.

${drawTable(columns, results.flatMap(lines))}

${results.map(({ part: { name, title } }) => `* ${name}: ${title}`).join('\n')}
${Object.entries(kSides).filter(([name]) => sides.includes(name)).map(([name, { what }]) => `* ${name}: ${what}`).join('\n')}
* ${kFloor}: reads the length of a frame, takes its mask off and sends it back, in C++ with epoll
* uWebSockets.js is not in the npm registry, and so not beside these`
    const figures = results.map(({ part, measured }) => ({
      name: part.name,
      title: part.title,
      unit: part.unit,
      measured: measured.map((item) => ({
        ...item, ratios: ratiosOf(item, measured.find(({ name }) => name === kReference)), targets: part.targets[item.name],
      })),
    }))
    return { figures, text }
  },
}
