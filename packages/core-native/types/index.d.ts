import * as http from 'node:http'
import * as nodeHttps from 'node:https'
import type { SecureContextOptions, TlsOptions } from 'node:tls'
import type { FileHandle } from 'node:fs/promises'
import type { ListenOptions, Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocketChannel, WebSocketHandlers, WebSocketSettings } from './web-socket'
export * from 'node:http'
export type { WebSocketChannel, WebSocketHandlers, WebSocketSettings } from './web-socket'

/** Options of `createServer` beside Node's own. */
export interface EngineServerOptions {
  // generated: EngineServerOptions
  /**
   * Longest request body. A longer body gets 413 and the connection is closed. A handler can set another limit for one
   * request. In bytes. Default: 0 = no limit.
   */
  maxRequestBodySize?: number
  /**
   * Highest body limit that a handler can set for one request. Needs `maxRequestBodySize`, and must not be below it. In
   * bytes. Default: 0 = `maxRequestBodySize`.
   */
  maxRequestBodySizeCeiling?: number
  /**
   * Most connections of one client: an IPv4 address or a /64 network of IPv6. Excess connections are closed
   * (https://github.com/httpsys/httpsys/blob/main/docs/options.md#many-connections). Default: 0 = no limit. Not with
   * HTTP.SYS.
   */
  maxConnectionsPerAddress?: number
  /**
   * Most connections whose last request was for the same URL prefix. A request on a connection above the limit gets
   * 503. Default: 0 = no limit. Not with HTTP.SYS.
   */
  maxConnectionsPerPrefix?: number
  /**
   * Longest URL of a request, as the client sends it. A longer one gets 414 without running JavaScript. In bytes.
   * Default: 0 = no limit but `maxHeaderSize`. Not with HTTP.SYS.
   */
  maxUrlBytes?: number
  /**
   * Removes the matched URL prefix from `req.url`. `req.baseUrl` has the removed part, `req.originalUrl` the whole URL.
   * Default: false.
   */
  stripPrefix?: boolean
  /**
   * Answers 400 to requests whose URL HTTP.SYS would refuse
   * (https://github.com/httpsys/httpsys/blob/main/docs/url-prefixes.md#strict-urls). On Windows, HTTP.SYS refuses such
   * URLs whatever the value. Default: false.
   */
  strictUrl?: boolean
  /**
   * Adds `Server: httpsys` to 4xx and 5xx responses of the engine, to distinguish them from the application's. Engine
   * responses that copy node:http, such as 400 for a malformed request, never have it. HTTP.SYS adds its own name
   * whatever the value. Default: true.
   */
  serverHeader?: boolean
  /**
   * `true`: HTTP/2 also on ports without TLS; `false`: no HTTP/2; or an object with its settings
   * (https://github.com/httpsys/httpsys/blob/main/docs/http2.md). Default: TLS ports only.
   */
  http2?: boolean | Http2Options
  /**
   * Most unanswered requests of one connection that the application gets. At the limit, the engine stops reading the
   * connection. Default: 32.
   */
  pipelinedRequestsMax?: number
  /**
   * Most requests of the server that wait for JavaScript to begin them. A request above the limit gets 503 at once
   * (https://github.com/httpsys/httpsys/blob/main/docs/options.md#a-burst-of-requests). Default: 0 = no limit; with
   * HTTP.SYS 1000.
   */
  queueLimit?: number
  /**
   * Longest wait until JavaScript begins a request. Then the request gets 503, and JavaScript skips it. The default is
   * HTTP.SYS's; node:http has no limit. Time in which a debugger pauses JavaScript counts. In ms. Default: 120000 for
   * servers of URL prefixes, otherwise 0 = no limit.
   */
  queueTimeout?: number
  /**
   * Slowest rate, averaged over 60 s or more, at which a client may read while output waits for it. A slower client is
   * disconnected (https://github.com/httpsys/httpsys/blob/main/docs/options.md#slow-clients). In bytes/s. Default: 150
   * for servers of URL prefixes, otherwise 0 = no limit.
   */
  minSendRate?: number
  /**
   * Most response data that each URL prefix of the server sends, to all its clients together, 1024 to 4294967294
   * (https://github.com/httpsys/httpsys/blob/main/docs/options.md#bandwidth). In bytes/s. Default: 0 = no limit.
   */
  maxBandwidth?: number
  /**
   * Stores responses and answers later requests with them, without running JavaScript
   * (https://github.com/httpsys/httpsys/blob/main/docs/cache.md#options), also for its timeouts `refreshTimeout` and
   * `coalesceTimeout`. Default: as `HTTPSYS_CACHE` says, otherwise none.
   */
  cache?: boolean | CacheOptions
  /**
   * Settings of HTTP.SYS on Windows (https://github.com/httpsys/httpsys/blob/main/docs/windows.md#the-option-httpsys);
   * on other systems `ERR_HTTPSYS_CAPABILITY`. Default: none.
   */
  httpSys?: HttpSysOptions
  /**
   * What clients get when the engine refuses a request with 503: `basic` resets the connection, `limited` sends only
   * the status, `full` adds the reason from the error log. On a shared port, the server that holds the connection
   * decides. With HTTP.SYS the default is `basic`, as in its API. Default: full.
   */
  http503Verbosity?: 'basic' | 'limited' | 'full'
  // end of EngineServerOptions
}

/** What is asked of the output cache with either rule set. */
export interface CommonCacheOptions {
  // generated: CommonCacheOptions
  /**
   * Memory for stored responses of the whole process, 4 MiB to 4 GiB; below 8 MiB, popular responses are evicted with
   * all others. The largest value of several servers counts. Default: 32 MiB. Not with HTTP.SYS.
   */
  cacheBytes?: number
  /**
   * Memory for stored responses of all processes that share a port; each gets its `cacheBytes` or a fair share. The
   * smallest value of several servers and processes counts. Default: 256 MiB. Not with HTTP.SYS.
   */
  portCacheBytes?: number
  /**
   * A longer response, head and body together, is not stored; at most 1 MiB. Default: 1 MiB; 256 KiB with `httpsys`.
   * Not with HTTP.SYS.
   */
  maxEntryBytes?: number
  /**
   * The URL prefixes of the server whose responses are stored, written as in `listen()`. Default: all. Not with
   * HTTP.SYS.
   */
  prefixes?: string[]
  /**
   * Adds `Cache-Status` (RFC 9211) to responses, streamed ones included; only a head that the application writes on the
   * socket in pieces has none. With `'debug'` it says why a response was not stored. Default: false. Not with HTTP.SYS.
   */
  status?: boolean | 'debug'
  /** Ms, at least 1: how long JavaScript may work on a refresh request. Default: 60000. Not with HTTP.SYS. */
  refreshTimeout?: number
  /**
   * Ms: how long a request may wait for the response to another one before it goes to JavaScript; 0: no request waits.
   * nginx has the same default (`proxy_cache_lock_timeout`). Default: 5000. Not with HTTP.SYS.
   */
  coalesceTimeout?: number
  /**
   * Compresses stored responses that are requested again: `true`, or a list of `'br'`, `'zstd'`, `'gzip'`. Default:
   * false. Not with HTTP.SYS.
   */
  compress?: boolean | ('br' | 'zstd' | 'gzip')[]
  // end of CommonCacheOptions
}

/** RFC 9111: the header of each response decides. ERR_HTTPSYS_CAPABILITY with HTTP.SYS. */
export interface Rfc9111CacheOptions extends CommonCacheOptions {
  rules?: 'rfc9111'
  // generated: Rfc9111CacheOptions
  stale?: {
    /**
     * Only with `rfc9111`: seconds for which a stale response that names no such time is served during a refresh.
     * Default: 0.
     */
    whileRevalidate?: number
    /** Only with `rfc9111`: the same, after an error. Default: 0. */
    ifError?: number
  }
  /**
   * Only with `rfc9111`: a response without a lifetime gets a tenth of the time since its `Last-Modified`, at most a
   * day. Default: false.
   */
  heuristics?: boolean
  /**
   * Only with `rfc9111`: requests cannot demand a new response. Any client can send `no-cache`, as a browser does on
   * reload. Default: false.
   */
  ignoreReload?: boolean
  // end of Rfc9111CacheOptions
}

/** The rules of HTTP.SYS: what an application says of a response, by `res.cacheDuration` or `setCachePolicy()`, or what ASP.NET reads from its header. */
export interface HttpSysCacheOptions extends CommonCacheOptions {
  rules: 'httpsys'
  // generated: HttpSysCacheOptions
  /**
   * Only with `httpsys`: lifetime in seconds of responses that name none, under the conditions
   * (https://github.com/httpsys/httpsys/blob/main/docs/cache.md#the-default-lifetime). Default: as
   * `HTTPSYS_CACHE_DURATION` says, otherwise 0.
   */
  duration?: number
  /** Only with `httpsys` and `duration`: further request fields on which no response depends. Default: none. */
  harmlessFields?: string[]
  // end of HttpSysCacheOptions
}

export type CacheOptions = Rfc9111CacheOptions | HttpSysCacheOptions

/** A stored response. */
export interface CacheEntry {
  /** With the scheme, Host and port of the request that it answered. */
  url: string
  status: number
  /** What has said how long it is good: a policy of the application's, or (`'rfc9111'`) its header or the server's default. */
  policy: 'rfc9111' | 'userInvalidates' | 'timeToLive'
  /** ms since 1970. */
  created: number
  /** Its lifetime from then on; 0 with `userInvalidates`. */
  seconds: number
  /** As far as they are counted: 0 to 3, by which the cache decides what stays. */
  hits: number
  headBytes: number
  bodyBytes: number
  /** One of several variants (`Vary`). */
  varies: boolean
}

/** Counters of a server's cache. */
export interface CacheStatistics {
  // generated: cache counters, from schema/counters.js
  /** Fresh entries that answered. */
  hits: number
  /** Requests for JavaScript that an entry could have answered. */
  misses: number
  /** Stale entries that answered. */
  stale: number
  /** Entries that the application has called still good, by a 304. */
  revalidated: number
  /** Requests that waited for the answer to another one. */
  coalesced: number
  /** Requests that had waited and then went to JavaScript. */
  released: number
  /** Responses that were stored. */
  stored: number
  /** Entries that a request of an unsafe method has made obsolete. */
  invalidated: number
  /** Compressed variants that answered: a part of `hits` and `stale`. */
  compressed: number
  /** Entries that went away while they were read. */
  changedWhileRead: number
  /** Entries now. */
  entries: number
  /** Size of the entries. */
  bytes: number
  /** Entries of the process that made room for others. */
  evicted: number
  /** Memory that the process has taken for entries. */
  memoryBytes: number
  // end of cache counters
  /** Requests that went past the cache and responses that were not stored, by reason (https://github.com/httpsys/httpsys/blob/main/docs/cache.md). */
  refused: Record<string, number>
}

/** The output cache of a server that was created with the option `cache`. Each throws ERR_SERVER_NOT_RUNNING before `listen()`. */
export interface ServerCache {
  /**
   * The stored responses for a URL such as `http://*:8080/news` and everything below it; without `prefix` all. At most `limit`, default 1000.
   *
   * @throws ERR_HTTPSYS_CAPABILITY with HTTP.SYS; ERR_INVALID_ARG_VALUE for what is no URL
   */
  entries (options?: { prefix?: string, limit?: number }): CacheEntry[]
  /** @throws ERR_HTTPSYS_CAPABILITY with HTTP.SYS */
  stats (): CacheStatistics
  /**
   * Forgets the response for a URL such as `http://*:8080/a`, with `recursive` everything below it; without arguments everything. Returns
   * how many there were; 0 with HTTP.SYS, which does not tell.
   *
   * @throws ERR_INVALID_ARG_VALUE for what is no URL
   */
  flush (prefix?: string, options?: { recursive?: boolean }): number
}

/** Properties of HTTP.SYS's URL groups. What is not given is as Windows has it. */
export interface HttpSysOptions {
  // generated: HttpSysOptions
  /**
   * Bytes per second of all responses of a prefix, at least 1024 (also available as `maxBandwidth` of
   * `createServer()`). Default: none.
   */
  maxBandwidth?: number
  /** Simultaneous connections of a prefix; the kernel refuses further connections. Default: none. */
  maxConnections?: number
  /**
   * `HTTP_SEND_RESPONSE_FLAG_BUFFER_DATA`: the kernel copies what is written and accepts more at once. This is faster
   * for many small writes. Data that a slow client does not read then occupies kernel memory, and `res.write()` does
   * not report it. Default: false.
   */
  bufferResponses?: boolean
  timeouts?: {
    /** Ms for the rest of a body whose request was answered. Default: Windows'. */
    drainEntityBody?: number
    /** Ms for a request in the request queue (also `queueTimeout`). Default: Windows'. */
    requestQueue?: number
    /** Bytes per second that a client must read (also `minSendRate`, whose 0 means no limit). Default: Windows'. */
    minSendRate?: number
  }
  logging?: {
    /** Absolute path of a folder in which HTTP.SYS may write. Default: no log. */
    directory: string
    /**
     * `w3c` or `ncsa`. Logged fields: date, time, addresses, port, method, path, query, status, host, client, referrer.
     * Default: 'w3c'.
     */
    format?: 'w3c' | 'ncsa'
    /** When a new file begins: `size`, `hourly`, `daily`, `weekly`, `monthly`. Default: 'daily'. */
    rollover?: 'size' | 'daily' | 'weekly' | 'monthly' | 'hourly'
    /** Bytes, with rollover `size`; at least 1 MiB. Default: Windows'. */
    maxFileSize?: number
  }
  authentication?: {
    /**
     * `basic`, `digest`, `ntlm`, `negotiate`, `kerberos`: HTTP.SYS adds the challenges to 401 responses. Default: none.
     */
    schemes: ('basic' | 'digest' | 'ntlm' | 'negotiate' | 'kerberos')[]
    /**
     * `false`: requests without a login are answered with 401. JavaScript does not learn who logged in. Default: true.
     */
    allowAnonymous?: boolean
  }
  // end of HttpSysOptions
}

/** Settings of HTTP/2; https://github.com/httpsys/httpsys/blob/main/docs/http2.md has the defaults. */
export interface Http2Options {
  // generated: Http2Options
  /**
   * Streams per connection. Once the client has confirmed the number, opening more streams ends the connection with
   * PROTOCOL_ERROR. Default: 100.
   */
  maxConcurrentStreams?: number
  /**
   * Bytes of one body that a client may send before the application has read them. On each I/O thread, up to 16 bodies
   * at a time that the application reads without delay get 917,504 bytes more, unless the option is below 131072. In
   * bytes. Default: 131072.
   */
  initialWindowSize?: number
  /** Longest frame that is accepted. In bytes. Default: 16384. */
  maxFrameSize?: number
  /** Size of HPACK's table for received fields. In bytes. Default: 4096. */
  headerTableSize?: number
  /**
   * A client with open streams that is silent for this time gets a PING; if it stays silent as long again, its
   * connection is closed. In ms. Default: 0 = never.
   */
  pingInterval?: number
  /**
   * A stream is reset with CANCEL if none of its output can be sent for this time, because the client opens no window
   * or does not read. Time in which `maxBandwidth` holds the output back does not count. In ms. Default: 120000; 0 =
   * none.
   */
  stallTimeout?: number
  /** `false`: a plain port refuses everything but HTTP/2. Default: true. */
  allowHTTP1?: boolean
  // end of Http2Options
}

declare module 'node:http' {
  interface IncomingMessage {
    /** The canonical URL prefix that matched; undefined on a server that listens without prefixes. */
    urlPrefix?: string
    /**
     * The part of the request's path that it matched, as the client wrote it, which may differ from the prefix in case,
     * percent-encoding and dot segments; without a final slash, so that `''` is the root. With `stripPrefix` it is what was
     * taken off. Found out when it is first read, from `originalUrl` or else `url`.
     */
    readonly urlPrefixPath?: string
    /**
     * Longest body of this request in bytes; 0 means no limit. It is the server's `maxRequestBodySize` until a handler sets it, at
     * most to the server's `maxRequestBodySizeCeiling`, before somebody begins to read the body (ERR_HTTPSYS_BODY_BEGUN). A longer
     * body is answered with 413. Undefined on responses that a client gets, and on requests of other servers.
     */
    maxRequestBodySize?: number
  }
}

declare module 'node:http' {
  interface ServerResponse {
    /**
     * Seconds for which the answer may be given to others: the rules of HTTP.SYS (https://github.com/httpsys/httpsys/blob/main/docs/cache.md). 0: not at all. Read when the head leaves,
     * so that it may be set behind `writeHead()`, until `end()` or the first `write()`. What is no integer from 0 to 4294967295 counts as not set.
     * Without effect on servers without the option `cache` (or HTTPSYS_CACHE_DURATION), and with `rules: 'rfc9111'`.
     */
    cacheDuration?: number
  }
}

/** Where the certificates of a server with TLS come from, beside Node's options. */
export interface CertificateOptions {
  // generated: CertificateOptions
  /**
   * `[{ host, key, cert, … }]`: certificates of hosts (`*` stands for a label), or `prefix` in place of `host`. An
   * element may have `key`, `cert`, `pfx`, `passphrase`, `ca`, `crl`, `allowPartialTrustChain` and the names of OpenSSL
   * engines. TLS versions and ciphers always come from the server. `ca`, `crl` and `allowPartialTrustChain` come from
   * the server if the element has none of the three. Default: none.
   */
  certificates?: (Pick<SecureContextOptions, 'allowPartialTrustChain' | 'ca' | 'cert' | 'clientCertEngine' | 'crl' | 'key' | 'passphrase' | 'pfx' | 'privateKeyEngine' | 'privateKeyIdentifier'> & ({ host: string } | { prefix: string }))[]
  /**
   * A folder with `<host>.pem`, or `<host>.key` and `<host>.crt`, for each host; `_.example` stands for `*.example`,
   * `default` for all remaining hosts. The folder is watched: changes apply from the next connection on. If a file in
   * the folder cannot be used (an empty file, or a `.key` without its `.crt`), `listen()` fails with
   * `ERR_HTTPSYS_SSLCERT`; later a warning says so, and the certificates in use stay. Default: none.
   */
  certificateDirectory?: string
  /**
   * A self-signed certificate for `localhost` and this machine's name, for hosts without a certificate in
   * `certificates` or `certificateDirectory`. It is kept for a year in `~/.config/httpsys/dev-certificate.pem`,
   * readable for its user only. Refused together with `key`, `cert` and `pfx`. Default: false.
   */
  devCert?: boolean
  // end of CertificateOptions
}

/** What `listen()` takes beside Node's arguments. Options of TLS are for `https://` prefixes. */
export interface PrefixListenOptions extends CertificateOptions, Omit<TlsOptions, 'pskCallback' | 'pskIdentityHint' | 'enableTrace'>,
  Pick<ListenOptions, 'backlog' | 'signal' | 'exclusive' | 'ipv6Only'> {
  // generated: PrefixListenOptions
  /** A URL prefix, or several, such as `http://*:8080/shop/`. */
  prefix?: string | string[]
  /** The same as `prefix`. */
  prefixes?: string[]
  /**
   * Descriptor of a TCP socket that another program, such as systemd, has bound to the port of one of the prefixes
   * (https://github.com/httpsys/httpsys/blob/main/docs/port-sharing.md#ports-below-1024-and-given-sockets). Default:
   * none.
   */
  fd?: number
  /** Overrides the `stripPrefix` of `createServer()` for these prefixes. Default: the option of `createServer()`. */
  stripPrefix?: boolean
  /**
   * `true` adds the header `X-Forwarded-Prefix` to requests: the path that `stripPrefix` removed, without its final
   * slash (`/shop`). A client's own `X-Forwarded-Prefix` is dropped. Needs `stripPrefix: true`. Default: false.
   */
  forwardedPrefix?: boolean
  /**
   * Name of the server's request queue, 1 to 255 characters that do not begin with `httpsys:`. Servers with the same
   * queue name share their requests. Default: none; in a worker of node:cluster one of the application.
   */
  queueName?: string
  /**
   * Whether another process must not (`create`), may (`createOrAttach`) or must (`attach`) have opened the queue
   * `queueName`. Default: create.
   */
  queueMode?: 'create' | 'createOrAttach' | 'attach'
  // end of PrefixListenOptions
}

/** Node's options of `listen()`. Node also takes a port as text, such as that of an environment variable. */
export interface PortListenOptions extends Omit<ListenOptions, 'port'> {
  port?: number | string | null | undefined
  /** A descriptor that is bound already, such as that of a systemd socket unit (3). */
  fd?: number | undefined
  /** SO_REUSEPORT. Node has the option from 22.12 on. */
  reusePort?: boolean | undefined
}

/** An object that has a bound or listening socket. */
export type ListenHandle = NetServer | Socket | { fd: number } | { _handle: object } | { handle: object }

/** What `server.close()` takes beside its callback. */
export interface CloseOptions {
  // generated: CloseOptions
  /**
   * `true`: requests for the server's prefixes wait until another process registers them
   * (https://github.com/httpsys/httpsys/blob/main/docs/port-sharing.md#restart). Default: false.
   */
  restart?: boolean
  /** How long these requests wait, 1 to 300000 ms; only with `restart`. Default: 10000. */
  waitMs?: number
  // end of CloseOptions
}

/** Options of a folder that is served: those of serve-static 2, and ours beside them (https://github.com/httpsys/httpsys/blob/main/docs/static-files.md). */
export interface StaticFilesOptions {
  // generated: StaticFilesOptions
  /** Answers requests for ranges, one or several. Default: true. */
  acceptRanges?: boolean
  /** Adds `Cache-Control: public, max-age=…` to responses. Default: true. */
  cacheControl?: boolean
  /**
   * A path with a segment that begins with a dot, even `/.well-known/`: `'ignore'` answers 404, `'deny'` 403, `'allow'`
   * serves the file. With `fallthrough` the application answers in place of 404 and 403. Default: 'ignore'.
   */
  dotfiles?: 'ignore' | 'deny' | 'allow'
  /** Adds a weak `ETag` of size and time, the same as serve-static's. Default: true. */
  etag?: boolean
  /**
   * Extensions to try for a name without an extension that does not exist: `['html']` lets `/about` be `about.html`.
   * Default: false.
   */
  extensions?: string | string[] | false
  /**
   * Requests that would get 400, 403, 404 or 405, and requests with a body (even GET), go to the application. Set
   * `false` if clients shall get 403 or 400. Default: `false`; `true` for an adapter.
   */
  fallthrough?: boolean
  /** Adds `immutable` to `Cache-Control`. Default: false. */
  immutable?: boolean
  /**
   * The file that is sent for a folder, or several that are tried in this order; `false`: none. Default: 'index.html'.
   */
  index?: string | string[] | false
  /** Adds `Last-Modified` to responses. Default: true. */
  lastModified?: boolean
  /** `max-age` in milliseconds, or as text such as `'90s'`, `'12h'`, `'7d'`, at most a year. Default: 0. */
  maxAge?: number | string
  /** A request for a folder without the final slash gets 301; `false`: 404. Default: true. */
  redirect?: boolean
  /**
   * Header fields by a pattern (https://github.com/httpsys/httpsys/blob/main/docs/static-files.md#header-fields).
   * Default: none.
   */
  headers?: Record<string, Record<string, string | number>>
  /**
   * Sends compressed files that lie beside the requested file, `true` or a list of `'br'`, `'zstd'`, `'gzip'`
   * (https://github.com/httpsys/httpsys/blob/main/docs/static-files.md#compressed-files). Default: false.
   */
  precompressed?: boolean | ('br' | 'zstd' | 'gzip')[]
  /**
   * Follows symbolic links that stay within the folder
   * (https://github.com/httpsys/httpsys/blob/main/docs/static-files.md#what-can-be-reached). Default: false.
   */
  symlinks?: boolean
  // end of StaticFilesOptions
}

/** `http.Server` on the engine. `instanceof http.Server` holds. */
export class Server<
  Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
  Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
> extends http.Server<Request, Response> {
  constructor (requestListener?: http.RequestListener<Request, Response>)
  constructor (
    options: http.ServerOptions<Request, Response> & EngineServerOptions,
    requestListener?: http.RequestListener<Request, Response>
  )

  /**
   * @throws ERR_HTTPSYS_PREFIX_SYNTAX when a string with `://` is no URL prefix
   * @throws ERR_HTTPSYS_OPTION when one would be ignored (https://github.com/httpsys/httpsys/blob/main/docs/options.md)
   * @throws ERR_SERVER_ALREADY_LISTEN, ERR_INVALID_ARG_VALUE … as `net.Server#listen`
   *
   * Emits 'error' with EADDRINUSE when another process has the prefix (`error.prefix`, `error.pid`), EACCES when the port
   * or the prefix is reserved for others, ERR_HTTPSYS_PORT_NAME when another user
   * has the name of the port, ERR_HTTPSYS_PEER_VERSION, ERR_HTTPSYS_PORT_COORDINATOR.
   * For https:// prefixes it throws ERR_HTTPSYS_TLS_OPTION, and emits ERR_HTTPSYS_TLS_CERTIFICATE and ERR_HTTPSYS_SSLCERT.
   */
  listen (prefix: string | string[], options: PrefixListenOptions, callback?: () => void): this
  listen (prefixes: string[], callback?: () => void): this
  listen (options: PrefixListenOptions, callback?: () => void): this
  listen (options: PortListenOptions, callback?: () => void): this
  listen (callback?: () => void): this
  /** `where` is a port, also as text, the path of a Unix socket, or a URL prefix. */
  listen (where?: number | string | null, callback?: () => void): this
  listen (where?: number | string | null, hostOrBacklog?: string | number | null, callback?: () => void): this
  listen (port?: number | string | null, host?: string | null, backlog?: number | null, callback?: () => void): this
  listen (handle: ListenHandle, callback?: () => void): this
  listen (handle: ListenHandle, backlog?: number | null, callback?: () => void): this

  close (callback?: (error?: Error) => void): this
  /** @throws ERR_HTTPSYS_OPTION, ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE; the server goes on then */
  close (options: CloseOptions, callback?: (error?: Error) => void): this

  /**
   * The URL prefixes it listens on, canonical. A server that listens on a port or address has the prefix that
   * stands for it, `http://*:8080/`. Empty when it does not listen, when it listens on a Unix socket or a pipe, and when reservations have
   * taken all of them away.
   */
  readonly prefixes: string[]

  /** Its output cache. Null without the option `cache`, and with HTTPSYS_BACKEND=node. */
  readonly cache: ServerCache | null

  /**
   * Listens on a further URL prefix while serving. Opens a socket when its port or address needs one.
   *
   * Rejects with ERR_HTTPSYS_PREFIX_SYNTAX; ERR_SERVER_NOT_RUNNING; EADDRINUSE when the prefix or the port is
   * taken (`error.prefix` and `error.pid` name the holder of a prefix); EACCES …; ERR_HTTPSYS_PREFIX_STATE on a Unix socket.
   */
  addPrefix (prefix: string): Promise<void>

  /**
   * Takes a URL prefix back. Requests that have been read are still answered; connections stay and their later
   * requests are routed anew. A socket that no prefix needs any more is closed. Resolves when every process on the
   * port knows: another may then have the prefix.
   *
   * Rejects with ERR_HTTPSYS_PREFIX_SYNTAX; ERR_SERVER_NOT_RUNNING; ERR_HTTPSYS_PREFIX_STATE when it is not the
   * server's, or its last one.
   */
  removePrefix (prefix: string): Promise<void>

  /**
   * Lets the I/O threads answer requests with the files of a folder, before and beside the server's listeners: none of them, and no
   * middleware, hears of these requests. At once, before or after `listen()`. `where` is
   * - a URL prefix: the server listens on it, beside its others or alone, unless it has it already. It goes with `close()`;
   * - a path such as `/assets/`, below each prefix of the application, or below the root of its port. It stays for the next `listen()`.
   *
   * @throws ERR_HTTPSYS_FILES when the folder does not exist, or another one is served there
   * @throws ERR_HTTPSYS_OPTION, ERR_HTTPSYS_PREFIX_SYNTAX, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE
   * @throws ERR_HTTPSYS_CAPABILITY with HTTP.SYS, and with HTTPSYS_BACKEND=node
   *
   * For a URL prefix it rejects as `addPrefix()` and `listen()` do.
   */
  serveFiles (where: string, root: string | URL, options?: StaticFilesOptions): Promise<void>

  /**
   * Ends `serveFiles()`, of which it takes the first argument. A prefix that was registered for the folder is taken back, too.
   *
   * Rejects with ERR_HTTPSYS_FILES when no folder is served there; ERR_HTTPSYS_PREFIX_STATE when the prefix is the server's last one.
   */
  removeFiles (where: string): Promise<void>
}

/**
 * `http.createServer()` with the engine below it: takes what Node's takes, and calls `requestListener` with an `http.IncomingMessage` and an
 * `http.ServerResponse`. `listen()` also takes URL prefixes, which processes of one port share.
 *
 * ```js
 * const http = require('@httpsys/core-native')   // was: require('node:http')
 * http.createServer((req, res) => { res.end('Hello') }).listen('http://*:8080/shop/')
 * ```
 *
 * @throws ERR_HTTPSYS_OPTION, ERR_OUT_OF_RANGE, ERR_INVALID_ARG_TYPE for options of the engine
 */
export function createServer<
  Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
  Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
> (requestListener?: http.RequestListener<Request, Response>): Server<Request, Response>
/** As `createServer(requestListener)`, with Node's options and those of the engine. */
export function createServer<
  Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
  Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
> (
  options: http.ServerOptions<Request, Response> & EngineServerOptions,
  requestListener?: http.RequestListener<Request, Response>
): Server<Request, Response>

/** `https.Server` on the engine; `Server` describes its members. */
export interface HttpsServer<
  Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
  Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
> extends nodeHttps.Server<Request, Response> {
  listen (prefix: string | string[], options: PrefixListenOptions, callback?: () => void): this
  listen (prefixes: string[], callback?: () => void): this
  listen (options: PrefixListenOptions, callback?: () => void): this
  listen (options: PortListenOptions, callback?: () => void): this
  listen (callback?: () => void): this
  /** `where` is a port, also as text, the path of a Unix socket, or a URL prefix. */
  listen (where?: number | string | null, callback?: () => void): this
  listen (where?: number | string | null, hostOrBacklog?: string | number | null, callback?: () => void): this
  listen (port?: number | string | null, host?: string | null, backlog?: number | null, callback?: () => void): this
  listen (handle: ListenHandle, callback?: () => void): this
  listen (handle: ListenHandle, backlog?: number | null, callback?: () => void): this
  close (callback?: (error?: Error) => void): this
  close (options: CloseOptions, callback?: (error?: Error) => void): this
  readonly prefixes: string[]

  /** Its output cache. Null without the option `cache`, and with HTTPSYS_BACKEND=node. */
  readonly cache: ServerCache | null
  addPrefix (prefix: string): Promise<void>
  removePrefix (prefix: string): Promise<void>
  serveFiles (where: string, root: string | URL, options?: StaticFilesOptions): Promise<void>
  removeFiles (where: string): Promise<void>
}

/** Options of `https.createServer`. */
export type HttpsServerOptions<
  Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
  Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
> = nodeHttps.ServerOptions<Request, Response> & EngineServerOptions & CertificateOptions

/** `node:https` with servers on the engine. */
export const https: Omit<typeof nodeHttps, 'createServer' | 'Server'> & {
  Server: {
    new<
      Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
      Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
    > (requestListener?: http.RequestListener<Request, Response>): HttpsServer<Request, Response>
    new<
      Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
      Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
    > (
      options: HttpsServerOptions<Request, Response>,
      requestListener?: http.RequestListener<Request, Response>
    ): HttpsServer<Request, Response>
    readonly prototype: HttpsServer
  }
  /** `https.createServer()` with the engine below it. Prefixes begin with `https://`, and clients are offered HTTP/2. */
  createServer<
    Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
    Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
  > (requestListener?: http.RequestListener<Request, Response>): HttpsServer<Request, Response>
  createServer<
    Request extends typeof http.IncomingMessage = typeof http.IncomingMessage,
    Response extends typeof http.ServerResponse<InstanceType<Request>> = typeof http.ServerResponse
  > (
    options: HttpsServerOptions<Request, Response>,
    requestListener?: http.RequestListener<Request, Response>
  ): HttpsServer<Request, Response>
}

/**
 * How long requests for this URL may be answered with the response by itself (HTTP_CACHE_POLICY). Before the head is sent. It counts more
 * than `res.cacheDuration` and the header. HTTP.SYS keeps what leaves at once (`end(body)`), and so do its rules on the engine.
 *
 * @throws ERR_HTTPSYS_CACHE_OFF on a server without the option `cache`, except with HTTP.SYS; ERR_HTTPSYS_CAPABILITY with HTTPSYS_BACKEND=node
 */
export function setCachePolicy (res: http.ServerResponse, policy: { policy: 'none' | 'userInvalidates' } | { policy: 'timeToLive', seconds: number }): void
/** Drops what is kept for a URL of the server, such as `http://*:8080/a`, or for all below it. */
export function flushCache (server: http.Server, url: string, options?: { recursive?: boolean }): void

/**
 * Ends a response with a file, or with its bytes from `start` to `end` (both included), with a Content-Length when nobody has set
 * one. The I/O threads read the file, with HTTP.SYS the kernel does; with HTTPSYS_BACKEND=node it is streamed. The callback comes once: with
 * null when everything was handed to the system, or with an error of `fs` (`ENOENT`, …) or of streams (`ERR_STREAM_PREMATURE_CLOSE`: the client has left). Unless
 * `res.headersSent`, the response can still be used then. A FileHandle or a descriptor is read from the file's beginning unless
 * `start` says otherwise, and remains open.
 */
export function sendFile (
  res: http.ServerResponse, file: string | Buffer | URL | FileHandle | number,
  options: { start?: number, end?: number } | undefined, callback: (error: NodeJS.ErrnoException | null) => void
): void
export function sendFile (
  res: http.ServerResponse, file: string | Buffer | URL | FileHandle | number, callback: (error: NodeJS.ErrnoException | null) => void
): void

/** Which stack serves: `'node'` when the environment has `HTTPSYS_BACKEND=node`. */
export const backend: 'engine' | 'node'

export interface PrototypePair { request: http.IncomingMessage, response: http.ServerResponse }

export interface AlignedPrototypes {
  readonly constructors: { IncomingMessage: typeof http.IncomingMessage, ServerResponse: typeof http.ServerResponse }
  /** Puts the engine's prototypes under those of the application's module. */
  install (): void
  /** Takes them back, and constructs nothing with the application's prototypes any more. */
  uninstall (): void
  /** Gives a request, and a response, of theirs the plain prototypes. */
  undo (req: object, res: object | undefined): void
}

/** For adapters: constructors that can be applied to an object (`Reflect.apply(f, object, args)`), URL prefixes. */
export const internals: {
  IncomingMessage: Function & { prototype: http.IncomingMessage }
  ServerResponse: Function & { prototype: http.ServerResponse }
  /** Constructors of requests and responses that have an application's prototypes (Express') from the beginning. */
  AlignedPrototypes: {
    /** Null: the application has none. */
    pairOf (app: unknown): PrototypePair | null
    /** `applies` is asked for each request; the others are constructed with the plain ones. */
    new (pair: PrototypePair, plain: { IncomingMessage: Function, ServerResponse: Function }, applies?: () => boolean): AlignedPrototypes
  }
  /** Reads the path of a folder or of WebSockets; it ends with a slash then. Throws ERR_HTTPSYS_PREFIX_SYNTAX. */
  parsePath (text: string): string
  /** Reads a URL prefix as `listen()` does. Throws ERR_HTTPSYS_PREFIX_SYNTAX. */
  parseUrlPrefix (text: string): { scheme: 'http' | 'https', host: string, port: number, path: string, prefix: string }
  /** What makes an upgraded connection of the engine a WebSocket, and returns null when it is none or was read already. */
  webSocketOpener<Owner extends object = any> (handlers: WebSocketHandlers<Owner>):
  (socket: Duplex, head: Uint8Array, settings: WebSocketSettings, owner: Owner) => WebSocketChannel | null
  /** Whether the argument of `listen()` is a server, a socket or a handle, whose properties are no options. */
  hasHandle (options: object): boolean
  /** Flags of WebSocketChannel#send, beside the opcode in the lowest four bits. */
  frames: { kFrameFin: number, kFrameCompress: number }
  /** Makes the listeners of an EventEmitter small that never had one. */
  shrinkListeners (emitter: NodeJS.EventEmitter): void
  /** Node's own process object, also where a test runner gives modules a copy of it. */
  nodeProcess: NodeJS.Process
  /** True when the path of a request target lies at or below the path of a prefix. */
  matchesPath (prefixPath: string, target: string): boolean
  /** ERR_HTTPSYS_WS_INTERNALS. */
  WsInternalsError: new (version: string, member: string) => Error & { readonly code: string }
  OptionError: new (where: string, option: string, nearest?: string, hint?: string) => Error & { readonly code: string }
  /** Throws ERR_HTTPSYS_OPTION for options of ours, and near misspellings of them, that are not among those accepted. */
  refuseMisplaced (where: string, options: unknown, accepted: string[]): void
  /** Throws ERR_HTTPSYS_OPTION for an option whose name is nearly a known one. */
  refuseMisspelt (where: string, options: object, known: string[]): void
  /** Throws ERR_HTTPSYS_OPTION for an option whose name is not a known one. */
  refuseUnknown (where: string, options: object, known: string[]): void
  /** What `createServer()` takes beside Node's options. */
  kServerOptions: string[]
  kNodeServerOptions: string[]
  /** Options of TLS: Node's, and where certificates come from. */
  kTlsOptions: string[]
  /** Tells options of TLS from others; `tls` is null when there are none. */
  splitOptions (options: object): { tls: Record<string, any> | null, others: Record<string, any> }
  /** A copy that has inherited options, and those of a class's accessors, as its own. */
  withInherited<T extends object> (options: T): T
  /** In options of `https.createServer`: `true` for an adapter's; in those of `listen()` on a port: options of TLS. */
  readonly kAdapterTls: symbol
}
