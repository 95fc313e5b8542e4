import { parseAccepted } from '@episodic/mcp-server/http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { aggregateMetrics, aggregateRequestSchema } from './aggregate-metrics.ts'
import { functionCallsOf, lastWordsOf } from './function-calls.ts'
import { parseBody, responseIn } from './row.ts'

/** The bounds of a row without its `response`: a prompt may have many messages, and a row many tools. */
const ROW_BOUNDS = { nesting: 64, values: 100_000 }
/** The bounds of a whole body: a trajectory with the tokens of a model has millions of numbers. */
const BODY_BOUNDS = { nesting: 64, values: 10_000_000, containers: 300_000, members: 1_500_000 }

/** What is done with bodies that may be long. A thread does it with those that are. */
export const BODY_JOBS = {
  /**
   * Returns a body that has a row. Of a `response` with millions of values it has the calls of tools with their
   * outputs, and the last words. Throws `parse-error`, and `invalid-request` for a body that is out of bounds, or no
   * object.
   */
  row(body: string): JsonObject {
    const value = parsedWith(body, 'response')
    if (!('response' in value)) return value
    const response = responseIn(value)
    if (!response) return parseAccepted(body, 'body', ROW_BOUNDS) as JsonObject
    // What is left of it is small enough to be looked at again.
    parseAccepted(JSON.stringify(functionCallsOf(response.output)), 'calls of the response', ROW_BOUNDS)
    const incomplete_details = response.incomplete_details ? {} : null
    const text = lastWordsOf(response.output)
    const words = text === '' ? [] : [{ type: 'message', content: [{ type: 'output_text', text }] }]
    return { ...value, response: { output: [...response.output.flatMap(callPart), ...words], incomplete_details } }
  },
  metrics(text: string): string {
    const body = parseBody(aggregateRequestSchema, parsedWith(text, 'verify_responses'))
    return JSON.stringify(aggregateMetrics(body.verify_responses))
  },
}

function parsedWith(text: string, long: string): JsonObject {
  const value = text === '' ? {} : parseAccepted(text, 'body', ROW_BOUNDS, { name: long, bounds: BODY_BOUNDS })
  if (isObject(value)) return value as JsonObject
  throw new WireError('invalid-request', 'The body has to be a JSON object.')
}

function callPart({ type, call_id, name, arguments: args, output }: Readonly<Record<string, unknown>>): JsonObject[] {
  if (type !== 'function_call' && type !== 'function_call_output') return []
  return [{ type, call_id, name, arguments: args, output: typeof output === 'string' ? output : null } as JsonObject]
}
