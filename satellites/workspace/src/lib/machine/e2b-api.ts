import { isObject, pause } from '@episodic/protocol/internal'
import { MachineError } from './machine.ts'
import { BoxLost } from './session-machine.ts'

export interface E2bAddress {
  readonly apiKey: string
  readonly apiUrl: string
  /** Where the sandboxes are reached, if not each at a name of its own. */
  readonly sandboxUrl: string | undefined
  readonly domain: string
}

export interface Sandbox {
  readonly id: string
  readonly url: string
  readonly token: string | undefined
}

/** The port of the daemon in each sandbox. */
const ENVD_PORT = '49983'
/** Milliseconds that a request may take which runs nothing. */
const REQUEST = 60_000
/** Tries of a request that may be done twice, and of one that a server with too much to do has refused. */
const TRIES = 6
/** The flag of a message of the Connect protocol that ends a stream. */
const STREAM_END = 2

export type E2bApi = ReturnType<typeof createE2bApi>

/** Requests of E2B's API that a machine needs: those for sandboxes, and those of the daemon within each. */
export function createE2bApi(address: E2bAddress) {
  return {
    /** Creates a sandbox that the server ends after so many seconds, unless `extend` is called. */
    async create(
      fields: { readonly templateID: string; readonly timeout: number } & Readonly<Record<string, unknown>>,
      signal: AbortSignal,
    ): Promise<Sandbox> {
      const response = await askApi('POST', '/sandboxes', fields, signal, true)
      const { sandboxID = '', envdAccessToken, domain } = (await response.json()) as Record<string, string>
      const { sandboxUrl, domain: usual } = address
      const url = sandboxUrl ?? `https://${ENVD_PORT}-${sandboxID}.${domain || usual}`
      return { id: sandboxID, url, token: envdAccessToken }
    },
    /** Has the server end a sandbox after so many seconds from now. Returns whether it is there. */
    async setTimeout({ id }: Sandbox, seconds: number, signal: AbortSignal): Promise<boolean> {
      const response = await askApi('POST', `/sandboxes/${id}/timeout`, { timeout: seconds }, signal)
      return response.ok
    },
    kill,
    async killAll(key: string, value: string): Promise<void> {
      let next: string | null = null
      do {
        const query = new URLSearchParams({ metadata: `${key}=${value}`, ...(next !== null && { nextToken: next }) })
        const response = await askApi('GET', `/v2/sandboxes?${query}`)
        const found = (await response.json()) as { sandboxID: string }[]
        await Promise.all(found.map(({ sandboxID }) => kill(sandboxID)))
        next = response.headers.get('x-next-token') || null
      } while (next !== null)
    },
    async upload(sandbox: Sandbox, files: Readonly<Record<string, Uint8Array>>, signal: AbortSignal): Promise<void> {
      const body = new FormData()
      for (const [path, bytes] of Object.entries(files)) body.append('file', new Blob([bytes.slice()]), path)
      await envd(sandbox, '/files?username=root', body, {}, signal, REQUEST)
    },
    /**
     * Runs `sh` in a sandbox as root, and returns what it printed and its exit code. Throws {@link BoxLost} if the
     * connection was lost before its end: it may have run, and may go on for `milliseconds`.
     */
    async runShell(sandbox: Sandbox, args: readonly string[], milliseconds: number, signal: AbortSignal) {
      const message = Buffer.from(JSON.stringify({ process: { cmd: '/bin/sh', args }, stdin: false }))
      const head = Buffer.alloc(5)
      head.writeUInt32BE(message.length, 1)
      const headers = {
        ...{ 'content-type': 'application/connect+json', 'connect-protocol-version': '1' },
        ...{ 'connect-timeout-ms': String(milliseconds), 'keepalive-ping-interval': '50' },
      }
      const body = Buffer.concat([head, message])
      const response = await envd(sandbox, '/process.Process/Start', body, headers, signal, milliseconds + REQUEST)
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
      let exitCode: number | null = null
      try {
        for await (const { flags, content } of readMessages(response)) {
          const { data, end } = content.event ?? {}
          if (data?.stdout) stdout.push(Buffer.from(data.stdout, 'base64'))
          if (data?.stderr) stderr.push(Buffer.from(data.stderr, 'base64'))
          // Zero is not written, as in every JSON of protocol buffers.
          if (end) exitCode = end.exitCode ?? 0
          if (exitCode !== null && (flags & STREAM_END) !== 0)
            return { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString(), exitCode }
        }
      } catch (cause) {
        signal.throwIfAborted()
        throw new BoxLost('the stream of its program was cut.', true, cause)
      }
      throw new BoxLost('the stream of its program ended before the program.', true)
    },
  }

  async function kill(id: string): Promise<void> {
    await askApi('DELETE', `/sandboxes/${id}`)
  }

  /** Asks for something of a sandbox once: to do it again is for those who know what it was. */
  async function envd(
    { id, url, token }: Sandbox,
    path: string,
    body: Buffer | FormData,
    given: Readonly<Record<string, string>>,
    signal: AbortSignal,
    milliseconds: number,
  ): Promise<Response> {
    const named = { 'e2b-sandbox-id': id, 'e2b-sandbox-port': ENVD_PORT, ...(token && { 'x-access-token': token }) }
    const headers = { authorization: `Basic ${btoa('root:')}`, ...named, ...given }
    const init = { method: 'POST', headers, body }
    const { response, status, said } = await ask(`${url}${path}`, init, milliseconds, signal)
    if (response?.ok) return response
    if (status === 0 || status >= 500 || status === 429 || status === 404)
      throw new BoxLost(`${said}.`, path.startsWith('/process'))
    throw new MachineError('machine-refused', `A sandbox of E2B answered with ${status}: ${said}`)
  }

  /** Asks the API, and again if it has too much to do or fails; but only if it refused, for what is done `once`. */
  async function askApi(method: string, path: string, fields?: object, given?: AbortSignal, once = false) {
    const { apiUrl, apiKey } = address
    const signal = given ?? AbortSignal.timeout(REQUEST)
    const headers = { 'x-api-key': apiKey, ...(fields && { 'content-type': 'application/json' }) }
    for (let tries = 1; ; tries += 1) {
      const body = fields && JSON.stringify(fields)
      const { response, status, said } = await ask(`${apiUrl}${path}`, { method, headers, body }, REQUEST, signal)
      // A sandbox that is gone is no error.
      if (response?.ok || (response && status === 404 && path.startsWith('/sandboxes/'))) return response
      const isBusy = status === 429
      if (once && !isBusy && (status === 0 || status >= 500)) throw new BoxLost(`${said}.`, false)
      if (tries === TRIES || (!isBusy && status > 0 && status < 500)) throw refusal(status, said, apiUrl)
      const seconds = Number(response?.headers.get('retry-after'))
      await pause(seconds > 0 && seconds <= 60 ? seconds * 1_000 : 100 * 2 ** tries, signal)
    }
  }
}

async function ask(url: string, init: RequestInit, milliseconds: number, signal: AbortSignal) {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)])
    const response = await fetch(url, { ...init, signal: within })
    return { response, status: response.status, said: response.ok ? '' : await readRefusal(response) }
  } catch (cause) {
    signal.throwIfAborted()
    return { response: null, status: 0, said: `it did not answer (${(cause as Error).message})` }
  }
}

function refusal(status: number, said: string, apiUrl: string): MachineError {
  const server = `The server of E2B's API at ${apiUrl}`
  const refused = (text: string) => new MachineError('machine-refused', `${server} ${text}`)
  const missing = (text: string) => new MachineError('machine-missing', `${server} ${text}`)
  if (status === 401 || status === 403)
    return missing(`does not accept the key: ${said}. Set E2B_API_KEY to one of it.`)
  if (status === 404) return missing(`has no such thing: ${said}. Build it, or name another.`)
  if (status === 429) return refused(`is busy: ${said}. End other sandboxes, or let fewer run at once.`)
  return refused(status === 0 ? `cannot be reached: ${said}.` : `answered with ${status}: ${said}.`)
}

async function readRefusal(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    const body: unknown = JSON.parse(text)
    if (isObject(body) && typeof body.message === 'string') return body.message
  } catch {
    // It is what a proxy says.
  }
  return text.slice(0, 500) || response.statusText
}

interface Message {
  readonly event?: {
    readonly data?: { readonly stdout?: string; readonly stderr?: string }
    readonly end?: { readonly exitCode?: number }
  }
}

/** Reads the messages of a stream of the Connect protocol: a byte of flags, four of the length, then JSON. */
async function* readMessages(response: Response): AsyncGenerator<{ flags: number; content: Message }> {
  let rest = Buffer.alloc(0)
  for await (const bytes of response.body ?? []) {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1)
      yield { flags: rest.readUInt8(0), content: JSON.parse(rest.toString('utf8', 5, end)) as Message }
      rest = rest.subarray(end)
    }
  }
}
