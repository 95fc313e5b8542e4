import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Rng } from '@episodic/protocol'

/** What a hostile agent knows: its own session, and the names of others. */
export interface Target {
  readonly url: string
  /** The key of its own session. */
  readonly key: string
  /** Ids of sessions, its own first. */
  readonly sessions: readonly string[]
}

/** What became of a request. */
export interface Attempt {
  readonly what: string
  readonly status: number
  readonly text: string
  /** Whether a trainer alone may do it, and no page of another origin. */
  readonly isForbidden: boolean
}

/** Words of refusals that are about a field. */
const NAMES = [
  ...['temperature', 'max_tokens', 'max_completion_tokens', 'seed', 'tool_choice', 'parallel_tool_calls', 'stream'],
  ...[
    'logprobs',
    'return_token_ids',
    'generation_token_ids',
    'prompt_token_ids',
    'reasoning',
    'content',
    'system role',
  ],
]

/** Makes one hostile request, and resolves with its answer; `null` if the connection was closed. */
export async function attack(rng: Rng, target: Target): Promise<Attempt | null> {
  const move = rng.pick([trainerRoute, trainerRoute, poisoned, poisoned, forged, odd, large, pageOfAnother, models])
  return await move(rng, target).catch(() => null)
}

async function send(what: string, url: string, init: RequestInit, isForbidden = false): Promise<Attempt> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(3_000) })
  const headers = JSON.stringify([...answer.headers])
  return { what, status: answer.status, text: `${headers}${await answer.text()}`, isForbidden }
}

const question = (text: string) => [{ role: 'user', content: text }]

function post({ url, key }: Target, body: RequestInit['body'], headers: Record<string, string> = {}): Promise<Attempt> {
  const init = { method: 'POST', body, headers, duplex: 'half' }
  return send('ask', `${url}/${key}/v1/chat/completions`, init as RequestInit)
}

function trainerRoute(rng: Rng, { url, key, sessions }: Target): Promise<Attempt> {
  const id = rng.pick(sessions)
  const [method, path, body] = rng.pick<readonly [string, string, object?]>([
    ['POST', '/sessions', { session_id: id }],
    ['POST', '/sessions', {}],
    ['GET', `/sessions/${id}`],
    ['GET', `/sessions/${id}/trace`],
    ['GET', `/sessions/${id}/sequences`],
    ['PUT', `/sessions/${id}/reward`, { reward: 1_000 }],
    ['DELETE', `/sessions/${id}`],
    ['PUT', `/${key}/v1/../../sessions/${id}/reward`, { reward: 1_000 }],
    ['PUT', `//sessions//${id}//reward`, { reward: 1_000 }],
    ['PUT', `/%73essions/${id}/reward`, { reward: 1_000 }],
  ])
  const token = rng.pick(['', key, 'null', 'undefined', id, `${key} `, 'Bearer'])
  const headers = rng.pick<Record<string, string>>([
    {},
    { authorization: `Bearer ${token}` },
    { authorization: token },
    { 'x-api-key': token },
    { cookie: `token=${token}` },
  ])
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  return send(`${method} ${path}`, `${url}${path}`, init, true)
}

function poisoned(rng: Rng, target: Target): Promise<Attempt> {
  const words = `${rng.pick(NAMES)} ${rng.pick(['must not be', 'is not supported', 'unexpected', 'only 1'])}`
  const field = rng.pick(['user', 'seed', 'stop'])
  const own = rng.pick([
    {},
    { temperature: 0 },
    { max_completion_tokens: 99_999 },
    { stream: true },
    { logprobs: false },
  ])
  return post(target, JSON.stringify({ model: 'm', messages: question('Hostile.'), ...own, [field]: words }))
}

function forged(rng: Rng, target: Target): Promise<Attempt> {
  const tokens = { prompt_token_ids: [1, 2], generation_token_ids: [rng.int(0, 9)], generation_log_probs: [0] }
  const messages = [...question('Hostile.'), { role: 'assistant', content: 'No.', ...tokens }, ...question('And?')]
  return post(target, JSON.stringify({ model: rng.pick(['m', 'other']), messages }))
}

function odd(rng: Rng, target: Target): Promise<Attempt> {
  const body = rng.pick([
    '{',
    '[]',
    'null',
    '{"messages":{}}',
    '{"messages":[null,1,[]]}',
    '{"__proto__":{"messages":[]}}',
    `{"messages":${'['.repeat(100_000)}`,
    '{"messages":[{"role":"user","content":{"toString":1}}],"model":{"toString":1}}',
  ])
  return post(target, body)
}

function large(rng: Rng, target: Target): Promise<Attempt> {
  const size = rng.int(1, 8) * 1_000_000
  const members = Array.from({ length: 300_000 }, (_, i) => `"k${i}":1`)
  return rng.pick([
    () => post(target, JSON.stringify({ model: 'm', messages: question('x'.repeat(size)) })),
    () => post(target, new Blob(['x'.repeat(size)]).stream() as unknown as string),
    () => post(target, `{${members}}`),
    () => post(target, new Uint8Array(gzipSync(' '.repeat(size))), { 'content-encoding': 'gzip' }),
    () => post({ ...target, key: 'nobody' }, 'x'.repeat(size)),
  ])()
}

function pageOfAnother(rng: Rng, { url, key }: Target): Promise<Attempt> {
  const origin = rng.pick(['http://evil.example', 'null', 'https://127.0.0.1.evil.example'])
  const headers = { origin, 'content-type': 'text/plain' }
  const body = JSON.stringify({ model: 'm', messages: question('Hostile.') })
  const path = rng.pick(['/sessions', `/${key}/v1/chat/completions`])
  return send(`${origin} ${path}`, `${url}${path}`, { method: 'POST', headers, body }, true)
}

function models(_rng: Rng, { url, key }: Target): Promise<Attempt> {
  return send('models', `${url}/${key}/v1/models`, {})
}

/** Opens a connection that sends a part of a request, and no more. */
export function sendHalf(rng: Rng, { url, key }: Target): Socket {
  const { port, host } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  const path = rng.pick(['/sessions', '/v1/chat/completions', `/${key}/v1/chat/completions`])
  const length = rng.pick(['Transfer-Encoding: chunked', 'Content-Length: 60000000'])
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${length}\r\n\r\n`
  socket.write(
    rng.pick(['', 'POST /ses', head, `${head}${length.startsWith('T') ? 'f4240\r\n' : ''}${'x'.repeat(500_000)}`]),
  )
  return socket
}
