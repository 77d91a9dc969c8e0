'use strict'

// Goal: `npm run compat` cannot be green by mistake. What it decides is tested here, without a registry.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { scoresOf } = require('../../tools/compat/cache/tests')
const { checkKnown, compare, discount, isGreen, readKnown } = require('../../tools/compat/compare')
const { execute, readResults } = require('../../tools/compat/execute')
const { ensureSuite, withRetries } = require('../../tools/compat/fetch')
const { kBegin, kEnd, summary, updatePage } = require('../../tools/compat/report')
const { kSuites } = require('../../tools/compat/suites')
const { fastPart, kKnown, kPage } = require('../../tools/compat')

const kSuite = /** @type {const} */ ({
  name: 'example', source: { kind: 'npm', name: 'example', version: '1.2.3' }, runner: 'node-test', files: ['*.test.js'], limitSeconds: 60,
})

/** @param {Record<string, 'pass' | 'fail' | 'skip'>} results @param {object} [more] */
const execution = (results, more = {}) => ({
  tests: new Map(Object.entries(results).map(([name, result]) => [name, { result }])),
  requests: 1,
  timedOut: false,
  seconds: 1,
  reaching: new Set(),
  output: '',
  ...more,
})

/** @param {{ after: Function }} t */
function makeFolder (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-compat-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

test('a run is green when each test that passes on stock Node passes on ours', () => {
  const verdict = compare(kSuite, execution({ a: 'pass', b: 'fail' }), execution({ a: 'pass', b: 'fail' }), [])
  assert.deepEqual([verdict.same, verdict.lost, verdict.gained], [2, [], []])
  assert.ok(isGreen(verdict))
})

test('a test that fails, is skipped or is missing on ours is lost', () => {
  const verdict = compare(kSuite, execution({ a: 'pass', b: 'pass', c: 'pass' }), execution({ a: 'fail', b: 'skip' }), [])
  assert.deepEqual(verdict.lost, ['a', 'b', 'c'])
  assert.ok(!isGreen(verdict))
})

test('a failure that has no name on stock, of a file that hangs on ours, is lost', () => {
  const verdict = compare(kSuite, execution({ a: 'pass' }), execution({ a: 'pass', 'a.test.js: the file': 'fail', new: 'pass' }), [])
  assert.deepEqual(verdict.lost, ['a.test.js: the file'])
  assert.ok(!isGreen(verdict))
})

test('a lost test that is listed is known, and a listed one that passes is named', () => {
  const listed = [{ test: 'a', reason: 'x' }, { test: 'b', reason: 'y' }]
  const verdict = compare(kSuite, execution({ a: 'pass', b: 'pass' }), execution({ a: 'fail', b: 'pass' }), listed)
  assert.ok(isGreen(verdict))
  assert.deepEqual(verdict.stale.map(({ test }) => test), ['b'])
})

test('a lost test is forgiven when stock Node fails it, too, when it is asked again, and for nothing else', () => {
  const stock = execution({ a: 'pass', b: 'pass', c: 'pass' })
  const ours = execution({ a: 'fail', b: 'fail', c: 'fail', 'd.test.js: the file': 'fail' })
  const { unexpected } = compare(kSuite, stock, ours, [])
  assert.deepEqual(discount(stock, execution({ a: 'fail', b: 'pass', c: 'skip', 'd.test.js: the file': 'fail' }), unexpected), ['a'])
  assert.deepEqual(compare(kSuite, stock, ours, []).unexpected, ['b', 'c', 'd.test.js: the file'])
})

test('a run in which the engine served nothing, no test passed or time ran out is not green', () => {
  const good = execution({ a: 'pass' })
  assert.ok(!isGreen(compare(kSuite, good, execution({ a: 'pass' }, { requests: 0 }), [])))
  assert.ok(!isGreen(compare(kSuite, execution({}), good, [])))
  assert.ok(!isGreen(compare(kSuite, good, execution({ a: 'pass' }, { timedOut: true }), [])))
})

test('a suite that asks for a share of the files that reach a server is red below it', () => {
  const names = Array.from({ length: 100 }, (_, n) => `${n}`)
  const stock = execution(Object.fromEntries(names.map((name) => [name, /** @type {const} */ ('pass')])), { reaching: new Set(names) })
  const withLost = (/** @type {number} */ lost) => {
    const ours = execution(Object.fromEntries(names.map((name, n) => [name, n < lost ? 'fail' : 'pass'])))
    const listed = names.slice(0, lost).map((name) => ({ test: name, reason: 'a reason' }))
    return compare({ ...kSuite, runner: 'node-core', share: 0.98 }, stock, ours, listed)
  }
  assert.ok(isGreen(withLost(2)))
  assert.ok(!isGreen(withLost(3)))
  assert.match(summary([withLost(2)]), /100 files, 100 reach a server: 100 of them pass on stock, 98\.0 % of these on ours/)
  const barely = { ...withLost(2), reaching: { files: 300, passStock: 299, passOurs: 293 } }
  assert.match(summary([barely]), /299 of them pass on stock, 97\.9 % of these on ours/)
})

test('a test that is required of ours is lost when it fails, though stock Node fails it, too', () => {
  const stock = execution({ a: 'fail', b: 'fail' })
  const wanted = { required: new Set(['a']), optimal: new Set(['b']) }
  const verdict = compare(kSuite, stock, execution({ a: 'fail', b: 'fail' }, { wanted }), [])
  assert.deepEqual(verdict.lost, ['a'])
  assert.ok(!isGreen(verdict))
  assert.ok(isGreen(compare(kSuite, execution({ a: 'fail', b: 'pass' }), execution({ a: 'pass', b: 'pass' }, { wanted }), [])))
})

test('a suite that asks for a part of the tests of a kind is red below it, whatever is listed', () => {
  const names = Array.from({ length: 20 }, (_, n) => `${n}`)
  const all = (/** @type {number} */ failed) => Object.fromEntries(names.map((name, n) => [name, n < failed ? /** @type {const} */ ('fail') : /** @type {const} */ ('pass')]))
  const listed = names.map((test) => ({ test, reason: 'a reason' }))
  const ofKind = (/** @type {'required' | 'optimal'} */ kind) => ({ required: new Set(), optimal: new Set(), [kind]: new Set(names) })
  const withFailed = (/** @type {number} */ failed, /** @type {'required' | 'optimal'} */ kind) =>
    compare({ ...kSuite, requiredLeast: 0.95, optimalLost: 2 }, execution(all(0)), execution(all(failed), { wanted: ofKind(kind) }), listed)
  assert.ok(isGreen(withFailed(1, 'required')))
  assert.deepEqual(withFailed(2, 'required').problems, ['of 20 required tests 18 pass: at least 19 must'])
  assert.ok(isGreen(withFailed(2, 'optimal')))
  assert.deepEqual(withFailed(3, 'optimal').problems, ['of 20 optimal tests 3 fail: at most 2 may'])
})

test('a test of caches counts strictly only if all it depends on pass', () => {
  /** @type {import('../../tools/compat/cache/tests').CacheTest[]} */
  const tests = [
    { id: 'a', name: '' }, { id: 'b', name: '', depends_on: ['a'] }, { id: 'c', name: '', kind: 'optimal', depends_on: ['b'] },
    { id: 'd', name: '', kind: 'optimal' }, { id: 'e', name: '', kind: 'check' },
  ]
  const scores = scoresOf(tests, { a: ['Assertion', 'wrong'], b: true, c: true, d: true, e: ['Setup', 'retry'] })
  assert.deepEqual(scores, {
    required: { passed: 1, strictly: 0, tests: 2 }, optimal: { passed: 2, strictly: 1, tests: 2 }, check: { passed: 0, strictly: 0, tests: 1 },
  })
})

test('the fast part has its suites, and says which this system cannot have', (t) => {
  assert.deepEqual(fastPart(kSuites.map((suite) => ({ ...suite, source: { ...suite.source, kind: 'npm' } }))).map(({ name }) => name),
    ['express', 'express-5', 'connect', 'ws', 'ws-fast-path', 'node-http', 'express-https', 'connect-https', 'express-http2', 'connect-http2'])
  const log = t.mock.method(console, 'log', () => {})
  const path = process.env.PATH
  process.env.PATH = ''
  try {
    assert.deepEqual(fastPart(kSuites), [])
  } finally {
    process.env.PATH = path
  }
  assert.match(log.mock.calls[0].arguments[0], /no apt-get here: express, .*node-http/)
})

test('a registry that does not answer is asked again, and then named in one sentence', async (t) => {
  const log = t.mock.method(console, 'log', () => {})
  let asked = 0
  assert.equal(await withRetries('a suite', async () => {
    if (++asked < 3) throw new Error('no answer')
    return 'here'
  }, [0, 0]), 'here')
  assert.equal(log.mock.callCount(), 2)
  await assert.rejects(withRetries('a suite', () => Promise.reject(new Error('no answer')), [0]),
    /^Error: a suite could not be fetched \(no answer\)\. The suites come from the registries of Debian and npm/)
})

test('the list of known differences keeps its rules', () => {
  const list = readKnown(fs.readFileSync(kKnown, 'utf8'))
  assert.deepEqual(checkKnown(list, kSuites), [])
  assert.ok(Object.values(list).flat().every(({ test }) => typeof test === 'string'))
  const entry = { test: 'a', reason: 'reads socket.parser, which is null here' }
  const many = Array.from({ length: 11 }, (_, n) => ({ ...entry, test: `${n}` }))
  assert.match(checkKnown({ express: many }, kSuites)[0], /more than 10/)
  assert.deepEqual(checkKnown({ 'express-http2': many }, kSuites), [])
  assert.match(checkKnown({ express: [{ test: 'a', reason: 'this is not implemented at all' }] }, kSuites)[0], /no reason/)
  assert.match(checkKnown({ express: [entry, entry] }, kSuites)[0], /twice/)
  assert.match(checkKnown({ unheard: [entry] }, kSuites)[0], /not a suite/)
})

test('the page has the markers, and rows of suites that did not run stay', () => {
  assert.match(fs.readFileSync(kPage, 'utf8'), new RegExp(`${kBegin}[^]*${kEnd}`))
  const one = compare(kSuite, execution({ a: 'pass' }), execution({ a: 'pass' }), [])
  const first = updatePage(`before\n${kBegin}\n${kEnd}\nafter`, [one], ['other', 'example'])
  assert.match(first, /^before\n[^]*\| example \| 1\.2\.3 \| 1 \| 1 pass \| 1 pass \| none lost \|\n[^]*\nafter$/)
  const second = updatePage(first, [{ ...one, suite: 'other' }], ['other', 'example'])
  assert.match(second, /\| other \|[^]*\| example \|/)
  assert.throws(() => updatePage('no markers', [], []), /markers/)
})

test('results of a run that was ended in the middle of a line are kept, equal names numbered', (t) => {
  const file = path.join(makeFolder(t), 'results')
  fs.writeFileSync(file, '{"test":"a","result":"pass"}\n{"test":"a","result":"fail"}\n{"test":"b","re')
  assert.deepEqual([...readResults(file).keys()], ['a', 'a (2)'])
})

test('a suite runs on the engine without saying so, and its tests are told apart', async (t) => {
  const folder = makeFolder(t)
  fs.writeFileSync(path.join(folder, 'some.test.js'), `
    const { describe, test } = require('node:test')
    const http = require('http')
    describe('a group', () => {
      test('is served', (t, done) => {
        const server = http.createServer((req, res) => res.end()).listen(0, () => {
          http.get({ port: server.address().port, agent: false }, (res) => res.resume().on('end', () => server.close(done)))
        })
      })
      test('fails', () => { throw new Error('on purpose') })
      test('waits', { skip: true }, () => {})
    })`)
  for (const mode of /** @type {const} */ (['stock', 'ours'])) {
    const { tests, requests } = await execute({ ...kSuite, files: [...kSuite.files] }, folder, mode, path.join(folder, mode))
    assert.deepEqual([...tests].map(([name, { result }]) => [name, result]), [
      ['some.test.js: a group > is served', 'pass'],
      ['some.test.js: a group > fails', 'fail'],
      ['some.test.js: a group > waits', 'skip'],
    ])
    assert.equal(requests, mode === 'ours' ? 1 : 0)
  }
})

test('a suite whose tests serve files by absolute paths runs in a copy, which is removed', async (t) => {
  const folder = path.join(makeFolder(t), '.hidden')
  fs.mkdirSync(folder)
  fs.writeFileSync(path.join(folder, 'some.test.js'), `
    require('node:test').test(process.cwd())`)
  const suite = { ...kSuite, files: [...kSuite.files], elsewhere: true }
  const { tests } = await execute(suite, folder, 'stock', path.join(folder, '..', 'scratch'))
  const [[name, { result }]] = tests
  const home = name.replace(/^.*: /, '')
  assert.equal(result, 'pass')
  assert.ok(path.isAbsolute(home) && !home.includes('.hidden'), name)
  assert.equal(fs.existsSync(home), false)
})

test('a suite of a repository is fetched as of its commit', async (t) => {
  const folder = makeFolder(t)
  const repository = path.join(folder, 'repository')
  const git = (/** @type {string[]} */ ...args) => execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], { encoding: 'utf8' })
  fs.mkdirSync(repository)
  git('init', '--quiet')
  fs.writeFileSync(path.join(repository, 'test.md'), 'first')
  git('add', '.')
  git('commit', '--quiet', '--message=first')
  const commit = git('rev-parse', 'HEAD').trim()
  fs.writeFileSync(path.join(repository, 'test.md'), 'second')
  git('commit', '--quiet', '--all', '--message=second')
  const { XDG_CACHE_HOME } = process.env
  process.env.XDG_CACHE_HOME = folder
  t.after(() => {
    if (XDG_CACHE_HOME === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = XDG_CACHE_HOME
  })
  t.mock.method(console, 'log', () => {})
  const source = /** @type {const} */ ({ kind: 'git', name: 'example', version: '1.2.3', url: repository, commit })
  // 'wire' has no dependencies to install.
  const suite = await ensureSuite({ name: 'example', source, runner: 'wire', files: [] })
  assert.equal(fs.readFileSync(path.join(suite, 'test.md'), 'utf8'), 'first')
})

test('a suite that is run by file survives one that does not load', async (t) => {
  const folder = makeFolder(t)
  const bin = path.join(folder, 'node_modules', 'mocha', 'bin')
  fs.mkdirSync(bin, { recursive: true })
  // What matters of mocha here: it loads the files and asks the reporter.
  fs.writeFileSync(path.join(bin, 'mocha.js'), `
    const args = process.argv.slice(2)
    const on = {}
    require(args[args.indexOf('--reporter') + 1])({ on: (event, f) => { on[event] = f } })
    require(require('path').resolve(args.at(-1)))((name) => on.pass({ fullTitle: () => name }))`)
  fs.mkdirSync(path.join(folder, 'test'))
  fs.writeFileSync(path.join(folder, 'test', 'good.js'), 'module.exports = (pass) => pass("is fine")')
  fs.writeFileSync(path.join(folder, 'test', 'bad.js'), 'require("./nothing")')
  const { tests } = await execute({ ...kSuite, runner: 'mocha', files: ['test/*.js'], byFile: [] }, folder, 'stock', path.join(folder, 'scratch'))
  assert.deepEqual([...tests].map(([name, { result }]) => [name, result]).sort(),
    [['test/bad.js: the file', 'fail'], ['test/good.js: is fine', 'pass']])
})

test('a file of Node\'s that fails once is lost on ours, and counts when it fails before it listens there', async (t) => {
  const folder = makeFolder(t)
  fs.mkdirSync(path.join(folder, 'test', 'parallel'), { recursive: true })
  const write = (/** @type {string} */ name, /** @type {string} */ first) => fs.writeFileSync(path.join(folder, 'test', 'parallel', name), `
    ${first}
    const http = require('http')
    const server = http.createServer((req, res) => res.end()).listen(0, () => {
      http.get({ port: server.address().port, agent: false }, (res) => res.resume().on('end', () => server.close()))
    })`)
  write('test-http-early.js', "if (process.execArgv.some((arg) => arg.endsWith('register.js'))) process.exit(4)")
  write('test-http-once.js', `
    const fs = require('fs')
    const file = require('path').join(process.env.NODE_TEST_DIR, 'came')
    if (!fs.existsSync(file)) {
      fs.writeFileSync(file, '')
      process.exit(5)
    }`)
  write('test-http-fine.js', '')
  const suite = { ...kSuite, runner: /** @type {const} */ ('node-core'), files: ['^parallel/test-http-'], share: 0.5 }
  const stock = await execute(suite, folder, 'stock', path.join(folder, 'stock'))
  const ours = await execute(suite, folder, 'ours', path.join(folder, 'ours'))
  const verdict = compare(suite, stock, ours, [])
  assert.deepEqual([...verdict.unexpected].sort(), ['parallel/test-http-early.js', 'parallel/test-http-once.js'])
  assert.deepEqual(verdict.reaching, { files: 3, passStock: 3, passOurs: 1 })
  assert.match(verdict.problems.join(), /of 3 files that reach a server and pass on stock 1 pass on the engine/)
})

test('a file of Node\'s is run with its flags, passes by its exit code, and says whether it reaches a server', async (t) => {
  const folder = makeFolder(t)
  fs.mkdirSync(path.join(folder, 'test', 'parallel'), { recursive: true })
  const write = (/** @type {string} */ name, /** @type {string} */ source) => fs.writeFileSync(path.join(folder, 'test', 'parallel', name), source)
  write('test-http-flag.js', '// Flags: --expose-gc\nif (!global.gc) process.exit(1)')
  write('test-http-bad.js', 'process.exit(3)')
  write('test-http-server.js', `
    const http = require('http')
    const server = http.createServer((req, res) => res.end()).listen(0, () => {
      http.get({ port: server.address().port, agent: false }, (res) => res.resume().on('end', () => server.close()))
    })`)
  const suite = { ...kSuite, runner: /** @type {const} */ ('node-core'), files: ['^parallel/test-http-'] }
  const stock = await execute(suite, folder, 'stock', path.join(folder, 'stock'))
  const ours = await execute(suite, folder, 'ours', path.join(folder, 'ours'))
  for (const { tests } of [stock, ours]) {
    assert.deepEqual([...tests].map(([name, { result }]) => [name, result]).sort(), [
      ['parallel/test-http-bad.js', 'fail'], ['parallel/test-http-flag.js', 'pass'], ['parallel/test-http-server.js', 'pass'],
    ])
  }
  assert.deepEqual([...stock.reaching], ['parallel/test-http-server.js'])
  assert.equal(ours.requests, 1)
})
