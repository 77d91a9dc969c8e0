'use strict'

// Every counter that several languages name, once. `npm run generate` writes src/base/counters.h, the counters of types/index.d.ts and
// types/service-state.d.ts and the table of docs/cli.md from this file; `npm run lint` fails when one of them is stale.
//
// A counter has its name in JavaScript (`handedOver` is `handed_over` as a member in C++, and `kHandedOver` as an enumerator) and
// [unit, sentence]. `enum`: the counters are values of an enumeration, so that one array has them; with `isNamed`
// C++ knows their names, too. `struct`: they are members of a struct, with their names.

/** @typedef {Record<string, [unit: string, says: string]>} Counters */

/** @type {Record<string, { says: string, enum?: true, isNamed?: true, struct?: true, counters: Counters }>} */
module.exports = {
  LaneCounter: {
    says: 'Events that a lane counts. An answer without JavaScript counts in exactly one of the first five, and also in kReset if only a ' +
      'reset was sent. Only tests read these counters so far.',
    enum: true,
    counters: {
      files: ['answers', 'A folder of a server gave a file, or an error such as 404.'],
      cached: ['answers', 'The output cache answered, by an entry or by 504.'],
      unrouted: ['answers', 'No prefix owns the request: 400, 404, 421.'],
      unavailable: ['answers', 'The owner is away or does not keep up: 503.'],
      refused: ['answers', 'The message is malformed, too large or too slow: 400, 408, 413, 431.'],
      reset: ['requests', 'The request ended with a reset instead of an answer.'],
      slowReaders: ['connections', 'A connection ended because the client read more slowly than minSendRate.'],
      tooManyConnections: ['connections', 'A connection was closed at once, because its client has too many.']
    }
  },
  CacheCounter: {
    says: 'Events that the output cache counts for each server.',
    enum: true,
    isNamed: true,
    counters: {
      hits: ['answers', 'Fresh entries that answered.'],
      misses: ['requests', 'Requests for JavaScript that an entry could have answered.'],
      stale: ['answers', 'Stale entries that answered.'],
      revalidated: ['entries', 'Entries that the application has called still good, by a 304.'],
      coalesced: ['requests', 'Requests that waited for the answer to another one.'],
      released: ['requests', 'Requests that had waited and then went to JavaScript.'],
      stored: ['entries', 'Responses that were stored.'],
      invalidated: ['entries', 'Entries that a request of an unsafe method has made obsolete.'],
      compressed: ['answers', 'Compressed variants that answered: a part of `hits` and `stale`.'],
      changedWhileRead: ['entries', 'Entries that went away while they were read.']
    }
  },
  CacheFigure: {
    says: 'What the output cache does not count, but knows.',
    counters: {
      entries: ['entries', 'Entries now.'],
      bytes: ['bytes', 'Size of the entries.'],
      evicted: ['entries', 'Entries of the process that made room for others.'],
      memoryBytes: ['bytes', 'Memory that the process has taken for entries.']
    }
  },
  PrefixCounters: {
    says: 'Counters of a URL prefix of a server.',
    struct: true,
    counters: {
      requests: ['requests', 'Requests given to JavaScript since the registration of the prefix.']
    }
  },
  QueueCounters: {
    says: 'Counters of the request queue of a server.',
    struct: true,
    counters: {
      queued: ['requests', 'Requests that wait for JavaScript now.'],
      queueLimit: ['requests', 'How many may wait.'],
      refused: ['requests', 'Requests answered with 503 because the queue was full or `queueTimeout` was over.']
    }
  },
  MemberCounters: {
    says: 'Counters of a member of a port.',
    struct: true,
    counters: {
      connections: ['connections', 'Connections that are open and known to JavaScript.'],
      handedOver: ['connections', 'Connections given to other members.'],
      received: ['connections', 'Connections got from other members.'],
      cacheAnswers: ['answers', 'Answers given from the output caches of other members, whose servers do not count them.']
    }
  }
}
