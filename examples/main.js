'use strict'

// The example application: Express 5, unmodified, on the engine.
//
//   npm start                                 http://*:8080/
//   npm start -- http://*:9000/shop/ …        other URL prefixes
//   npm start -- --dev-cert https://*:8443/   with a certificate for development

const express = require('express')
const { createAdapter } = require('@httpsys/express-adapter')
const { backend } = require('@httpsys/core-native')
const { explainListenError, instructions } = require('./lib/messages')
const { routes } = require('./lib/routes')
const { closeOnSignals } = require('./lib/shutdown')

const kDefaultPrefix = 'http://*:8080/'
const kDefaultSecurePrefix = 'https://*:8443/'

const isDevCert = process.argv.includes('--dev-cert')
const prefixes = process.argv.slice(2).filter((arg) => arg !== '--dev-cert').map((arg) => /^\d+$/.test(arg) ? `http://*:${arg}/` : arg)
if (prefixes.length === 0) prefixes.push(isDevCert ? kDefaultSecurePrefix : kDefaultPrefix)

const app = express()
app.disable('x-powered-by')
for (const path of mountPaths(prefixes)) app.use(path, routes())
app.use((req, res) => res.status(404).json({ error: `Nothing at ${req.path}` }))

const adapter = createAdapter(app)
adapter.server.on('error', fail)
try {
  adapter.listen(prefixes, isDevCert ? { devCert: true } : {}, () => {
    console.log(`Express on ${backend === 'node' ? 'stock node:http' : 'the engine'}, Node.js ${process.version}, process ${process.pid}\n`)
    console.log(instructions(prefixes))
  })
} catch (error) {
  fail(error)
}
closeOnSignals(adapter.server)

/** @param {Error & { code?: string }} error */
function fail (error) {
  console.error(explainListenError(error))
  process.exit(1)
}

/**
 * The paths of the prefixes as Express mounts them, longest first.
 *
 * @param {string[]} texts
 */
function mountPaths (texts) {
  const paths = texts.map((text) => URL.canParse(text.replace('://+', '://x').replace('://*', '://x'))
    ? new URL(text.replace('://+', '://x').replace('://*', '://x')).pathname
    : '/')
  return [...new Set(paths)].sort((a, b) => b.length - a.length).map((path) => path.replace(/[{}()[\]+?!:*\\]/g, '\\$&'))
}
