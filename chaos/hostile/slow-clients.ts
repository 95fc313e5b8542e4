/**
 * Slow clients, in a separate process so that they do not slow an honest one: `<port> <token> <sockets> <unread>`.
 * Sends a message to the parent process when all have connected.
 */
import { connect, type Socket } from 'node:net'
import { META, METHODS, type OpenResult } from '@episodic/protocol'
import { ask } from '../processes/server.ts'

const [port = '', token = '', sockets = '0', unread = '0'] = process.argv.slice(2)
/** Sockets that connect at the same time: with more, the system would delay them, and not the server. */
const ABREAST = 100
/** Requests per socket whose answers are not read, and the milliseconds between two of them. */
const [UNREAD, PACE] = [64, 30]
/** Characters in each of the two steps of such an answer: together more than the system buffers for a reader. */
const NOTE = 60_000

const HEAD = `POST /env HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
/** What is sent at once, and what then follows with a byte each second. */
const WAYS: readonly (readonly [atOnce: string, dribble: string])[] = [
  ['', ''],
  ['P', 'OST /env HTTP/1.1 and more'],
  [HEAD, 'X-Padding: it goes on and on'],
  [`${HEAD}Content-Length: 1000\r\n\r\n{"jsonrpc"`, ':"2.0","id":1,"method":"ping"'],
  [`${HEAD}Transfer-Encoding: chunked\r\n\r\n3e8\r\n{"jsonrpc"`, ':"2.0","id":1,"method":"ping"'],
  [
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 67108864\r\n\r\n',
    'xxxxxxxxxxxxxx',
  ],
]

process.on('disconnect', () => process.exit())
const longAnswer = Number(unread) > 0 ? await prepareLongAnswer() : ''
const dribbling: { readonly socket: Socket; readonly dribble: string; at: number }[] = []
for (let opened = 0; opened < Number(sockets); opened += ABREAST) {
  const indexes = Array.from({ length: Math.min(ABREAST, Number(sockets) - opened) }, (_, index) => opened + index)
  await Promise.all(indexes.map(open))
}
process.send?.('open')
setInterval(() => {
  for (const slow of dribbling) if (slow.socket.writable) slow.socket.write(slow.dribble[slow.at++] ?? 'x')
}, 1_000)

async function open(index: number): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
  if (index < Number(unread)) return askAndIgnore(socket)
  const [atOnce, dribble] = WAYS[index % WAYS.length] as (typeof WAYS)[number]
  // Answers are read and ignored.
  socket.resume()
  if (atOnce !== '') socket.write(atOnce)
  if (dribble !== '') dribbling.push({ socket, dribble, at: 0 })
}

function askAndIgnore(socket: Socket): void {
  socket.pause()
  let asked = 0
  const timer = setInterval(() => {
    if (socket.writable && asked++ < UNREAD) socket.write(longAnswer)
    else clearInterval(timer)
  }, PACE)
}

/** Returns a short request with a long answer: the log of a session with two long steps. */
async function prepareLongAnswer(): Promise<string> {
  const server = { port: Number(port), token }
  const { session } = await ask<OpenResult>(server, METHODS.open, {
    environment: 'ledger',
    requestKey: 'a-long-answer-that-is-never-read',
  })
  for (const seq of [0, 1])
    await ask(server, 'tools/call', {
      name: 'add',
      arguments: { amount: 1, note: 'x'.repeat(NOTE) },
      _meta: { [META.session]: session, [META.seq]: seq },
    })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: METHODS.watch, params: { session } })
  return `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`
}
