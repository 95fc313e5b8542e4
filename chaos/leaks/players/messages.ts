import { type Action, META, METHODS } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'

export interface Message {
  readonly kind: string
  readonly text: string
}

export const request = (method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) })

export const INITIALIZE: Message = {
  kind: 'initialize',
  text: request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'check', version: '1.0.0' },
  }),
}
export const TOOLS_LIST: Message = { kind: 'tools/list', text: request('tools/list', {}) }

/** The resource of a session's public state. */
const STATE = { uri: 'episodic://session/state' }
export const READ_STATE: Message = { kind: 'resources/read of the state', text: request('resources/read', STATE) }
export const SUBSCRIBE: Message = { kind: 'resources/subscribe', text: request('resources/subscribe', STATE) }

export const READS: readonly Message[] = [
  TOOLS_LIST,
  ...['resources/list', 'resources/templates/list', 'prompts/list'].map((kind) => ({ kind, text: request(kind, {}) })),
  { kind: 'prompts/get', text: request('prompts/get', { name: 'instructions' }) },
]

/** The same message as a client of MCP 2026-07-28 sends it, which has no sessions. */
export function stateless({ kind, text }: Message): Message {
  const { params = {}, ...rest } = JSON.parse(text)
  return { kind, text: JSON.stringify({ ...rest, params: { ...params, _meta: STATELESS_META } }) }
}

const STATELESS_META = {
  [ENVELOPE.version]: MODERN_VERSION,
  [ENVELOPE.capabilities]: {},
  [ENVELOPE.client]: { name: 'check', version: '1.0.0' },
}

export function callMessage(kind: string, { tool, arguments: args }: Action): Message {
  return { kind, text: request('tools/call', { name: tool, arguments: args }) }
}

export function passiveMessages(stolen: { readonly control: string; readonly capability: string }): Message[] {
  const { control, capability } = stolen
  return [
    INITIALIZE,
    { kind: 'notifications/initialized', text: '{"jsonrpc":"2.0","method":"notifications/initialized"}' },
    { kind: 'ping', text: request('ping') },
    ...READS,
    READ_STATE,
    SUBSCRIBE,
    ...[
      'resources/list',
      'resources/templates/list',
      'resources/read',
      'prompts/list',
      'prompts/get',
      'logging/setLevel',
      'tasks/list',
      'server/discover',
    ].map((kind) => ({
      kind: `${kind} of something unknown`,
      text: request(kind, { uri: 'state://private', name: 'state', level: 'debug' }),
    })),
    ...Object.values(METHODS).map((kind) => ({ kind, text: request(kind, { session: control }) })),
    { kind: 'an unknown method', text: request('private/state', { session: capability }) },
    { kind: 'a batch', text: `[${request('ping')}]` },
    { kind: 'invalid JSON', text: '{"jsonrpc":"2.0","id":1,' },
    { kind: 'a JSON string', text: '"state"' },
    { kind: 'params that are an array', text: request('tools/call', ['state']) },
    { kind: 'a call without a name', text: request('tools/call', {}) },
    { kind: 'a call of an unknown tool', text: request('tools/call', { name: 'state', arguments: {} }) },
  ]
}

export function hostileMessages(tool: string, stolen: { readonly control: string }): Message[] {
  const call = (args: unknown, meta?: unknown) =>
    request('tools/call', { name: tool, arguments: args, ...(meta !== undefined && { _meta: meta }) })
  return [
    { kind: 'a call with the control handle', text: call({}, { [META.session]: stolen.control, [META.seq]: 0 }) },
    { kind: 'a call with arguments that are an array', text: call([]) },
    { kind: 'a call with arguments of the wrong type', text: call({ value: {}, direction: [], quantity: 'x' }) },
    { kind: 'a call with a __proto__ key', text: call({}).replace('{}', '{"__proto__":{"private":true}}') },
    { kind: 'a call with a lone surrogate', text: call({}).replace('{}', '{"value":"\\ud800"}') },
    {
      kind: 'a call with deeply nested arguments',
      text: call({}).replace('{}', `{"value":${'['.repeat(80)}${']'.repeat(80)}}`),
    },
    { kind: 'a call with an infinite number', text: call({}).replace('{}', '{"value":1e999}') },
    { kind: 'a call with a long text', text: call({ value: 'x'.repeat(5_000) }) },
  ]
}
