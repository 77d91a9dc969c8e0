'use strict'

// The runner of the test files, tools/lib/test-runner.js, and the order of a soak.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { describe, runRounds, runTestFile, shuffle, sum } = require('../tools/lib/test-runner')
const { until } = require('./helpers/waiting')
const soak = require('../tools/soak')
const { parseArgs, plan } = require('../tools/test')

/** @param {import('node:test').TestContext} t @param {string} source of a test file @returns {string} the file */
function testFile (t, source) {
  // Where `node --test` has started this file, run() runs nothing.
  delete process.env.NODE_TEST_CONTEXT
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
    console.log('printed', process.env.NODE_TEST_CONTEXT)
  `))
  const { failures, ...counts } = sum([result])
  assert.deepEqual(counts, { passed: 3, failed: 1, skipped: 1 })
  assert.match(failures.join('|'), /^fails\n {2}at .*some\.test\.js:7\n {2}Error: on purpose\n[^|]*$/)
  const text = describe(result)
  assert.match(text, /^FAIL .*some\.test\.js \(5 tests, 1 failed, 1 skipped, /)
  assert.match(text, /skipped: is left out \(no such thing here\)/)
  assert.match(text, /FAILED fails\n {4}at .*some\.test\.js:7\n[^]*on purpose/)
  assert.match(text, /^ {2}seed 7$/m)
  assert.match(text, /\| printed undefined/)
})

test('a file that ends before its tests, or badly after them, or not at all, has failed', async (t) => {
  const early = await runTestFile(testFile(t, 'test(\'never ends\', () => new Promise(() => {})); setTimeout(() => process.exit(0), 100)'))
  assert.equal(early.failed, 1)
  assert.match(early.output, /before the tests had ended/)
  const killed = await runTestFile(testFile(t, 'test(\'is ended\', () => { process.kill(process.pid, \'SIGKILL\') })'))
  assert.match(killed.failures.join(), /SIGKILL/)
  const late = await runTestFile(testFile(t, 'test(\'passes\', () => {}); process.on(\'exit\', () => { process.exitCode = 3 })'))
  assert.match(late.failures.join(), /ended with 3/)
  assert.deepEqual([late.passed, late.failed], [1, 1])
  const busy = await runTestFile(testFile(t, 'process.on(\'SIGTERM\', () => {}); test(\'hangs\', () => { for (;;); })'), { timeoutMs: 1000 })
  assert.match(describe(busy), /did not end within 1 s[^]*SIGKILL/)
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

test('files about any server run on stock Node for reference, all but those for the double on the engine', () => {
  const files = ['test/conformance/a.test.js', 'test/tls/b.test.js', 'test/windows-double/c.test.js'].map((file) => file.replaceAll('/', path.sep))
  assert.deepEqual(plan(files), [{ on: 'node', files: files.slice(0, 1) }, { on: 'engine', files: files.slice(0, 2) }])
  assert.deepEqual(plan(files, 'engine'), [{ on: 'engine', files: files.slice(0, 2) }])
  assert.deepEqual(plan(files, 'reference'), [{ on: 'node', files: files.slice(0, 1) }])
  assert.deepEqual(plan(files, 'node'), [{ on: 'node', files: files.slice(0, 2) }])
})

test('the tests take a pattern, a backend that exists, and flags for node', () => {
  assert.deepEqual(parseArgs(['tls', '--backend', 'node', '--test-only']), { pattern: 'tls', backend: 'node', flags: ['--test-only'] })
  for (const wrong of [['--backend'], ['--backend', 'bun'], ['a', 'b'], ['--help']]) assert.equal(parseArgs(wrong), null, wrong.join(' '))
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

test('a soak goes on after a failure, names each with its round and the seed, and ends when its time is over', async (t) => {
  t.mock.method(console, 'log', () => {})
  const file = testFile(t, 'test(\'fails\', () => { throw new Error(\'on purpose\') })')
  const rounds = runRounds([file], { minutes: 0.01, seed: 3, optionsOf: () => ({}) }, (results) => results.flatMap(({ failures }) => failures))
  await assert.rejects(rounds, /^Error: FAILED in round 1: fails\n[^]*FAILED in round 2: fails\n[^]*\d+ runs of 1 files with seed 3: \d+ failures$/)
})
