'use strict'

// Goal: a program cannot tell this package from ws. Method: each program below runs with ws on node:http, with ws on
// the engine and with this package; it notes what it sees, and the three notes are compared.

const assert = require('node:assert/strict')
const { Blob } = require('node:buffer')
const { once } = require('node:events')
const { test } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const { WebSocket, createWebSocketStream } = require('ws')
const { columns, serve } = require('./support/columns')
const { RawClient, frame } = require('./support/raw-client')
const { silence, until } = require('../../../test/helpers/waiting')

// How long after its program a server may take to notice an end that has begun.
// For a reference whose connections nobody closes.
const kGraceMs = 300
// Ends a wait that the reference did not need; none takes a tenth of it on a busy machine.
const kAnswerMs = 5000
const kFin = 0x80
const kRsv1 = 0x40

/** @param {any} error */
const shown = (error) => error === undefined || error === null ? 'none' : `${error.name} ${error.code} ${error.message}`

/** Notes every event of a server's WebSocket. @param {any} socket @param {string[]} notes */
function watch (socket, notes) {
  socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => notes.push(`message ${data.length} ${isBinary} ${data.subarray(0, 8).toString('hex')}`))
  for (const event of ['ping', 'pong']) socket.on(event, (/** @type {Buffer} */ data) => notes.push(`${event} ${data}`))
  socket.on('error', (/** @type {Error} */ error) => notes.push(`error ${shown(error)} in ${socket.readyState}`))
  socket.on('close', (/** @type {number} */ code, /** @type {Buffer} */ reason) => notes.push(`close ${code} ${reason} in ${socket.readyState}`))
}

// Unlike once(), which rejects with an 'error'.
/** @param {any} socket */
const closeOf = (socket) => new Promise((resolve) => socket.on('close', resolve))

/** @param {string} url @param {any} [options] */
async function connect (url, options) {
  const client = new WebSocket(url, options)
  await once(client, 'open')
  return client
}

/** @type {Record<string, { options?: any, run: (env: { port: number, url: string, wss: any, notes: string[], seen: string[] }) => Promise<any> }>} */
const programs = {
  'messages of every size and type come back as they were': {
    async run ({ port, url, wss, notes, seen }) {
      wss.on('connection', (/** @type {any} */ socket) => {
        watch(socket, notes)
        socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => socket.send(data, { binary: isBinary }))
      })
      const client = await connect(url)
      const messages = ['', 'a', 'Grüße 😀', 'x'.repeat(125), 'x'.repeat(126), 'y'.repeat(65535), 'z'.repeat(65536),
        Buffer.alloc(0), Buffer.from([0, 1, 255]), Buffer.alloc(20000, 7), Buffer.alloc(1 << 20, 9)]
      for (const message of messages) {
        client.send(message)
        const [data, isBinary] = await once(client, 'message')
        notes.push(`echo ${isBinary} ${data.equals(Buffer.from(message))}`)
      }
      let count = 0
      client.on('message', () => { if (++count === messages.length) client.close() })
      for (const message of messages) client.send(message)
      await once(client, 'close')
    }
  },
  'pings are answered, between the messages around them': {
    async run ({ port, url, wss, notes, seen }) {
      wss.on('connection', (/** @type {any} */ socket) => {
        watch(socket, notes)
        socket.on('ping', () => socket.send('pinged'))
      })
      const closed = new Promise((resolve) => wss.on('connection', (/** @type {any} */ socket) => socket.on('close', resolve)))
      const client = await RawClient.connect(port)
      client.write(frame(kFin | 1, 'a'), frame(kFin | 9, 'p1'), frame(kFin | 10, 'unasked'), frame(1, 'b'), frame(kFin | 9, 'p2'), frame(kFin, 'c'))
      await client.until(4 + 8 + 4 + 8)
      seen.push(client.received.toString('latin1').split('').sort().join(''))
      client.write(frame(kFin | 8, Buffer.from([0x0f, 0xa1, 0x62])))
      seen.push((await client.end()).subarray(24).toString('hex'))
      await closed
    }
  },
  'autoPong: false leaves pings to the application': {
    options: { autoPong: false },
    async run ({ port, url, wss, notes, seen }) {
      wss.on('connection', (/** @type {any} */ socket) => { watch(socket, notes); socket.on('ping', (/** @type {Buffer} */ data) => socket.pong(`${data}!`)) })
      const client = await RawClient.connect(port)
      client.write(frame(kFin | 9, 'p'))
      await client.until(4)
      seen.push(client.received.toString('latin1'))
    }
  },
  'frames that came with the handshake are read': {
    async run ({ port, url, wss, notes, seen }) {
      const closed = new Promise((resolve) => wss.on('connection', (/** @type {any} */ socket) => { watch(socket, notes); socket.on('close', resolve) }))
      const client = await RawClient.connect(port, { head: Buffer.concat([frame(kFin | 1, 'early'), frame(kFin | 2, Buffer.alloc(3000, 1)).subarray(0, 1000)]) })
      client.write(frame(kFin | 2, Buffer.alloc(3000, 1)).subarray(1000), frame(kFin | 8, ''))
      await client.end()
      await closed
    }
  },
  'a message and an end that came with the handshake are told in their order': {
    async run ({ port, url, wss, notes }) {
      const closed = new Promise((resolve) => wss.on('connection', (/** @type {any} */ socket) => { watch(socket, notes); socket.on('close', resolve) }))
      await RawClient.connect(port, { head: frame(kFin | 1, 'early'), endsAtOnce: true })
      await closed
    }
  },
  'the closing handshake, begun by the client': {
    async run ({ port, url, wss, notes, seen }) {
      for (const args of [[], [1000], [4321, 'because']]) {
        const served = once(wss, 'connection')
        const client = await connect(url)
        const [socket] = await served
        watch(socket, notes)
        socket.on('close', () => notes.push(`sent ${socket._closeFrameSent} received ${socket._closeFrameReceived}`))
        client.close(...args)
        const [code, reason] = await once(client, 'close')
        seen.push(`client ${code} ${reason}`)
        if (socket.readyState !== 3) await closeOf(socket)
      }
    }
  },
  'the closing handshake, begun by the server': {
    async run ({ port, url, wss, notes, seen }) {
      for (const args of [[], [1000], [3999, 'Grüße'], [1013, Buffer.from('x')]]) {
        const served = once(wss, 'connection')
        const client = await connect(url)
        const [socket] = await served
        watch(socket, notes)
        socket.send('before')
        socket.close(...args)
        notes.push(`state ${socket.readyState}`)
        socket.close()
        socket.send('after', (/** @type {any} */ error) => notes.push(`callback ${shown(error)}`))
        socket.ping('after', (/** @type {any} */ error) => notes.push(`callback ${shown(error)}`))
        notes.push(`buffered ${socket.bufferedAmount}`)
        client.on('message', (data) => seen.push(`client message ${data}`))
        const [code, reason] = await once(client, 'close')
        seen.push(`client ${code} ${reason}`)
        if (socket.readyState !== 3) await closeOf(socket)
        socket.close()
        socket.terminate()
        socket.pause()
        notes.push(`end ${socket.readyState} ${socket.isPaused}`)
      }
    }
  },
  'a connection that is cut off closes with 1006': {
    async run ({ port, url, wss, notes, seen }) {
      for (const cut of [
        (/** @type {any} */ client) => client.terminate(),
        (/** @type {any} */ client) => client._socket.end(),
        (/** @type {any} */ client) => client._socket.resetAndDestroy(),
        (/** @type {any} */ client, /** @type {any} */ socket) => socket.terminate()
      ]) {
        const served = once(wss, 'connection')
        const client = await connect(url)
        client.on('error', () => {})
        const [socket] = await served
        watch(socket, notes)
        const closed = closeOf(socket)
        cut(client, socket)
        await closed
        notes.push(`clients ${wss.clients.has(socket)}`)
      }
    }
  },
  'an end within a message closes with 1006 and no message': {
    async run ({ port, url, wss, notes, seen }) {
      const served = once(wss, 'connection')
      const client = await RawClient.connect(port)
      const [socket] = await served
      watch(socket, notes)
      client.write(frame(kFin | 1, 'whole'), frame(1, 'half'), frame(kFin, 'x'.repeat(100)).subarray(0, 50))
      client.socket.end()
      await closeOf(socket)
    }
  },
  'what may not be sent is refused, and what may is': {
    async run ({ port, url, wss, notes, seen }) {
      const served = once(wss, 'connection')
      const client = await connect(url)
      const [socket] = await served
      client.on('message', (/** @type {Buffer} */ data, isBinary) => seen.push(`got ${isBinary} ${data.toString('hex')}`))
      client.on('ping', (data) => seen.push(`ping ${data}`))
      client.on('pong', (data) => seen.push(`pong ${data}`))
      for (const call of [
        () => socket.ping('x'.repeat(126)), () => socket.pong(Buffer.alloc(126)), () => socket.close(999), () => socket.close(1005),
        () => socket.close('1000'), () => socket.close(1000, 'x'.repeat(124)), () => socket.send({}), () => socket.send(true),
        () => socket.ping({ a: 1 })
      ]) {
        try {
          call()
          notes.push('accepted')
        } catch (error) {
          notes.push(`thrown ${shown(error)}`)
        }
      }
      socket.send(12)
      socket.send(new Uint16Array([1, 2]))
      socket.send(new Uint8Array([3]).buffer)
      socket.send([1, 2, 3])
      socket.send(undefined)
      socket.send(null)
      socket.send('text as bytes', { binary: true })
      socket.send(Buffer.from('bytes as text'), { binary: false })
      socket.send('', { binary: undefined })
      socket.send(new Blob(['blob']))
      socket.ping('ping behind a blob')
      socket.send('a', { fin: false })
      socket.ping(3)
      socket.send(Buffer.from('b'), { fin: false })
      socket.send('c', { fin: true })
      socket.ping()
      socket.pong('p', false, (/** @type {any} */ error) => notes.push(`callback ${shown(error)}`))
      socket.send('last', {}, (/** @type {any} */ error) => notes.push(`callback ${shown(error)}`))
      socket.close()
      await once(client, 'close')
    }
  },
  'callbacks of send() come later, in order': {
    async run ({ port, url, wss, notes, seen }) {
      const served = once(wss, 'connection')
      const client = await connect(url)
      const [socket] = await served
      const done = (/** @type {string} */ name) => (/** @type {any[]} */ ...args) => notes.push(`${name} ${args.map(shown)}`)
      let bytes = 0
      client.on('message', (/** @type {Buffer} */ data) => { bytes += data.length })
      await new Promise((/** @type {(value?: any) => void} */ resolve) => {
        socket.send('a', done('a'))
        notes.push('a was sent')
        socket.send(Buffer.alloc(200_000), done('large'))
        socket.send('b', (/** @type {any} */ error) => { done('b')(error); resolve() })
        process.nextTick(() => notes.push('tick'))
      }).then(() => { notes.splice(notes.indexOf('tick'), 1) })
      socket.close()
      await once(client, 'close')
      notes.push(`bytes ${bytes}`)
    }
  },
  'binaryType says what a binary message is': {
    async run ({ port, url, wss, notes, seen }) {
      const served = once(wss, 'connection')
      const client = await connect(url)
      const [socket] = await served
      for (const type of ['arraybuffer', 'fragments', 'blob', 'nonsense', 'nodebuffer']) {
        socket.binaryType = type
        for (const message of [Buffer.from('abc'), 'abc', Buffer.alloc(0)]) {
          const got = once(socket, 'message')
          client.send(message)
          const [data] = await got
          const bytes = data instanceof Blob ? await data.arrayBuffer() : Array.isArray(data) ? Buffer.concat(data) : data
          notes.push(`${socket.binaryType} ${Object.prototype.toString.call(data)} ${Buffer.from(bytes)}`)
        }
      }
    }
  },
  'the listeners of browsers work': {
    async run ({ port, url, wss, notes, seen }) {
      const served = once(wss, 'connection')
      const client = await connect(url)
      const [socket] = await served
      socket.onmessage = (/** @type {any} */ event) => notes.push(`onmessage ${typeof event.data} ${event.data} ${event.target === socket} ${event.type}`)
      socket.addEventListener('message', { handleEvent: (/** @type {any} */ event) => notes.push(`object ${event.data}`) }, { once: true })
      const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
      socket.onerror = (/** @type {any} */ event) => notes.push(`onerror ${event.message}`)
      client.send('one')
      client.send(Buffer.from('two'))
      client.close(4000, 'reason')
      const event = await closed
      notes.push(`close ${event.code} ${event.reason} ${event.wasClean}`, typeof socket.onmessage)
    }
  },
  'pause() and resume()': {
    async run ({ port, url, wss, notes, seen }) {
      const served = once(wss, 'connection')
      const client = await connect(url)
      const [socket] = await served
      watch(socket, notes)
      const first = once(socket, 'message')
      client.send('before')
      await first
      socket.pause()
      notes.push(`paused ${socket.isPaused}`)
      client.send('while')
      const pong = once(client, 'pong')
      socket.send('still sends')
      await once(client, 'message')
      socket.resume()
      client.ping()
      await pong
      socket.pause()
      client.send('left over')
      client.close(4001)
      await silence(100)
      socket.resume()
      await closeOf(socket)
    }
  },
  'a stream over a WebSocket': {
    async run ({ port, url, wss, notes, seen }) {
      const closed = new Promise((resolve) => wss.on('connection', (/** @type {any} */ socket) => {
        const stream = createWebSocketStream(socket, { encoding: 'utf8' })
        stream.on('end', () => notes.push('end'))
        stream.on('close', () => { notes.push('close'); resolve(undefined) })
        stream.pipe(stream)
      }))
      const client = await connect(url)
      let echoed = ''
      client.on('message', (data) => { echoed += data })
      for (let i = 0; i < 50; i++) client.send(String(i).repeat(1000))
      while (echoed.length < 90_000) await once(client, 'message')
      client.close()
      await closed
      notes.push(`echoed ${echoed.length}`)
    }
  },
  'permessage-deflate': {
    options: { perMessageDeflate: { threshold: 10 } },
    async run ({ port, url, wss, notes, seen }) {
      wss.on('connection', (/** @type {any} */ socket) => {
        watch(socket, notes)
        socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => socket.send(data, { binary: isBinary }))
      })
      for (const deflate of [{}, { serverNoContextTakeover: true, clientNoContextTakeover: true }, { clientMaxWindowBits: 9, serverMaxWindowBits: 10 }]) {
        const served = once(wss, 'connection')
        const client = await connect(url, { perMessageDeflate: deflate })
        const [socket] = await served
        notes.push(client.extensions)
        for (const message of ['', 'a', 'abc'.repeat(1000), Buffer.alloc(300_000, 5), 'abc'.repeat(1000)]) {
          client.send(message)
          const [data] = await once(client, 'message')
          notes.push(`echo ${data.equals(Buffer.from(message))}`)
        }
        client.close()
        await closeOf(socket)
      }
    }
  },
  'compressed bytes on the wire are the same': {
    options: { perMessageDeflate: { threshold: 10, zlibDeflateOptions: { level: 6 } } },
    async run ({ port, url, wss, notes, seen }) {
      for (const offer of ['permessage-deflate', 'permessage-deflate; server_no_context_takeover', 'permessage-deflate; server_max_window_bits=9']) {
        const served = once(wss, 'connection')
        const client = await RawClient.connect(port, { headers: [`Sec-WebSocket-Extensions: ${offer}`] })
        const [socket] = await served
        socket.send('short')
        socket.send('long enough to be compressed, long enough')
        socket.send('long enough to be compressed, long enough')
        socket.send('not compressed, though long enough', { compress: false })
        socket.send('in pieces, in pieces, ', { fin: false })
        socket.send('in pieces, in pieces, ', { fin: true })
        socket.close()
        client.write(frame(kFin | 8, ''))
        seen.push((await client.end()).toString('hex'))
      }
    }
  },
  'subprotocols, refusals and headers': {
    options: {
      handleProtocols: (/** @type {Set<string>} */ protocols) => [...protocols].at(-1),
      verifyClient: (/** @type {any} */ info, /** @type {any} */ callback) => setImmediate(callback, info.req.url !== '/no', 403, 'No', { 'X-Why': 'no' })
    },
    async run ({ port, url, wss, notes, seen }) {
      const client = new WebSocket(url, ['one', 'two'])
      await once(client, 'open')
      notes.push(client.protocol, [...wss.clients][0].protocol)
      const refused = new WebSocket(`${url}/no`)
      refused.on('error', () => {})
      const [, response] = await once(refused, 'unexpected-response')
      notes.push(`${response.statusCode} ${response.headers['x-why']}`)
      response.destroy()
    }
  }
}

const kDeflateOffer = { headers: ['Sec-WebSocket-Extensions: permessage-deflate'] }
/** @type {Record<string, { bytes: Buffer[], options?: any, client?: any }>} */
const refusals = {
  'RSV2 is set': { bytes: [frame(kFin | 0x20 | 1, 'a')] },
  'RSV1 is set without an extension': { bytes: [frame(kFin | kRsv1 | 1, 'a')] },
  'RSV1 is set in a ping': { bytes: [frame(kFin | kRsv1 | 9, 'a')], options: { perMessageDeflate: true }, client: kDeflateOffer },
  'the opcode is reserved': { bytes: [frame(kFin | 3, 'a')] },
  'the control opcode is reserved': { bytes: [frame(kFin | 15, 'a')] },
  'a continuation continues nothing': { bytes: [frame(kFin, 'a')] },
  'a message begins within another': { bytes: [frame(1, 'a'), frame(kFin | 2, 'b')] },
  'a ping is fragmented': { bytes: [frame(9, 'a')] },
  'a ping is too long': { bytes: [frame(kFin | 9, 'a'.repeat(126))] },
  'a close frame has one byte': { bytes: [frame(kFin | 8, 'a')] },
  'a close frame has a code that is none': { bytes: [frame(kFin | 8, Buffer.from([0x03, 0xed]))] },
  'a close frame has a reason that is no UTF-8': { bytes: [frame(kFin | 8, Buffer.from([0x03, 0xe8, 0xff]))] },
  'there is no mask': { bytes: [frame(kFin | 1, 'a', { mask: false })] },
  'a length needs more than 53 bits': { bytes: [Buffer.from([0x82, 0xff, 0, 0x20, 0, 0, 0, 0, 0, 0])] },
  'a message is too long': { bytes: [frame(kFin | 2, 'x'.repeat(11))], options: { maxPayload: 10 } },
  'the fragments of a message are too long': { bytes: [frame(2, 'x'.repeat(6)), frame(kFin, 'x'.repeat(6))], options: { maxPayload: 10 } },
  'a message has too many fragments': { bytes: [frame(2, 'x'), frame(0, 'x'), frame(0, 'x')], options: { maxFragments: 2 } },
  'text is no UTF-8': { bytes: [frame(kFin | 1, Buffer.from([0x61, 0xed, 0xa0, 0x80]))] },
  'fragmented text is no UTF-8': { bytes: [frame(1, Buffer.from([0xc3])), frame(kFin, 'a')] },
  'compressed bytes are none': { bytes: [frame(kFin | kRsv1 | 1, Buffer.from([0xff, 0xff, 0xff]))], options: { perMessageDeflate: true }, client: kDeflateOffer }
}

for (const [name, { bytes, options, client: clientOptions }] of Object.entries(refusals)) {
  programs[`refused: ${name}`] = {
    options,
    async run ({ port, url, wss, notes, seen }) {
      const served = once(wss, 'connection')
      const client = await RawClient.connect(port, clientOptions)
      const [socket] = await served
      watch(socket, notes)
      const closed = closeOf(socket)
      client.write(frame(kFin | 2, 'fine'), ...bytes, frame(kFin | 2, 'never'))
      await client.end()
      seen.push(client.received.toString('hex'))
      await closed
    }
  }
}

for (const [name, { options, run }] of Object.entries(programs)) {
  test(`as ws on node:http: ${name}`, { timeout: 20_000 }, async (t) => {
    /** @type {string[] | undefined} */
    let reference
    let closesItself = false
    for (const column of columns) {
      /** @type {string[]} */
      const notes = []
      const wanted = reference?.length ?? 0
      const { wss, port, url } = await serve(t, column, options)
      let isFast
      const closes = []
      wss.on('connection', (/** @type {any} */ socket) => { closes.push(closeOf(socket)); isFast ??= !('_receiver' in socket && socket._receiver !== null) })
      /** What the client sees: its order with what the server sees is chance. @type {string[]} */
      const seen = []
      await run({ port, url, wss, notes, seen })
      // The client may be ahead. What closes by itself with the reference does so with the others, too.
      const isClosed = await Promise.race([Promise.all(closes).then(() => true), sleep(closesItself ? kAnswerMs : kGraceMs, false, { ref: false })])
      if (reference === undefined) closesItself = isClosed
      for (const client of wss.clients) client.terminate()
      await Promise.all(closes)
      // The notes that are written after 'close' are waited for.
      if (reference !== undefined) await until(() => notes.length + seen.length >= wanted, 'the last notes', kAnswerMs).catch(() => {})
      // No event says that no more notes come: what a listener of 'close' defers, it defers to the next turn of the loop.
      await sleep(1)
      notes.push(...seen)
      assert.equal(isFast, column.isFast, column.name)
      if (reference === undefined) reference = notes
      else assert.deepEqual(notes, reference, column.name)
    }
    assert.notEqual(reference?.length, 0)
  })
}
