'use strict'

// Reports requests that the engine refuses before JavaScript sees them: in the error log, or as lines on stderr.

const { variableMustBe } = require('../base/errors')
const { pageUrl } = require('../base/pages')
const { systemErrorText } = require('../base/system-error')

const kLines = 'HTTPSYS_REFUSAL_LINES'

// Warns that the error log cannot be opened. Servers work without it.
/** @param {{ path: string, error: number }} failure */
function warnOfErrorLog ({ path, error }) {
  process.emitWarning(`The error log ${path} cannot be opened: ${systemErrorText(error)}. Refused requests are not logged; let the ` +
    'environment variable HTTPSYS_ERROR_LOG name a file that this process may write, in a folder that exists, and restart it',
  { code: 'HTTPSYS_ERROR_LOG' })
}

/** @returns {boolean} whether stderr gets lines @throws ERR_HTTPSYS_ENVIRONMENT */
function wantsRefusalLines () {
  const text = process.env[kLines]
  if (text === undefined || text === '' || text === '1') return true
  if (text === '0') return false
  throw variableMustBe(kLines, text, '1, or 0 for none')
}

/**
 * Opens the error log and turns on the lines on stderr. Must be called before a server listens.
 *
 * @param {Pick<typeof import('../../types/binding'), 'openErrorLog' | 'tellRefusals'>} binding @param {boolean} wantsLines where there is no error log
 */
function reportRefusals ({ openErrorLog, tellRefusals }, wantsLines) {
  const failure = openErrorLog?.()
  if (failure !== undefined) warnOfErrorLog(failure)
  if (wantsLines) tellRefusals?.(pageUrl('error-log.md'))
}

module.exports = { reportRefusals, wantsRefusalLines }
