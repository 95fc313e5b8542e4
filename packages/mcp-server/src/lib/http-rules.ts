import type { IncomingMessage } from 'node:http'
import type { WireErrorCode } from '@episodic/protocol'
import type { Caller } from './caller.ts'
import type { Denial } from './http-guards.ts'
import { PROTOCOL_VERSIONS } from './sdk-discovery.ts'

/** What Streamable HTTP asks of every POST. */
export function checkPost({ headers }: IncomingMessage): Denial | null {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return { status: 415, message: 'Send JSON: Content-Type: application/json.' }
  if (!/application\/json|application\/\*|\*\/\*/i.test(headers.accept ?? '*/*'))
    return { status: 406, message: 'Answers are JSON: Accept has to include application/json.' }
  const version = headers['mcp-protocol-version']
  if (version !== undefined && !PROTOCOL_VERSIONS.includes(version as string))
    return {
      status: 400,
      message: `This protocol version is not spoken here. Spoken are: ${PROTOCOL_VERSIONS.join(', ')}.`,
    }
  return null
}

const STATUS: Partial<Record<WireErrorCode, number>> = {
  'parse-error': 400,
  'invalid-request': 400,
  'session-not-found': 404,
  'too-large': 413,
  capacity: 503,
  'store-unavailable': 503,
}

/** At the trusted door a refusal is an answer like any other; at the agent's door plain clients go by the status. */
export function statusOf(refusal: WireErrorCode | null, door: Caller['door']): number {
  if (refusal === null || (door === 'trusted' && refusal !== 'too-large')) return 200
  return STATUS[refusal] ?? 200
}

export function missingTransport(): Denial {
  return { status: 400, message: 'Send the Mcp-Session-Id that initialize answered with.' }
}
