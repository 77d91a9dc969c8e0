'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { addRatios, loadRow } = require('../benchmarks/lib/report')
const { ratioOf, spread } = require('../benchmarks/lib/statistics')
const { diagnose } = require('../packages/core-native/native/build')
const { parseArgs, runSteps, stepsOn } = require('../tools/check')
const { countMethods, importProblem, includeProblem, kRooms, tableProblems, wordProblems } = require('../tools/check-layers')
const { kOpenTypesMax, openTypeProblems, openTypes, openTypesOf } = require('../tools/lib/any-types')
const plainWords = require('../tools/lib/plain-words')
const { circleProblems, importsOf } = require('../tools/lib/modules')
const { argumentProblems, crossingProblems, endingProblems, processProblems, usingProblems } = require('../tools/lib/native-rules')
const { apt } = require('../tools/lib/apt')
const { prebuildNeeds } = require('../tools/lib/packages')
const { kTargets, targetsOf } = require('../tools/lib/targets')
const { released } = require('../tools/release')
const { kProven, tryAddon } = require('../packages/core-native/lib/backend/platform')

const kRoot = path.join(__dirname, '..')

/** @returns {string} the header that has the phases of a connection's input */
const readPhases = () => fs.readFileSync(path.join(kRoot, 'packages', 'core-native', 'src', 'engine', 'connection', 'input_phase.h'), 'utf8')

/** @param {string} text @returns {string[]} the constants that it names */
const namesIn = (text) => [...text.matchAll(/\bk[A-Z]\w*/g)].map(([name]) => name)

/**
 * Reads what LaneParts gives to Protocols: loops over phases, and single ones.
 *
 * @param {string} engine the folder src/engine
 * @returns {Map<string, string>} the file of the protocol that reads each phase, without its ending
 */
function protocolsOf (engine) {
  const code = fs.readFileSync(path.join(engine, 'lane_parts.cc'), 'utf8')
  const header = fs.readFileSync(path.join(engine, 'lane_parts.h'), 'utf8')
  const files = [...header.matchAll(/^#include "engine\/(\S+)\.h"$/gm)].map(([, file]) => file)
  /** @param {string} member @returns {string} the file of its class, whose name is that of the file without underscores */
  const fileOf = (member) => {
    const [, name] = new RegExp(`\\b${member} =\\s*std::make_unique<(\\w+)>`).exec(code) ?? assert.fail(`lane_parts.cc makes no ${member}`)
    return files.find((file) => path.basename(file).replaceAll('_', '') === name.toLowerCase()) ?? assert.fail(`lane_parts.h includes no header of ${name}`)
  }
  const loops = [...code.matchAll(/for \(const InputPhase phase :\s*\{([^}]*)\}\) \{\s*protocols\.Set\(phase, (\w+)\.get\(\)\);/g)]
  const singles = [...code.matchAll(/protocols\.Set\((InputPhase::k\w+), (\w+)\.get\(\)\);/g)]
  assert.equal(loops.length + singles.length, code.split('protocols.Set(').length - 1)
  return new Map([...loops, ...singles].flatMap(([, phases, member]) => namesIn(phases).map((phase) => [phase, fileOf(member)])))
}

/** @param {string} header @returns {string[]} the phases, in order */
function phasesOf (header) {
  const [, body] = /enum class InputPhase : uint8_t \{([^}]*)\}/.exec(header) ?? []
  const phases = [...body.matchAll(/^ {2}(k\w+),/gm)].map(([, name]) => name)
  assert.ok(phases.length >= 19)
  return phases
}

/** @param {string} text */
const scripts = (text) => [...text.matchAll(/npm run ([a-z0-9:-]+)/g)].map((match) => match[1])

test('set-up without a compiler names it and the command that installs it, and exits with 1', () => {
  const { status, stderr } = spawnSync(process.execPath, ['tools/setup.js', 'run'], {
    cwd: kRoot,
    encoding: 'utf8',
    env: { PATH: '' },
  })
  assert.equal(status, 1)
  assert.match(stderr, /Missing: a C\+\+20 compiler/)
  assert.match(stderr, /apt-get install -y --no-install-recommends g\+\+ make python3/)
})

test('set-up waits while another program has apt\'s lock, and says so', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-apt-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const program = path.join(folder, 'apt-get')
  // It fails as apt does until it was asked three times.
  fs.writeFileSync(program, `#!/bin/sh
echo x >> ${folder}/asked
if [ $(wc -l < ${folder}/asked) -lt 3 ]; then echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt-get)" >&2; exit 100; fi
echo "$@"`, { mode: 0o755 })
  const said = t.mock.method(console, 'log', () => {})
  assert.equal(await apt(['install', 'x'], { program, lookMs: 1 }), 'install x\n')
  assert.equal(said.mock.callCount(), 1)
  assert.match(String(said.mock.calls[0].arguments[0]), /waiting for it.*\n.*held by process 7/)
  fs.writeFileSync(program, '#!/bin/sh\necho "E: Unable to locate package x" >&2; exit 100', { mode: 0o755 })
  t.mock.method(process.stdout, 'write', () => true)
  await assert.rejects(apt(['install', 'x'], { program, lookMs: 1 }), /exited with 100/)
  fs.writeFileSync(program, '#!/bin/sh\necho "E: Could not get lock" >&2; exit 100', { mode: 0o755 })
  await assert.rejects(apt(['install', 'x'], { program, lookMs: 1, waitMs: 20 }), /exited with 100/)
})

test('the addon of a platform needs the tools of that platform only', () => {
  const needed = (/** @type {string[]} */ ...names) => prebuildNeeds(targetsOf(names)).flatMap((need) => need.apt)
  assert.deepEqual(needed('linux-x64-gnu'), ['binutils', 'python3-venv'])
  assert.deepEqual(needed('linux-arm64-musl'), ['binutils-aarch64-linux-gnu', 'python3-venv'])
  assert.deepEqual(needed('darwin-x64'), ['python3-venv'])
  assert.deepEqual(needed('win32-x64'), ['g++-mingw-w64-x86-64-posix'])
  assert.equal(needed().length, 4)
})

test('what `npm test` loads before it has installed anything needs no package', () => {
  const refusePackages = `
    const Module = require('node:module')
    const resolve = Module._resolveFilename
    Module._resolveFilename = function (name, ...rest) {
      if (!/^[./]/.test(name) && !Module.isBuiltin(name)) throw new Error(name + ' is a package')
      return resolve.call(this, name, ...rest)
    }
    require('./tools/check.js')`
  const { status, stderr } = spawnSync(process.execPath, ['-e', refusePackages], { cwd: kRoot, encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.equal(status, 0)
})

test('every platform has its place in the loader and in the table, which knows the same runs', () => {
  const rows = fs.readFileSync(path.join(kRoot, 'docs', 'platforms.md'), 'utf8').split('\n').filter((line) => line.startsWith('| `@httpsys/core-'))
  for (const { name } of kTargets) {
    // The loader asks for a package of that name, which is not here.
    assert.ok(tryAddon(name).error?.message.includes(`'@httpsys/core-${name}'`), name)
    const row = rows.find((line) => line.includes(`core-${name}\``))
    assert.ok(row !== undefined, name)
    assert.equal(kProven.includes(name), !row.includes('**never run**'), name)
  }
})

test('a release dates what the changelog has of unreleased changes, and asks for that section', () => {
  const date = new Date('2026-01-02T03:04:05Z')
  assert.equal(released('# Changelog\n\n## Unreleased\n\n* $& new\n\n## 0.1.0 (2025-01-01)\n', '0.2.0', date),
    '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-01-02)\n\n* $& new\n\n## 0.1.0 (2025-01-01)\n')
  assert.throws(() => released('# Changelog\n\n## 0.1.0 (2025-01-01)\n', '0.2.0', date), /"## Unreleased"/)
})

test('a missing header is named with the command that brings it', () => {
  assert.match(diagnose('x.cc:1:10: fatal error: napi.h: No such file or directory'), /header napi\.h .* npm ci/)
  assert.match(diagnose('x.cc:1:10: fatal error: span: No such file or directory'), /header span .* apt-get install g\+\+/)
  assert.match(diagnose('x.cc:1:10: fatal error: \'span\' file not found'), /header span /)
})

test('types that say nothing are found wherever the compiler reads them, and nowhere else', () => {
  const typesIn = (/** @type {string} */ text) => openTypesOf(text).map(({ line, type }) => `${line} ${type}`)
  assert.deepEqual(typesIn('/** @param {any} a not any word @param {Record<string, any>} b */\nfunction f (a, b) {}'), ['1 any', '1 any'])
  assert.deepEqual(typesIn('const f = (/** @type {any[]} */ ...a) =>\n  /** @type {any} */ (a)'), ['1 any', '2 any'])
  assert.deepEqual(typesIn('/** @type {(() => any) | null} */\nlet a'), ['1 any'])
  assert.deepEqual(typesIn('/** @param {*} a @param {Function} b @param {Object} c @param {?} d */\nfunction f (a, b, c, d) {}'), ['1 *', '1 Function', '1 Object', '1 ?'])
  assert.deepEqual(typesIn('class A {\n  /** @type {Map<number, any>} */\n  #a\n}\n/** @typedef {{ a: any }} B */'), ['2 any', '5 any'])
  assert.deepEqual(typesIn('// any\n/* any */\n/** If any. @param {unknown} a any @param {object} b */\nfunction any (a, b) { return any }'), [])
})

test('lib has no more types that say nothing than it is allowed to', () => {
  const open = openTypes()
  assert.deepEqual(openTypeProblems(open), [])
  const tooMany = Array.from({ length: kOpenTypesMax + 1 }, (_, index) => `a.js:${index} any`)
  assert.match(openTypeProblems(tooMany)[0], /a\.js:0 any/)
  assert.equal(openTypeProblems(tooMany.slice(1)).length, 0)
})

test('the layer check lets each room include only those that its table names', () => {
  assert.equal(includeProblem('engine', 'engine/connection/connection.h'), null)
  assert.equal(includeProblem('engine/http1', 'engine/http1/http1_session.h'), null)
  assert.equal(includeProblem('http1', 'url/host_name.h'), null)
  assert.equal(includeProblem('engine', 'sys/socket.h'), null)
  assert.match(includeProblem('base', 'http1/request_parser.h') ?? '', /base\/ may include itself only/)
  assert.match(includeProblem('napi', 'engine/connection/connection.h') ?? '', /napi\/ may include/)
  assert.equal(includeProblem('win', 'records/record_writer.h'), null)
  assert.match(includeProblem('win', 'engine/connection/connection.h') ?? '', /win\/ may include/)
  assert.match(includeProblem('engine', 'win/lane.h') ?? '', /engine\/ may include/)
  assert.match(includeProblem('engine/websocket', 'engine/http1/http1_session.h') ?? '', /engine\/websocket\/ may include/)
  assert.match(includeProblem('engine', 'napi.h') ?? '', /only src\/napi/)
})

test('the layer check lets JavaScript import only from rooms that its table names', () => {
  const lib = 'packages/core-native/lib'
  const problemOf = (/** @type {string} */ file, /** @type {string} */ text) => importsOf(file, text).map((one) => importProblem(one))
  assert.deepEqual(problemOf(`${lib}/http/socket.js`, "const { Lane } = require('../records/lane')"), [null])
  assert.deepEqual(problemOf(`${lib}/http/socket.js`, "const { State } = require('./socket-state')"), [null])
  assert.match(problemOf(`${lib}/http/socket.js`, "const { Listener } = require('../listen/listener')").join(), /lib\/http may import/)
  assert.match(problemOf(`${lib}/http/socket.js`, "/** @type {import('../listen/listener').Listener} */").join(), /lib\/http may import/)
  assert.match(problemOf(`${lib}/errors.js`, "require('./base/errors')").join(), /no known room/)
  assert.match(problemOf('packages/cli/lib/program.js', "require('@httpsys/websocket')").join(), /packages\/cli may import packages\/core-native only/)
  assert.match(problemOf('tools/compat/suites.js', "require('./wire/execute')").join(), /tools\/compat may import/)
  assert.deepEqual(problemOf(`${lib}/http/socket.js`, "require('node:net') // as require('../listen/server') does"), [])
  assert.deepEqual(problemOf(`${lib}/http/socket.js`, "/** @type {import('../../types/binding').Engine} */"), [])
})

test('the layer check finds files that require each other, wherever they do', () => {
  const file = 'packages/core-native/lib/http/socket.js'
  const other = 'packages/core-native/lib/http/socket-state.js'
  const late = importsOf(other, "function late () { return require('./socket') }")
  const early = importsOf(file, "const { State } = require('./socket-state')")
  assert.deepEqual(circleProblems(early), [])
  assert.deepEqual(circleProblems([...early, ...late]), [`${file} requires ${other} requires ${file}: a circle`])
  assert.deepEqual(circleProblems([...early, ...importsOf(other, "/** @type {import('./socket').HttpSocket} */")]), [])
  assert.deepEqual(circleProblems([...early, ...importsOf(other, "/** @import { HttpSocket } from './socket' */")]), [])
})

test('the layer check refuses a circle in its table', () => {
  assert.deepEqual(tableProblems({ low: [], high: ['low'] }), [])
  assert.match(tableProblems({ low: ['high'], high: ['low'] }).join(), /low\/ include high\/, .* circle/)
})

test('the layer check counts the methods of a class', () => {
  const text = `
struct Plain { int value = 0; };
class Counted final : public Base {
 public:
  explicit Counted(int first) : first_(first) {}
  ~Counted();
  Counted(const Counted&) = delete;
  // Not this one: Commented();
  static std::vector<int> One(int first, int second = 2);
  bool two() const { return first_ == 2 && Help(first_); }
  template <typename Function>
  void Three(Function function) {
    for (int i = 0; i < first_; ++i) function(i);
  }
  void Four(std::function<void(int)> done) override;

 private:
  struct Inner {
    void NotItsOwn();
  };
  int first_;
  std::vector<int> many_ = std::vector<int>(64);
};
`
  assert.deepEqual(countMethods(text), [{ name: 'Plain', methods: 0 }, { name: 'Counted', methods: 4 }])
})

/** @param {string} file @param {string} text @returns {{ file: string, room: string, text: string }[]} */
const sourceOf = (file, text) => [{ file, room: path.posix.dirname(file).replace(/^src\//, ''), text }]

test('the layer check lets napi see records and backends only', () => {
  for (const room of ['tls', 'sharing', 'win', 'url', 'engine']) assert.ok(!kRooms.napi.includes(room), room)
  assert.match(includeProblem('napi', 'tls/server_context.h') ?? '', /napi\/ may include/)
  assert.equal(includeProblem('napi', 'backend/tls_contexts.h'), null)
})

test('the layer check lets nothing but numbers of fixed size cross between processes', () => {
  const records = 'src/records/records.h'
  assert.deepEqual(crossingProblems(sourceOf(records, 'inline constexpr size_t kBytes = 16;\nenum class Type : uint8_t {\n  kOpen = 1,  // A std::string*\n};\n')), [])
  assert.deepEqual(crossingProblems(sourceOf('src/records/replies.h', 'struct A {\n  std::string_view head;\n};\n')), [])
  for (const member of ['std::shared_ptr<int> owner;', 'std::function<void()> done;', 'const uint8_t* data;', 'int fd;', 'bool is_on;']) {
    assert.notDeepEqual(crossingProblems(sourceOf(records, `struct Planted {\n  ${member}\n};\n`)), [], member)
  }
})

test('the layer check keeps the state of a process in one file', () => {
  const file = 'src/engine/lane.cc'
  const found = (/** @type {string} */ text) => processProblems(sourceOf(file, text))
  assert.deepEqual(found('static constexpr int kOne = 1;\n  static const bool is_wide = HasAvx2();\nstatic void Run(int count);\n  static Lane* Of(int number) {\n'), [])
  assert.deepEqual(found('class Lane;\nusing Lanes = std::vector<Lane>;\nint Lane::Start(int first) {\n  int second = first;\n  return second;\n}\n'), [])
  assert.deepEqual(processProblems(sourceOf('src/base/process.h', 'static T* const it = new T();\nstd::getenv(name);\n')), [])
  for (const planted of ['  const char* set = std::getenv("X");', '  std::atexit([] {});', '  static std::mutex mutex;', '  static auto* all = new Lanes;',
    'std::atomic<int> count = 0;', 'int count;', 'Lanes lanes{};', 'thread_local int depth = 0;', 'inline std::vector<int> all;', '  static Lane* const lane = new Lane();']) {
    assert.equal(found(`${planted}\n`).length, 1, planted)
  }
})

test('the layer check lets one function alone end the process for a reply', () => {
  const planted = (/** @type {string} */ file) => endingProblems(sourceOf(file, '  HTTPSYS_CHECK(lent_->Find(id, &view));\n'))
  for (const file of ['src/engine/http1/http1_replies.cc', 'src/engine/reply_processor.cc', 'src/engine/websocket/websocket_session.cc', 'src/win/reply_handler.cc']) {
    assert.match(planted(file).join(), /ends the process for a reply/, file)
  }
  assert.deepEqual(planted('src/engine/connection/connection.h'), [])
  assert.match(endingProblems(sourceOf('src/engine/lane.cc', '  std::abort();\n')).join(), /ends the process/)
  assert.deepEqual(endingProblems(sourceOf('src/records/reply_reader.cc', '  std::abort();\n')), [])
})

test('the layer check refuses a using-declaration that its file does not need', () => {
  const declaration = 'using records::Field;\n'
  assert.match(usingProblems(sourceOf('src/engine/lane.cc', `${declaration}// Field\n`)).join(), /no use for 'using records::Field;'/)
  assert.deepEqual(usingProblems(sourceOf('src/engine/lane.cc', `${declaration}Field field;\n`)), [])
})

test('the layer check wants every argument of a backend to be encoded', () => {
  const backend = 'struct Given {\n};\nclass Backend {\n public:\n  virtual RequestQueue& requests(size_t lane) = 0;\n  virtual int Configure(uint32_t id, Given given) = 0;\n};\n'
  assert.deepEqual(argumentProblems(backend, 'static_assert(TakesValues(&Backend::Configure));\ntesting::Types<Given>'), [])
  assert.match(argumentProblems(backend, 'testing::Types<Given>').join(), /Backend::Configure/)
  assert.match(argumentProblems(backend, 'static_assert(TakesValues(&Backend::Configure));').join(), /Given/)
})

test('docs/internals/architecture.md shows the protocol that reads each phase', () => {
  const [, section] = fs.readFileSync(path.join(kRoot, 'docs', 'internals', 'architecture.md'), 'utf8').split('## Protocols')
  const rows = [...section.split('\n## ')[0].matchAll(/^\| (`k.+`) \| (?:`(\S+)`|none: .+) \|$/gm)]
  const shown = rows.flatMap(([, phases, file]) => namesIn(phases).map((phase) => [phase, file]))
  const protocols = protocolsOf(path.join(kRoot, 'packages', 'core-native', 'src', 'engine'))
  assert.ok(protocols.size >= 17)
  assert.deepEqual(new Map([...shown].sort()), new Map(phasesOf(readPhases()).map((phase) => [phase, protocols.get(phase)]).sort()))
  assert.equal(shown.length, new Map(/** @type {[string, string][]} */ (shown)).size)
})

test('docs/internals/architecture.md shows the phases that may follow each phase', () => {
  const header = readPhases()
  const [, section] = fs.readFileSync(path.join(kRoot, 'docs', 'internals', 'architecture.md'), 'utf8').split('## Phases')
  const shown = [...section.split('\n## ')[0].matchAll(/^\| `(k\w+)` \| .+ \| (`k.+`) \|$/gm)]
    .map(([, phase, next]) => [phase, namesIn(next)])
  const groups = [...header.matchAll(/((?:\s*case k\w+:)+)(?:\s*\/\/.*)*\s*return PhasesOf\(\s*\{([^}]*)\}\)/g)]
  const next = new Map(groups.flatMap(([, cases, names]) => namesIn(cases).map((phase) => [phase, namesIn(names)])))
  assert.deepEqual(shown, phasesOf(header).map((phase) => [phase, next.get(phase)]))
})

test('docs/internals/architecture.md shows the table of the layer check', () => {
  const [, section] = fs.readFileSync(path.join(kRoot, 'docs', 'internals', 'architecture.md'), 'utf8').split('## Rooms\n')
  const rows = [...section.split('\n## ')[0].matchAll(/^\| `(\S+)` \| .+ \| (.+) \|$/gm)]
  const shown = rows.map(([, room, mayInclude]) => [room, [...mayInclude.matchAll(/`(\S+?)`/g)].map(([, other]) => other)])
  assert.deepEqual(shown, Object.entries(kRooms))
})

test('the lock file names no registry host', () => {
  const lock = fs.readFileSync(path.join(kRoot, 'package-lock.json'), 'utf8')
  assert.doesNotMatch(lock, /"resolved": "https?:/)
})

test('the versions of WebSocket libraries in docs/compatibility.md are those that the tests run on', () => {
  const { devDependencies } = JSON.parse(fs.readFileSync(path.join(kRoot, 'package.json'), 'utf8'))
  const [, table] = fs.readFileSync(path.join(kRoot, 'docs', 'compatibility.md'), 'utf8').split('## WebSocket libraries')
  const rows = [...table.split('\n## ')[0].matchAll(/^\| (\S+) \| (\d\S*) \|/gm)]
  assert.ok(rows.length >= 10)
  for (const [, name, version] of rows) assert.equal(version, devDependencies[name], name)
})

test('every npm command that the documents name exists', () => {
  const { scripts: known } = JSON.parse(fs.readFileSync(path.join(kRoot, 'package.json'), 'utf8'))
  for (const file of ['README.md', 'CONTRIBUTING.md', '.github/workflows/ci.yml']) {
    const named = scripts(fs.readFileSync(path.join(kRoot, file), 'utf8'))
    assert.ok(named.length > 0)
    for (const name of named) assert.ok(Object.hasOwn(known, name), `${file}: npm run ${name}`)
  }
})

test('npm test builds and runs the behaviour of all backends where HTTP.SYS is, and everything elsewhere', () => {
  assert.deepEqual(stepsOn('win32').map(({ name }) => name), ['npm packages', 'build the addon', 'behaviour of HTTP.SYS beside stock Node'])
  assert.ok(stepsOn('linux').length >= 8)
  assert.deepEqual(stepsOn('darwin'), stepsOn('linux'))
})

test('npm test leaves out what takes long, npm test -- --all nothing', () => {
  const names = (/** @type {boolean} */ all) => stepsOn('linux', all).map(({ name }) => name)
  const short = names(false)
  const whole = names(true)
  assert.deepEqual(whole.filter((name) => short.includes(name)), short)
  for (const needed of ['build the addon', 'lint and layers', 'C++ format', 'types', /address/, 'JavaScript tests on the engine', /h2spec/]) {
    assert.ok(short.some((name) => typeof needed === 'string' ? name === needed : needed.test(name)), String(needed))
  }
  for (const long of [/clang-tidy/, /thread sanitizer/, /fuzzers/, /stock Node/, /Node 24/, /sslyze/, /hadolint/, /Wine/, /other people/]) {
    assert.ok(!short.some((name) => long.test(name)), String(long))
    assert.ok(whole.some((name) => long.test(name)), String(long))
  }
  assert.deepEqual(parseArgs([]), { all: false })
  assert.deepEqual(parseArgs(['--all']), { all: true })
  assert.equal(parseArgs(['--al']), null)
  assert.match(fs.readFileSync(path.join(kRoot, '.ci', 'run'), 'utf8'), /^exec npm test -- --all$/m)
})

test('a step says where it is; one that fails fails the run, the others run, what failed and the counts come last', async () => {
  /** @type {string[]} */
  const lines = []
  const tally = { passed: 3, failed: 0, skipped: 1 }
  const bad = { passed: 1, failed: 1, skipped: 0, failures: ['a test\n  at its line'] }
  let running = 0
  let most = 0
  const busy = async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
  }
  const isGood = await runSteps([
    { name: 'one', work: async () => tally },
    { name: 'two', work: async () => { throw Object.assign(new Error('no'), { tally: bad }) } },
    { name: 'three', work: busy },
    { name: 'four', work: busy, beside: true },
    { name: 'five', work: busy },
  ], (line) => lines.push(line))
  assert.equal(isGood, false)
  assert.equal(most, 2)
  assert.equal(lines[1], '\n[2/5] two')
  assert.equal(lines[2], 'two: no')
  assert.equal(lines[3], '\n[3/5] three\n[4/5] four')
  assert.equal(lines[5], '\ntwo: no\n  FAILED a test\n      at its line')
  assert.match(lines[6], /ok .* one\nFAILED .* two\nok .* three\nok .* four\nok .* five/)
  assert.equal(lines.at(-1), '4 passed, 1 failed, 1 skipped')
})

test('nothing is run after an essential step has failed', async () => {
  let ran = false
  const isGood = await runSteps([
    { name: 'one', work: async () => { throw new Error('no') }, essential: true },
    { name: 'two', work: async () => { ran = true } },
  ], () => {})
  assert.deepEqual([isGood, ran], [false, false])
})

test('the layer check lets only one room read the words of a record', () => {
  const text = 'const uint32_t id = LoadField<records::kBlockBlockId>(record);'
  const other = 'win/reply_handler.cc'
  assert.deepEqual(wordProblems([{ file: 'records/replies.cc', room: 'records', text }]), [])
  assert.match(wordProblems([{ file: other, room: 'win', text }]).join(), /^win\/reply_handler\.cc reads/)
})

test('phrases that are hard to read are found in comments and prose, across lines, with the line where they begin', () => {
  const found = (/** @type {string} */ name, /** @type {string} */ text) => plainWords.kBudget.map(([, pattern]) => plainWords.findIn(name, text, pattern))
  assert.deepEqual(found('a.cc', 'Told();  // Nobody waits. Who asks?\n// It may\n// not be told.\nsay(\'What is told for ever\');\n'), [[1], [], [2], [], []])
  assert.deepEqual(found('a.js', '/**\n * Text. What is\n * told, those of x */\nrun(1) // for ever\n'), [[2], [2], [], [4], [3]])
  assert.deepEqual(found('a.md', '# What is it\n\n```\nfor ever\n```\n* Whoever reads\n* Is it? Who reads\n| What is |\n'), [[6, 7, 8], [], [], [], []])
})

test('all packages have one version, and depend on each other in it', () => {
  const { version } = JSON.parse(fs.readFileSync(path.join(kRoot, 'lerna.json'), 'utf8'))
  for (const name of fs.readdirSync(path.join(kRoot, 'packages'))) {
    const manifest = JSON.parse(fs.readFileSync(path.join(kRoot, 'packages', name, 'package.json'), 'utf8'))
    assert.equal(manifest.version, version)
    for (const [dependency, wanted] of Object.entries(manifest.dependencies)) {
      if (dependency.startsWith('@httpsys/')) assert.equal(wanted, version)
    }
  }
})

test('the benchmark takes the median and keeps the range', () => {
  assert.deepEqual(spread([3, 1, 2]), { median: 2, low: 1, high: 3, values: [3, 1, 2] })
  assert.deepEqual(spread([4, 1, 2, 3]), { median: 2.5, low: 1, high: 4, values: [4, 1, 2, 3] })
  // A slow second round costs both sides.
  assert.equal(ratioOf(spread([1, 9, 1]), spread([2, 20, 4])), 0.45)
  assert.equal(ratioOf(spread([1, 2, 3]), spread([4, 4])), 0.5)
})

test('the benchmark claims a throughput only when the server was busy and the load was not', () => {
  const scenario = require('../benchmarks/scenarios/hello')
  const round = {
    requests: 1000,
    requestsPerSecond: 1000,
    units: 1000,
    processCost: 10,
    threadCost: 8,
    disturbed: 0,
    latency: { p50: 1, p99: 1, max: 1 },
    errors: 0,
  }
  const row = (/** @type {string} */ name, /** @type {number} */ serverBusy, /** @type {number} */ clientBusy, cost = 10) =>
    loadRow(scenario, name, [{ ...round, serverBusy, clientBusy, processCost: cost }])
  const node = row('node', 0.99, 0.5)
  assert.equal(node.throughputCounts, true)
  assert.equal(node.saturated, 'server')
  const fast = row('httpsys', 0.8, 0.99, 4)
  assert.equal(fast.throughputCounts, false)
  assert.equal(fast.saturated, 'client')
  assert.equal(row('httpsys', 0.99, 0.95).throughputCounts, false)
  assert.equal(loadRow(scenario, 'node', [{ ...round, serverBusy: 1, clientBusy: 0.5, disturbed: 0.2 }]).throughputCounts, false)
  addRatios([node, fast])
  assert.equal(fast.ratio?.process, 0.4)
})

test('the judgement of a TLS scan: what is old is low, what is broken or was not looked at is high', () => {
  const { judge } = require('../tools/tlsscan')
  const done = (/** @type {any} */ result) => ({ status: 'COMPLETED', result })
  const ciphers = (/** @type {string[]} */ ...names) => done({ accepted_cipher_suites: names.map((name) => ({ cipher_suite: { name } })) })
  const good = {
    ssl_2_0_cipher_suites: ciphers(),
    ssl_3_0_cipher_suites: ciphers(),
    tls_1_0_cipher_suites: ciphers(),
    tls_1_1_cipher_suites: ciphers(),
    tls_1_2_cipher_suites: ciphers('TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_DHE_RSA_WITH_AES_256_GCM_SHA384'),
    tls_1_3_cipher_suites: ciphers('TLS_AES_128_GCM_SHA256'),
    tls_compression: done({ supports_compression: false }),
    openssl_ccs_injection: done({ is_vulnerable_to_ccs_injection: false }),
    tls_fallback_scsv: done({ supports_fallback_scsv: true }),
    heartbleed: done({ is_vulnerable_to_heartbleed: false }),
    robot: done({ robot_result: 'NOT_VULNERABLE_RSA_NOT_SUPPORTED' }),
    session_renegotiation: done({ supports_secure_renegotiation: true, is_vulnerable_to_client_renegotiation_dos: false }),
    tls_extended_master_secret: done({ supports_ems_extension: true }),
    tls_1_3_early_data: done({ supports_early_data: false })
  }
  const levels = (/** @type {any} */ change) => judge({ ...good, ...change }).map(({ level }) => level)
  assert.deepEqual(levels({}), [])
  assert.deepEqual(levels({ tls_1_2_cipher_suites: ciphers('TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_AES_128_GCM_SHA256') }), ['low', 'low'])
  for (const name of ['TLS_RSA_WITH_RC4_128_SHA', 'TLS_ECDH_anon_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_3DES_EDE_CBC_SHA', 'TLS_ECDHE_RSA_WITH_NULL_SHA', 'TLS_DH_RSA_WITH_AES_128_GCM_SHA256']) {
    assert.deepEqual(levels({ tls_1_2_cipher_suites: ciphers(name) }), ['high'], name)
  }
  assert.deepEqual(levels({ tls_1_0_cipher_suites: ciphers('TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA') }), ['high'])
  assert.deepEqual(levels({ heartbleed: { status: 'ERROR_WHEN_RUNNING', result: null } }), ['high'])
  assert.deepEqual(levels({ tls_1_3_early_data: done({ supports_early_data: true }) }), ['high'])
})
