'use strict'

const { once } = require('node:events')
const { fork } = require('node:child_process')
const core = require('@httpsys/core-native')
const { expect } = require('./kit.cjs')

/** @param {string} name */
function serve (name) {
  const server = core.createServer((req, res) => { res.end(`${name} ${process.pid}`) })
  server.listen(`http://*:18080/${name}/`, () => process.send?.('listening'))
  process.on('disconnect', () => server.close())
}

async function main () {
  const children = ['a', 'b'].map((name) => fork(__filename, [name]))
  await Promise.all(children.map((child) => once(child, 'message')))
  for (const [index, name] of ['a', 'b'].entries()) {
    expect(await (await fetch(`http://127.0.0.1:18080/${name}/`)).text(), `${name} ${children[index].pid}`)
  }
  for (const child of children) {
    child.disconnect()
    expect((await once(child, 'exit'))[0], 0)
  }
}

if (process.argv[2] === undefined) main()
else serve(process.argv[2])
