'use strict'

// Symbols of hidden members of sockets, requests, responses and servers. Each is declared here only; types/internal.d.ts has their types.

module.exports = /** @type {typeof import('../../types/internal')} */ ({
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
  /**
   * On a socket that the application has asked to close: a function that runs another one in the context of that call, in which the server's
   * 'close' is emitted; otherwise null.
   */
  kEndsIn: Symbol('httpsys.endsIn'),
  kUnref: Symbol('httpsys.unref'),
  kHoldsLoop: Symbol('httpsys.holdsLoop'),
  kRefusal: Symbol('httpsys.refusal'),
  kChannel: Symbol('httpsys.channel'),
  kErrorListener: Symbol('httpsys.errorListener'),
  /** On the socket of an HTTP/2 stream: the socket of its connection. */
  kParent: Symbol('httpsys.parent'),
  /** On the socket of an HTTP/2 stream: its unsent bytes that StreamCredit counts in `unsent` (kTaken) and in `used` (kShared). */
  kTaken: Symbol('httpsys.taken'),
  kShared: Symbol('httpsys.shared'),
  /** On a response: the PipedFile that sends a file as its body. */
  kPipedFile: Symbol('httpsys.pipedFile'),
  /** On the socket of an HTTP/2 connection: the newest unfinished response of its streams. */
  kStreamAnswer: Symbol('httpsys.streamAnswer'),
  /** On the socket of an HTTP/2 connection: the credit that its streams share; see stream-credit.js. */
  kStreamCredit: Symbol('httpsys.streamCredit'),
  /** On a socket: the facts of its TLS; undefined on a plain one. */
  kTls: Symbol('httpsys.tls'),
  kTlsError: Symbol('httpsys.tlsError'),
  /** On a socket whose client was asked for a certificate: the function that gets the result. */
  kOnCertificate: Symbol('httpsys.onCertificate'),

  /** On a request: its async resource, whether that has ended, whether the request's end was held back (see exchange.js). */
  kResource: Symbol('httpsys.resource'),
  kResourceEnded: Symbol('httpsys.resourceEnded'),
  /** On a request: the part of its path that was removed from `url`, if it is not in `baseUrl`. */
  kStripped: Symbol('httpsys.stripped'),
  kEndHeld: Symbol('httpsys.endHeld'),
  /** On a request whose body has a limit of its own: that limit (see body-limit.js). */
  kBodyLimit: Symbol('httpsys.bodyLimit'),

  /**
   * On a response of a server with a cache: the policy that setCachePolicy() has set, or null once the lane has got the response's
   * policy (see cache-policy.js).
   */
  kCachePolicy: Symbol('httpsys.cachePolicy'),

  /** On a response: true once its end was passed to the lane. */
  kEnded: Symbol('httpsys.ended'),
  /** On an unfinished response of a stream: its neighbours on the connection, in the order of their requests; null: none. */
  kOlder: Symbol('httpsys.older'),
  kNewer: Symbol('httpsys.newer'),

  /** On a handle: a method that is called when its server begins to listen. */
  kBegin: Symbol('httpsys.begin'),
  /** On a handle that the engine accepts on: leaves accepting to Node. */
  kGiveToNode: Symbol('httpsys.giveToNode'),

  /** On a server: its Listener, see listen/listener.js. */
  kListener: Symbol('httpsys.listener'),
  /** On a server with HTTPSYS_BACKEND=node: true. */
  kServedByNode: Symbol('httpsys.servedByNode')
})
