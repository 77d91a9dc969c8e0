'use strict'

// The name of a port, under which its processes meet, is anybody's to take: what another user can do with it, and how
// HTTPSYS_RUNTIME_DIRECTORY puts it out of reach.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { Member, Stranger, ask, assertFree, kSkip, kSkipStranger, meetingPlace, member, stateOf, until } = require('./kit')

const kSkipUser = kSkipStranger || (process.geteuid?.() !== 0 && 'only root can act for another user')
const kStranger = 65534
const kCli = path.join(__dirname, '..', '..', 'packages', 'cli', 'bin', 'httpsys.js')

/** How another user keeps the name. @type {Record<string, (name: string) => object>} */
const kHolds = {
  'listens and says nothing': (name) => ({ listen: name, say: '', hangUp: false }),
  'has bound it and does not listen': (name) => ({ bind: name }),
  'listens with a full backlog': (name) => ({ fill: name })
}

/** @param {Member} one @returns {string[]} */
const warnings = (one) => one.output.split('\n').filter((line) => line.includes('HTTPSYS_PORT_UNSHARED'))

/** @param {number} port @param {Stranger} stranger @param {boolean} isListening @param {string} prefix */
function isAbout (port, stranger, isListening, prefix) {
  return (/** @type {any} */ error) => {
    assert.equal(error.code, 'ERR_HTTPSYS_PORT_NAME', error.message)
    const pid = isListening ? stranger.process.pid : 0
    assert.deepEqual([error.uid, error.pid, error.port, error.prefix, error.syscall], [kStranger, pid, port, prefix, 'listen'])
    const look = isListening ? `ps -fp ${pid}` : `ss -xap | grep -F '${meetingPlace(port)}'`
    for (const part of [prefix, `@${meetingPlace(port)},`, `of user ${kStranger}.`, look, 'HTTPSYS_RUNTIME_DIRECTORY']) {
      assert.ok(error.message.includes(part), `${part} in: ${error.message}`)
    }
    return true
  }
}

describe('A port whose name another user has', { skip: kSkipUser }, () => {
  for (const [what, how] of Object.entries(kHolds)) {
    describe(`and ${what}`, () => {
      it('is listened on by listen(port) and exclusive servers, which warn once and name the user', async (t) => {
        const port = await freePort()
        const stranger = new Stranger(t, { uid: kStranger })
        await stranger.tell(how(meetingPlace(port)))
        for (const on of [[port], [port, '127.0.0.1'], [{ port, exclusive: true }], [{ prefix: `http://*:${port}/`, exclusive: true }]]) {
          const a = await member(t, 'a', ...on)
          for (const target of ['/', '/x']) assert.equal((await ask(port, target)).owner, 'a')
          // By the kernel, as on Node.
          const b = await member(t)
          await assert.rejects(b.listen('b', ...on), { code: 'EADDRINUSE' })
          await until(() => warnings(a).length > 0, 'the warning is told')
          await a.close('a')
          await assertFree(port)
          await a.listen('a', ...on)
          assert.equal((await ask(port, '/')).owner, 'a')
          assert.equal(warnings(a).length, 1)
          assert.match(warnings(a)[0], new RegExp(`Port ${port} is not shared .* of user ${kStranger}\\. `))
          await a.kill()
        }
      })

      it('refuses prefixes, naming the user and what helps, until that user lets go', async (t) => {
        const port = await freePort()
        const prefix = `http://*:${port}/a/`
        const stranger = new Stranger(t, { uid: kStranger })
        await stranger.tell(how(meetingPlace(port)))
        const a = await member(t)
        await assert.rejects(a.listen('a', prefix), isAbout(port, stranger, what.includes('says nothing'), prefix))
        await assertFree(port)
        await a.listen('elsewhere', `http://*:${await freePort()}/a/`)
        await assert.rejects(a.tell('addPrefix', { name: 'elsewhere', prefix }), { code: 'ERR_HTTPSYS_PORT_NAME', uid: kStranger })
        await stranger.tell({ listen: null })
        await a.listen('a', prefix)
        const b = await member(t, 'b', `http://*:${port}/b/`)
        for (const [owner, pid] of [['a', a.pid], ['b', b.pid]]) {
          assert.deepEqual(await ask(port, `/${owner}/`).then((answer) => [answer.owner, answer.pid]), [owner, String(pid)])
        }
        assert.deepEqual(warnings(a), [])
      })
    })
  }

  it('is shared by the servers of the process that listens there', async (t) => {
    const port = await freePort()
    const stranger = new Stranger(t, { uid: kStranger })
    await stranger.tell({ bind: meetingPlace(port) })
    const a = await member(t, 'plain', port)
    await a.listen('prefix', `http://*:${port}/p/`)
    await a.tell('addPrefix', { name: 'prefix', prefix: `http://*:${port}/q/` })
    for (const [target, owner] of [['/', 'plain'], ['/p/', 'prefix'], ['/q/', 'prefix']]) assert.equal((await ask(port, target)).owner, owner)
    await assert.rejects(a.listen('other', port), { code: 'EADDRINUSE' })
    await a.close('plain')
    assert.equal((await ask(port, '/q/')).owner, 'prefix')
    assert.equal((await ask(port, '/')).status, 404)
    await a.close('prefix')
    await assertFree(port)
  })

  it('is listened on by the workers of a cluster', async (t) => {
    const port = await freePort()
    const stranger = new Stranger(t, { uid: kStranger })
    await stranger.tell({ bind: meetingPlace(port) })
    const primary = await member(t)
    const pids = await primary.tell('workers', { count: 2, name: 'w', on: [port] })
    const seen = new Set()
    await until(async () => seen.add(Number((await ask(port, '/')).pid)).size === 2, 'both workers answer')
    assert.deepEqual([...seen].sort(), [...pids].sort())
    await primary.tell('endCluster')
  })

  it('goes on being served by its members when they have lost the name, and is joined when it is free again', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const c = await member(t)
    const stranger = new Stranger(t, { uid: kStranger })
    await b.standStill()
    await a.kill()
    await stranger.tell({ bind: meetingPlace(port) })
    b.process.kill('SIGCONT')
    await until(() => warnings(b).length > 0, 'the warning is told')
    assert.match(warnings(b)[0], new RegExp(`Nothing further can be registered on port ${port}, where this process serves on: .* of user ${kStranger}\\. `))
    await assert.rejects(b.tell('addPrefix', { name: 'b', prefix: `http://*:${port}/more/` }), { code: 'ERR_HTTPSYS_PORT_NAME', uid: kStranger })
    await assert.rejects(c.listen('c', `http://*:${port}/c/`), { code: 'ERR_HTTPSYS_PORT_NAME', uid: kStranger })
    assert.equal((await ask(port, '/b/')).owner, 'b')
    await stranger.tell({ listen: null })
    await until(() => c.listen('c', `http://*:${port}/c/`).then(() => true, () => false), 'somebody has the name again')
    for (const owner of ['b', 'c']) assert.equal((await ask(port, `/${owner}/`)).owner, owner)
    assert.equal(warnings(b).length, 1)
  })
})

describe('A port whose name a program of this user has bound that does not listen', { skip: kSkipStranger }, () => {
  it('is listened on by listen(port), with a warning, and refuses prefixes', async (t) => {
    const port = await freePort()
    const stranger = new Stranger(t)
    await stranger.tell({ bind: meetingPlace(port) })
    const a = await member(t)
    await assert.rejects(a.listen('a', `http://*:${port}/a/`), (/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.pid], ['ERR_HTTPSYS_PORT_COORDINATOR', 0])
      assert.match(error.message, /^Nobody answers at the name of port \d+, .*ss -xap/)
      return true
    })
    await a.listen('a', port)
    assert.equal((await ask(port, '/')).owner, 'a')
    await until(() => warnings(a).length > 0, 'the warning is told')
    assert.match(warnings(a)[0], /is taken by a process that does not answer\./)
  })
})

/** @param {import('node:test').TestContext} t @returns {string} a folder of mode 0700 */
function folderOf (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-run-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** @param {import('node:test').TestContext} t @param {string} folder @param {string[]} [through] */
async function memberIn (t, folder, through) {
  const started = new Member({ HTTPSYS_RUNTIME_DIRECTORY: folder }, through)
  t.after(() => started.kill())
  await started.ready
  return started
}

describe('HTTPSYS_RUNTIME_DIRECTORY', { skip: kSkip }, () => {
  it('moves names to a folder, where processes share ports and leave nothing behind', async (t) => {
    const folder = folderOf(t)
    const port = await freePort()
    const a = await memberIn(t, folder)
    const b = await memberIn(t, `${folder}/`)
    const c = await member(t)
    await a.listen('a', `http://*:${port}/a/`)
    await b.listen('b', `http://*:${port}/b/`)
    for (const owner of ['a', 'b']) assert.equal((await ask(port, `/${owner}/`)).owner, owner)
    assert.ok(fs.readdirSync(folder).some((name) => name.endsWith(`${port}`)), fs.readdirSync(folder).join())
    // Who has not set it does not meet them.
    await assert.rejects(stateOf(port))
    await assert.rejects(c.listen('c', `http://*:${port}/c/`), { code: 'EADDRINUSE' })
    await a.close('a')
    await until(async () => (await ask(port, '/b/')).owner === 'b', 'the other member is the coordinator')
    await b.close('b')
    await assertFree(port)
    await Promise.all([a, b].map((one) => one.tell('exit').then(() => one.exit)))
    assert.deepEqual(fs.readdirSync(folder), [])
  })

  it('is no obstacle for who comes after a process that was killed', async (t) => {
    const folder = folderOf(t)
    const port = await freePort()
    for (let round = 0; round < 3; round++) {
      const a = await memberIn(t, folder)
      const b = await memberIn(t, folder)
      await a.listen('a', `http://*:${port}/a/`)
      await b.listen('b', `http://*:${port}/b/`)
      assert.equal((await ask(port, '/b/')).owner, 'b')
      await a.kill()
      await until(() => b.tell('addPrefix', { name: 'b', prefix: `http://*:${port}/a/` }).then(() => true, () => false), 'another coordinator is there')
      await until(async () => (await ask(port, '/a/')).owner === 'b', 'the prefix is the survivor\'s')
      await b.kill()
    }
    assert.notDeepEqual(fs.readdirSync(folder), [], 'something was left behind')
  })

  it('keeps the name out of another user\'s reach', { skip: kSkipUser }, async (t) => {
    const folder = folderOf(t)
    const port = await freePort()
    const stranger = new Stranger(t, { uid: kStranger })
    await stranger.tell({ bind: meetingPlace(port) })
    const a = await memberIn(t, folder)
    const b = await memberIn(t, folder)
    await a.listen('a', `http://*:${port}/a/`)
    await b.listen('b', port)
    for (const [target, owner] of [['/a/', 'a'], ['/', 'b']]) assert.equal((await ask(port, target)).owner, owner)
    assert.deepEqual([a, b].flatMap(warnings), [])
  })

  it('is seen by "httpsys show servicestate"', { skip: kSkipStranger }, async (t) => {
    const folder = folderOf(t)
    const port = await freePort()
    const a = await memberIn(t, folder)
    await a.listen('a', `http://*:${port}/a/`)
    const { stdout, stderr, status } = spawnSync(process.execPath, [kCli, 'show', 'servicestate', '--json'],
      { env: { ...process.env, HTTPSYS_RUNTIME_DIRECTORY: folder }, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const { ports } = JSON.parse(stdout)
    assert.deepEqual(ports.map((/** @type {any} */ each) => [each.port, each.members[0].pid]), [[port, a.pid]])
  })

  it('keeps network namespaces apart that see the same folder', {
    skip: kSkipStranger || (spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status !== 0 && 'this user cannot make a network namespace')
  }, async (t) => {
    const folder = folderOf(t)
    const port = await freePort()
    const here = await memberIn(t, folder)
    const there = await memberIn(t, folder, ['unshare', '-n', 'sh', '-c', 'ip link set lo up; exec "$@"', 'sh'])
    for (const one of [here, there]) await one.listen('a', `http://*:${port}/a/`)
    const more = await memberIn(t, folder)
    await assert.rejects(more.listen('a', `http://*:${port}/a/`), { code: 'EADDRINUSE', pid: here.pid })
    assert.equal(fs.readdirSync(folder).filter((name) => name.endsWith(`-${port}`)).length, 2)
  })

  it('is an error that says what is wrong unless it is a folder of this user alone', async (t) => {
    const folder = folderOf(t)
    const at = (/** @type {string} */ name) => path.join(folder, name)
    fs.mkdirSync(at('open'), { mode: 0o755 })
    fs.mkdirSync(at('group'))
    fs.chmodSync(at('group'), 0o770)
    fs.mkdirSync(at('good'), { mode: 0o700 })
    fs.symlinkSync('good', at('link'))
    fs.writeFileSync(at('file'), '')
    const long = at('x'.repeat(80))
    fs.mkdirSync(long, { mode: 0o700 })
    /** @type {[string, RegExp][]} */
    const cases = [
      ['run', /must be an absolute path\./], [at('missing'), /must be a folder that exists .*ENOENT/], [at('file'), /must be a folder\./],
      [at('link'), /not a symbolic link/], [`${at('link')}/`, /not a symbolic link/], [at('open'), /mode 0700, not 0755/], [at('group'), /mode 0700, not 0770/],
      [long, /a shorter path/]
    ]
    if (process.geteuid?.() === 0) {
      fs.mkdirSync(at('foreign'), { mode: 0o700 })
      fs.chownSync(at('foreign'), kStranger, kStranger)
      cases.push([at('foreign'), /of this user \(uid 0\), not of uid 65534/])
    }
    const port = await freePort()
    for (const [value, message] of cases) {
      const one = await memberIn(t, value)
      for (const on of [port, { port, host: 'localhost' }, `http://*:${port}/a/`]) await assert.rejects(one.listen('a', on), { code: 'ERR_HTTPSYS_ENVIRONMENT', message }, value)
      await assertFree(port)
      await one.kill()
      if (kSkipStranger) continue
      for (const args of [[], ['--port', String(port)]]) {
        const { stderr, status } = spawnSync(process.execPath, [kCli, 'show', 'servicestate', ...args],
          { env: { ...process.env, HTTPSYS_RUNTIME_DIRECTORY: value }, encoding: 'utf8' })
        assert.equal(status, 1)
        assert.match(stderr, /^httpsys: The environment variable HTTPSYS_RUNTIME_DIRECTORY must be /)
        assert.match(stderr, message)
      }
    }
    const one = await memberIn(t, at('good'))
    await one.listen('a', `http://*:${port}/a/`)
    // It is looked at again each time.
    fs.chmodSync(at('good'), 0o750)
    await assert.rejects(one.listen('b', `http://*:${await freePort()}/b/`), { code: 'ERR_HTTPSYS_ENVIRONMENT', message: /mode 0700, not 0750/ })
    assert.equal((await ask(port, '/a/')).owner, 'a')
  })
})
