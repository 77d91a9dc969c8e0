import type { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

/** What `attach()` uses of a `WebSocketServer` of the `ws` package made with `{ noServer: true }`. */
export interface UpgradeHandler extends EventEmitter {
  handleUpgrade (req: IncomingMessage, socket: Duplex, head: Buffer, done: (socket: any, req: IncomingMessage) => void): void
  options?: { noServer?: boolean | undefined, [option: string]: any }
}

/**
 * Sends the upgrades of a server whose path lies at or below a prefix to a WebSocket server. The longest of several
 * prefixes wins. An upgrade that none takes is refused with 404, unless the server has other `'upgrade'` listeners.
 *
 * @param prefix a path (`/chat/`) or a URL prefix, of which the path counts; default `/`
 * @returns takes the attachment back; open WebSockets stay. Closing the WebSocket server does so, too.
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE for what is no such server
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX
 * @throws EADDRINUSE when the server has that prefix already
 */
export function attach (
  webSocketServer: UpgradeHandler,
  adapterOrServer: Server | { readonly server: Server },
  prefix?: string
): () => void
