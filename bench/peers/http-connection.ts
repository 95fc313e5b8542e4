import { connect, type Socket } from 'node:net'

export interface HttpRequest {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** A value that is sent as JSON. */
  readonly body?: unknown
}

export interface HttpAnswer {
  readonly status: number
  /** The value of a header, whose name is in lower case. */
  header(name: string): string | null
  readonly body: string
}

/**
 * A keep-alive connection with one request in flight. A real HTTP client costs more than some of the servers that are
 * measured with it.
 */
export class HttpConnection {
  readonly #socket: Socket
  readonly #authority: string
  #waiting: PromiseWithResolvers<HttpAnswer> | null = null
  #received = ''

  constructor(port: number) {
    this.#authority = `127.0.0.1:${port}`
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    // Every answer that is read here is ASCII.
    this.#socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text
      const answer = parseAnswer(this.#received)
      if (!answer) return
      this.#received = ''
      this.#waiting?.resolve(answer)
    })
    this.#socket.on('error', (error) => this.#waiting?.reject(error))
    this.#socket.on('close', () => this.#waiting?.reject(new Error('The server closed the connection.')))
  }

  /** Rejects for any status but 200, 202 and 204. */
  async send({ method, path, headers = {}, body }: HttpRequest): Promise<HttpAnswer> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${this.#authority}`,
      ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]),
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ]
    if (this.#socket.destroyed) throw new Error('The connection is closed.')
    this.#waiting = Promise.withResolvers()
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n${text}`)
    const answer = await this.#waiting.promise
    if (![200, 202, 204].includes(answer.status))
      throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.body.slice(0, 400)}`)
    return answer
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Returns `null` for an answer that is not whole. */
function parseAnswer(received: string): HttpAnswer | null {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = received.slice(0, end + 2)
  const rest = received.slice(end + 4)
  const status = Number(head.slice(9, 12))
  const header = (name: string) => new RegExp(`\r\n${name}: *(.*)\r\n`, 'i').exec(head)?.[1] ?? null
  const body = header('transfer-encoding') === 'chunked' ? joinChunks(rest) : whole(rest, header('content-length'))
  return body === null ? null : { status, header, body }
}

function whole(rest: string, length: string | null): string | null {
  return rest.length < Number(length ?? 0) ? null : rest
}

function joinChunks(rest: string): string | null {
  if (!rest.endsWith('0\r\n\r\n')) return null
  let body = ''
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at)
    const size = Number.parseInt(rest.slice(at, line), 16)
    if (size === 0) return body
    // The end of a chunk can look like the end of all of them.
    if (Number.isNaN(size) || rest.length < line + 2 + size) return null
    body += rest.slice(line + 2, line + 2 + size)
    at = line + 4 + size
  }
}
