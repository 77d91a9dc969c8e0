'use strict'

// Starts the three programs on one port. A PM2 file, three systemd units or three terminals do the same: see README.md.
//
//   node examples/303-one-port/start.js [port]

const { fork } = require('node:child_process')
const path = require('node:path')

const [port = '8080'] = process.argv.slice(2)

const children = ['shop', 'news', 'chat'].map((name) => {
  const prefix = `http://*:${port}/${name}/`
  return fork(path.join(__dirname, `${name}.js`), {
    execArgv: ['--require', '@httpsys/core-native/register'],
    env: { ...process.env, PORT: prefix, BASE: `/${name}/` },
  })
})
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, () => {
    for (const child of children) child.kill(signal)
  })
}
