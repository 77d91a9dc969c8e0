'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { httpsys, makeFolder } = require('./support')

/** A command line with reservations of its own. */
function commandLine (t) {
  const file = path.join(makeFolder(t), 'urlacl.json')
  return { file, run: (...args) => httpsys(args, { HTTPSYS_URLACL: file }) }
}

test('a reservation is added, shown, kept in the file, and deleted', async (t) => {
  const { file, run } = commandLine(t)
  assert.deepEqual(await run('add', 'urlacl', 'http://*:8080/Shop', '--app', 'shop', '--user', 'deploy', '--app', 'carts', '--comment', 'why'),
    { code: 0, out: 'Reserved http://*:8080/Shop/ for app:shop, app:carts, user:deploy.\n', err: '' })
  assert.deepEqual(JSON.parse(fs.readFileSync(file, 'utf8')), {
    version: 1,
    reservations: [{ prefix: 'http://*:8080/Shop/', register: ['app:shop', 'app:carts', 'user:deploy'], delegate: [], comment: 'why' }]
  })
  assert.equal((await run('show', 'urlacl')).out, `Reserved in ${file}:

PREFIX               MAY REGISTER                      MAY RESERVE BELOW  COMMENT
http://*:8080/Shop/  app:shop, app:carts, user:deploy                     why
`)
  const { out } = await run('show', 'urlacl', '--json')
  assert.deepEqual(JSON.parse(out), { ...JSON.parse(fs.readFileSync(file, 'utf8')), file })
  assert.deepEqual(await run('delete', 'urlacl', 'http://*:8080/shop/'), {
    code: 0,
    out: 'Deleted the reservation of http://*:8080/Shop/, which was for app:shop, app:carts, user:deploy.\n',
    err: ''
  })
  assert.deepEqual(JSON.parse(fs.readFileSync(file, 'utf8')).reservations, [])
})

test('an application with the delegate right reserves below its reservation, others do not', async (t) => {
  const { run } = commandLine(t)
  assert.equal((await run('add', 'urlacl', 'http://*:80/a/', '--app', 'A', '--delegate')).code, 0)
  assert.equal((await run('add', 'urlacl', 'http://*:80/a/b/', '--app', 'B', '--as', 'A')).code, 0)
  const refused = await run('add', 'urlacl', 'http://*:80/a/c/', '--app', 'C', '--as', 'B')
  assert.equal(refused.code, 1)
  assert.match(refused.err, /^httpsys: The reservation of "http:\/\/\*:80\/a\/c\/" in .* cannot be changed: "http:\/\/\*:80\/a\/" above it .*app:A, and this is app:B\n$/)
  assert.equal((await run('delete', 'urlacl', 'http://*:80/a/', '--as', 'A')).code, 1)
  assert.equal((await run('delete', 'urlacl', 'http://*:80/a/b/', '--as', 'A')).code, 0)
})

test('without reservations the answer says what that means', async (t) => {
  const { file, run } = commandLine(t)
  assert.deepEqual(await run('show', 'urlacl'),
    { code: 0, out: `Nothing is reserved (${file}, which does not exist): every process of this user may register every prefix.\n`, err: '' })
  fs.writeFileSync(file, '')
  assert.match((await run('show', 'urlacl')).out, /^Nothing is reserved \([^,]*urlacl\.json\): /)
})

test('what fails exits with 1 and one line that says why', async (t) => {
  const { file, run } = commandLine(t)
  assert.equal((await run('add', 'urlacl', 'http://*/', '--app', 'A')).code, 0)
  const failures = [
    [['add', 'urlacl', 'http://*:80/', '--app', 'B'], /^httpsys: "http:\/\/\*:80\/" is already reserved for app:A in .*delete that reservation first\n$/],
    [['delete', 'urlacl', 'http://h/'], /^httpsys: "http:\/\/h:80\/" is not reserved in .*; "httpsys show urlacl" lists what is\n$/]
  ]
  for (const [args, message] of failures) {
    const { code, out, err } = await run(...args)
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, message)
  }
  fs.writeFileSync(file, '{\n  "version": 1,\n}')
  const { code, err } = await run('show', 'urlacl')
  assert.equal(code, 1)
  assert.match(err, /^httpsys: The reservations in .*urlacl\.json cannot be used: line 3, column 1: .*\n$/)
})

test('what is not understood exits with 2 and points to the help', async (t) => {
  const { file, run } = commandLine(t)
  const mistakes = [
    [['add', 'urlacl', '*:80', '--app', 'A'], /^httpsys: "\*:80" is not a URL prefix: /],
    [['add', 'urlacl', 'http://*/'], /^httpsys: name who may register it, with --app or --user\n\(--help says more\)\n$/],
    [['add', 'urlacl', 'http://*/', '--app', ''], /^httpsys: "app:" must be "app:<name>" or /],
    [['add', 'urlacl', '--app', 'A'], /missing required argument 'prefix'/],
    [['add', 'urlacl', 'http://*/', '--app'], /argument missing/],
    [['add', 'urlacl', 'http://*/', 'http://h/', '--app', 'A'], /too many arguments/],
    [['delete', 'urlacl'], /missing required argument 'prefix'/],
    [['delete', 'urlacls', 'http://*/'], /unknown command 'urlacls'/],
    [['show', 'urlacl', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['shw'], /unknown command 'shw'\n\(Did you mean show\?\)/]
  ]
  for (const [args, message] of mistakes) {
    const { code, out, err } = await run(...args)
    assert.deepEqual([code, out], [2, ''], args.join(' '))
    assert.match(err, message)
  }
  assert.equal(fs.existsSync(file), false)
})

test('a hand-written file cannot command the terminal', async (t) => {
  const { file, run } = commandLine(t)
  fs.writeFileSync(file, JSON.stringify({ version: 1, reservations: [{ prefix: 'http://*/', register: [], comment: 'a\u001b[2Jb' }] }))
  const { out } = await run('show', 'urlacl')
  assert.match(out, /http:\/\/\*:80\/ {2}nobody .* a\ufffd\[2Jb\n/)
})
