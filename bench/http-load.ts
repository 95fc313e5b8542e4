import { connect, type Socket } from 'node:net'

/** What to send, over and over. */
export interface Load {
  readonly port: number
  /** The path of the next call. */
  readonly path: () => string
  /** Of every call, or of the next one. */
  readonly headers: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>)
  /** The body of the next call. */
  readonly body: () => string
  readonly connections: number
  readonly calls: number
}

/**
 * Sends calls over raw keep-alive sockets, one in flight on each, and gives calls a second.
 *
 * A real HTTP client costs more than the server that it measures; this one costs little, so that the figure is the
 * server's. Throws if an answer is not a 200.
 */
export async function drive(load: Load): Promise<number> {
  const { port, path, headers, connections, calls } = load
  const write = (given: Readonly<Record<string, string>>) =>
    `Host: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${Object.entries(given)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}`
  const written = typeof headers === 'function' ? null : write(headers)
  const head = () => written ?? write((headers as () => Record<string, string>)())
  let left = calls
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  const began = performance.now()
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          let held = ''
          const send = () => {
            if (left-- <= 0) return resolve()
            const body = load.body()
            socket.write(
              `POST ${path()} HTTP/1.1\r\n${head()}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
            )
          }
          socket.on('error', reject)
          socket.on('data', (chunk) => {
            held += chunk.toString('latin1')
            const end = held.indexOf('\r\n\r\n')
            if (end < 0) return
            const length = Number(/content-length: (\d+)/i.exec(held)?.[1])
            if (held.length < end + 4 + length) return
            if (!held.startsWith('HTTP/1.1 200')) return reject(new Error(`Answered: ${held.slice(0, 400)}`))
            held = ''
            send()
          })
          send()
        }),
    ),
  )
  const seconds = (performance.now() - began) / 1_000
  for (const socket of sockets) socket.destroy()
  return calls / seconds
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}
