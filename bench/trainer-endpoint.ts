import { METHODS, type OpenResult } from '@episodic/protocol'

/** Where `servers/counter-server.ts` and its like listen. */
export interface Endpoint {
  readonly port: number
  readonly trainerUrl: string
  readonly token: string
}

export function authorize({ token }: Pick<Endpoint, 'token'>): { readonly Authorization: string } {
  return { Authorization: `Bearer ${token}` }
}

/** Opens a session at the trainer endpoint. */
export async function openSession(
  endpoint: Pick<Endpoint, 'trainerUrl' | 'token'>,
  environment: string,
  requestKey: string,
  options: object = {},
): Promise<OpenResult> {
  const body = openBody(environment, requestKey, options)
  const headers = { ...authorize(endpoint), 'content-type': 'application/json' }
  const answer = await fetch(endpoint.trainerUrl, { method: 'POST', body, headers })
  return ((await answer.json()) as { result: OpenResult }).result
}

/** Returns the body of a request that opens a session. */
export function openBody(environment: string, requestKey: string, options: object = {}): string {
  const params = { environment, requestKey, ...options }
  return JSON.stringify({ jsonrpc: '2.0', id: requestKey, method: METHODS.open, params })
}

/** Returns the body of a call that adds to the counter of the counter world. */
export function addBody(id: number, meta: object, more: object = {}): string {
  const params = { name: 'add', arguments: { note: 'a short note', n: id % 7, ...more }, _meta: meta }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
}
