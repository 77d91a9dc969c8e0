'use strict'

// Processes that share a port, beside proxies that do the same: CPU of all server processes together.

const { against, drawTable, percent, range } = require('../lib/report')
const { ratioOf } = require('../lib/statistics')
const { compareInstructions } = require('../sharing/instructions')
const { compare } = require('../sharing/load')
const { measureBlocked } = require('../sharing/blocked')
const { measurePulled } = require('../sharing/pulled')
const { measureTables } = require('../sharing/tables')
const { kParts, measureJoining, measureRouting } = require('../sharing/parts')

/** @typedef {import('../sharing/load').Measured} Measured */
/** @typedef {{ name: string, title: string, measured: Measured[], ratios: { of: string, to: string, what: string, value: number, target?: number }[] }} Result */

/** Of a process alone on its port. */
const kInstructionsTarget = 1.05

/** @param {import('../sharing/parts').Part} part @param {Measured[]} measured */
function ratiosOf (part, measured) {
  return part.ratios.flatMap(({ of, to, target, what }) => {
    const [one, other] = [of, to].map((name) => measured.find((item) => item.name === name))
    if (one === undefined || other === undefined) return []
    const key = what === 'user' ? 'user' : 'cost'
    return [{ of, to, what: what === 'user' ? 'user CPU' : 'CPU', value: ratioOf(one[key], other[key]), target }]
  })
}

/** @param {Result[]} results */
function loadTable (results) {
  return drawTable(['part', 'servers', 'CPU µs', 'of it user', 'req/s', 'CPUs busy: server, load', 'ratios, targets'],
    results.flatMap(({ name, measured, ratios }) => measured.map((item) => [
      name,
      item.name,
      range(item.cost),
      range(item.user),
      range(item.requestsPerSecond),
      `${percent(item.serverBusy)}, ${percent(item.clientBusy)}`,
      ratios.filter(({ of }) => of === item.name)
        .map(({ to, value, target, what }) => `${what} ${against(value, target)} of ${to}`).join('; '),
    ])))
}

/** @type {import('../lib/types').Suite} */
module.exports = {
  name: 'port-sharing',
  title: 'processes on URL prefixes of one port, beside proxies',
  async run (plan) {
    /** @type {Result[]} */
    const results = []
    for (const part of kParts.filter(({ name }) => plan.only === undefined || plan.only.includes(name))) {
      console.log(`\n ${part.name}: ${part.title}`)
      const measured = await compare(part.cases(plan), plan)
      results.push({ name: part.name, title: part.title, measured, ratios: ratiosOf(part, measured) })
    }
    const isWanted = (/** @type {string} */ name) => plan.only === undefined || plan.only.includes(name)
    /** @type {{ name: string }[]} */
    const figures = [...results]
    const lines = results.map(({ name, title }) => `* ${name}: ${title}`)
    if (isWanted('instructions')) {
      console.log('\n instructions: of "staying", counted by callgrind')
      const [shared, alone] = await compareInstructions(plan)
      figures.push(/** @type {any} */ ({ name: 'instructions', shared, alone, target: kInstructionsTarget }))
      lines.push(`* instructions in user mode per request of "staying", counted by callgrind: shared ${range(shared.instructions)}, alone ${range(alone.instructions)}: ${against(ratioOf(shared.instructions, alone.instructions), kInstructionsTarget)}`)
    }
    for (const [name, measureTimes] of /** @type {const} */ ([['joining', measureJoining], ['blocked owner', measureBlocked]])) {
      if (!isWanted(name)) continue
      console.log(`\n ${name}`)
      const times = await measureTimes()
      figures.push({ name, ...times })
      lines.push(`* ${name}: ${times.title}: ${range(times.milliseconds)} ms ${times.milliseconds.high <= times.target ? '≤' : '> !'} ${times.target}`)
    }
    if (isWanted('pulled requests')) {
      console.log('\n pulled requests')
      const pulled = await measurePulled()
      figures.push(/** @type {any} */ ({ name: 'pulled requests', ...pulled }))
      const each = pulled.forms.map(({ title, late, longest, unblocked }) => `${title} ${range(late)} ${late.high <= pulled.target ? '≤' : '> !'} ${pulled.target} (longest wait ${range(longest)} ms; nothing blocked: ${range(unblocked.late)} late, ${range(unblocked.longest)} ms)`)
      lines.push(`* pulled requests: ${pulled.title}: ${each.join(', ')}`)
    }
    if (isWanted('large tables')) {
      console.log('\n large tables')
      const tables = await measureTables()
      figures.push(/** @type {any} */ ({ name: 'large tables', ...tables }))
      lines.push(...tables.costs.map(({ title, ratios }) => `* large tables: ${title}: ${ratios.map(({ who, small, large, ratio }) => `${who} ${range(small)} µs, ${range(large)} µs, ${against(ratio, tables.costTarget)}`).join('; ')}`))
      lines.push(`* large tables: ${tables.delayTitle}: ${range(tables.quiet)} ms without changes, ${range(tables.busy)} ms with them, ${against(tables.delay, tables.delayTarget)} ms more`)
    }
    if (isWanted('routing')) {
      const lookups = await measureRouting(plan.cpus.server)
      figures.push(/** @type {any} */ ({ name: 'routing', lookups }))
      lines.push(`* routing: one look-up ${lookups.map(({ prefixes, nanoseconds }) => `${nanoseconds} ns with ${prefixes} prefixes`).join(', ')}`)
    }
    const loads = results.length === 0 ? '' : `CPU of all server processes together, on one core, per request.\n\n${loadTable(results)}\n\n`
    return { figures, text: `## Port sharing\n\n${loads}${lines.join('\n')}` }
  },
}
