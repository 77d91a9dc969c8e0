'use strict'

// The runner of the test files: tools/lib/test-runner.js, and what shows its progress and chooses its order.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { Progress, span } = require('../tools/lib/progress')
const { shuffle } = require('../tools/lib/shuffle')
const { describe, runShared, runTestFile, runTestFiles, sum } = require('../tools/lib/test-runner')
const { until } = require('./helpers/waiting')
const soak = require('../tools/soak')
const { parseArgs, plan } = require('../tools/test')

/** @param {import('node:test').TestContext} t @param {string} source of a test file @returns {string} the file */
function testFile (t, source) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-runner-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'some.test.js')
  fs.writeFileSync(file, `const { test, describe, it } = require('node:test')\n${source}`)
  return file
}

test('each test of a file counts once, suites do not; skips have their reason, failures their line and what the file noted', async (t) => {
  const result = await runTestFile(testFile(t, `
    describe('a suite', () => {
      it('passes', () => {})
      it('is left out', { skip: 'no such thing here' }, () => {})
    })
    test('fails', (t) => { t.diagnostic('seed 7'); throw new Error('on purpose') })
    test('holds others', async (t) => { await t.test('passes inside', () => {}) })
    console.log('printed')
  `))
  const { failures, ...counts } = sum([result])
  assert.deepEqual(counts, { passed: 3, failed: 1, skipped: 1 })
  assert.match(failures.join('|'), /^fails\n {2}at .*some\.test\.js:7\n {2}Error: on purpose\n[^|]*$/)
  const text = describe(result)
  assert.match(text, /^FAIL .*some\.test\.js \(5 tests, 1 failed, 1 skipped, /)
  assert.match(text, /skipped: is left out \(no such thing here\)/)
  assert.match(text, /FAILED fails\n {4}at .*some\.test\.js:7\n[^]*on purpose/)
  assert.match(text, /^ {2}seed 7\n {2}\|/m)
  assert.match(text, /\| printed/)
})

test('a file that fails is not run again', async (t) => {
  const runs = path.join(os.tmpdir(), `httpsys-runs-${process.pid}`)
  t.after(() => fs.rmSync(runs, { force: true }))
  const file = testFile(t, `
    require('node:fs').appendFileSync(${JSON.stringify(runs)}, 'x')
    test('passes when run again', () => { if (require('node:fs').readFileSync(${JSON.stringify(runs)}, 'utf8') === 'x') throw new Error('first') })
  `)
  const [result] = await runTestFiles([file], { costs: {}, write: () => {} })
  assert.equal(result.failed, 1)
  assert.equal(fs.readFileSync(runs, 'utf8'), 'x')
})

test('a file that ends before its tests, or badly after them, has failed', async (t) => {
  const early = await runTestFile(testFile(t, 'test(\'never ends\', () => new Promise(() => {})); setTimeout(() => process.exit(0), 100)'))
  assert.ok(early.failed > 0)
  const killed = await runTestFile(testFile(t, 'test(\'is ended\', () => { process.kill(process.pid, \'SIGKILL\') })'))
  assert.match(killed.problem ?? '', /SIGKILL/)
  assert.equal(killed.failed, 1)
  const late = await runTestFile(testFile(t, 'test(\'passes\', () => {}); process.on(\'exit\', () => { process.exitCode = 3 })'))
  assert.match(late.problem ?? '', /ended with 3/)
})

test('what a file has started ends with it', { skip: process.platform === 'win32' && 'no groups of processes' }, async (t) => {
  const { output } = await runTestFile(testFile(t, `
    test('leaves a process behind', () => {
      const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
      child.unref()
      console.log('child ' + child.pid)
    })
  `))
  const pid = Number(/child (\d+)/.exec(output)?.[1])
  const isAlive = () => {
    try {
      // One that has ended and that nobody has asked about yet is a Z.
      return !/\) [ZX] /.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))
    } catch {
      return false
    }
  }
  await until(() => !isAlive(), 'the end of the process')
})

test('as many files run at a time as the cores have room for', async () => {
  let running = 0
  let most = 0
  const shares = [1, 1, 0.4, 0.4, 0.4, 5, 0.4]
  await runShared(shares, (share) => share, async (share) => {
    running += Math.min(share, 2)
    most = Math.max(most, running)
    await new Promise((resolve) => setImmediate(resolve))
    running -= Math.min(share, 2)
  }, 2)
  assert.ok(Math.abs(running) < 1e-6)
  assert.ok(most > 1 && most <= 2.0001, String(most))
})

test('files about any server run on stock Node for reference, all but those for the double on the engine', () => {
  const files = ['test/conformance/a.test.js', 'test/tls/b.test.js', 'test/windows-double/c.test.js'].map((file) => file.replaceAll('/', path.sep))
  assert.deepEqual(plan(files), [{ on: 'node', files: files.slice(0, 1) }, { on: 'engine', files: files.slice(0, 2) }])
  assert.deepEqual(plan(files, 'engine'), [{ on: 'engine', files: files.slice(0, 2) }])
  assert.deepEqual(plan(files, 'reference'), [{ on: 'node', files: files.slice(0, 1) }])
  assert.deepEqual(plan(files, 'node'), [{ on: 'node', files: files.slice(0, 2) }])
})

test('the tests take a pattern, a backend that exists, and flags for node', () => {
  assert.deepEqual(parseArgs(['tls', '--backend', 'node', '--test-only']), { pattern: 'tls', backend: 'node', record: false, flags: ['--test-only'] })
  assert.deepEqual(parseArgs(['--record']), { pattern: undefined, backend: undefined, record: true, flags: [] })
  for (const wrong of [['--backend'], ['--backend', 'bun'], ['a', 'b']]) assert.equal(parseArgs(wrong), null, wrong.join(' '))
})

test('progress tells what is done, how long it took and how much longer it may take', () => {
  /** @type {string[]} */
  const lines = []
  let now = 0
  const progress = new Progress({ unit: 'files', total: 4, weight: 10, everyMs: 1e6, now: () => now, write: (line) => lines.push(line) })
  now = 1000
  progress.show()
  progress.add(2)
  now = 20_000
  progress.show()
  progress.end()
  assert.deepEqual(lines, ['  ... 0 of 4 files, 1 s', '  ... 1 of 4 files, 20 s, about 1 min 20 s left'])
  assert.equal(span(65_000), '1 min 05 s')
})

test('the order of a soak is the seed\'s alone', () => {
  const items = Array.from({ length: 50 }, (_, i) => i)
  assert.deepEqual(shuffle(items, 7), shuffle(items, 7))
  assert.notDeepEqual(shuffle(items, 7), shuffle(items, 8))
  assert.deepEqual([...shuffle(items, 7)].sort((a, b) => a - b), items)
})

test('a soak takes minutes, a pattern, a seed and a number of busy processes, and nothing else', () => {
  assert.deepEqual(soak.parseArgs(['0.5', 'tls', '--seed', '7', '--busy', '0']), { minutes: 0.5, pattern: 'tls', seed: 7, busy: 0 })
  const usual = soak.parseArgs(['30'])
  assert.equal(usual?.busy, os.cpus().length)
  assert.ok(Number.isInteger(usual?.seed))
  for (const wrong of [[], ['x'], ['0'], ['5', '--seed', 'x'], ['5', 'a', 'b'], ['5', '--what']]) assert.equal(soak.parseArgs(wrong), null, wrong.join(' '))
})

test('a soak goes on after a failure, tells each with seed and round, and ends when its time is over', async () => {
  /** @type {string[]} */
  const lines = []
  /** @type {string[]} */
  const order = []
  let isOver = false
  const item = (/** @type {string} */ name) => ({
    name,
    run: async () => {
      order.push(name)
      if (order.length === 6) isOver = true
      return { isGood: name !== 'b', text: `ran ${name}` }
    }
  })
  const { runs, failures } = await soak.soakItems(['a', 'b', 'c'].map(item), { seed: 3, mayBegin: () => !isOver, jobs: 1, write: (line) => lines.push(line) })
  assert.equal(runs, 6)
  assert.deepEqual(order, [...shuffle(['a', 'b', 'c'], 4), ...shuffle(['a', 'b', 'c'], 5)])
  assert.deepEqual(failures, [{ name: 'b', round: 1 }, { name: 'b', round: 2 }])
  assert.match(lines[0], /seed 3, round 1, after .*:\nran b/)
})
