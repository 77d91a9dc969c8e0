'use strict'

// HTTP/2 beside node:http2, nghttpd, and HTTP/1.1: small bodies without TLS, large ones with it.

const { against, atLeast, drawTable, percent, range, saturatedText } = require('../lib/report')
const { ratioOf } = require('../lib/statistics')
const { compareBodies } = require('../http2/bodies')
const { compare } = require('../http2/measure')
const { kBodies, kParts } = require('../http2/parts')

/** @param {{ part: import('../http2/parts').Part, measured: Awaited<ReturnType<typeof compare>> }} result @returns {string[][]} */
function lines ({ part, measured: [other, ours] }) {
  return [other, ours].map((item) => [
    part.name,
    item.name,
    range(item.process),
    item === ours ? against(ratioOf(item.process, other.process), part.target) : '',
    range(item.thread),
    range(item.requestsPerSecond),
    `${percent(item.serverBusy)}, ${percent(item.clientBusy)}`,
    saturatedText(item),
  ])
}

/** @typedef {Awaited<ReturnType<typeof compareBodies>>} Bodies */

/** @param {Bodies} sides @param {string} name @param {string} other */
function bodyRatio (sides, name, other) {
  const [one, another] = [name, other].map((wanted) => sides.find((side) => side.name === wanted))
  return one === undefined || another === undefined ? NaN : ratioOf(one.mibPerCpuSecond, another.mibPerCpuSecond)
}

/** @param {Bodies} sides */
function bodyText (sides) {
  const columns = ['server', 'MiB per CPU second', 'to others, target', 'JS thread µs/MiB', 'MiB/s', 'CPUs busy: server, load', 'saturated']
  return `${drawTable(columns, sides.map((side) => [
    side.name,
    range(side.mibPerCpuSecond),
    Object.entries(side.targets).map(([other, least]) => `${other} ${atLeast(bodyRatio(sides, side.name, other), least)}`).join(', '),
    range(side.thread),
    range(side.mibPerSecond),
    `${percent(side.serverBusy)}, ${percent(side.clientBusy)}`,
    saturatedText(side),
  ]))}

* ${kBodies.name}: ${kBodies.title}; h2load on the other core`
}

/** @param {{ part: import('../http2/parts').Part, measured: Awaited<ReturnType<typeof compare>> }[]} results */
function partsText (results) {
  const columns = ['part', 'server', 'CPU µs', 'to the other, target', 'JS thread µs', 'req/s', 'CPUs busy: server, load', 'saturated']
  return `CPU of the server process on one core, per request with a 13-byte body; h2load with 8 connections (64 where each has one stream) on the other core, no request failed.

${drawTable(columns, results.flatMap(lines))}

${results.map(({ part: { name, title } }) => `* ${name}: ${title}`).join('\n')}`
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
    /** @type {Bodies} */
    let bodies = []
    if (plan.only === undefined || plan.only.includes(kBodies.name)) {
      console.log(`\n ${kBodies.name}: ${kBodies.title}`)
      bodies = await compareBodies(plan)
    }
    const texts = [...results.length > 0 ? [partsText(results)] : [], ...bodies.length > 0 ? [bodyText(bodies)] : []]
    return {
      figures: [
        ...results.map(({ part, measured: [other, ours] }) => ({
          ...part, measured: [other, ours], ratio: ratioOf(ours.process, other.process),
        })),
        ...bodies.map((side) => ({
          ...side, part: kBodies.name, ratios: Object.fromEntries(Object.keys(side.targets).map((other) => [other, bodyRatio(bodies, side.name, other)])),
        })),
      ],
      text: `## HTTP/2\n\n${texts.join('\n\n')}`,
    }
  },
}
