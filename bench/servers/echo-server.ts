/**
 * The floor of a call over HTTP and over a WebSocket: a bare `node:http` server with `ws` that parses JSON and writes
 * it back. Answers each message of its parent with the seconds of CPU that it has used.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { answerWithCpuTime } from '../cpu-time.ts'

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString('utf8')))
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text)
  })
})
new WebSocketServer({ server }).on('connection', (socket) =>
  socket.on('message', (text) => socket.send(JSON.stringify(JSON.parse(String(text))))),
)
answerWithCpuTime()
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
