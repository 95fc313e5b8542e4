import { type EnvironmentInfo, type JsonObject, jsonObjectSchema, type Refusal } from '@episodic/protocol'
import { every } from '@episodic/protocol/internal'
import { z } from 'zod'
import { EnvError, optionInvalid } from '../env-error.ts'
import { type ExternalSession, type ExternalStep, LATE_STEP, refusal } from '../external/external-session.ts'
import type { CallOptions } from '../session/call-options.ts'
import { joinTexts, type OrsAnswer, type OrsClient } from './ors-client.ts'

/** Milliseconds between two signs of life: a server may remove a session that shows none. */
const PING = 10_000

const placeSchema = z.strictObject({
  split: z.string().optional(),
  index: z.int().default(0),
  task: jsonObjectSchema.optional(),
})

/** The reasons for which a server refuses a call, as refusals of a step. */
const REFUSALS: Readonly<Record<string, Refusal>> = { not_found: 'tool', input_validation: 'arguments' }

/** Opens a session and reads its prompt. Rejects with `option-invalid` for parameters that name no task. */
export async function openOrsSession(
  client: OrsClient,
  info: EnvironmentInfo,
  given: JsonObject,
  options: CallOptions,
): Promise<ExternalSession> {
  const { creation, params } = creationOf(info, given)
  const session = await client.open(creation, options)
  const call = { environment: info.name, session }
  try {
    const text = await client.prompt(call, options)
    // The next call reports what a failed ping could.
    const stopPings = every(PING, () => void client.ping(session).catch(() => {}))
    return {
      params,
      observation: { text, structured: null },
      play: async ({ action, late }, options) =>
        late ? LATE_STEP : answerOf(await client.call(call, { name: action.tool, input: action.arguments }, options)),
      async close() {
        stopPings()
        // A session that cannot be deleted expires.
        await client.delete(session).catch(() => {})
      },
    }
  } catch (error) {
    await client.delete(session).catch(() => {})
    throw error
  }
}

function answerOf(answer: OrsAnswer): ExternalStep {
  if (answer.ok) {
    const { blocks, reward, finished } = answer.output
    return {
      observation: { text: joinTexts(blocks), structured: null },
      refused: null,
      terms: typeof reward === 'number' ? { reward } : {},
      end: finished ? { kind: 'terminated', reason: 'finished' } : null,
    }
  }
  const { reason, error } = answer
  if (reason === 'episode_finished') throw new EnvError('not-playing', `The server has ended the episode: ${error}`)
  return refusal(REFUSALS[reason ?? ''] ?? 'rules', error)
}

/** Returns the body that opens a session of a task, and the parameters with their defaults. Throws `option-invalid`. */
function creationOf(
  info: EnvironmentInfo,
  given: JsonObject,
): { readonly creation: JsonObject; readonly params: JsonObject } {
  const parsed = placeSchema.safeParse(given)
  if (!parsed.success)
    throw optionInvalid(`A task of ${info.name} is named by split and index, or given as task: ${parsed.error.message}`)
  const { task, index } = parsed.data
  if (task) return { creation: { task_spec: task, env_name: info.name }, params: { task } }
  const split = parsed.data.split ?? firstSplitOf(info)
  return { creation: { split, index, env_name: info.name }, params: { split, index } }
}

function firstSplitOf({ name, paramsSchema }: EnvironmentInfo): string {
  const { split } = paramsSchema.properties as { split: { default?: string } }
  if (split.default !== undefined) return split.default
  throw optionInvalid(`${name} lists no tasks. Give a row of your own as the parameter task.`)
}
