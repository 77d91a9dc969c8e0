'use strict'

// Goal: programs are told apart in reservations and for people, also those whose files are all called index.js, by the names that
// their users know. Method: small programs in folders of their own, started as PM2, systemd, npm and people start them.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { freePort } = require('../../../test/helpers/free-port')
const { readServiceState } = require('../lib/backend/service-state')

const kModule = JSON.stringify(require.resolve('../lib/prefixes/principals'))
const kSays = `process.stdout.write(require(${kModule}).whoAmI().app)`

/** @param {import('node:test').TestContext} t @param {Record<string, string>} files */
function makeFolder (t, files) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-program-')))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  return folder
}

/** The environment of the tests, without what names programs. */
const kEnvironment = Object.fromEntries(Object.entries(process.env).filter(([name]) =>
  !['HTTPSYS_APP', 'INVOCATION_ID', 'SYSTEMD_EXEC_PID', 'pm_id', 'pm_exec_path', 'name'].includes(name) && !name.startsWith('npm_')))

/** @param {string} cwd @param {string[]} args @param {NodeJS.ProcessEnv} [env] @returns {Promise<string>} the name that the program says */
async function nameOf (cwd, args, env = {}) {
  return (await promisify(execFile)(process.execPath, args, { cwd, env: { ...kEnvironment, ...env } })).stdout
}

test('a program has the name that it is started by, otherwise that of its folder and file', async (t) => {
  const folder = makeFolder(t, {
    'shop/package.json': '{}',
    'shop/dist/index.js': kSays,
    'shop/node_modules/tool/bin/tool.js': kSays,
    'shop/node_modules/tool/package.json': '{}',
    'shop/part/package.json': '{}',
    'shop/part/index.js': kSays,
    'blog/index.js': kSays,
    'blog/main.mjs': `import principals from ${kModule}; process.stdout.write(principals.whoAmI().app)`,
    'lib/node_modules/tool/tool.js': kSays
  })
  const [shop, blog] = ['shop', 'blog'].map((name) => path.join(folder, name))
  const npm = { npm_package_name: '@acme/shop', npm_package_json: path.join(shop, 'package.json') }
  const pm2 = { pm_id: '0', pm_exec_path: path.join(shop, 'dist', 'index.js') }
  /** @type {[string, string, string[], NodeJS.ProcessEnv?][]} */
  const cases = [
    ['blog/index.js', blog, ['index.js']],
    ['blog/index.js', blog, ['.']],
    ['blog/main.mjs', folder, ['blog/main.mjs']],
    ['shop/dist/index.js', shop, ['dist/index.js']],
    ['shop/tool.js', shop, ['node_modules/tool/bin/tool.js']],
    ['blog/tool.js', blog, ['../lib/node_modules/tool/tool.js']],
    ['@acme/shop', shop, ['dist/index.js'], npm],
    ['@acme/shop', shop, ['node_modules/tool/bin/tool.js'], npm],
    ['part/index.js', shop, ['part/index.js'], npm],
    ['carts', shop, ['dist/index.js'], { ...npm, ...pm2, name: 'carts' }],
    ['shop/dist/index.js', shop, ['dist/index.js'], { ...pm2, name: 'index' }],
    ['given', shop, ['dist/index.js'], { ...npm, ...pm2, name: 'carts', HTTPSYS_APP: 'given' }],
    [path.basename(process.execPath), shop, ['-e', kSays]]
  ]
  const names = await Promise.all(cases.map(([, ...how]) => nameOf(...how)))
  assert.deepEqual(names, cases.map(([name]) => name))
})

test('a program that is loaded before the main script knows its name', async (t) => {
  const folder = makeFolder(t, { 'shop/index.js': 'globalThis.say()', 'preload.js': `globalThis.say = () => { ${kSays} }` })
  assert.equal(await nameOf(folder, ['--require', './preload.js', 'shop/index.js']), 'shop/index.js')
})

test('the name of a systemd unit is that of its main process and of those that it starts, and of no other', async (t) => {
  const folder = makeFolder(t, {
    'shop/index.js': `
      const fs = require('node:fs')
      const { readFileSync } = fs
      let times = 0
      fs.readFileSync = (name, ...rest) => name === '/proc/self/cgroup' && ++times === 1 ? process.env.TEST_CGROUP : readFileSync(name, ...rest)
      if (process.env.TEST_PARENT) Object.defineProperty(process, 'ppid', { get: () => Number(process.env.TEST_PARENT) })
      const { whoAmI } = require(${kModule})
      process.stdout.write(whoAmI().app === whoAmI().app && times < 2 ? whoAmI().app : 'the groups were read again')`
  })
  const main = String(process.pid) // The parent of the program.
  /** @type {[string, NodeJS.ProcessEnv][]} */
  const cases = [
    ['shop', { INVOCATION_ID: 'a', SYSTEMD_EXEC_PID: main, TEST_CGROUP: '0::/system.slice/shop.service\n' }],
    ['my-shop@1', { INVOCATION_ID: 'a', TEST_PARENT: '1', TEST_CGROUP: '0::/system.slice/system-shop.slice/my\\x2dshop@1.service\n' }],
    ['old', { INVOCATION_ID: 'a', TEST_PARENT: '1', TEST_CGROUP: '2:cpu:/\n1:name=systemd:/system.slice/old.service\n' }],
    ['shop/index.js', { INVOCATION_ID: 'a', SYSTEMD_EXEC_PID: '1', TEST_CGROUP: '0::/system.slice/cron.service\n' }],
    ['shop/index.js', { INVOCATION_ID: 'a', TEST_CGROUP: '0::/system.slice/cron.service\n' }],
    ['shop/index.js', { TEST_CGROUP: '0::/system.slice/docker.service\n' }],
    ['shop/index.js', { INVOCATION_ID: 'a', TEST_CGROUP: '0::/user.slice/user-1000.slice/session-3.scope\n' }]
  ]
  const names = await Promise.all(cases.map(([, env]) => nameOf(folder, ['shop/index.js'], env)))
  assert.deepEqual(names, cases.map(([name]) => name))
})

test('httpsys show servicestate tells two programs apart whose files have one name', async (t) => {
  const core = JSON.stringify(require.resolve('..'))
  const program = `require(${core}).createServer(() => {}).listen(process.argv[2], () => process.stdout.write('up'))`
  const folder = makeFolder(t, { 'shop/index.js': program, 'blog/index.js': program })
  const port = await freePort()
  for (const name of ['shop', 'blog']) {
    const child = spawn(process.execPath, [`${name}/index.js`, `http://127.0.0.1:${port}/${name}/`], { cwd: folder, env: kEnvironment, stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
  }
  const { members } = await readServiceState(port)
  assert.deepEqual(members.map((member) => member.program).sort(), ['blog/index.js', 'shop/index.js'])
})
