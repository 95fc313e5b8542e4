import { type Action, createRng, findNonJson, type Json } from '@episodic/protocol'
import { formatZodError, MOST_ANSWER_BYTES } from '@episodic/protocol/internal'
import type { Clock, SessionRecord } from '@episodic/state'
import { freezeAll, isLarge } from '@episodic/state/internal'
import { rulesFailed, type ServerError } from '../../server-error.ts'
import { absenceOf } from '../definition/absent-action.ts'
import { faultOf } from '../definition/authored.ts'
import type { EnvironmentDefinition, Preparation } from '../definition/environment.ts'
import { assertPrototypeUntouched } from './environment-rules.ts'

export interface ToPrepare {
  readonly preparation: Preparation
  /** The arguments as the tool's schema gives them. */
  readonly input: unknown
}

export interface PreparingStep {
  readonly clock: Clock
  /** Whether the limit of steps ends the episode with it. */
  readonly isLast: boolean
  readonly signal: AbortSignal | undefined
  /** Of a caller who asked for progress. */
  readonly report?: ((message: string) => void) | undefined
}

/** Returns how a tool prepares an action; `null` if it prepares nothing, or if the rules would refuse the arguments. */
export function toPrepare(environment: EnvironmentDefinition, action: Action): ToPrepare | null {
  const tool = absenceOf(action, environment) ? environment.absent : environment.tools[action.tool]
  if (!tool?.preparation) return null
  const input = tool.input.safeParse(action.arguments)
  if (!input.success || findNonJson(action.arguments)) return null
  return { preparation: tool.preparation, input: input.data }
}

/**
 * Prepares a step: runs the tool's own code outside of the rules, within its time limit, and resolves with what the
 * record keeps. If it exceeds the limit or its caller cancels, its signal is aborted and it is not awaited further.
 */
export async function prepareStep(
  tool: string,
  { preparation, input }: ToPrepare,
  record: Pick<SessionRecord, 'id' | 'state' | 'params' | 'limits' | 'now' | 'seed' | 'rng'>,
  { clock, isLast, signal: caller, report }: PreparingStep,
): Promise<Json> {
  const { id: session, state, params, limits, now, seed, rng } = record
  const { schema, seconds } = preparation
  caller?.throwIfAborted()
  const late = new AbortController()
  const callOff = clock.after(seconds * 1_000, () => late.abort(failed(tool, `took more than ${seconds} s`)))
  const signal = caller ? AbortSignal.any([caller, late.signal]) : late.signal
  const given = Promise.withResolvers<unknown>()
  const giveUp = () => given.reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    // In a promise, so that what is thrown at once is rejected with too.
    const readOnly = isLarge(state) ? state : freezeAll(structuredClone(state))
    const context = { state: readOnly, input, params, now, rng: createRng(seed, rng), session, isLast, signal, report }
    Promise.resolve()
      .then(() => preparation.prepare(context))
      .then(given.resolve, (thrown) => given.reject(faultOf(`The preparation of tool ${tool}`, thrown)))
    const value = await given.promise
    assertPrototypeUntouched(`the preparation of ${tool}`)
    const parsed = schema.safeParse(value)
    if (!parsed.success)
      throw failed(tool, `gave something else than \`prepared\` says: ${formatZodError(parsed.error)}`)
    const problem = findNonJson(parsed.data)
    if (problem) throw failed(tool, `gave what JSON cannot say: ${problem.replace('$', 'prepared')}`)
    const bytes = Buffer.byteLength(JSON.stringify(parsed.data))
    const room = Math.min(limits.bytes, MOST_ANSWER_BYTES)
    if (bytes > room) throw failed(tool, `gave ${bytes} bytes, and the limit is ${room}`)
    return parsed.data as Json
  } finally {
    callOff()
    signal.removeEventListener('abort', giveUp)
  }
}

function failed(tool: string, what: string, cause?: Error): ServerError {
  return rulesFailed(`The preparation of tool ${tool} ${what}.`, { cause })
}
