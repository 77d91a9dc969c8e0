import type { RequestListener, ServerOptions } from 'node:http'
import type { TlsOptions } from 'node:tls'
import type {
  CertificateOptions, CloseOptions, EngineServerOptions, ListenHandle, PortListenOptions, PrefixListenOptions, Server, StaticFilesOptions
} from '@httpsys/core-native'

/** Express 4 or 5, connect, or any function of a request and a response. */
export type Application = RequestListener | ((req: any, res: any, next?: any) => any)

/** Options of TLS: with any of them the adapter serves HTTPS, or does not listen. */
export type AdapterTlsOptions = Omit<TlsOptions, 'pskCallback' | 'pskIdentityHint' | 'enableTrace'> & CertificateOptions

/** Options of `http.createServer`, of the engine, and of TLS. With classes of your own prototypes are not aligned. */
export type AdapterOptions = ServerOptions & EngineServerOptions & AdapterTlsOptions

/** Options of `listen()` on a port, an address or a Unix socket. */
export type AdapterListenOptions = PortListenOptions & AdapterTlsOptions & Pick<PrefixListenOptions, 'queueName' | 'queueMode'>

export interface Adapter<App extends Application = Application> {
  /** The application, unchanged. */
  readonly app: App
  /** The server, before and after `listen()`: add listeners and set timeouts here. With options of TLS an `https.Server`. */
  readonly server: Server
  /**
   * Listens on a URL prefix, several, or whatever `http.Server#listen` takes.
   *
   * @throws ERR_HTTPSYS_PREFIX_SYNTAX, ERR_HTTPSYS_LISTEN_ARGS, ERR_HTTPSYS_OPTION; ERR_HTTPSYS_TLS_CERTIFICATE and others for https://
   */
  listen (prefix: string | string[], options: PrefixListenOptions, callback?: () => void): Server
  listen (prefixes: string[], callback?: () => void): Server
  listen (options: PrefixListenOptions, callback?: () => void): Server
  listen (options: AdapterListenOptions, callback?: () => void): Server
  listen (portOrPath: number | string, options: AdapterListenOptions, callback?: () => void): Server
  listen (callback?: () => void): Server
  /** `where` is a port, also as text, the path of a Unix socket, or a URL prefix. */
  listen (where?: number | string | null, callback?: () => void): Server
  listen (where?: number | string | null, hostOrBacklog?: string | number | null, callback?: () => void): Server
  listen (port?: number | string | null, host?: string | null, backlog?: number | null, callback?: () => void): Server
  listen (handle: ListenHandle, callback?: () => void): Server
  listen (handle: ListenHandle, backlog?: number | null, callback?: () => void): Server
  /**
   * Lets the I/O threads answer requests below a path with the files of a folder, as `server.serveFiles(path, root, options)` does, which
   * says what it throws. The path is relative to each prefix of the adapter, or to the root of its port. Middleware does not run for these
   * files. Misses and other methods go to the application, unless `fallthrough` is false. `adapter.server.removeFiles(path)` ends it.
   */
  static (path: string, root: string | URL, options?: StaticFilesOptions): this
  /** Stops listening as `http.Server#close` does. */
  close (callback?: (error?: Error) => void): Server
  close (options: CloseOptions, callback?: (error?: Error) => void): Server
  /**
   * Gives the application's prototypes back as they were; the last adapter of an Express module does it for
   * that module. The server goes on serving, without the gain. Idempotent.
   */
  uninstall (): void
}

/** The same type, known from elsewhere: what a result is assigned to says nothing of the function that was given. */
type Known<App> = [App][App extends any ? 0 : never]

/**
 * Makes a server for an Express 4, Express 5 or connect application, or for any `(req, res)` function. Middleware runs as on node:http.
 *
 * ```js
 * const adapter = createAdapter(app, { stripPrefix: true })   // app.get('/cart') answers /shop/cart
 * adapter.listen('http://*:8080/shop/')                       // was: app.listen(8080)
 * ```
 *
 * `options` are those of `http.createServer()`, of the engine, and of TLS. A Fastify instance and an `http.Server` need no adapter: make
 * the server with `createServer()` of `@httpsys/core-native`.
 *
 * @throws ERR_INVALID_ARG_TYPE when `app` is not a function
 * @throws ERR_HTTPSYS_OPTION when an option is misspelt, or belongs to another function
 */
export function createAdapter<App extends RequestListener> (app: App, options?: AdapterOptions): Adapter<Known<App>>
/** The same for an application whose parameters have other types, such as connect's. */
export function createAdapter<App extends Application> (app: App, options?: AdapterOptions): Adapter<App>
