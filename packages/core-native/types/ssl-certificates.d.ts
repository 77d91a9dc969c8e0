/** A certificate bound to a host and a port. */
export interface Binding {
  /** `shop.example:8443`, or `*:8443`. */
  endpoint: string
  /** Files in PEM. */
  cert: string
  key: string
  comment?: string
}

/** `$HTTPSYS_SSLCERT`, else `sslcert.json` in this user's configuration; null without a home directory. */
export function bindingsFile (): string | null
/** @throws ERR_HTTPSYS_SSLCERT when the file cannot be read */
export function listBindings (): Binding[]
/** Reads both files first. @throws ERR_HTTPSYS_SSLCERT; EEXIST when something is bound there; ERR_INVALID_ARG_VALUE */
export function addBinding (endpoint: string, how: { cert: string, key: string, comment?: string }): Binding
/**
 * Replaces a binding in one step, and keeps its comment unless another one is given. Reads both files first.
 * @throws ERR_HTTPSYS_SSLCERT; ENOENT when nothing is bound there; ERR_INVALID_ARG_VALUE
 */
export function updateBinding (endpoint: string, how: { cert: string, key: string, comment?: string }): Binding
/** @throws ENOENT when nothing is bound there */
export function deleteBinding (endpoint: string): Binding
