'use strict'

// The server under test. HTTPSYS_BACKEND=node makes it stock Node, the reference column; without the
// addon everything else fails: there is no silent fallback.

const http = require('@httpsys/core-native')

module.exports = { http, backend: /** @type {any} */ (http).backend }
