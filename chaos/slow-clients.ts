/**
 * Clients that take their time, in a process of their own so that an honest one is not slowed by them: `<port> <token>
 * <sockets> <unread>`. Says on its channel when all have connected.
 */
import { connect, type Socket } from 'node:net'
import { META, METHODS, type OpenResult } from '@episodic/protocol'
import { ask } from './server.ts'

const [port = '', token = '', sockets = '0', unread = '0'] = process.argv.slice(2)
/** Sockets that connect at the same time: more than a server lets wait are held back by the system, not by the server. */
const ABREAST = 100
/** Requests whose answers are not read, of one socket, and the milliseconds between two of them. */
const [UNREAD, PACE] = [64, 30]
/** Characters in each of the two steps that their answers tell of: together they are more than the system holds for a reader. */
const NOTE = 60_000

const HEAD = `POST /env HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
/** What is sent at once, and then a byte each second. */
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
  // An answer is read, and changes nothing.
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

/** A short request that has a long answer: what a session of two long steps has to tell. */
async function prepareLongAnswer(): Promise<string> {
  const server = { port: Number(port), token }
  const { session } = await ask<OpenResult>(server, METHODS.open, {
    environment: 'ledger',
    requestKey: 'a-long-story-told-to-nobody',
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
