'use strict'

// Inputs on which we answer differently from node:http on purpose. Each is stricter, never laxer.
// `applies` looks at the input only.

const { METHODS } = require('node:http')

// What llhttp reads for other protocols' sake.
const kOtherMethods = ['DESCRIBE', 'ANNOUNCE', 'SETUP', 'PLAY', 'PAUSE', 'TEARDOWN', 'GET_PARAMETER',
  'SET_PARAMETER', 'REDIRECT', 'RECORD', 'FLUSH', 'PRI']

// Their beginnings that begin no method of HTTP.
const kOtherBeginnings = kOtherMethods
  .flatMap((method) => Array.from(method, (_, i) => method.slice(0, i + 1)))
  .filter((beginning) => !METHODS.some((method) => method.startsWith(beginning)))

// At the beginning of a line, as where a request begins.
const kOtherLine = new RegExp(`^(?:${kOtherMethods.join('|')})\\b`, 'm')

/** @type {{ name: string, reason: string, applies: (text: string) => boolean }[]} */
module.exports = [
  {
    name: 'version-other-than-1.0-or-1.1',
    reason: 'llhttp lets HTTP/0.9 (no version), HTTP/2.0, RTSP and ICE request lines through, or reads on before it refuses them; we serve HTTP/1.0 and 1.1 (RFC 9112, 2.3)',
    applies: (text) => /HTTP\/(?!1\.[01])/.test(text) || /[A-Z]+ +\S+[\r\n]/.test(text) || /^[A-Z-]+ +\S+ +[IR]/m.test(text)
  },
  {
    name: 'unknown-transfer-coding',
    reason: 'a coding we cannot decode has no known end (RFC 9112, 6.1); Node hands the body on undecoded',
    applies: (text) => /transfer-encoding:[ \t]*(?!chunked[ \t]*\r\n)/i.test(text)
  },
  {
    name: 'tab-after-value',
    reason: 'newer llhttp takes a tab behind a Content-Length or a Connection option for white space; we go by Node 20\'s',
    applies: (text) => /content-length:[ \t]*\d+ *\t/i.test(text) || /connection:[^\r\n]*\t/i.test(text)
  },
  {
    name: 'method-of-another-protocol',
    reason: 'llhttp waits for the rest of a method of RTSP or HTTP/2 before it refuses it; we refuse its beginning, so that the code can differ',
    applies: (text) => kOtherBeginnings.some((beginning) => text.endsWith(beginning)) || kOtherLine.test(text)
  },
  {
    name: 'behind-a-declined-upgrade',
    reason: 'without an upgrade listener Node reads on behind such a request, but ignores what is malformed or cut off from its body on; we refuse it',
    applies: (text) => /^upgrade:/im.test(text) && /^(?:proxy-)?connection:[^\n]*upgrade/im.test(text)
  }
]
