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
  /**
   * Longest request body in bytes; 0, the default, means no limit, as in Node. A longer body is answered
   * with 413 (RFC 9110, section 15.5.14) and the connection is closed; `clientError` gets
   * `ERR_HTTPSYS_BODY_TOO_LARGE`.
   */
  maxRequestBodySize?: number
  /**
   * Highest value in bytes that a handler can give to `req.maxRequestBodySize`; requests with bodies up to it reach the handler.
   * Needs `maxRequestBodySize`, and must not be below it. 0, the default, means `maxRequestBodySize`.
   */
  maxRequestBodySizeCeiling?: number
  /**
   * Connections of one client: of one IPv4 address, or of one /64 network of IPv6. A further one is closed at once, as by
   * `server.maxConnections`; one that other servers of the port have had gets 503 (https://github.com/httpsys/httpsys/blob/main/docs/options.md). 0, the default, means no
   * limit. Not with HTTP.SYS.
   */
  maxConnectionsPerAddress?: number
  /**
   * Connections whose last request was for the same URL prefix; a connection of HTTP/2 counts for each prefix that it has
   * asked for. A request on a further one is answered with 503, and the connection closed (HTTP_CONNECTION_LIMIT_INFO). 0, the
   * default, means no limit. With HTTP.SYS use `httpSys.maxConnections`.
   */
  maxConnectionsPerPrefix?: number
  /**
   * Unanswered requests of one connection that are handed to the application before the connection is
   * no longer read (RFC 9112, section 9.3.2). At least 1, default 32.
   */
  pipelinedRequestsMax?: number
  /**
   * The server's request queue: requests for it that its JavaScript has not begun. Further ones are
   * answered with 503 (`http503Verbosity`). 0 means no limit, which is the default; with HTTP.SYS it is 1000.
   */
  queueLimit?: number
  /**
   * Milliseconds that a request may wait for its JavaScript, while that is busy: it is answered with 503 then, and not
   * begun any more (HTTP_TIMEOUT_LIMIT_INFO's RequestQueue). One behind others of its connection waits for those first.
   * 0 means no limit; default 120000, as HTTP.SYS, for servers of URL prefixes, and 0 for others, as Node.
   */
  queueTimeout?: number
  /**
   * What a client learns from a 503 of the engine (HTTP Server API, HttpServer503VerbosityProperty): `'basic'`, the
   * connection is reset; `'limited'`, the status; `'full'`, the status and its reason. Default `'full'`; with HTTP.SYS `'basic'`, as in its API.
   */
  http503Verbosity?: 'basic' | 'limited' | 'full'
  /**
   * Bytes per second that a client acknowledges, at least, while it has not taken all that it is sent; averaged over 60 s
   * or more. Slower ones are disconnected. Time in which nothing is to be sent does
   * not count, nor do upgraded connections and Unix sockets. 0 means no limit. Default 150, as HTTP.SYS, for servers that
   * listen on URL prefixes, otherwise 0, as node:http.
   */
  minSendRate?: number
  /**
   * Bytes per second of response data that each URL prefix of the server may send, 1024 to 4294967294
   * (HTTP_BANDWIDTH_LIMIT_INFO). A server that listens on a port counts as one prefix. Processes that share a prefix as a
   * queue have equal parts of it. Time in which a response waits for it does not count for `minSendRate`. 0, the default,
   * means no limit.
   */
  maxBandwidth?: number
  /**
   * Takes the path of the matched prefix off `req.url`, as a router mounted there sees it: `req.baseUrl` is
   * what was taken off, `req.originalUrl` the whole. Express and connect build on these. Default false.
   */
  stripPrefix?: boolean
  /**
   * Refuses, before JavaScript, requests whose path HTTP.SYS would not decode (https://github.com/httpsys/httpsys/blob/main/docs/url-prefixes.md has the rule): 400
   * "Invalid URL", and the connection is closed. `req.url` is not changed. Default false, as node:http. HTTP.SYS itself
   * always does so.
   */
  strictUrl?: boolean
  /**
   * Whether 4xx and 5xx that the engine answers by itself have `Server: httpsys`, so that one sees that they are not the
   * application's. Default true. What node:http answers in its own words, such as 400 to a malformed request, never has it.
   * HTTP.SYS always names itself.
   */
  serverHeader?: boolean
  /**
   * HTTP/2 (RFC 9113): `true` or settings serve it on plain ports too, for clients that begin with it; `false` offers it nowhere.
   * By default TLS ports offer it (ALPN).
   */
  http2?: boolean | Http2Options
  /**
   * The output cache (https://github.com/httpsys/httpsys/blob/main/docs/cache.md): stored answers, which requests get before JavaScript hears of them. `true` is
   * `{ rules: 'rfc9111' }`. Without the option the environment variables HTTPSYS_CACHE and HTTPSYS_CACHE_DURATION decide; `false`: none.
   */
  cache?: boolean | CacheOptions
  /** What is asked of HTTP.SYS; ERR_HTTPSYS_CAPABILITY where that is not the backend. https://github.com/httpsys/httpsys/blob/main/docs/windows.md. */
  httpSys?: HttpSysOptions
}

/** What is asked of the output cache with either rule set. */
export interface CommonCacheOptions {
  /** Bytes for stored answers of the whole process, 4 MiB to 4 GiB; of several servers the largest counts. Default 32 MiB. Not with HTTP.SYS. */
  cacheBytes?: number
  /**
   * Bytes for stored answers of all processes that share a port, from 4 MiB on: each gets what it wants, or a fair part. Of several servers
   * and processes the smallest counts. Default 256 MiB. Not with HTTP.SYS.
   */
  portCacheBytes?: number
  /**
   * Longest answer that is stored, head and body, up to 1 MiB. Default 1 MiB, with the rules of HTTP.SYS 256 KiB as its UriMaxUriBytes.
   * Not with HTTP.SYS.
   */
  maxEntryBytes?: number
  /** Whether answers have Cache-Status (RFC 9211); with `'debug'` it says why one was not stored. Default false. Not with HTTP.SYS. */
  status?: boolean | 'debug'
  /** The URL prefixes of the server whose answers are stored, written as in `listen()`. Without it all are. Not with HTTP.SYS. */
  prefixes?: string[]
  /**
   * Codings in which stored answers are compressed for clients that accept them, once they are asked for again; `true` is all that the
   * running Node has. Default false. ERR_HTTPSYS_CAPABILITY for a coding that it does not have, and with HTTP.SYS.
   */
  compress?: boolean | ('br' | 'zstd' | 'gzip')[]
  /**
   * Milliseconds from 1 on for which the application may work on a request that the cache makes itself, to refresh a stale answer or in place
   * of a client that has left. Then the request ends as if its client had left. Default 60,000. Not with HTTP.SYS.
   */
  refreshTimeout?: number
  /**
   * Milliseconds for which a request may wait for the answer to another one with its key, where the answer before was stored; then it goes to
   * the application itself. 0: none waits. Default 5,000. Not with HTTP.SYS.
   */
  coalesceTimeout?: number
}

/** RFC 9111: the header of each response decides. ERR_HTTPSYS_CAPABILITY with HTTP.SYS. */
export interface Rfc9111CacheOptions extends CommonCacheOptions {
  rules?: 'rfc9111'
  /** Seconds for which responses are used while stale that name no such time (RFC 5861). Default 0 for both. */
  stale?: {
    /** While a new response is fetched. */
    whileRevalidate?: number
    /** If the application fails, or cannot be reached. */
    ifError?: number
  }
  /** Responses without a lifetime get one from their Last-Modified (RFC 9111, section 4.2.2). Default false. */
  heuristics?: boolean
  /** Requests cannot demand a new response by `no-cache` and the like. Default false. */
  ignoreReload?: boolean
}

/** The rules of HTTP.SYS: what an application says of a response, by `res.cacheDuration` or `setCachePolicy()`, or what ASP.NET reads from its header. */
export interface HttpSysCacheOptions extends CommonCacheOptions {
  rules: 'httpsys'
  /**
   * Seconds for responses that say nothing, if the request has harmless fields alone (https://github.com/httpsys/httpsys/blob/main/docs/cache.md has the list). 0, the default: only
   * those that say something. The environment variable HTTPSYS_CACHE_DURATION sets another default. With HTTP.SYS only 0.
   */
  duration?: number
  /** Fields of requests on which no answer of the application depends, such as `X-Forwarded-For`: `duration` applies beside them, too. */
  harmlessFields?: string[]
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
  /** Answers of fresh entries. */
  hits: number
  /** Requests that an entry could have answered. */
  misses: number
  /** Answers that were given although they were stale. */
  stale: number
  /** Entries that the application has called still good, by a 304. */
  revalidated: number
  /** Requests that waited for the answer to another one. */
  coalesced: number
  /** Those of them that were given to the application in the end. */
  released: number
  stored: number
  /** Entries that a request of an unsafe method has made obsolete. */
  invalidated: number
  /** Answers that were compressed: among those of `hits` and `stale`. */
  compressed: number
  /** Entries that went away while they were read. */
  changedWhileRead: number
  entries: number
  /** Of the entries. */
  bytes: number
  /** Entries that made room for others; of the process. */
  evicted: number
  /** Memory that the process has taken for entries. */
  memoryBytes: number
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
  /** Bytes per second of all responses of a prefix, at least 1024 (HttpServerQosProperty). */
  maxBandwidth?: number
  /** Connections of a prefix at a time; further ones are refused with 503 (HttpServerQosProperty). */
  maxConnections?: number
  /** HttpServerTimeoutsProperty, beside keepAliveTimeout, headersTimeout and requestTimeout; ms, rounded up to seconds. */
  timeouts?: {
    /** For what is left of a body when its request was answered. */
    drainEntityBody?: number
    /** That a request may wait for JavaScript; `queueTimeout` unless it is given. */
    requestQueue?: number
    /** Bytes per second that a client must take; the option `minSendRate` unless it is given. */
    minSendRate?: number
  }
  /**
   * HTTP_SEND_RESPONSE_FLAG_BUFFER_DATA: the kernel copies what is written and takes more at once. Faster for many small
   * writes; what a slow client does not take is the kernel's memory. Default false.
   */
  bufferResponses?: boolean
  /** HttpServerLoggingProperty. */
  logging?: {
    /** An absolute path that HTTP.SYS may write to. */
    directory: string
    /** Default 'w3c'. */
    format?: 'w3c' | 'ncsa'
    /** When a file is followed by the next. Default 'daily'. */
    rollover?: 'size' | 'daily' | 'weekly' | 'monthly' | 'hourly'
    /** Bytes, with 'size'; at least 1 MiB. */
    maxFileSize?: number
  }
  /** HttpServerAuthenticationProperty: logins of Windows. */
  authentication?: {
    schemes: ('basic' | 'digest' | 'ntlm' | 'negotiate' | 'kerberos')[]
    /** Default true; with false requests without a login are answered with 401. */
    allowAnonymous?: boolean
  }
}

/** Settings of HTTP/2; https://github.com/httpsys/httpsys/blob/main/docs/http2.md has the defaults. */
export interface Http2Options {
  /** Streams at a time per connection (SETTINGS_MAX_CONCURRENT_STREAMS). Default 100. */
  maxConcurrentStreams?: number
  /** Bytes of one request body that are taken ahead of the application (SETTINGS_INITIAL_WINDOW_SIZE). Default 131072; up to 917504 more for bodies that are read at once. */
  initialWindowSize?: number
  /** Longest frame that is taken, bytes. Default 16384. */
  maxFrameSize?: number
  /** Bytes of HPACK's table (SETTINGS_HEADER_TABLE_SIZE). Default 4096. */
  headerTableSize?: number
  /** A client with open streams that is silent for so long (ms) is asked by PING, and closed when it stays silent. Default 0, never. */
  pingInterval?: number
  /** Longest time (ms) that a stream waits for its client to take something. 0 means no limit; default 120000. */
  stallTimeout?: number
  /** Whether HTTP/1.1 is served beside it on plain ports. Default true. */
  allowHTTP1?: boolean
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
  /**
   * Certificates of hosts (`*` stands for a label), or of the hosts of URL prefixes; the last one that fits counts. An element with
   * none of `ca`, `crl` and `allowPartialTrustChain` has the server's.
   */
  certificates?: (Pick<SecureContextOptions,
    'allowPartialTrustChain' | 'ca' | 'cert' | 'clientCertEngine' | 'crl' | 'key' | 'passphrase' | 'pfx' | 'privateKeyEngine' | 'privateKeyIdentifier'
  > & ({ host: string } | { prefix: string }))[]
  /**
   * A folder with `<host>.pem`, or `<host>.key` and `<host>.crt`; `_.example` stands for `*.example`, `default` for other
   * hosts. It is watched. ERR_HTTPSYS_SSLCERT when it has none, or one that cannot be used.
   */
  certificateDirectory?: string
  /** A certificate signed by itself, for development, for hosts that have no other. Refused beside `key`, `cert` and `pfx`. Default false. */
  devCert?: boolean
}

/** What `listen()` takes beside Node's arguments. Options of TLS are for `https://` prefixes. */
export interface PrefixListenOptions extends CertificateOptions, Omit<TlsOptions, 'pskCallback' | 'pskIdentityHint' | 'enableTrace'>,
  Pick<ListenOptions, 'backlog' | 'signal' | 'exclusive' | 'ipv6Only'> {
  /** A URL prefix, or several, such as `http://*:8080/shop/`. */
  prefix?: string | string[]
  prefixes?: string[]
  /**
   * A TCP socket that somebody else has bound to the port of one of the prefixes, such as that of a systemd socket unit (3). The
   * server listens on it in place of sockets of its own, and other processes of the port share it.
   */
  fd?: number
  /** As the option of `createServer()`, for these prefixes. Default: what `createServer()` was told. */
  stripPrefix?: boolean
  /**
   * Gives requests the header `X-Forwarded-Prefix` with the path that `stripPrefix: true` takes off (`/shop`), in the place of what a client
   * says. Default false.
   */
  forwardedPrefix?: boolean
  /**
   * Names the request queue of the prefixes, so that other processes can take requests from it, too. 1 to 255
   * characters that do not begin with `httpsys:`. Default: a queue of this server's own; in a worker of node:cluster one of the application's.
   */
  queueName?: string
  /** `'create'` (default): the queue is new. `'createOrAttach'`, `'attach'`: another process may have it, or must. */
  queueMode?: 'create' | 'createOrAttach' | 'attach'
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
  /** Requests for the server's prefixes wait for its successor at other processes of the port. Default false. */
  restart?: boolean
  /** How long, in milliseconds: 1 to 300000, default 10000. Then they get 503. */
  waitMs?: number
}

/** Options of a folder that is served: those of serve-static 2, and ours beside them (https://github.com/httpsys/httpsys/blob/main/docs/static-files.md). */
export interface StaticFilesOptions {
  /** Ranges are answered. Default true. */
  acceptRanges?: boolean
  /** Responses have Cache-Control. Default true. */
  cacheControl?: boolean
  /** Paths with a segment that begins with a dot: `'ignore'` (default) 404, `'deny'` 403, `'allow'`. */
  dotfiles?: 'allow' | 'deny' | 'ignore'
  /** Responses have an ETag. Default true. */
  etag?: boolean
  /** Tried, without their dot and in this order, for a name without an extension that does not exist. Default false, none. */
  extensions?: string | string[] | false
  /**
   * Misses, and methods other than GET and HEAD, go to the application. Default false: 404 and 405. An adapter's `static()` has true.
   */
  fallthrough?: boolean
  /**
   * Header fields of files by an extension (`.css`), a name, or a glob (`*.map`, `assets/**\/*.js`) over the path below the folder.
   * Those that a response has anyway are replaced; of several for one name the last one counts.
   */
  headers?: Record<string, Record<string, string | number>>
  /** Adds `immutable` to Cache-Control. Default false. */
  immutable?: boolean
  /** Names of the file that stands for a folder, in the order in which they are tried; false: none. Default `'index.html'`. */
  index?: string | string[] | false
  /** Responses have Last-Modified. Default true. */
  lastModified?: boolean
  /** For `max-age`: milliseconds, or a time such as `'7d'`, at most a year. Default 0. */
  maxAge?: number | string
  /**
   * Sends `a.js.br`, `a.js.zst` or `a.js.gz` instead of `a.js` to clients that take it, if it is not older. `true`: all three.
   * Default false.
   */
  precompressed?: boolean | ('br' | 'gzip' | 'zstd')[]
  /** A folder that is asked for without its final slash is answered with 301. Default true. */
  redirect?: boolean
  /** Symbolic links are followed while they stay within the folder. Default false: they are not found. */
  symlinks?: boolean
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
