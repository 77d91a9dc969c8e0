'use strict'

// Hidden state of the http face. One symbol per fact, declared here only; types/internal.d.ts says what each one is of.

module.exports = /** @type {import('../../types/internal').Symbols} */ ({
  /** On a socket: its lane, slot and what JavaScript knows of the connection's state. */
  kLane: Symbol('httpsys.lane'),
  kSlot: Symbol('httpsys.slot'),
  kState: Symbol('httpsys.state'),
  kRemote: Symbol('httpsys.remote'),
  kIncoming: Symbol('httpsys.incoming'),
  kReceiving: Symbol('httpsys.receiving'),
  kOutgoing: Symbol('httpsys.outgoing'),
  kUnsent: Symbol('httpsys.unsent'),
  kUnacknowledged: Symbol('httpsys.unacknowledged'),
  kHeldWrite: Symbol('httpsys.heldWrite'),
  kRead: Symbol('httpsys.bytesRead'),
  kWritten: Symbol('httpsys.bytesWritten'),
  kRequestCount: Symbol('httpsys.requestCount'),
  kOutgoingData: Symbol('httpsys.outgoingData'),
  kOnClosed: Symbol('httpsys.onClosed'),
  /** Runs the end of its server where something was called that has told the lane to close it; otherwise null. */
  kEndsIn: Symbol('httpsys.endsIn'),
  kUnref: Symbol('httpsys.unref'),
  kHoldsLoop: Symbol('httpsys.holdsLoop'),
  kRefusal: Symbol('httpsys.refusal'),
  kChannel: Symbol('httpsys.channel'),
  kErrorListener: Symbol('httpsys.errorListener'),
  /** On the socket of an HTTP/2 stream: that of its connection. */
  kParent: Symbol('httpsys.parent'),
  /** Unsent bytes of a stream: those counted among the bytes of all streams, and those taken out of their common credit. */
  kTaken: Symbol('httpsys.taken'),
  kShared: Symbol('httpsys.shared'),
  /** On a response: the PipedFile that sends a file as its body. */
  kPipedFile: Symbol('httpsys.pipedFile'),
  /** On the socket of an HTTP/2 connection: the newest unfinished response of its streams. */
  kStreamAnswer: Symbol('httpsys.streamAnswer'),
  /** On the socket of an HTTP/2 connection: the credit that its streams share; see stream-credit.js. */
  kStreamCredit: Symbol('httpsys.streamCredit'),
  /** The facts of its TLS; undefined on a plain socket. */
  kTls: Symbol('httpsys.tls'),
  kTlsError: Symbol('httpsys.tlsError'),
  /** Hears whether its peer, which was asked for a certificate, has answered. */
  kOnCertificate: Symbol('httpsys.onCertificate'),

  /** On a request: its async resource, whether that has ended, whether the request's end was held back (see exchange.js). */
  kResource: Symbol('httpsys.resource'),
  kResourceEnded: Symbol('httpsys.resourceEnded'),
  /** On a request: the part of its path that was taken off `url`, where no `baseUrl` says so. */
  kStripped: Symbol('httpsys.stripped'),
  kEndHeld: Symbol('httpsys.endHeld'),
  /** On a request whose body has a limit of its own: that limit (see body-limit.js). */
  kBodyLimit: Symbol('httpsys.bodyLimit'),

  /**
   * On a response of a server with a cache: the policy that setCachePolicy() has set, or null once the lane has been told the response's
   * policy (see cache-policy.js).
   */
  kCachePolicy: Symbol('httpsys.cachePolicy'),

  /** On a response: true once the lane has been told that it is complete. */
  kEnded: Symbol('httpsys.ended'),
  /** On an unfinished response of a stream: its neighbours among those of the connection, in the order of their requests; null: none. */
  kOlder: Symbol('httpsys.older'),
  kNewer: Symbol('httpsys.newer'),

  /** On a handle without a descriptor: its server listens from now on. */
  kBegin: Symbol('httpsys.begin'),
  /** On a handle that the engine accepts on: leaves accepting to Node. */
  kGiveToNode: Symbol('httpsys.giveToNode'),

  /** On a server. */
  kListener: Symbol('httpsys.listener'),
  /** On a server with HTTPSYS_BACKEND=node: true. */
  kServedByNode: Symbol('httpsys.servedByNode')
})
