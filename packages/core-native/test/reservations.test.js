'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const {
  addReservation, checkRegistration, deleteReservation, findRefusal, listReservations, reservationsFile,
  reservationsOfPort, watchReservations, whoAmI
} = require('../lib/prefixes/reservations')
const { rewriteReservations } = require('../lib/prefixes/reservations-file')

/** A path for reservations that are this test's. */
function useFile (t, content) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-urlacl-'))
  const before = process.env.HTTPSYS_URLACL
  process.env.HTTPSYS_URLACL = path.join(folder, 'sub', 'urlacl.json')
  t.after(() => {
    if (before === undefined) delete process.env.HTTPSYS_URLACL
    else process.env.HTTPSYS_URLACL = before
    fs.rmSync(folder, { recursive: true, force: true })
  })
  if (content !== undefined) write(content)
  return process.env.HTTPSYS_URLACL
}

function write (content) {
  fs.mkdirSync(path.dirname(process.env.HTTPSYS_URLACL), { recursive: true })
  fs.writeFileSync(process.env.HTTPSYS_URLACL, typeof content === 'string' ? content : JSON.stringify(content))
}

const app = (name) => ({ uid: 4242, userName: 'someone', app: name })
const file = (...reservations) => ({ version: 1, reservations })
const reserved = (prefix, ...names) => ({ prefix, register: names.map((name) => `app:${name}`) })
const eacces = { code: 'EACCES' }

/** The registration vectors of the documentation of HTTP.SYS: R1 and R2. */
function useVectors (t) {
  useFile(t)
  const both = (...names) => ({ register: names, delegate: names })
  addReservation('http://+:80/vroot/subdir/', both('app:A', 'app:C'))
  addReservation('http://adatum.com:80/vroot/', both('app:B'))
}

test('registering needs the longest covering reservation of the same category and host', (t) => {
  useVectors(t)
  assert.throws(() => checkRegistration('http://+:80/vroot/subdir/', app('B')), eacces)
  checkRegistration('http://+:80/vroot/subdir/', app('A'))
  checkRegistration('http://+:80/vroot/subdir/', app('C'))
  checkRegistration('http://adatum.com:80/vroot/subdir/', app('B'))
  assert.throws(() => checkRegistration('http://adatum.com:80/vroot/subdir/', app('C')), eacces)
  checkRegistration('http://adatum.com:80/vroot/anotherdir/', app('B'))
})

test('reserving below a reservation needs its delegate right', (t) => {
  useVectors(t)
  const by = (name) => ({ as: app(name) })
  const forE = { register: ['app:E'] }
  addReservation('http://adatum.com:80/vroot/subdir/otherdir/', { register: ['app:C'] }, by('B'))
  checkRegistration('http://adatum.com:80/vroot/subdir/otherdir/', app('C'))
  assert.throws(() => checkRegistration('http://adatum.com:80/vroot/subdir/otherdir/', app('B')), eacces, 'the longest decides')
  deleteReservation('http://adatum.com:80/vroot/subdir/otherdir/', by('B'))
  assert.throws(() => addReservation('http://adatum.com:80/vroot/subdir/otherdir/', forE, by('A')), eacces)
  addReservation('http://+:80/vroot/subdir/otherdir/', forE, by('A'))
  checkRegistration('http://+:80/vroot/subdir/otherdir/', app('E'))
  assert.throws(() => addReservation('http://+:80/vroot/subdir/', forE), { code: 'EEXIST' }, 'a duplicate, by the administrator')
  assert.throws(() => addReservation('http://adatum.com:80/newroot/', forE, by('A')), eacces, 'a root one')
  addReservation('http://adatum.com:80/newroot/', forE)
})

test('deleting a reservation needs the right that making it needs', (t) => {
  useVectors(t)
  addReservation('http://+:80/vroot/subdir/x/', { register: ['app:X'], delegate: ['app:X'] })
  assert.throws(() => deleteReservation('http://+:80/vroot/subdir/x/', { as: app('X') }), eacces, 'its own right is none to itself')
  assert.equal(deleteReservation('http://+:80/VROOT/subdir/x', { as: app('A') }).prefix, 'http://+:80/vroot/subdir/x/')
  assert.throws(() => deleteReservation('http://+:80/vroot/subdir/x/'), { code: 'ENOENT' })
  assert.throws(() => deleteReservation('http://+:80/vroot/subdir/', { as: app('A') }), eacces, 'a root one')
  deleteReservation('http://+:80/vroot/subdir/')
  assert.equal(listReservations().length, 1)
})

test('what no reservation covers may be registered by everybody', (t) => {
  useVectors(t)
  for (const prefix of ['http://+:80/', 'http://+:80/vroot/', 'http://+:80/vroot/subdirs/', 'http://+:8080/vroot/subdir/',
    'http://*:80/vroot/subdir/', 'http://other.com:80/vroot/', 'http://*.adatum.com:80/vroot/', 'http://127.0.0.1:80/vroot/subdir/']) {
    checkRegistration(prefix, app('Z'))
  }
  fs.rmSync(process.env.HTTPSYS_URLACL)
  checkRegistration('http://+:80/vroot/subdir/', app('Z'))
})

test('paths are compared without case, decoded and at segment boundaries, as requests are', (t) => {
  useFile(t, file(reserved('http://*:80/Base Path/caf\u00e9/', 'A')))
  for (const path of ['base%20path/CAF%C3%89/', 'x/../base path/caf\u00e9/below']) {
    assert.throws(() => checkRegistration(`http://*:80/${path}`, app('B')), eacces, path)
  }
  checkRegistration('http://*:80/base path/caf\u00e9s/', app('B'))
  checkRegistration('http://*:80/base path%2Fcaf\u00e9/', app('B'))
  assert.throws(() => addReservation('http://*:80/BASE%20path/caf\u00e9/', { register: [] }), { code: 'EEXIST' })
})

test('a port that is reserved for one scheme refuses the other', (t) => {
  useFile(t, file(reserved('https://*:8443/a/', 'A')))
  assert.throws(() => checkRegistration('http://+:8443/b/', app('A')), eacces)
  assert.throws(() => addReservation('http://+:8443/b/', { register: [] }), { code: 'EEXIST' })
  checkRegistration('https://+:8443/b/', app('B'))
})

test('a principal is an application, a user by name, or a user by number', (t) => {
  useFile(t, file({ prefix: 'http://*:80/', register: ['app:A', 'user:someone', 'user:7'] }))
  checkRegistration('http://*:80/', { uid: 1, userName: 'other', app: 'A' })
  checkRegistration('http://*:80/', { uid: 1, userName: 'someone', app: 'B' })
  checkRegistration('http://*:80/', { uid: 7, userName: undefined, app: 'B' })
  for (const who of [{ uid: 1, userName: 'A', app: 'a' }, { uid: 77, userName: 'some', app: 'someone' }]) {
    assert.throws(() => checkRegistration('http://*:80/', who), eacces)
  }
})

test('an application is named by its queue, else the environment, else as what its main script is started', (t) => {
  const before = process.env.HTTPSYS_APP
  t.after(() => {
    if (before === undefined) delete process.env.HTTPSYS_APP
    else process.env.HTTPSYS_APP = before
  })
  process.env.HTTPSYS_APP = 'shop'
  assert.equal(whoAmI({ queueName: 'carts' }).app, 'carts')
  assert.equal(whoAmI().app, 'shop')
  delete process.env.HTTPSYS_APP
  assert.equal(whoAmI().app, 'core-native/test/reservations.test.js')
  assert.equal(whoAmI().uid, process.geteuid?.() ?? -1)
})

test('a refusal names the prefix, the reservation, the file, and who asked', (t) => {
  const name = useFile(t, file(reserved('http://*:80/shop', 'shop')))
  const refusal = findRefusal('http://*/Shop/cart', app('blog'))
  assert.equal(refusal.code, 'EACCES')
  assert.equal(refusal.errno, -os.constants.errno.EACCES)
  assert.equal(refusal.syscall, 'listen')
  assert.equal(refusal.prefix, 'http://*:80/Shop/cart/')
  assert.equal(refusal.reservation, 'http://*:80/shop/')
  assert.equal(refusal.file, name)
  assert.ok(refusal.message.includes(`"http://*:80/shop/" is reserved for app:shop in ${name}, and this is app:blog of user:someone`))
  assert.equal(findRefusal('http://*/Shop/cart', app('shop')), null)
})

test('reserved prefixes are told by port', (t) => {
  useFile(t, file(reserved('http://*:80/a', 'A'), reserved('http://*:81/b', 'A'), reserved('http://h/c', 'A')))
  assert.deepEqual(reservationsOfPort(80), ['http://*:80/a/', 'http://h:80/c/'])
  assert.deepEqual(reservationsOfPort(82), [])
})

test('a change of the file counts from the next question on, also with the same length', (t) => {
  useFile(t, file(reserved('http://*:80/', 'A')))
  checkRegistration('http://*:80/', app('A'))
  fs.writeFileSync(`${process.env.HTTPSYS_URLACL}.other`, JSON.stringify(file(reserved('http://*:80/', 'B'))))
  fs.renameSync(`${process.env.HTTPSYS_URLACL}.other`, process.env.HTTPSYS_URLACL)
  assert.throws(() => checkRegistration('http://*:80/', app('A')), eacces)
  checkRegistration('http://*:80/', app('B'))
})

test('the file is written for people, with mode 0600, and no trace of the writing stays', (t) => {
  const name = useFile(t)
  addReservation('http://*:80/a', { register: ['app:A'], delegate: ['user:0'], comment: 'why' })
  assert.equal(fs.readFileSync(name, 'utf8'), `{
  "version": 1,
  "reservations": [
    {
      "prefix": "http://*:80/a/",
      "register": [
        "app:A"
      ],
      "delegate": [
        "user:0"
      ],
      "comment": "why"
    }
  ]
}
`)
  assert.equal(fs.statSync(name).mode & 0o777, 0o600)
  fs.chmodSync(name, 0o666)
  addReservation('http://*:80/b', { register: [] })
  assert.equal(fs.statSync(name).mode & 0o777, 0o644, 'readers stay readers, other writers do not')
  assert.deepEqual(fs.readdirSync(path.dirname(name)), ['urlacl.json'])
})

test('a refused change leaves the file as it was', (t) => {
  const name = useFile(t, file(reserved('http://*:80/', 'A')))
  const before = fs.readFileSync(name, 'utf8')
  assert.throws(() => addReservation('http://*:80/', { register: [] }), { code: 'EEXIST' })
  assert.throws(() => addReservation('http://*:80/x', { register: ['nobody'] }), { code: 'ERR_INVALID_ARG_VALUE' })
  assert.throws(() => addReservation('*:80', { register: [] }), { code: 'ERR_HTTPSYS_PREFIX_SYNTAX' })
  assert.throws(() => deleteReservation('http://*:80/x'), { code: 'ENOENT' })
  assert.equal(fs.readFileSync(name, 'utf8'), before)
  assert.deepEqual(fs.readdirSync(path.dirname(name)), ['urlacl.json'])
})

test('a file behind a symbolic link is written where it is', (t) => {
  const name = useFile(t, file())
  const real = path.join(path.dirname(name), 'real.json')
  fs.renameSync(name, real)
  fs.symlinkSync(real, name)
  addReservation('http://*:80/', { register: [] })
  assert.ok(fs.lstatSync(name).isSymbolicLink())
  assert.match(fs.readFileSync(real, 'utf8'), /http:\/\/\*:80\//)
})

test('reservations of processes that write at the same time are all kept', async (t) => {
  useFile(t)
  const program = `
    const { addReservation } = require(${JSON.stringify(path.join(__dirname, '../lib/prefixes/reservations'))})
    for (let i = 0; i < 10; i++) addReservation('http://*:80/' + process.argv[1] + '/' + i, { register: [] })`
  const children = ['a', 'b', 'c'].map((name) => spawn(process.execPath, ['-e', program, name], { stdio: 'inherit' }))
  for (const [code] of await Promise.all(children.map((child) => once(child, 'exit')))) assert.equal(code, 0)
  assert.equal(listReservations().length, 30)
})

test('what a writer that died left behind is in nobody\'s way for long', (t) => {
  const name = useFile(t, file())
  fs.writeFileSync(`${name}.new`, '{')
  fs.utimesSync(`${name}.new`, 0, 0)
  addReservation('http://*:80/', { register: [] })
  assert.equal(listReservations().length, 1)
})

test('of several that find what a dead writer left behind each writes', async (t) => {
  const name = useFile(t, file())
  const program = `
    const { addReservation } = require(${JSON.stringify(path.join(__dirname, '../lib/prefixes/reservations'))})
    addReservation('http://*:80/' + process.argv[1] + '/', { register: [] })`
  fs.writeFileSync(`${name}.new`, '{')
  fs.utimesSync(`${name}.new`, 0, 0)
  const children = ['a', 'b', 'c', 'd'].map((one) => spawn(process.execPath, ['-e', program, one], { stdio: 'inherit' }))
  for (const [code] of await Promise.all(children.map((child) => once(child, 'exit')))) assert.equal(code, 0)
  assert.equal(listReservations().length, 4)
  assert.deepEqual(fs.readdirSync(path.dirname(name)), [path.basename(name)])
})

test('a writer that stood still too long puts nothing of the next writer in place, and takes nothing from it', (t) => {
  const name = useFile(t, file())
  const before = fs.readFileSync(name, 'utf8')
  let calls = 0
  assert.throws(() => rewriteReservations(name, () => {
    calls++
    fs.rmSync(`${name}.new`)
    fs.writeFileSync(`${name}.new`, '{ "version"')
    return []
  }), { code: 'ERR_HTTPSYS_URLACL', message: /another process is writing it/ })
  assert.equal(fs.readFileSync(name, 'utf8'), before)
  assert.equal(fs.readFileSync(`${name}.new`, 'utf8'), '{ "version"')
  assert.equal(calls, 1)
  // When that one has finished it begins again, with what is there then.
  fs.rmSync(`${name}.new`)
  /** @type {number[]} */
  const seen = []
  rewriteReservations(name, (reservations) => {
    seen.push(reservations.length)
    if (seen.length === 1) {
      fs.rmSync(`${name}.new`)
      write(file(reserved('http://*:80/x/')))
    }
    return [...reservations, { prefix: 'http://*:80/y/', register: [], delegate: [] }]
  })
  assert.deepEqual(seen, [0, 1])
  assert.deepEqual(listReservations().map(({ prefix }) => prefix), ['http://*:80/x/', 'http://*:80/y/'])
})

test('a link that another user has made is followed to files of that user only', { skip: process.geteuid?.() !== 0 && 'only root can make files of other users' }, (t) => {
  const name = useFile(t)
  const real = path.join(path.dirname(name), 'real.json')
  fs.mkdirSync(path.dirname(real))
  fs.writeFileSync(real, '')
  fs.symlinkSync(real, name)
  fs.lchownSync(name, 65534, 65534)
  assert.throws(() => addReservation('http://*:80/', { register: [] }),
    { code: 'ERR_HTTPSYS_URLACL', message: /it is a symbolic link of user 65534 to a file of user 0\. Name the file itself/ })
  assert.equal(fs.readFileSync(real, 'utf8'), '')
  fs.chownSync(real, 65534, 65534)
  addReservation('http://*:80/', { register: [] })
  const { uid, mode } = fs.statSync(real)
  assert.deepEqual([uid, mode & 0o777], [65534, 0o644])
  assert.match(fs.readFileSync(real, 'utf8'), /http:\/\/\*:80\//)
})

const kMalformed = {
  '{\n  "version": 1,\n  "reservations": [],\n}': /: line 4, column 1: a name in double quotes \(no comma stands before "}"\) is expected, not "}"\. /,
  '{\n  // mine\n': /: line 2, column 3: a name in double quotes or "}" is expected, not "\/"/,
  '{ "version": 1, "reservations": [ { "prefix": "http://*/" "register": [] } ] }': /line 1, column 59: "," or "}" is expected, not "\\""/,
  '{ "version": 1': /line 1, column 15: "," or "}" is expected, not the end/,
  '{ "version": 01 }': /line 1, column 15: "," or "}" is expected, not "1"/,
  '{} {}': /line 1, column 4: the end of the file is expected/,
  '[1,]': /line 1, column 4: a value is expected, not "]"/,
  '{ "version": "a\nb" }': /line 1, column 14: a value is expected/,
  '[]': /the file is \[\]\. Make it an object with "version", "reservations"/,
  '{ "version": 1, "reservation": [] }': /has a field "reservation"\. Did you mean "reservations"\?/,
  '{ "reservations": [] }': /has no "version"/,
  '{ "version": 2, "reservations": [] }': /version is 2\. This version of httpsys reads version 1/,
  '{ "version": 1, "reservations": {} }': /reservations is no array/,
  '{ "version": 1, "reservations": [7] }': /reservations\[0\] is 7/,
  '{ "version": 1, "reservations": [{ "prefix": "http://*/" }] }': /reservations\[0\] has no "register"/,
  '{ "version": 1, "reservations": [{ "prefix": 7, "register": [] }] }': /reservations\[0\]\.prefix is 7/,
  '{ "version": 1, "reservations": [{ "prefix": "*:80/", "register": [] }] }': /reservations\[0\]\.prefix: "\*:80\/" is not a URL prefix/,
  '{ "version": 1, "reservations": [{ "prefix": "http://*/", "register": "app:a" }] }': /reservations\[0\]\.register is no array/,
  '{ "version": 1, "reservations": [{ "prefix": "http://*/", "register": ["a"] }] }': /reservations\[0\]\.register\[0\] is "a"\. It must be "app:<name>"/,
  '{ "version": 1, "reservations": [{ "prefix": "http://*/", "register": [], "delegate": [null] }] }': /delegate\[0\] is null/,
  '{ "version": 1, "reservations": [{ "prefix": "http://*/", "register": [], "comment": 1 }] }': /comment is 1/,
  '{ "version": 1, "reservations": [{ "prefix": "http://*/", "register": [], "__proto__": 1 }] }': /has a field "__proto__"/,
  '{ "version": 1, "reservations": [{ "prefix": "http://*/a", "register": [] }, { "prefix": "http://*:80/A/", "register": [] }] }':
    /reservations\[1\]\.prefix is the same as reservations\[0\]\.prefix/
}

test('a malformed file is refused with its name, the line or field, and the cure', (t) => {
  const name = useFile(t)
  for (const [content, problem] of Object.entries(kMalformed)) {
    write(content)
    const told = (/** @type {any} */ error) => {
      assert.equal(error.code, 'ERR_HTTPSYS_URLACL')
      assert.equal(error.file, name)
      assert.ok(error.message.includes(name))
      assert.match(error.message, problem)
      return true
    }
    assert.throws(() => checkRegistration('http://h/', app('A')), told, content)
    assert.throws(() => listReservations(), told, content)
    assert.throws(() => addReservation('http://h/', { register: [] }), told, content)
    assert.equal(fs.readFileSync(name, 'utf8'), content, 'it is the user\'s to correct')
  }
})

test('an empty file reserves nothing', (t) => {
  useFile(t, '\n')
  assert.deepEqual(listReservations(), [])
})

test('a file that is no file, too long, or not UTF-8 is refused', (t) => {
  const name = useFile(t, '')
  fs.writeFileSync(name, Buffer.from([0x22, 0xff, 0x22]))
  assert.throws(() => listReservations(), { code: 'ERR_HTTPSYS_URLACL', message: /not UTF-8/ })
  fs.writeFileSync(name, ' '.repeat(1024 * 1024 + 1))
  assert.throws(() => listReservations(), { code: 'ERR_HTTPSYS_URLACL', message: /longer than 1048576 bytes/ })
  fs.rmSync(name)
  fs.mkdirSync(name)
  assert.throws(() => listReservations(), { code: 'ERR_HTTPSYS_URLACL', message: /not a regular file/ })
})

/** Runs as a user whom the mode of files concerns, which it does not concern root. */
function asOrdinaryUser (callback) {
  const root = process.geteuid?.() === 0
  if (root) process.seteuid(65534)
  try {
    return callback()
  } finally {
    if (root) process.seteuid(0)
  }
}

test('a file that this user may not read is refused', (t) => {
  const name = useFile(t, file())
  fs.chmodSync(name, 0)
  asOrdinaryUser(() => assert.throws(() => listReservations(), { code: 'ERR_HTTPSYS_URLACL', message: /cannot be read/ }))
})

test('only its owner and root write the file, and root leaves it to its owner', { skip: process.geteuid?.() !== 0 && 'needs two users' }, (t) => {
  const name = useFile(t, file())
  fs.chmodSync(path.join(name, '../..'), 0o755)
  fs.chmodSync(path.dirname(name), 0o777)
  fs.chmodSync(name, 0o644)
  asOrdinaryUser(() => assert.throws(() => addReservation('http://*/', { register: [] }), { code: 'EACCES', message: /belongs to uid 0, and this is uid 65534/ }))
  fs.chownSync(name, 65534, 65534)
  addReservation('http://*/', { register: [] })
  assert.deepEqual([fs.statSync(name).uid, fs.statSync(name).gid], [65534, 65534])
  asOrdinaryUser(() => deleteReservation('http://*/'))
})

test('the file is named by HTTPSYS_URLACL, else lies in the user\'s configuration folder', (t) => {
  useFile(t)
  const before = process.env.XDG_CONFIG_HOME
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME
    else process.env.XDG_CONFIG_HOME = before
  })
  process.env.HTTPSYS_URLACL = 'urlacl.json'
  assert.throws(() => checkRegistration('http://*/', app('A')), { code: 'ERR_HTTPSYS_ENVIRONMENT', variable: 'HTTPSYS_URLACL' })
  process.env.HTTPSYS_URLACL = ''
  process.env.XDG_CONFIG_HOME = path.resolve('/config')
  assert.equal(reservationsFile(), path.resolve('/config/httpsys/urlacl.json'))
  process.env.XDG_CONFIG_HOME = 'relative'
  assert.equal(reservationsFile(), path.join(os.homedir(), '.config', 'httpsys', 'urlacl.json'))
})

/** What a watch says, as an async queue. */
function watch (t) {
  const told = []
  let wake = () => {}
  t.after(watchReservations((error) => {
    told.push(error)
    wake()
  }))
  return async () => {
    if (told.length === 0) await new Promise((resolve) => { wake = resolve })
    return told.shift()
  }
}

test('a watch tells of a file that comes, changes, breaks, is mended, and goes', { timeout: 30_000 }, async (t) => {
  const name = useFile(t)
  const next = watch(t)
  const keepAlive = setInterval(() => {}, 1000) // A watch does not keep the process running.
  t.after(() => clearInterval(keepAlive))

  addReservation('http://*:80/a/', { register: ['app:A'] }) // Its folder was not there.
  assert.equal(await next(), null)
  assert.notEqual(findRefusal('http://*:80/a/', app('B')), null)

  deleteReservation('http://*:80/a/')
  assert.equal(await next(), null)
  assert.equal(findRefusal('http://*:80/a/', app('B')), null)

  addReservation('http://*:80/b/', { register: ['app:A'] })
  assert.equal(await next(), null)
  fs.writeFileSync(`${name}.edited`, '{')
  fs.renameSync(`${name}.edited`, name)
  assert.equal((await next()).code, 'ERR_HTTPSYS_URLACL')
  assert.deepEqual(reservationsOfPort(80), ['http://*:80/b/'], 'what was in force stays so')

  fs.writeFileSync(`${name}.edited`, JSON.stringify(file(reserved('http://*:80/c/', 'A'))))
  fs.renameSync(`${name}.edited`, name)
  assert.equal(await next(), null)
  assert.deepEqual(reservationsOfPort(80), ['http://*:80/c/'])

  fs.rmSync(path.dirname(name), { recursive: true })
  assert.equal(await next(), null)
  assert.deepEqual(reservationsOfPort(80), [])
})

test('a watch does not keep the process running', async (t) => {
  useFile(t, file())
  const program = `require(${JSON.stringify(path.join(__dirname, '../lib/prefixes/reservations'))}).watchReservations(() => {})`
  const [code] = await once(spawn(process.execPath, ['-e', program], { stdio: 'inherit' }), 'exit')
  assert.equal(code, 0)
})

test('a thousand prefixes beside ten thousand reservations are checked in a moment', (t) => {
  useFile(t, file(...Array.from({ length: 10_000 }, (_, i) => reserved(`http://*:80/${i}/`, 'A'))))
  checkRegistration('http://*:80/x', app('A'))
  const begin = process.cpuUsage()
  for (let i = 0; i < 1000; i++) checkRegistration(`http://*:80/${i}/below/it/`, app('A'))
  const { user, system } = process.cpuUsage(begin)
  assert.ok(user + system < 1_000_000, `${user + system} µs`)
})
