import { DEFAULT_SEAT } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { STATE_URI } from '../dispatch/state-resource.ts'
import { MODERN_META } from '../fixtures/official-clients.fixture.ts'
import { createReference } from '../fixtures/reference.fixture.ts'
import { plainTally, tally } from '../fixtures/tally.fixture.ts'
import { initialize, openOverHttp, send, serveTestHost } from '../fixtures/testbed.fixture.ts'

/** One request, as bytes and headers. */
interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What is the same of two answers: status, number of the error, id, and the result. */
interface Said {
  readonly status: number
  readonly id?: unknown
  readonly error?: number
  readonly result?: unknown
}

/** A way in which ours deliberately answers otherwise than the SDKs. */
interface Difference {
  readonly why: string
  applies(sent: Sent, theirs: Said, ours: Said): boolean
}

/** All of them. Whatever is not here has to be the same. */
const DIFFERENCES: readonly Difference[] = [
  {
    why: 'An answer is JSON, so Accept has to take that, in either protocol version, and need not take an event stream as well.',
    applies: ({ headers }, theirs, ours) =>
      headers.accept === 'application/json'
        ? theirs.status === 406
        : headers.accept === 'text/html' && ours.status === 406,
  },
  {
    why: 'Parameters that are none are -32602, where the first SDK says that it failed.',
    applies: (_, theirs, ours) => theirs.error === -32603 && ours.error === -32602,
  },
  {
    why: 'A tool that is not there is a step that was refused, and counts as one: a policy does not probe for free.',
    applies: (_, theirs, ours) => theirs.error === -32602 && JSON.stringify(ours.result)?.includes('"isError":true'),
  },
  {
    why: 'An id that JSON-RPC advises against is not repeated.',
    applies: (_, theirs, ours) => typeof theirs.id === 'number' && !Number.isInteger(theirs.id) && ours.id === null,
  },
]

const anyId = fc.oneof(
  fc.constantFrom<unknown>(1, 'a', 0, -7, '', 2 ** 40),
  fc.constantFrom<unknown>(undefined, null, 1.5, {}, true),
)
const anyCall = fc.oneof(
  fc.constant({ name: 'reset', arguments: {} }),
  {
    weight: 4,
    arbitrary: fc.record({ name: fc.constant('add'), arguments: fc.record({ by: fc.integer({ min: 1, max: 3 }) }) }),
  },
  fc.record({
    name: fc.constant('add'),
    arguments: fc.constantFrom<unknown>({}, { by: 9 }, { by: 'x' }, { by: 1, more: 2 }),
  }),
  fc.constantFrom<object>({ name: 'add' }, { arguments: {} }, { name: 5 }, { name: 'add', arguments: 5 }, {}),
)
const anyRead = fc.oneof(
  fc
    .constantFrom<object>({ uri: STATE_URI }, { uri: 'episodic://session/other' }, { uri: 5 }, {})
    .map((params) => ({ method: 'resources/read', params })),
  fc
    .constantFrom<object>(
      { name: 'instructions' },
      { name: 'instructions', arguments: { tool: 'add' } },
      { name: 'instructions', arguments: { tool: 5 } },
      { name: 'none' },
      {},
    )
    .map((params) => ({ method: 'prompts/get', params })),
)
const anyRequest = fc.oneof(
  { weight: 3, arbitrary: anyCall.map((params) => ({ method: 'tools/call', params })) },
  anyRead,
  fc
    .constantFrom(
      'tools/list',
      'ping',
      'server/discover',
      'nonsense',
      'resources/list',
      'resources/templates/list',
      'prompts/list',
      'notifications/initialized',
      'subscriptions/listen',
    )
    .map((method) => ({ method, params: {} })),
  fc.constant({
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  }),
)

/** Requests of both protocol versions. Most are valid; each may have one mistake. */
const anySent: fc.Arbitrary<Sent> = fc
  .record({
    request: anyRequest,
    id: fc.oneof({ weight: 3, arbitrary: fc.constant<unknown>(1) }, anyId),
    modern: fc.boolean(),
    meta: fc.option(
      fc.constantFrom<object>(
        {},
        { [ENVELOPE.version]: '2027-01-01' },
        { [ENVELOPE.version]: '2025-11-25' },
        { [ENVELOPE.version]: 5 },
        { [ENVELOPE.capabilities]: undefined },
        { [ENVELOPE.capabilities]: 'none' },
        { [ENVELOPE.client]: undefined },
        { [ENVELOPE.client]: { name: 'x' } },
        { other: 1 },
      ),
      { freq: 4 },
    ),
    headers: fc.option(
      fc.constantFrom<Record<string, string | undefined>>(
        { 'mcp-protocol-version': undefined },
        { 'mcp-protocol-version': '2025-11-25' },
        { 'mcp-protocol-version': '2025-06-18' },
        { 'mcp-protocol-version': '2027-01-01' },
        { 'mcp-protocol-version': 'nonsense' },
        { 'mcp-protocol-version': MODERN_VERSION },
        { 'mcp-method': undefined },
        { 'mcp-method': 'tools/list' },
        { 'mcp-name': undefined },
        { 'mcp-name': 'other' },
        { 'mcp-name': '=?base64?YWRk?=' },
        { 'mcp-name': '=?base64?YW?=' },
        { 'mcp-session-id': 'mcp_mine' },
        { 'last-event-id': '5' },
        { accept: 'application/json' },
        { accept: 'text/html' },
        { 'content-type': 'text/plain' },
        { 'content-type': 'application/json; charset=utf-8' },
      ),
      { freq: 3 },
    ),
    broken: fc.option(
      fc.constantFrom(
        '',
        '{',
        '[]',
        '[1]',
        'null',
        '"text"',
        '{"jsonrpc":"2.0"}',
        '{"jsonrpc":"1.0","id":1,"method":"ping"}',
      ),
      {
        freq: 12,
      },
    ),
  })
  .map(({ request, id, modern, meta, headers, broken }) => {
    const { method } = request
    const { name = method === 'resources/read' ? (request.params as { uri?: unknown }).uri : undefined } =
      request.params as { name?: unknown }
    const params = modern ? { ...request.params, _meta: { ...MODERN_META, ...meta } } : request.params
    const said = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(modern && { 'mcp-protocol-version': MODERN_VERSION, 'mcp-method': method }),
      ...(modern && typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    }
    return {
      headers: Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) as Record<
        string,
        string
      >,
      body: broken ?? JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    }
  })

/** What counts of an answer. Words are ours, and so is how we introduce ourselves. */
function readSaid(status: number, text: string): Said {
  if (text === '') return { status }
  const { id, error, result } = JSON.parse(text)
  if (error) return { status, id, error: error.code }
  return { status, id, result: comparable(result) }
}

function comparable(result: Record<string, unknown>): unknown {
  const { _meta, serverInfo, instructions, capabilities, ttlMs, cacheScope, content, isError, ...rest } = result
  const { tools, resources, prompts, messages, description, structuredContent, ...same } = rest
  // What our server adds to the answers of a world.
  const { observation, episode_over, ...structured } = (structuredContent ?? {}) as Record<string, unknown>
  const listed = { tools, resources, prompts, messages }
  return {
    ...same,
    ...(structuredContent !== undefined && { structured }),
    ...Object.fromEntries(
      Object.entries(listed).map(([list, entries]) => [list, (entries as { name: string }[])?.map(({ name }) => name)]),
    ),
    ...(ttlMs !== undefined && { cached: [typeof ttlMs, typeof cacheScope] }),
    ...(isError ? { isError } : content !== undefined && { content }),
  }
}

describe('the agent endpoint over HTTP', () => {
  it('answers as the SDKs do, whatever comes, but where it says why not', async () => {
    const { server } = await serveTestHost(
      { limits: { rate: { calls: 1_000_000, seconds: 1 } } },
      { environments: [tally] },
    )
    const reasons = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(anySent, { minLength: 1, maxLength: 8 }), async (requests) => {
        const { seats } = await openOverHttp(server, { environment: 'tally' })
        const url = server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
        const reference = createReference()
        for (const sent of requests) {
          const theirs = await hear(reference, sent)
          const answer = await send(url, sent)
          const ours = readSaid(answer.status, answer.text)
          const difference = DIFFERENCES.find(({ applies }) => applies(sent, theirs, ours))
          if (!difference) expect({ sent, answer: ours }).toEqual({ sent, answer: theirs })
          else {
            reasons.add(difference.why)
            // One of the two worlds may have gone on where the other has not.
            break
          }
        }
      }),
      { seed: 20260728, numRuns: 800 },
    )
    // A difference that no longer shows has no place in the list.
    expect([...reasons].sort()).toEqual(DIFFERENCES.map(({ why }) => why).sort())
  })
})

describe('the agent endpoint', () => {
  it('opens a session at the first call of an MCP session, and closes it on DELETE', async () => {
    const { server, host } = await serveTestHost({}, { environments: [plainTally] })
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: { by: 1 } } }
    const status = async (headers: Record<string, string>, method = 'POST') =>
      (await send(server.agentUrl, { method, headers, ...(method === 'POST' && { body: JSON.stringify(call) }) }))
        .status
    const headers = await initialize(server.agentUrl)
    expect(await status(headers)).toBe(200)
    expect(await status({})).toBe(400)
    expect(await status({ 'mcp-session-id': 'mcp_nonsense' })).toBe(404)
    expect(await status(headers, 'DELETE')).toBe(204)
    expect(await status(headers)).toBe(404)
    const { sessions } = await host.list({ limit: 5 })
    expect(sessions.map(({ end }) => end)).toEqual([{ kind: 'truncated', reason: 'closed' }])
  })
})

/** Sends a request to the reference, as it would be sent over a wire. */
async function hear(reference: ReturnType<typeof createReference>, { headers, body }: Sent): Promise<Said> {
  const answer = await reference(new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body }))
  return readSaid(answer.status, await answer.text())
}
