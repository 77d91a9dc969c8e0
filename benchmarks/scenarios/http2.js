'use strict'

// HTTP/2 without TLS: beside node:http2, nghttpd, and HTTP/1.1.

const { against, drawTable, percent, range, saturatedText } = require('../lib/report')
const { compare } = require('../http2/measure')
const { kParts } = require('../http2/parts')

/** @param {{ part: import('../http2/parts').Part, measured: Awaited<ReturnType<typeof compare>> }} result @returns {string[][]} */
function lines ({ part, measured: [other, ours] }) {
  return [other, ours].map((item) => [
    part.name,
    item.name,
    range(item.process),
    item === ours ? against(item.process.median / other.process.median, part.target) : '',
    range(item.thread),
    range(item.requestsPerSecond),
    `${percent(item.serverBusy)}, ${percent(item.clientBusy)}`,
    saturatedText(item),
  ])
}

/** @type {import('../lib/types').Suite} */
module.exports = {
  name: 'http2',
  title: 'HTTP/2 beside node:http2, nghttpd and HTTP/1.1',
  async run (plan) {
    const results = []
    for (const part of kParts.filter(({ name }) => plan.only === undefined || plan.only.includes(name))) {
      console.log(`\n ${part.name}: ${part.title}`)
      results.push({ part, measured: await compare(part, plan) })
    }
    const columns = ['part', 'server', 'CPU µs', 'to the other, target', 'JS thread µs', 'req/s', 'CPUs busy: server, load', 'saturated']
    const text = `## HTTP/2

CPU of the server process on one core, per request with a 13-byte body; h2load with 8 connections (64 where each has one stream) on the other core, no request failed.

${drawTable(columns, results.flatMap(lines))}

${results.map(({ part: { name, title } }) => `* ${name}: ${title}`).join('\n')}`
    return {
      figures: results.map(({ part, measured: [other, ours] }) => ({
        ...part, measured: [other, ours], ratio: ours.process.median / other.process.median,
      })),
      text,
    }
  },
}
