'use strict'

/** @param {string} file @returns {(name: string, find: string, replace: string) => import('.').Mutation} */
const inFile = (file) => (name, find, replace) => ({ name, file, find, replace })

const ofOutgoing = inFile('lib/http/outgoing.js')
const ofShortWay = inFile('lib/http/short-way.js')
const ofIdleTime = inFile('lib/http/idle-time.js')
const ofPipedFile = inFile('lib/http/piped-file.js')
const ofOutHeaders = inFile('lib/http/out-headers.js')
const ofExchange = inFile('lib/http/exchange.js')
const ofReplyWriter = inFile('lib/records/reply-writer.js')

const kHead = 'idleMs, /** @type {string} */ (this._header), body)'

/** @type {import('.').Mutation[]} */
module.exports = [
  // The head of a response.
  ofOutgoing('saved-implicit-header', 'this._implicitHeader()', 'ServerResponse.prototype.writeHead.call(this, this.statusCode)'),
  ofOutgoing('header-forgotten', 'this._headerSent = true', "this._headerSent = true\n    this._header = ''"),
  ofOutgoing('header-made-again', 'if (this._header === null) {', 'if (!this._headerSent) {'),
  ofOutgoing('names-lowered', kHead, 'idleMs, this._header.replace(/^[\\w-]+(?=:)/gm, (name) => name.toLowerCase()), body)'),
  ofOutgoing('cookie-lines-merged', kHead,
    "idleMs, this._header.replace(/(\\r\\nSet-Cookie: [^\\r]*)\\r\\nSet-Cookie: /i, '$1, '), body)"),
  ofOutgoing('reason-from-the-table', kHead,
    "idleMs, this._header.replace(/^(.{12}) [^\\r]*/, (_, start) => start + ' ' + http.STATUS_CODES[this.statusCode]), body)"),
  ofOutHeaders('header-names-with-prototype', 'OutHeaders.prototype = Object.create(null)', 'OutHeaders.prototype = {}'),
  ofOutgoing('refused-header-remembered', 'checkValue(field, name, value)', ';(this[kOutHeaders] ??= outHeaders())[field.key] = [name, value]\n    checkValue(field, name, value)'),
  ofOutgoing('header-value-unchecked', 'checkValue(field, name, value)', ''),
  ofOutHeaders('refused-value-remembered', 'validateHeaderValue(name, /** @type {string} */ (value))', 'field.checked = value\n  validateHeaderValue(name, value)'),
  ofOutHeaders('header-value-checked-once', 'value === field.checked', 'field.checked !== null'),
  ofOutgoing('header-after-the-head', 'if (this._header || super.setHeader', 'if (super.setHeader'),
  ofReplyWriter('head-always-latin1', "const isText = typeof body === 'string' && (flags & R.kReplyChunked) === 0", 'const isText = false'),

  // Its body.
  ofOutgoing('length-unknown', 'this._contentLength = body === null ? 0', 'this._contentLength = body === null ? null'),
  ofOutgoing('length-in-characters', "typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength", 'body.length'),
  ofOutgoing('body-of-a-head-sent', 'if (!this._hasBody) body = null', ''),
  ofOutgoing('chunks-unframed', 'if (this._hasBody && this.chunkedEncoding) flags |= R.kReplyChunked', ''),
  ofExchange('chunked-for-old-clients', 'res[kEnded] = false', 'res[kEnded] = false\n  res.useChunkedEncodingByDefault = true'),
  ofShortWay('strict-length-ignored', '!res.strictContentLength && ', ''),
  ofOutgoing('encoding-ignored', "(encoding && encoding !== 'utf8') || ", ''),
  ofOutgoing('callback-of-end-lost', 'callback !== undefined || ', ''),
  ofShortWay('end-taken-twice', '!res.finished && ', ''),
  ofOutgoing('last-piece-lost', "flags, body ?? '', 'utf8', idleMs)", "flags, '', 'utf8', idleMs)"),
  ofShortWay('end-overtakes-write', 'return socket.writable && socket.writableLength === 0 && socket.writableCorked === 0', 'return socket.writable'),
  ofOutgoing('end-calls-write', 'let flags = R.kReplyEnd', `if (body !== null && Object.hasOwn(this, 'write')) {
      this.write(body)
      return super.end()
    }
    let flags = R.kReplyEnd`),

  // Files that are piped into it.
  ofPipedFile('piped-bytes-uncounted', 'stream.bytesRead += bytes', ''),
  ofPipedFile('piped-context-lost', 'resource.runInAsyncScope(this.#settle, this, windows.left === 0)', 'this.#settle(windows.left === 0)'),
  ofPipedFile('piped-tail-lost', 'bytes, endsResponse, this)', 'bytes, true, this)'),
  ofPipedFile('piped-range-ignored', 'this.#start, bytes, endsResponse', '0, bytes, endsResponse'),
  { name: 'piped-listener-ignored', file: 'lib/http/file-refusals.js', find: "stream.listenerCount('data') !== 1", replace: 'false' },
  { name: 'piped-encoding-ignored', file: 'lib/http/file-refusals.js', find: "if (stream.readableEncoding !== null) return 'encoding'", replace: '' },
  { name: 'drain-lost', file: 'lib/http/socket-listeners.js', find: "res.emit('drain')", replace: '' },

  // What comes behind it.
  ofExchange('response-keeps-socket', 'res.socket = null', ''),
  ofExchange('unread-body-stays', '!== true) dumpUnread(req)', '!== true) return'),
  ofIdleTime('idle-connection-kept', 'const idleMs = idleTimeoutOf(socket.server)', 'const idleMs = 40_000'),

  // Options are read when they are used.
  ofExchange('keep-alive-read-once', 'setConnectionLimits(res, server.keepAliveTimeout, ',
    'setConnectionLimits(res, listener.keepAlive ??= server.keepAliveTimeout, '),
  ofExchange('most-requests-read-once', 'const most = server.maxRequestsPerSocket', 'const most = (listener.most ??= server.maxRequestsPerSocket)'),
  ofExchange('host-rule-read-once', 'requiresHost(server) && ', '(listener.host ??= requiresHost(server)) && '),
  ofExchange('body-rule-read-once', 'options.rejectNonStandardBodyWrites = rejectsBodyWrites(server)', ''),
  ofExchange('headers-limit-ignored', "typeof maxHeadersCount === 'number' ? maxHeadersCount << 1 : kHeaderPairsDefault", 'kHeaderPairsDefault'),
  ofExchange('join-ignored', 'joinDuplicates(req, joinsDuplicates(server))', 'joinDuplicates(req, false)'),
  { name: 'timeout-skips-server', file: 'lib/http/socket-listeners.js', find: "this.server.emit('timeout', this)", replace: 'false' },
  ofIdleTime('idle-timeout-unheard', 'socket.setTimeout(idleTimeoutOf(server))', ''),
]
