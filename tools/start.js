'use strict'

// npm start: installs what is missing, builds, and runs the example application in this process.
//
//   npm start -- [URL prefix]

const path = require('node:path')
const { build } = require('./build')
const { kRoot, main } = require('./lib/project')
const { setup } = require('./setup')

async function start () {
  await setup('run')
  await build()
  process.argv[1] = path.join(kRoot, 'examples', 'main.js')
  require('node:module').runMain()
}

main(start())
