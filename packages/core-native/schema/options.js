'use strict'

// Every option of ours, once. npm run generate makes from it the table that lib/options reads (names, defaults and bounds), the
// interfaces of types/index.d.ts and the tables of the pages. In C++ an option has the same words with underscores.

/**
 * @typedef {object} Option
 * @property {'number' | 'boolean' | 'string' | 'choice' | 'group' | 'special'} type number: an integer. choice: one of `choices`; string: the
 * same, but another type than a string is ERR_INVALID_ARG_TYPE. special: code in lib reads it
 * @property {string} [unit] for the pages that have a column of units
 * @property {number | boolean | string} [default] absent: without the option there is no value
 * @property {string} [shown] the default in the pages, where that is not just `default`
 * @property {number} [least] default: 0
 * @property {number} [most] default: the largest safe integer
 * @property {boolean} [orZero] 0 is allowed, too, although it is below `least`
 * @property {string} [zero] what 0 means
 * @property {readonly string[]} [choices]
 * @property {boolean} [passed] configure() passes the value to the lanes by the option's name; a choice as its index
 * @property {boolean} [forPrefixes] the default is for servers of URL prefixes; others have 0, as node:http
 * @property {number | string} [httpSysDefault] default with HTTP.SYS
 * @property {string} [needs] capability of the backend (types/binding.d.ts) without which the option is refused
 * @property {string} [rules] of the cache's rule sets, the one that uses the option
 * @property {Record<string, Option>} [options] of a group
 * @property {string} [ts] type in TypeScript, where `type` does not say it
 * @property {boolean} [required] in its group
 * @property {string} [says] Markdown: phrases and sentences that begin with a small letter, for the page and for TypeScript
 *
 * @typedef {object} Group options that are given in one place
 * @property {string} [hint] for an option of the group in another place
 * @property {Record<string, Option>} options
 */

const kMiB = 1024 * 1024
/** Longest time of a Node timer, in ms. */
const kTimerMax = 2 ** 31 - 1
/** Largest rate that is not HTTP.SYS's value for no limit. */
const kRateMax = 2 ** 32 - 2
const kMost32 = 2 ** 32 - 1
/** Windows' HTTP_MIN_ALLOWED_BANDWIDTH_THROTTLING_RATE. */
const kBandwidthMin = 1024

/** Certificates of hosts in TypeScript. */
const kHostCertificates = "(Pick<SecureContextOptions, 'allowPartialTrustChain' | 'ca' | 'cert' | 'clientCertEngine' | 'crl' | 'key' | " +
  "'passphrase' | 'pfx' | 'privateKeyEngine' | 'privateKeyIdentifier'> & ({ host: string } | { prefix: string }))[]"

/** @param {Omit<Option, 'says'>} facts @param {string} says @returns {Option} */
const option = (facts, says) => ({ ...facts, says })

/** @type {Group} createServer() */
const server = {
  hint: 'it belongs to createServer() and createAdapter()',
  options: {
    maxRequestBodySize: option({ type: 'number', unit: 'bytes', default: 0, zero: 'no limit', passed: true },
      'longest request body. A longer body gets 413 and the connection is closed. A handler can set another limit for [one request](options.md#the-body-of-one-request)'),
    maxRequestBodySizeCeiling: option({ type: 'number', unit: 'bytes', default: 0, zero: '`maxRequestBodySize`' },
      'highest body limit that a handler can set for one request. Needs `maxRequestBodySize`, and must not be below it'),
    maxConnectionsPerAddress: option({ type: 'number', unit: 'connections', default: 0, zero: 'no limit', needs: 'listensOnSockets', passed: true },
      'most connections of one client: an IPv4 address or a /64 network of IPv6. Excess connections are closed: [below](options.md#many-connections)'),
    maxConnectionsPerPrefix: option({ type: 'number', unit: 'connections', default: 0, zero: 'no limit', needs: 'listensOnSockets', passed: true },
      'most connections whose last request was for the same URL prefix. A request on a connection above the limit gets 503'),
    maxUrlBytes: option({ type: 'number', unit: 'bytes', default: 0, most: kMost32, zero: 'no limit but `maxHeaderSize`', needs: 'listensOnSockets', passed: true },
      'longest URL of a request, as the client sends it. A longer one gets 414 without running JavaScript'),
    stripPrefix: option({ type: 'boolean', default: false },
      'removes the matched URL prefix from `req.url`. `req.baseUrl` has the removed part, `req.originalUrl` the whole URL'),
    strictUrl: option({ type: 'boolean', default: false, passed: true },
      'answers 400 to requests whose URL HTTP.SYS would refuse: [url-prefixes.md](url-prefixes.md#strict-urls). On Windows, HTTP.SYS refuses such URLs whatever the value'),
    serverHeader: option({ type: 'boolean', default: true, passed: true },
      'adds `Server: httpsys` to 4xx and 5xx responses of the engine, to distinguish them from the application\'s. Engine responses that copy node:http, such as 400 for a malformed request, never have it. HTTP.SYS adds its own name whatever the value'),
    http2: option({ type: 'special', ts: 'boolean | Http2Options', unit: 'boolean, object', shown: 'TLS ports only' },
      '`true`: HTTP/2 also on ports without TLS; `false`: no HTTP/2; or an object with its settings: [http2.md](http2.md)'),
    pipelinedRequestsMax: option({ type: 'number', unit: 'requests', default: 32, least: 1, passed: true },
      'most unanswered requests of one connection that the application gets. At the limit, the engine stops reading the connection'),
    queueLimit: option({ type: 'number', unit: 'requests', default: 0, zero: 'no limit', httpSysDefault: 1000, passed: true },
      'most requests of the server that wait for JavaScript to begin them. A request above the limit gets 503 at once: [below](options.md#a-burst-of-requests)'),
    queueTimeout: option({ type: 'number', unit: 'ms', default: 120_000, zero: 'no limit', forPrefixes: true, passed: true },
      'longest wait until JavaScript begins a request. Then the request gets 503, and JavaScript skips it. The default is HTTP.SYS\'s; node:http has no limit. Time in which a debugger pauses JavaScript counts'),
    minSendRate: option({ type: 'number', unit: 'bytes/s', default: 150, most: kRateMax, zero: 'no limit', forPrefixes: true, passed: true },
      'slowest rate, averaged over 60 s or more, at which a client may read while output waits for it. A slower client is disconnected: [below](options.md#slow-clients)'),
    maxBandwidth: option({ type: 'number', unit: 'bytes/s', default: 0, least: kBandwidthMin, most: kRateMax, orZero: true, zero: 'no limit', passed: true },
      'most response data that each URL prefix of the server sends, to all its clients together, 1024 to 4294967294: [below](options.md#bandwidth)'),
    cache: option({ type: 'special', ts: 'boolean | CacheOptions', unit: 'boolean, object', shown: 'as `HTTPSYS_CACHE` says, otherwise none' },
      'stores responses and answers later requests with them, without running JavaScript: [cache.md](cache.md#options), also for its timeouts `refreshTimeout` and `coalesceTimeout`'),
    httpSys: option({ type: 'special', ts: 'HttpSysOptions', unit: 'object', shown: 'none' },
      'settings of HTTP.SYS on Windows: [windows.md](windows.md#the-option-httpsys); on other systems `ERR_HTTPSYS_CAPABILITY`'),
    http503Verbosity: option({ type: 'string', unit: '', default: 'full', choices: ['basic', 'limited', 'full'], httpSysDefault: 'basic', passed: true, shown: '`full`' },
      'what clients get when the engine refuses a request with 503: `basic` resets the connection, `limited` sends only the status, `full` adds the reason from the [error log](error-log.md). On a shared port, the server that holds the connection decides. With HTTP.SYS the default is `basic`, as in its API')
  }
}

/** @type {Group} createServer({ http2 }) */
const http2 = {
  options: {
    maxConcurrentStreams: option({ type: 'number', unit: 'streams', default: 100, least: 1, most: kTimerMax },
      'streams per connection. Once the client has confirmed the number, opening more streams ends the connection with PROTOCOL_ERROR'),
    initialWindowSize: option({ type: 'number', unit: 'bytes', default: 128 * 1024, least: 65535, most: 2 ** 31 - 1 },
      'bytes of one body that a client may send before the application has read them. On each I/O thread, up to 16 bodies at a time that the application reads without delay get 917,504 bytes more, unless the option is below 131072'),
    maxFrameSize: option({ type: 'number', unit: 'bytes', default: 16 * 1024, least: 16 * 1024, most: 2 ** 24 - 1 },
      'longest frame that is accepted'),
    headerTableSize: option({ type: 'number', unit: 'bytes', default: 4096, most: 2 ** 20 },
      'size of HPACK\'s table for received fields'),
    pingInterval: option({ type: 'number', unit: 'ms', default: 0, most: kTimerMax, zero: 'never' },
      'a client with open streams that is silent for this time gets a PING; if it stays silent as long again, its connection is closed'),
    stallTimeout: option({ type: 'number', unit: 'ms', default: 120_000, most: kTimerMax, zero: 'none' },
      'a stream is reset with CANCEL if none of its output can be sent for this time, because the client opens no window or does not read. Time in which `maxBandwidth` holds the output back does not count'),
    allowHTTP1: option({ type: 'boolean', unit: '', default: true },
      '`false`: a plain port refuses everything but HTTP/2')
  }
}

/** @type {Group} createServer({ cache }) */
const cache = {
  options: {
    rules: option({ type: 'choice', choices: ['rfc9111', 'httpsys'], default: 'rfc9111' },
      'the [set of rules](cache.md#two-sets-of-rules): `\'rfc9111\'` or `\'httpsys\'`'),
    // The cache's memory is 1 to 1024 chunks of 4 MiB (src/cache/arena_layout.h).
    cacheBytes: option({ type: 'number', default: 32 * kMiB, shown: '32 MiB', least: 4 * kMiB, most: 4096 * kMiB, needs: 'cacheRules' },
      'memory for stored responses of the whole process, 4 MiB to 4 GiB; below 8 MiB, popular responses are evicted with all others. The largest value of several servers counts'),
    // A port has at most 1024 members.
    portCacheBytes: option({ type: 'number', default: 0, shown: '256 MiB', least: 4 * kMiB, most: 1024 * 4096 * kMiB, needs: 'cacheRules' },
      'memory for stored responses of all processes that share a port; each gets its `cacheBytes` or a fair share. The smallest value of several servers and processes counts'),
    // Half a segment of the cache's memory.
    maxEntryBytes: option({ type: 'number', default: kMiB, shown: '1 MiB; 256 KiB with `httpsys`', least: 1, most: kMiB, needs: 'cacheRules' },
      'a longer response, head and body together, is not stored; at most 1 MiB'),
    prefixes: option({ type: 'special', ts: 'string[]', shown: 'all', needs: 'cacheRules' },
      'the URL prefixes of the server whose responses are stored, written as in `listen()`'),
    status: option({ type: 'special', ts: "boolean | 'debug'", default: false, needs: 'cacheRules' },
      'adds `Cache-Status` (RFC 9211) to responses, streamed ones included; only a head that the application writes on the socket in pieces has none. With `\'debug\'` it says why a response was not stored'),
    stale: {
      type: 'group',
      rules: 'rfc9111',
      options: {
        // The largest lifetime that RFC 9111, section 1.2.2, asks a cache to know.
        whileRevalidate: option({ type: 'number', default: 0, most: 2 ** 31 },
          'only with `rfc9111`: seconds for which a stale response that names no such time is served during a refresh'),
        ifError: option({ type: 'number', default: 0, most: 2 ** 31 },
          'only with `rfc9111`: the same, after an error')
      }
    },
    heuristics: option({ type: 'boolean', default: false, rules: 'rfc9111' },
      'only with `rfc9111`: a response without a lifetime gets a tenth of the time since its `Last-Modified`, at most a day'),
    ignoreReload: option({ type: 'boolean', default: false, rules: 'rfc9111' },
      'only with `rfc9111`: requests cannot demand a new response. Any client can send `no-cache`, as a browser does on reload'),
    duration: option({ type: 'number', default: 0, shown: 'as `HTTPSYS_CACHE_DURATION` says, otherwise 0', most: kMost32, rules: 'httpsys' },
      'only with `httpsys`: lifetime in seconds of responses that name none, under the [conditions below](cache.md#the-default-lifetime)'),
    harmlessFields: option({ type: 'special', ts: 'string[]', shown: 'none', rules: 'httpsys' },
      'only with `httpsys` and `duration`: further request fields on which no response depends'),
    // The default is the time for which proxies usually wait for the servers behind them (60 s).
    refreshTimeout: option({ type: 'number', default: 60_000, least: 1, most: kTimerMax, needs: 'cacheRules' },
      'ms, at least 1: how long JavaScript may work on a [refresh request](cache.md#refreshes-in-the-background)'),
    coalesceTimeout: option({ type: 'number', default: 5_000, most: kTimerMax, needs: 'cacheRules' },
      'ms: how long a request may [wait for the response to another one](cache.md#requests-that-wait-for-each-other) before it goes to JavaScript; 0: no request waits. nginx has the same default (`proxy_cache_lock_timeout`)'),
    compress: option({ type: 'special', ts: "boolean | ('br' | 'zstd' | 'gzip')[]", default: false, needs: 'cacheRules' },
      '[compresses](cache.md#compression) stored responses that are requested again: `true`, or a list of `\'br\'`, `\'zstd\'`, `\'gzip\'`')
  }
}

/** @type {Group} createServer({ httpSys }) */
const httpSys = {
  options: {
    maxBandwidth: option({ type: 'number', default: 0, shown: 'none', least: kBandwidthMin, most: kMost32 },
      'bytes per second of all responses of a prefix, at least 1024 (also available as `maxBandwidth` of `createServer()`)'),
    maxConnections: option({ type: 'number', default: 0, shown: 'none', least: 1, most: kMost32 },
      'simultaneous connections of a prefix; the kernel refuses further connections'),
    bufferResponses: option({ type: 'boolean', default: false },
      '`HTTP_SEND_RESPONSE_FLAG_BUFFER_DATA`: the kernel copies what is written and accepts more at once. This is faster for many small writes. Data that a slow client does not read then occupies kernel memory, and `res.write()` does not report it'),
    timeouts: {
      type: 'group',
      options: {
        drainEntityBody: option({ type: 'number', default: 0, shown: 'Windows\'', least: 1, most: kMost32 },
          'ms for the rest of a body whose request was answered'),
        requestQueue: option({ type: 'number', default: 0, shown: 'Windows\'', least: 1, most: kMost32 },
          'ms for a request in the request queue (also `queueTimeout`)'),
        minSendRate: option({ type: 'number', default: 0, shown: 'Windows\'', least: 1, most: kMost32 },
          'bytes per second that a client must read (also `minSendRate`, whose 0 means no limit)')
      }
    },
    logging: {
      type: 'group',
      options: {
        directory: option({ type: 'special', ts: 'string', shown: 'no log', required: true },
          'absolute path of a folder in which HTTP.SYS may write'),
        format: option({ type: 'choice', choices: ['w3c', 'ncsa'], default: 'w3c' },
          '`w3c` or `ncsa`. Logged fields: date, time, addresses, port, method, path, query, status, host, client, referrer'),
        // By the values of Windows' HTTP_LOGGING_ROLLOVER_TYPE.
        rollover: option({ type: 'choice', choices: ['size', 'daily', 'weekly', 'monthly', 'hourly'], default: 'daily' },
          'when a new file begins: `size`, `hourly`, `daily`, `weekly`, `monthly`'),
        maxFileSize: option({ type: 'number', default: 0, shown: 'Windows\'', least: kMiB, most: kMost32 },
          'bytes, with rollover `size`; at least 1 MiB')
      }
    },
    authentication: {
      type: 'group',
      options: {
        schemes: option({ type: 'special', ts: "('basic' | 'digest' | 'ntlm' | 'negotiate' | 'kerberos')[]", shown: 'none', required: true },
          '`basic`, `digest`, `ntlm`, `negotiate`, `kerberos`: HTTP.SYS adds the challenges to 401 responses'),
        allowAnonymous: option({ type: 'boolean', default: true },
          '`false`: requests without a login are answered with 401. JavaScript does not learn who logged in')
      }
    }
  }
}

/** @type {Group} serveFiles(), and static() of an adapter: options of serve-static 2 */
const files = {
  options: {
    acceptRanges: option({ type: 'boolean', default: true },
      'answers requests for ranges, one or several'),
    cacheControl: option({ type: 'boolean', default: true },
      'adds `Cache-Control: public, max-age=…` to responses'),
    dotfiles: option({ type: 'choice', choices: ['ignore', 'deny', 'allow'], default: 'ignore' },
      'a path with a segment that begins with a dot, even `/.well-known/`: `\'ignore\'` answers 404, `\'deny\'` 403, `\'allow\'` serves the file. With `fallthrough` the application answers in place of 404 and 403'),
    etag: option({ type: 'boolean', default: true },
      'adds a weak `ETag` of size and time, the same as serve-static\'s'),
    extensions: option({ type: 'special', ts: 'string | string[] | false', default: false },
      'extensions to try for a name without an extension that does not exist: `[\'html\']` lets `/about` be `about.html`'),
    fallthrough: option({ type: 'boolean', default: false, shown: '`false`; `true` for an adapter' },
      'requests that would get 400, 403, 404 or 405, and requests with a body (even GET), go to the application. Set `false` if clients shall get 403 or 400'),
    immutable: option({ type: 'boolean', default: false },
      'adds `immutable` to `Cache-Control`'),
    index: option({ type: 'special', ts: 'string | string[] | false', default: 'index.html' },
      'the file that is sent for a folder, or several that are tried in this order; `false`: none'),
    lastModified: option({ type: 'boolean', default: true },
      'adds `Last-Modified` to responses'),
    maxAge: option({ type: 'special', ts: 'number | string', default: 0 },
      '`max-age` in milliseconds, or as text such as `\'90s\'`, `\'12h\'`, `\'7d\'`, at most a year'),
    redirect: option({ type: 'boolean', default: true },
      'a request for a folder without the final slash gets 301; `false`: 404')
  }
}

/** @type {Group} the same places: options that serve-static lacks */
const ownFiles = {
  options: {
    headers: option({ type: 'special', ts: 'Record<string, Record<string, string | number>>', shown: 'none' },
      'header fields by a pattern: [below](static-files.md#header-fields)'),
    precompressed: option({ type: 'special', ts: "boolean | ('br' | 'zstd' | 'gzip')[]", default: false },
      'sends compressed files that lie beside the requested file, `true` or a list of `\'br\'`, `\'zstd\'`, `\'gzip\'`: [below](static-files.md#compressed-files)'),
    symlinks: option({ type: 'boolean', default: false },
      'follows symbolic links that stay within the folder: [below](static-files.md#what-can-be-reached)')
  }
}

/** @type {Group} https.createServer(), and listen() with https:// prefixes */
const certificates = {
  hint: 'it belongs to https.createServer(), createAdapter(), and listen() with an https:// prefix',
  options: {
    certificates: option({ type: 'special', ts: kHostCertificates, shown: 'none' },
      '`[{ host, key, cert, … }]`: certificates of hosts (`*` stands for a label), or `prefix` in place of `host`. An element may have `key`, `cert`, `pfx`, `passphrase`, `ca`, `crl`, `allowPartialTrustChain` and the names of OpenSSL engines. TLS versions and ciphers always come from the server. `ca`, `crl` and `allowPartialTrustChain` come from the server if the element has none of the three'),
    certificateDirectory: option({ type: 'special', ts: 'string', shown: 'none' },
      'a folder with `<host>.pem`, or `<host>.key` and `<host>.crt`, for each host; `_.example` stands for `*.example`, `default` for all remaining hosts. The folder is watched: changes apply from the next connection on. If a file in the folder cannot be used (an empty file, or a `.key` without its `.crt`), `listen()` fails with `ERR_HTTPSYS_SSLCERT`; later a warning says so, and the certificates in use stay'),
    devCert: option({ type: 'special', ts: 'boolean', default: false },
      'a self-signed certificate for `localhost` and this machine\'s name, for hosts without a certificate in `certificates` or `certificateDirectory`. It is kept for a year in `~/.config/httpsys/dev-certificate.pem`, readable for its user only. Refused together with `key`, `cert` and `pfx`')
  }
}

/** @type {Group} listen({ prefix }) */
const prefixes = {
  hint: 'it belongs to listen({ … })',
  options: {
    prefix: option({ type: 'special', ts: 'string | string[]' },
      'a URL prefix, or several, such as `http://*:8080/shop/`'),
    prefixes: option({ type: 'special', ts: 'string[]' },
      'the same as `prefix`')
  }
}

/** @type {Group} listen() with prefixes, beside Node's options of the same names */
const listen = {
  options: {
    exclusive: option({ type: 'special', ts: 'boolean', default: false },
      '`true`: no other server can register a prefix on the port'),
    fd: option({ type: 'special', ts: 'number', shown: 'none' },
      'descriptor of a TCP socket that another program, such as systemd, has bound to the port of one of the prefixes: [port-sharing.md](port-sharing.md#ports-below-1024-and-given-sockets)')
  }
}

/** @type {Group} listen() on a port, and with prefixes */
const queue = {
  hint: 'it belongs to listen({ … })',
  options: {
    queueName: option({ type: 'special', ts: 'string', shown: 'none; in a worker of node:cluster one of the application' },
      'name of the server\'s request queue, 1 to 255 characters that do not begin with `httpsys:`. Servers with the same queue name share their requests'),
    queueMode: option({ type: 'choice', choices: ['create', 'createOrAttach', 'attach'], default: 'create', shown: '`create`' },
      'whether another process must not (`create`), may (`createOrAttach`) or must (`attach`) have opened the queue `queueName`')
  }
}

/** @type {Group} listen() with prefixes: for these prefixes in place of the option of createServer() */
const strip = {
  options: {
    stripPrefix: option({ type: 'boolean', shown: 'the option of `createServer()`' },
      'overrides the `stripPrefix` of `createServer()` for these prefixes')
  }
}

/** @type {Group} listen() with prefixes only */
const forward = {
  hint: 'it belongs to listen() with a prefix',
  options: {
    forwardedPrefix: option({ type: 'boolean', default: false },
      '`true` adds the header `X-Forwarded-Prefix` to requests: the path that `stripPrefix` removed, without its final slash (`/shop`). A client\'s own `X-Forwarded-Prefix` is dropped. Needs `stripPrefix: true`')
  }
}

/** @type {Group} close() */
const close = {
  hint: 'it belongs to close()',
  options: {
    restart: option({ type: 'boolean', default: false },
      '`true`: requests for the server\'s prefixes wait until another process registers them: [port-sharing.md](port-sharing.md#restart)'),
    // Enough for a process to start, and far below the timeouts of clients and proxies.
    waitMs: option({ type: 'number', default: 10_000, least: 1, most: 300_000 },
      'how long these requests wait, 1 to 300000 ms; only with `restart`')
  }
}

/** Environment variables for users. @type {Record<string, { shown?: string, says: string }>} */
const environment = {
  HTTPSYS_BACKEND: { shown: '`engine`', says: '`node` serves with `node:http` itself, for comparison: `createServer()` accepts the httpsys options, but limits such as `queueLimit` and `maxBandwidth` have no effect' },
  HTTPSYS_CACHE: { shown: 'none', says: '`rfc9111` or `httpsys`: cache rules for servers that are created without the option `cache`, also under `register` ([cache.md](cache.md#environment-variables))' },
  HTTPSYS_CACHE_DURATION: { shown: 'none', says: 'default of the cache option `duration`, in seconds; without `HTTPSYS_CACHE` it selects the rules `httpsys`' },
  HTTPSYS_LISTEN: { shown: 'none', says: 'URL prefixes on which an unmodified program listens instead of a port, such as `3000=strip:http://*:8080/shop/`; only under [`register`](register.md#url-prefixes-for-a-program)' },
  HTTPSYS_ERROR_LOG: { shown: 'none', says: 'path of the [error log](error-log.md)' },
  HTTPSYS_REFUSAL_LINES: { shown: '`1`', says: '`0` turns off the [lines on stderr](error-log.md#the-line-on-stderr) that count requests refused by the engine' },
  HTTPSYS_RUNTIME_DIRECTORY: { shown: 'none: abstract names on Linux, `/tmp/httpsys-1-<uid>` elsewhere', says: 'absolute path of a folder, owned by this user with mode 0700, for the sockets through which processes share a port ([port-sharing.md](port-sharing.md#httpsys_runtime_directory))' },
  HTTPSYS_URLACL: { shown: '`~/.config/httpsys/urlacl.json`', says: 'absolute path of the [reservations](reservations.md) file, which says which application may listen on which prefix' },
  HTTPSYS_APP: { shown: 'the [program\'s name](reservations.md#who-is-who)', says: 'name by which [reservations](reservations.md) identify the application' },
  HTTPSYS_SSLCERT: { shown: '`~/.config/httpsys/sslcert.json`', says: 'absolute path of the file of certificates bound to hosts and ports' },
  HTTPSYS_IO_THREADS: { shown: 'half the cores, 1 to 4', says: 'I/O threads for the main thread and for each worker thread, 1 to 64; with HTTP.SYS always 1' },
  HTTPSYS_QUEUE_BYTES: { shown: '67108864 (64 MiB)', says: 'most bytes of requests in this process that JavaScript has not begun, at least 65536. Further requests [wait on their connections](#a-burst-of-requests). No effect with HTTP.SYS' },
  HTTPSYS_HTTPAPI: { says: '`core` uses only the functions of HTTP.SYS that Wine has ([windows.md](windows.md))' },
  HTTPSYS_REGISTER_REPORT: { shown: 'none', says: 'path of a file to which each process under [`register`](register.md#whether-the-engine-has-served) appends how many requests it served' },
  HTTPSYS_ALIGN_AFTER: { shown: '`8`', says: 'consecutive requests to which a function around an Express application must give the same prototypes before the engine [creates requests with them](register.md#express) to save time. `0` turns this off, also for an application that is itself the listener' },
  HTTPSYS_ADDON: { shown: 'the addon that was built here, else that of the platform\'s package; also where it is empty', says: 'path of another build of the native addon, such as a sanitizer build' }
}

/** Groups by the names that they have in lib/options/table.js. */
const groups = { server, http2, cache, httpSys, files, ownFiles, certificates, prefixes, listen, queue, strip, forward, close }

module.exports = { environment, groups }
