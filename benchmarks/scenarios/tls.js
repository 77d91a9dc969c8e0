'use strict'

// HTTPS: kept connections, full handshakes, sessions that go on.

const { against, drawTable, percent, range, saturatedText } = require('../lib/report')
const { ratioOf } = require('../lib/statistics')
const { compare } = require('../tls/measure')
const { kParts } = require('../tls/parts')

/** @param {{ part: import('../tls/parts').Part, measured: Awaited<ReturnType<typeof compare>> }} result @returns {string[][]} */
function lines ({ part, measured: [node, ours] }) {
  return [node, ours].map((item) => {
    const isOurs = item === ours
    return [
      part.name,
      item.name,
      range(item.process),
      isOurs ? against(ratioOf(item.process, node.process), part.target.process) : '',
      range(item.thread),
      isOurs ? against(ratioOf(item.thread, node.thread), part.target.thread) : '',
      range(item.requestsPerSecond),
      range(item.p95),
      `${percent(item.serverBusy)}, ${percent(item.clientBusy)}`,
      saturatedText(item),
    ]
  })
}

/** @type {import('../lib/types').Suite} */
module.exports = {
  name: 'tls',
  title: 'HTTPS on node:https and on ours: kept connections, full handshakes, sessions that go on',
  async run (plan) {
    const results = []
    for (const part of kParts.filter(({ name }) => plan.only === undefined || plan.only.includes(name))) {
      console.log(`\n ${part.name}: ${part.title}`)
      results.push({ part, measured: await compare(part, plan) })
    }
    const columns = ['part', 'server', 'CPU µs', 'to node, target', 'JS thread µs', 'to node, target', 'req/s', 'p95 µs',
      'CPUs busy: server, load', 'saturated']
    const text = `## HTTPS

CPU of the server process on one core, per request with a 13-byte body; TLS 1.3, clients in a native program on the other core.

${drawTable(columns, results.flatMap(lines))}

${results.map(({ part: { name, title } }) => `* ${name}: ${title}`).join('\n')}`
    return {
      figures: results.map(({ part, measured: [node, ours] }) => ({
        ...part,
        measured: [node, ours],
        ratios: { process: ratioOf(ours.process, node.process), thread: ratioOf(ours.thread, node.thread) },
      })),
      text,
    }
  },
}
