'use strict'

// The crash test: three processes under load, one is killed and started again at intervals. What was lost is
// counted by class. In npm test for ten seconds; for longer:  npm run test:crash [seconds]

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { freePort } = require('../helpers/free-port')
const { Load, Member, ask, descriptorsOf, sleep } = require('./kit')

const kNames = ['a', 'b', 'c']
const kEveryMs = 2000
// What a process may hold more than before: links to those that started again are replaced, not added.
const kDescriptorsMax = 16

/**
 * @typedef {object} Report
 * @property {number} kills
 * @property {number} answers
 * @property {number} othersKept failures on connections that were with another owner: none may be
 * @property {number} othersNew new connections to other owners that were lost between accept and hand-over: one per kill at most
 * @property {number} othersRefused answers other than 200 for other owners: none may be
 * @property {number} killedInFlight requests to the killed one that failed
 * @property {Record<number, number>} killedGap its answers while it was away, by status
 * @property {number} wrongOwner
 * @property {string[]} leaks
 * @property {string[]} samples
 */

/** The names of our sockets for which no process listens any more would be leaks; abstract ones vanish. @param {number} port */
function namesOf (port) {
  const uid = process.geteuid?.()
  const text = fs.existsSync('/proc/net/unix') ? fs.readFileSync('/proc/net/unix', 'latin1') : ''
  return text.split('\n').filter((line) => line.endsWith(`@httpsys/1/${uid}/${port}`)).length
}

/**
 * @param {{ after: (callback: () => unknown) => void }} t ends what is left
 * @param {{ ms: number, log?: (line: string) => void }} options
 * @returns {Promise<Report>}
 */
async function crashRun (t, { ms, log = () => {} }) {
  const port = await freePort()
  /** @type {Record<string, Member>} */
  const members = {}
  const start = async (/** @type {string} */ name) => {
    const started = new Member()
    t.after(() => started.kill())
    await started.listen(name, `http://*:${port}/${name}/`)
    members[name] = started
  }
  for (const name of [...kNames, 'stays']) await start(name)
  const targets = kNames.map((name) => `/${name}/`)
  for (let i = 0; i < 8; i++) await Promise.all([...targets, '/stays/'].map((target) => ask(port, target)))
  const before = descriptorsOf(members.stays.pid)
  /** @type {Report} */
  const report = { kills: 0, answers: 0, othersKept: 0, othersNew: 0, othersRefused: 0, killedInFlight: 0, killedGap: {}, wrongOwner: 0, leaks: [], samples: [] }
  const end = Date.now() + ms
  for (let round = 0; Date.now() < end; round++) {
    const victim = kNames[round % kNames.length]
    // A load of its own for each kill: what it loses is of this victim.
    const loads = [new Load(t, { port, targets, connections: 9 }), new Load(t, { port, targets, connections: 6, isKept: false })]
    const since = Date.now()
    await Promise.all(loads.map((load) => load.further(5)))
    await members[victim].kill()
    report.kills++
    await sleep(100)
    await start(victim)
    await Promise.all(loads.map((load) => load.further(5)))
    await sleep(Math.max(0, kEveryMs - (Date.now() - since)))
    for (const load of loads) {
      for (const { target, answers, statuses, lost, wrong } of await load.stop()) {
        report.answers += answers
        report.wrongOwner += wrong.length
        const others = Object.entries(statuses).filter(([status]) => status !== '200')
        if (target === `/${victim}/`) {
          report.killedInFlight += lost.kept.length + lost.new.length
          for (const [status, count] of others) report.killedGap[Number(status)] = (report.killedGap[Number(status)] ?? 0) + count
          continue
        }
        report.othersKept += lost.kept.length
        report.othersNew += lost.new.length
        report.othersRefused += others.reduce((sum, [, count]) => sum + count, 0)
        report.samples.push(...[...lost.kept, ...lost.new].slice(0, 3), ...others.map(([status, count]) => `${count} × ${status} for ${target}`))
      }
    }
    log(`kill ${report.kills} (${victim}): ${report.answers} answers, lost for others ${report.othersKept} kept, ${report.othersNew} new`)
  }
  // Closed connections are given back at leisure.
  const deadline = Date.now() + 10_000
  const now = () => descriptorsOf(members.stays.pid)
  while (now() > before + kDescriptorsMax && Date.now() < deadline) await sleep(50)
  if (now() > before + kDescriptorsMax) report.leaks.push(`${before} descriptors became ${now()}`)
  if (process.platform === 'linux' && namesOf(port) > 1 + Object.keys(members).length + report.kills) report.leaks.push(`${namesOf(port)} sockets at the meeting place`)
  for (const one of Object.values(members)) await one.kill()
  if (namesOf(port) !== 0) report.leaks.push(`${namesOf(port)} names are left`)
  return report
}

/** @param {Report} report */
function assertSound (report) {
  const text = JSON.stringify(report, null, 2)
  assert.equal(report.othersKept, 0, text)
  assert.equal(report.othersRefused, 0, text)
  assert.equal(report.wrongOwner, 0, text)
  assert.ok(report.othersNew <= report.kills, text)
  for (const status of Object.keys(report.killedGap)) assert.equal(status, '503', text)
  assert.deepEqual(report.leaks, [], text)
  assert.ok(report.kills > 0 && report.answers > 0, text)
}

async function main () {
  const seconds = Number(process.argv[2] ?? 60)
  const ends = /** @type {(() => unknown)[]} */ ([])
  try {
    const report = await crashRun({ after: (end) => ends.push(end) }, { ms: seconds * 1000, log: console.log })
    console.log(report)
    assertSound(report)
  } finally {
    for (const end of ends) await end()
  }
}

if (require.main === module) {
  main().catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
}

module.exports = { assertSound, crashRun }
