'use strict'

// The tables of docs/errors.md, from packages/core-native/schema/errors.js.

const fs = require('node:fs')
const path = require('node:path')
const { kRoot } = require('../lib/project')
const { errors, warnings } = require('../../packages/core-native/schema/errors')
const { between } = require('./text')

const kPage = 'docs/errors.md'

function errorTable () {
  return ['| code | class | `listen()` | what happened |', '|---|---|---|---|',
    ...Object.entries(errors).map(([name, [base, listen, says]]) =>
      `| [\`ERR_HTTPSYS_${name}\`](#err_httpsys_${name.toLowerCase()}) | \`${base}\` | ${listen} | ${says} |`)].join('\n')
}

function warningTable () {
  return ['| `warning.code` | what happened |', '|---|---|', ...Object.entries(warnings).map(([name, says]) => `| \`HTTPSYS_${name}\` | ${says} |`)].join('\n')
}

/** @returns {[file: string, text: string][]} path from the root and text of each generated file */
function outputs () {
  const page = fs.readFileSync(path.join(kRoot, kPage), 'utf8')
  return [[kPage, between(between(page, 'errors', errorTable()), 'warnings', warningTable())]]
}

module.exports = { outputs }
