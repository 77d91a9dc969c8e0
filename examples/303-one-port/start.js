'use strict'

// Starts the three programs on one port. A PM2 file, three systemd units or three terminals do the same: see README.md.
//
//   node examples/303-one-port/start.js [port]

const { fork } = require('node:child_process')
const path = require('node:path')

const [port = '8080'] = process.argv.slice(2)

/** The ports that the programs ask for. */
const kPorts = { shop: 3000, news: 3001, chat: 3002 }

const children = Object.entries(kPorts).map(([name, own]) => fork(path.join(__dirname, `${name}.js`), {
  execArgv: ['--require', '@httpsys/core-native/register'],
  env: { ...process.env, PORT: String(own), BASE: `/${name}/`, HTTPSYS_LISTEN: `${own}=http://*:${port}/${name}/` },
}))
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, () => {
    for (const child of children) child.kill(signal)
  })
}
