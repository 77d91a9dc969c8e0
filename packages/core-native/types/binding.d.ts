/**
 * The native surface: nothing else crosses between C++ and JavaScript. While worker.terminate() is under way
 * JavaScript may run on for a moment; methods then do nothing and return undefined.
 */

import type {
  CacheEntry, CacheStatistics, CommonCacheOptions, EngineServerOptions, Http2Options, HttpSysCacheOptions, HttpSysOptions, Rfc9111CacheOptions,
  StaticFilesOptions
} from './index'
import type { Member, ServiceState } from './service-state'

/** HTTP/2 of one server. */
export interface Http2Settings extends Required<Omit<Http2Options, 'allowHTTP1'>> {
  /** Without TLS: for clients that begin with it. */
  isPlain: boolean
  /** Clients that speak HTTP/1.1 are refused. */
  isAlone: boolean
}

/** Options of createServer() by their names. */
export interface PassedOptions extends
  Required<Omit<EngineServerOptions, 'cache' | 'http2' | 'http503Verbosity' | 'httpSys' | 'maxRequestBodySizeCeiling' | 'stripPrefix'>> {
  /** 0 basic (reset), 1 limited (status), 2 full (status and reason). */
  http503Verbosity: number
}

/** Settings of one listening server, read by the I/O threads. All may change while serving. `maxRequestBodySize` is the ceiling, if there is one. */
export interface ServerConfig extends PassedOptions {
  /** Longest request head in bytes as Node counts it (target + names + values). */
  maxHeaderSize: number
  /** Most lines in a head or a trailer section; Infinity = no limit. */
  maxHeaderLines: number
  /** server.httpAllowHalfOpen */
  allowHalfOpen: boolean
  /**
   * True when JavaScript gets a kError record for each malformed message, because 'clientError' or a socket's 'error' may have
   * a listener. When false, it gets one only while requests of that connection are unanswered.
   */
  wantsErrors: boolean
  /** True when 'upgrade' has a listener. When false, folders answer requests with an Upgrade field like others. */
  hearsUpgrades: boolean
  /** What answers of the engine say in Keep-Alive, ms and a number; 0 = nothing. */
  keepAliveMs: number
  maxRequestsPerSocket: number
  /** 'timeout' has a listener, which decides about a connection that was idle for too long. */
  hearsTimeouts: boolean
  /** server.requireHostHeader: JavaScript refuses requests of HTTP/1.1 without Host, those for files of folders too. */
  requiresHost: boolean
  /** ms for which a connection may be idle after answers that JavaScript has no part in; 0 = for ever. */
  idleMs: number
  /** minSendRate is averaged over at least so many ms. */
  sendRateMs: number
  /** Once it is closed, its connections end as soon as they are idle. */
  endsIdle: boolean
  /** listen() has not called back: others know of the server already, but it has no requests yet. */
  isOpening: boolean
  /** Whether JavaScript wants to hear of handshakes that fail. */
  wantsTlsErrors: boolean
  /** Of createTlsContext(); null = plain. Without prefixes it is used everywhere, otherwise where a place says so. */
  tls: unknown
  /** How often the server has listened again after close(): connections of before are compared with its present rules. */
  listening: number
  /** TCP_NODELAY on accepted connections. */
  noDelay: boolean
  /** SO_KEEPALIVE on accepted connections, with its initial delay in seconds. */
  keepAlive: boolean
  keepAliveInitialDelay: number
  http2: Http2Settings
  prefixes: ServerPrefixes
  /** All folders whose files the lanes serve, where capabilities.servesFiles. */
  statics: StaticMount[]
  /** `statics` is empty: the folders are those that the server was configured with before. Not behind unlisten(). */
  keepsStatics: boolean
  cache: CacheConfig
  /** Asked of the operating system's HTTP server where that is the backend. */
  kernel: KernelConfig
}

/** The output cache of one server. */
export interface CacheConfig extends Required<Pick<CommonCacheOptions, 'maxEntryBytes' | 'refreshTimeout' | 'coalesceTimeout'>>,
  Required<Pick<Rfc9111CacheOptions, 'heuristics' | 'ignoreReload'>>, Required<Pick<HttpSysCacheOptions, 'duration' | 'harmlessFields'>> {
  /** 0 no cache, 1 the rules of HTTP.SYS, 2 RFC 9111. */
  rules: number
  /** Seconds for which responses that name no such time are used while stale: while a new one is fetched, and if none can be had. */
  staleWhileRevalidate: number
  staleIfError: number
  /** Answers have Cache-Status, which may say why one was not stored. */
  status: boolean
  saysWhy: boolean
  /** The codings in which stored answers are compressed, as capabilities.cacheCodings. */
  compress: number
  /** Canonical prefixes of the server: nothing else is looked up or stored; [] = everything is. */
  prefixes: string[]
}

/** A stored response, as the lanes have it. */
export type StoredEntry = Omit<CacheEntry, 'policy' | 'created'> & {
  /** 0 rfc9111, otherwise kCacheUserInvalidates or kCacheTimeToLive. */
  policy: number
  /** Seconds since 1970. */
  created: number
}

/** How the prefixes of a server differ from those that it was configured with before. */
export interface ServerPrefixes {
  /** It has none: it serves everything on its sockets. */
  isEverything: boolean
  /** `changes` are all of its prefixes, and `places` all its places. Needed at first, and behind unlisten(). */
  isWhole: boolean
  /** Canonical, e.g. `http://*:8080/shop/`; '' = the id is not in use any more. */
  changes: { id: number, text: string }[]
  /** Also those of prefixes that the server has lost but keeps the sockets of. */
  places: SpokenPlace[]
}

/** Where a server with prefixes begins or ends to speak HTTP with TLS, or without. */
export interface SpokenPlace {
  port: number
  isHttps: boolean
  /** An IP address; '' = all addresses of the port. Without TLS only the port is told. */
  address: string
  /** False: no prefix is there any more. */
  isThere: boolean
}

/** A folder whose files the lanes serve without JavaScript. */
export interface StaticMount extends Required<Omit<StaticFilesOptions, 'dotfiles' | 'extensions' | 'headers' | 'index' | 'maxAge' | 'precompressed'>> {
  /** It is below each prefix of the server, also below those that come later, except where a folder `ownsPrefix`. */
  isBelowAll: boolean
  /** The prefix at which it is otherwise. */
  prefixId: number
  /** The prefix was registered for this folder: no other one is below it. */
  ownsPrefix: boolean
  /** Of URLs, decoded, from '/' on, with a final slash: with the path of the prefix, or relative to each prefix. */
  path: string
  /** An absolute path. */
  root: string
  /** 0 ignore, 1 deny, 2 allow. */
  dotfiles: number
  /** Names of files in a folder, in the order in which they are tried. */
  index: string[]
  /** Without dot, in the same way. */
  extensions: string[]
  /** Seconds. */
  maxAge: number
  /** Bits: 1 br, 2 zstd, 4 gzip. */
  precompressed: number
  /** An extension (lower case, without dot), its type, and so on. Others have application/octet-stream. */
  types: string[]
  /** Pattern, name, value, and so on. */
  headers: string[]
}

/** Settings of the operating system's HTTP server, which are options of `httpSys` or of Node's servers. 0 = what it does by default. */
export interface KernelConfig extends Required<Pick<HttpSysOptions, 'maxBandwidth' | 'maxConnections' | 'bufferResponses'>> {
  /** Timeouts in seconds, of Node's servers: between requests, for a head, between pieces of a body. */
  keepAliveTimeout: number
  headersTimeout: number
  requestTimeout: number
  /** Timeouts in seconds, and a rate, of `httpSys.timeouts`. */
  drainEntityBody: number
  requestQueue: number
  minSendRate: number
  /** HTTP_AUTH_ENABLE_... */
  authSchemes: number
  allowAnonymous: boolean
  /** '' = no log. */
  logDirectory: string
  logIsNcsa: boolean
  /** HTTP_LOGGING_ROLLOVER_TYPE */
  logRollover: number
  logBytesMax: number
}

/** What became of a queue or a URL of the operating system's HTTP server. */
export interface UrlResult {
  /** 0 or the system's own error code. */
  status: number
  /** Then: the option that was refused; '' = the URL or the queue itself. */
  property: string
  /** The queue and its URLs are another process's. */
  isAttached: boolean
}

/** A certificate that the operating system's HTTP server uses. */
export interface SystemCertificate {
  /** '' = every address; an address; or a name. */
  host: string
  port: number
  /** SHA-1 of the certificate. */
  hash: Uint8Array
  store: string
}

/** Configuration of the operating system's HTTP server. Numbers are its error codes, 0 = done. */
export interface SystemConfig {
  listCertificates (): SystemCertificate[] | number
  findCertificate (host: string, port: number): SystemCertificate | number
  addCertificate (host: string, port: number, hash: Uint8Array, store: string): number
  deleteCertificate (host: string, port: number): number
  listReservations (): { prefix: string, sddl: string }[] | number
  addReservation (prefix: string, sddl: string): number
  deleteReservation (prefix: string): number
}

export interface LaneMemory {
  /** kControlWords words over a SharedArrayBuffer. */
  control: Int32Array
  /** Request segments: equal sizes, at least two. Written by the lane, read by dispatch(). */
  segments: Uint8Array[]
}

export interface EngineOptions {
  lanes: LaneMemory[]
  /** Accepted methods; the index is the method id in records. */
  methods: string[]
  /**
   * Called on the JavaScript thread for the records between two offsets of a request segment.
   * Returns the offset up to which it got. Before application code runs it stores the next record's
   * offset in control[kDispatchResume]: after a throw native goes on there.
   */
  dispatch: (lane: number, segment: number, start: number, end: number) => number
  /** Bytes of requests in the process that JavaScript has not begun, above which requests are parked; 64 MiB unless it is given. */
  queueBytes?: number
  /** Called with the results of register() that other members had a say in. */
  registered?: (result: RegistrationResult) => void
}

/** Prefixes that a server wants on a port, which it may share with other processes. */
export interface Registration {
  /** Names the result. */
  token: number
  serverId: number
  port: number
  flags: {
    /** Registered as a port, not as a prefix. */
    isPlain: boolean
    /** With isPlain: bound to IPv4 only. */
    isIpv4: boolean
    /** Nobody else on the port. */
    isExclusive: boolean
    /** With isPlain: somebody who is no member of the port accepts for the server, and adopt() takes the connections. */
    isFed: boolean
  }
  /** 0 create, 1 create or attach, 2 attach. */
  queueMode: number
  /** '' = shared with nobody. */
  queue: string
  /** Canonical; the id is that of ServerConfig. */
  prefixes: { id: number, text: string }[]
}

export interface RegistrationResult {
  /** 0: of an earlier registration, which a new coordinator does not grant again. */
  token: number
  /** 0 or a negative errno: EADDRINUSE, EACCES, ENOENT, ENOSPC, EPROTO, ETIMEDOUT. */
  error: number
  /** Of the process in the way. */
  pid: number
  /** Of its user, with EACCES. */
  uid: number
  /** The prefix in the way. */
  prefix: string
  /** With the reason 'terms': which prefix of those that were asked for it is in the way of; '' = not known. */
  wanted: string
  /** Its queue; '' = none. */
  queue: string
  /** Why, where the error does not say it. */
  reason: '' | 'prefix' | 'otherQueue' | 'queueMode' | 'exclusiveThere' | 'exclusiveWanted' | 'scheme' | 'plain' | 'members' | 'entries' | 'terms'
  /** With EPROTO: the protocols that it speaks. */
  peerOldest: number
  peerNewest: number
  /** Descriptors of the port's listening sockets, the receiver's to close. */
  sockets: number[]
  /** Addresses (an IP address, '::' or '0.0.0.0') that are listened on by somebody who is no member: see Registration.flags. */
  fed: string[]
}

/** What becomes of a ClientHello that a kHello record told of. */
export interface HelloAnswer {
  isRefused?: boolean
  /** Then: the text of the kTlsFailure record. */
  reason?: string
  /** Of copyTlsHost(); undefined = the server's own certificates. */
  host?: unknown
  /** The protocol, when JavaScript was asked for it. */
  alpn?: string
  /** The session that the ClientHello names, as a kNewSession record had it. */
  session?: Uint8Array
  /** OCSP's response about the certificate. */
  status?: Uint8Array
}

/** What createTlsContext() takes. */
export interface TlsSettings {
  /** The native handle of a SecureContext of Node's, for lanes alone: `secureContext.context._external`. */
  context: unknown
  /** Of addContext(): the last one that fits counts. `*` stands for a label or a part of it. */
  hosts: { pattern: string, host: unknown }[]
  /** Of createTicketKeys(); undefined = those of the port, which the processes share that listen on it. */
  ticketKeys: unknown
  options: {
    /** '' = the certificates and whom they trust say enough. */
    sessionIdContext: string
    /** By preference, as on the wire. */
    alpn: Uint8Array
    /** JavaScript chooses by server name, and the protocol: kHello records. */
    asksHost: boolean
    asksAlpn: boolean
    /** It keeps sessions that are in no ticket, and answers about certificates. */
    asksSession: boolean
    asksStatus: boolean
    /** It hears of new sessions: kNewSession records, which answerHello() answers. */
    tellsSessions: boolean
    /** It gets the secrets of connections: kKeyLog records. */
    logsKeys: boolean
    requestCert: boolean
    rejectUnauthorized: boolean
    /** ms */
    handshakeTimeout: number
  }
}

/** A handle for ServerConfig.tls, or undefined when a part is missing. */
export function createTlsContext (settings: TlsSettings): unknown
/** A copy of the certificates in a context of Node's, for lanes; undefined when it is none. With logsKeys as in TlsSettings. */
export function copyTlsHost (context: unknown, logsKeys?: boolean): unknown
/** PEM of a certificate signed by itself, for these host names and addresses; undefined when out of memory. */
export function makeDevCertificate (names: string[], days: number): { key: string, cert: string } | undefined
/** Keys of tickets: these 48 bytes, for ever. */
export function createTicketKeys (bytes: Uint8Array): unknown

/**
 * What the backend can do. JavaScript asks this, never for the platform; tests skip by the names of these fields.
 */
export interface Capabilities {
  /** 'engine' or 'http.sys'. */
  name: string
  /** Most I/O threads. */
  lanesMax: number
  /** listen() gives it bound sockets, and ports are shared by a protocol of ours. Otherwise it is told URLs. */
  listensOnSockets: boolean
  /** Header lines keep their order, and their names the client's spelling, in both directions. */
  keepsHeaderLines: boolean
  /** A connection is known before its first request, and its end by itself. */
  seesConnections: boolean
  /** Messages that the protocol forbids reach 'clientError'. */
  seesRefusedMessages: boolean
  /** That a client has left is noticed while nothing is sent. */
  seesDisconnects: boolean
  /** destroy() cuts a response off. */
  aborts: boolean
  /** 'upgrade' and 'connect'. */
  upgrades: boolean
  /** 1xx responses are sent. */
  informational: boolean
  /** Requests are read while earlier ones of their connection are not answered yet. */
  pipelines: boolean
  /** Request bodies with Transfer-Encoding: chunked. */
  chunkedBodies: boolean
  /** Request bodies arrive while they are sent. */
  bodyPieces: boolean
  /** What a client does not take yet waits, however long. */
  slowReaders: boolean
  /** WebSockets whose frames are read natively. */
  nativeFrames: boolean
  /** listen() with queueName. */
  namedQueues: boolean
  /** setCachePolicy() and flushCache(). */
  caches: boolean
  /** The cache is ours: createServer({ cache }) with all of its options, server.cache.entries() and stats(). */
  cacheRules: boolean
  /** In which stored answers can be compressed, because the running Node has the encoder. Bits: 1 br, 2 zstd, 4 gzip. */
  cacheCodings: number
  /** The kernel reads and sends files: Engine.sendFile(). */
  sendsFiles: boolean
  /** The lanes serve the files of folders: ServerConfig.statics. */
  servesFiles: boolean
  /** createServer() with httpSys. */
  kernelOptions: boolean
  /** https:// prefixes have the certificates that the system has for them. */
  systemCertificates: boolean
  /** A Host that names no prefix is served by listen(port), too. */
  foreignHosts: boolean
  ipv6: boolean
}

export class Engine {
  constructor (options: EngineOptions)
  /** Makes memory known as a reply segment of a lane. Returns its id; the first one (0) is where reading starts. */
  addReplySegment (lane: number, memory: Uint8Array): number | undefined
  /** Memory to be sent by reference: the caller keeps it until kBlockDone. The id goes into a kBlock record. */
  sendBlock (lane: number, memory: Uint8Array): number | undefined
  /**
   * Takes a block out of a kMessageBlock/kOversize record. Its memory is the lane's again when V8 has let go of
   * it.
   */
  takeBlock (lane: number, id: number): ArrayBuffer
  /** Copies the block of a kBodyBlock record without kFlagLent, and frees it. */
  copyBlock (lane: number, id: number, into: Uint8Array): void
  /**
   * Lends kBlockBytes of memory for bodies to be received into. A kBodyBlock record with kFlagLent gives
   * it back under the same id; until then it must stay alive and untouched.
   */
  lendBlock (lane: number, id: number, memory: Uint8Array): void
  /** Wakes a lane that sleeps. */
  wake (lane: number): void
  /**
   * A turn of the event loop has its first reply outside dispatch(), and kTurnOpen is set: wakes the lane if it sleeps. At the turn's end
   * kTurnOpen is cleared, and the lane woken for what has come since.
   */
  openTurn (lane: number): void
  /**
   * listen(2) on a bound descriptor (duplicated, the caller keeps its own). A key above 0, or a negative errno. `mayLend`: a
   * lane may accept, since no other process has the socket and its connections begin with handshakes.
   */
  listen (serverId: number, fd: number, backlog: number, mayLend: boolean): number
  /** Stops accepting on one descriptor, by its key. */
  stopListening (key: number): void
  /** Creates or changes a server's settings. Must precede listen/adopt. */
  configure (serverId: number, config: ServerConfig): void
  /**
   * Without listensOnSockets, in place of listen() to leave(): the request queue of a server, by a name that others may
   * open ('' = none); mode 0 create, 1 create or attach, 2 attach.
   */
  openQueue (serverId: number, name: string, mode: number): UrlResult
  /** Requests below the URL (canonical) come to the server, with the id that it has in ServerPrefixes. */
  addUrl (serverId: number, prefixId: number, url: string): UrlResult
  removeUrl (serverId: number, prefixId: number): void
  /** Where capabilities.cacheRules: bound of this process' cache, and of those of all processes of a port (0 = the default). */
  setCacheBytes (bytes: number, portBytes: number): void
  /** Stored responses of a server below a URL ('' = all of them), so many at most. */
  cacheEntries (serverId: number, urlPrefix: string, limit: number): StoredEntry[]
  cacheStatistics (serverId: number): CacheStatistics
  /**
   * Drops kept responses for a URL, or for all below it ('' = all of the server). With capabilities.cacheRules their number or a
   * negative errno, otherwise 0 or the system's own error code.
   */
  flushCache (serverId: number, url: string, isRecursive: boolean): number
  /**
   * Where capabilities.sendsFiles: a part of a file that is read and sent where a kBlock record names it. The descriptor may be
   * closed at once; `keptId` names a file in its place. The id of the block, which kBlockDone ends, or a negative errno.
   */
  sendFile (lane: number, fd: number, start: number, bytes: number, keptId?: number): number | undefined
  /**
   * With listensOnSockets: a file that the engine has open under this absolute path, if that still names it. Returns an id, and sets
   * `facts` to the descriptor's number (for people: the engine may give it up) and the size; 0 = there is none.
   */
  findFile (path: string, facts: Float64Array): number
  /**
   * Takes over a descriptor that was opened for reading by this absolute path. As findFile(); 0 = it is no regular file, and stays
   * the caller's, as it does in any case with `copies`.
   */
  keepFile (path: string, fd: number, facts: Float64Array, copies: boolean): number
  /** A descriptor of the file that is not given up any more, or a negative errno (ESTALE: the path names another file). */
  pinFile (id: number): number
  /** Where a descriptor of this process stands; 0 also if it has no position. */
  positionOf (fd: number): number
  /** Fills an array of at most kFileReadBytesMax (8 KiB) with bytes of the file that are in memory; otherwise false. */
  readFileNow (id: number, start: number, to: Uint8Array): boolean
  /** The file is not used any more. What was given to a lane is sent. */
  releaseFile (id: number): void
  /** Stops accepting; connections stay. */
  unlisten (serverId: number): void
  /** Hands a connected descriptor (duplicated) to a lane. 0 or a negative errno. */
  adopt (serverId: number, fd: number): number
  /** Who this is, for people who look at the port: the number of the thread, the name of the program. */
  introduce (thread: number, program: string): void
  /**
   * Takes the meeting place of a port. `found`: 0 taken, 1 this engine is a member already, 2 another process's, 3 another
   * user's (uid; pid 0 where it does not listen), or a negative errno.
   */
  meet (port: number): { found: number, uid: number, pid: number }
  /** Takes a port without a meeting place: servers of this engine share it, nobody can join. 0 or a negative errno. */
  takeAlone (port: number): number
  /**
   * Lets other members have a listening socket of the port, which the server accepts on. 0 or a negative errno. Who has founded
   * the port keeps others waiting until `isLast`, so that they find all of its sockets.
   */
  contribute (port: number, serverId: number, fd: number, isLast: boolean): number
  /** The opposite: nobody else needs the socket, or somebody else of this engine accepts on it. */
  withdraw (port: number, fd: number): void
  /** What the port is listened on with now; nothing where this engine is no member. */
  sockets (port: number): Pick<RegistrationResult, 'sockets' | 'fed'>
  /** Listens on every address of a port beside narrower sockets that listen there: a descriptor, or a negative errno. */
  listenBeside (port: number, backlog: number, narrower: number[]): number
  /** The result, or undefined: then options.registered has it later. */
  register (registration: Registration): RegistrationResult | undefined
  /** Before configure() with another `tls`: what is in the way where that would ask clients for certificates by other rules
   * than a prefix that no ClientHello tells from one of the server's; nothing has changed then. Otherwise others are told. */
  changeTerms (serverId: number, tls: unknown): RegistrationResult | undefined
  /** Takes prefixes back ([] = all of the server); requests for them wait that long for the next owner. With a
   * token other than 0 options.registered tells when all members know. `stays`: the server listens on the port also
   * when it has no prefix left there. True when others are on the port. */
  unregister (port: number, serverId: number, prefixIds: number[], waitMs: number, token: number, stays: boolean): boolean
  /** Whether records wait for this thread. */
  hasUnread (): boolean
  /** Canonical prefixes of a port that are kept for somebody: unregistered, they are answered with 503. */
  reserve (port: number, prefixes: string[]): void
  /** Gives back a port that nothing was registered on. */
  leave (port: number): void
  /** Expires messages that began too long ago (ms; 0 = no limit): kError kTimeout for each. */
  checkConnections (serverId: number, headersTimeout: number, requestTimeout: number): void
  /** No request is begun any more: what waits for this thread is answered with 503. */
  refuseAbandoned (): void
  /** What the lane has done with the request that dispatch() has come to (records' Claim), if kRequestsClaimed is not 0. Said once. */
  takeClaim (lane: number): number
  /** Goes on with the handshake that a kHello or kNewSession record told of. */
  answerHello (lane: number, id: number, answer: HelloAnswer): void
  /** Asks about the TLS of a connection (src/tls/session_facts.h numbers the questions) and waits for the answer. */
  askTls (lane: number, slot: number, question: number, argument?: Uint8Array): Buffer | undefined
  /** Keeps / no longer keeps the event loop alive. Starts unreferenced. */
  ref (): void
  unref (): void
  /** Blocks until all published replies are sent, or only handled, or for timeoutMs. True when all were. */
  drain (timeoutMs: number, until: 'sent' | 'handled'): boolean
  /** Stops the I/O threads and closes every connection. Idempotent. */
  close (): void
}

export const capabilities: Capabilities
/** What is asked of the output caches of a port beside its state. */
export interface CacheQuestion {
  /** 1 entries, 2 that a URL is forgotten, 3 that it and everything below it is. */
  wants: 1 | 2 | 3
  /** Entries of each member at most. */
  limit: number
  /** '' = everything. */
  url: string
}

/** The state of a port. Its texts are those of other processes, with their control characters. */
export type NativeState = Omit<ServiceState, 'members'> & { members: (Member & { cache?: { flushed: number, entries: StoredEntry[] } })[] }
/** Asks who listens on a port. The status is 0 or a negative errno: -EPROTO when the answer is no state of this port. */
export const serviceState: undefined | ((port: number, callback: (status: number, state: NativeState) => void, question?: CacheQuestion) => void)
/**
 * Chooses the folder of the names under which processes that share ports meet ('' = the default), for the whole process: 0, or
 * a negative errno when another one was chosen before or the network namespace cannot be told.
 */
export const useRuntimeDirectory: undefined | ((path: string) => number)
/** The name under which processes meet that share a port: an absolute path, or an abstract name of a Unix socket. */
export const portName: undefined | ((port: number) => string)
/** Opens the error log of the process (docs/error-log.md). What it says about one that cannot be opened (a negative errno), it says once. */
export const openErrorLog: undefined | (() => undefined | { path: string, error: number })
/** Lets the process write lines about refused requests to stderr, unless it has an error log. `page` explains them. */
export const tellRefusals: undefined | ((page: string) => void)
/** Whether the running program has the functions of nghttp2 that HTTP/2 needs. */
export const hasHttp2: boolean
/** Where the operating system's HTTP server is the backend. */
export const systemConfig: undefined | SystemConfig
export const formatVersion: number
/** Reports an error as Node reports an uncaught exception (napi_fatal_exception). */
export function fatalException (error: unknown): void
/**
 * Calls back for each signal of this number, whose default action does not happen meanwhile, and is no listener of `process`. Not on
 * Windows, which ends a process without asking it. What it returns ends it and is called once; undefined when the system refuses.
 */
export const watchSignal: undefined | ((signal: number, callback: () => void) => (() => void) | undefined)
