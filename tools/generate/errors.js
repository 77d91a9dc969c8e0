'use strict'

// The tables of docs/errors.md, from packages/core-native/schema/errors.js.

const { errors, warnings } = require('../../packages/core-native/schema/errors')

const kPage = 'docs/errors.md'

function errorTable () {
  return ['| code | class | `listen()` | what happened |', '|---|---|---|---|',
    ...Object.entries(errors).map(([name, [base, listen, says]]) =>
      `| [\`ERR_HTTPSYS_${name}\`](#err_httpsys_${name.toLowerCase()}) | \`${base}\` | ${listen} | ${says} |`)].join('\n')
}

function warningTable () {
  return ['| `warning.code` | what happened |', '|---|---|', ...Object.entries(warnings).map(([name, says]) => `| \`HTTPSYS_${name}\` | ${says} |`)].join('\n')
}

/** @returns {[file: string, name: string, text: string][]} */
const parts = () => [[kPage, 'errors', errorTable()], [kPage, 'warnings', warningTable()]]

module.exports = { parts }
