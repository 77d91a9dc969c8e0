'use strict'

// Generated from schema/options.js, which explains the names, by npm run generate.

module.exports = {
  server: {
    maxRequestBodySize: { type: 'number', default: 0, passed: true },
    maxRequestBodySizeCeiling: { type: 'number', default: 0 },
    maxConnectionsPerAddress: { type: 'number', default: 0, passed: true, needs: 'listensOnSockets' },
    maxConnectionsPerPrefix: { type: 'number', default: 0, passed: true, needs: 'listensOnSockets' },
    maxUrlBytes: { type: 'number', default: 0, most: 4294967295, passed: true, needs: 'listensOnSockets' },
    stripPrefix: { type: 'boolean', default: false },
    strictUrl: { type: 'boolean', default: false, passed: true },
    serverHeader: { type: 'boolean', default: true, passed: true },
    http2: { type: 'special' },
    pipelinedRequestsMax: { type: 'number', default: 32, least: 1, passed: true },
    queueLimit: { type: 'number', default: 0, passed: true, httpSysDefault: 1000 },
    queueTimeout: { type: 'number', default: 120000, passed: true, forPrefixes: true },
    minSendRate: { type: 'number', default: 150, most: 4294967294, passed: true, forPrefixes: true },
    maxBandwidth: { type: 'number', default: 0, least: 1024, most: 4294967294, orZero: true, passed: true },
    cache: { type: 'special' },
    httpSys: { type: 'special' },
    http503Verbosity: { type: 'string', default: 'full', choices: ['basic', 'limited', 'full'], passed: true, httpSysDefault: 'basic' }
  },
  http2: {
    maxConcurrentStreams: { type: 'number', default: 100, least: 1, most: 2147483647 },
    initialWindowSize: { type: 'number', default: 131072, least: 65535, most: 2147483647 },
    maxFrameSize: { type: 'number', default: 16384, least: 16384, most: 16777215 },
    headerTableSize: { type: 'number', default: 4096, most: 1048576 },
    pingInterval: { type: 'number', default: 0, most: 2147483647 },
    stallTimeout: { type: 'number', default: 120000, most: 2147483647 },
    allowHTTP1: { type: 'boolean', default: true }
  },
  cache: {
    rules: { type: 'choice', default: 'rfc9111', choices: ['rfc9111', 'httpsys'] },
    cacheBytes: { type: 'number', default: 33554432, least: 4194304, most: 4294967296, needs: 'cacheRules' },
    portCacheBytes: { type: 'number', default: 0, least: 4194304, most: 4398046511104, needs: 'cacheRules' },
    maxEntryBytes: { type: 'number', default: 1048576, least: 1, most: 1048576, needs: 'cacheRules' },
    prefixes: { type: 'special', needs: 'cacheRules' },
    status: { type: 'special', needs: 'cacheRules' },
    stale: {
      type: 'group',
      rules: 'rfc9111',
      options: {
        whileRevalidate: { type: 'number', default: 0, most: 2147483648 },
        ifError: { type: 'number', default: 0, most: 2147483648 }
      }
    },
    heuristics: { type: 'boolean', default: false, rules: 'rfc9111' },
    ignoreReload: { type: 'boolean', default: false, rules: 'rfc9111' },
    duration: { type: 'number', default: 0, most: 4294967295, rules: 'httpsys' },
    harmlessFields: { type: 'special', rules: 'httpsys' },
    refreshTimeout: { type: 'number', default: 60000, least: 1, most: 2147483647, needs: 'cacheRules' },
    coalesceTimeout: { type: 'number', default: 5000, most: 2147483647, needs: 'cacheRules' },
    compress: { type: 'special', needs: 'cacheRules' }
  },
  httpSys: {
    maxBandwidth: { type: 'number', default: 0, least: 1024, most: 4294967295 },
    maxConnections: { type: 'number', default: 0, least: 1, most: 4294967295 },
    bufferResponses: { type: 'boolean', default: false },
    timeouts: {
      type: 'group',
      options: {
        drainEntityBody: { type: 'number', default: 0, least: 1, most: 4294967295 },
        requestQueue: { type: 'number', default: 0, least: 1, most: 4294967295 },
        minSendRate: { type: 'number', default: 0, least: 1, most: 4294967295 }
      }
    },
    logging: {
      type: 'group',
      options: {
        directory: { type: 'special' },
        format: { type: 'choice', default: 'w3c', choices: ['w3c', 'ncsa'] },
        rollover: { type: 'choice', default: 'daily', choices: ['size', 'daily', 'weekly', 'monthly', 'hourly'] },
        maxFileSize: { type: 'number', default: 0, least: 1048576, most: 4294967295 }
      }
    },
    authentication: {
      type: 'group',
      options: {
        schemes: { type: 'special' },
        allowAnonymous: { type: 'boolean', default: true }
      }
    }
  },
  files: {
    acceptRanges: { type: 'boolean', default: true },
    cacheControl: { type: 'boolean', default: true },
    dotfiles: { type: 'choice', default: 'ignore', choices: ['ignore', 'deny', 'allow'] },
    etag: { type: 'boolean', default: true },
    extensions: { type: 'special' },
    fallthrough: { type: 'boolean', default: false },
    immutable: { type: 'boolean', default: false },
    index: { type: 'special' },
    lastModified: { type: 'boolean', default: true },
    maxAge: { type: 'special' },
    redirect: { type: 'boolean', default: true }
  },
  ownFiles: {
    headers: { type: 'special' },
    precompressed: { type: 'special' },
    symlinks: { type: 'boolean', default: false }
  },
  certificates: {
    certificates: { type: 'special' },
    certificateDirectory: { type: 'special' },
    devCert: { type: 'special' }
  },
  prefixes: {
    prefix: { type: 'special' },
    prefixes: { type: 'special' }
  },
  listen: {
    exclusive: { type: 'special' },
    fd: { type: 'special' }
  },
  queue: {
    queueName: { type: 'special' },
    queueMode: { type: 'choice', default: 'create', choices: ['create', 'createOrAttach', 'attach'] }
  },
  strip: {
    stripPrefix: { type: 'boolean' }
  },
  forward: {
    forwardedPrefix: { type: 'boolean', default: false }
  },
  close: {
    restart: { type: 'boolean', default: false },
    waitMs: { type: 'number', default: 10000, least: 1, most: 300000 }
  },
  hints: {
    server: 'it belongs to createServer() and createAdapter()',
    certificates: 'it belongs to https.createServer(), createAdapter(), and listen() with an https:// prefix',
    prefixes: 'it belongs to listen({ … })',
    queue: 'it belongs to listen({ … })',
    forward: 'it belongs to listen() with a prefix',
    close: 'it belongs to close()'
  },
  variables: [
    'HTTPSYS_ADDON',
    'HTTPSYS_ALIGN_AFTER',
    'HTTPSYS_APP',
    'HTTPSYS_BACKEND',
    'HTTPSYS_CACHE',
    'HTTPSYS_CACHE_DURATION',
    'HTTPSYS_ERROR_LOG',
    'HTTPSYS_HTTPAPI',
    'HTTPSYS_IO_THREADS',
    'HTTPSYS_LISTEN',
    'HTTPSYS_QUEUE_BYTES',
    'HTTPSYS_REFUSAL_LINES',
    'HTTPSYS_REGISTER_REPORT',
    'HTTPSYS_RUNTIME_DIRECTORY',
    'HTTPSYS_SSLCERT',
    'HTTPSYS_URLACL'
  ]
}
