import type { Completion, JsonObject, ModelRequest } from '@episodic/protocol'
import { treeOf } from '@episodic/report/fold/token-tree'
import { sequenceFields, traceOf } from '@episodic/report/group/token-fields'
import { RolloutRefused } from './rollout-queue.ts'

/** A session of a gateway, as trainers read it. */
export interface ReadableSession {
  readonly id: string
  readonly metadata: JsonObject
  readonly reward: number | null
  calls(): Promise<readonly { readonly completion: Completion; readonly request: ModelRequest }[]>
}

export async function readFigures(session: ReadableSession): Promise<object> {
  const answers = (await session.calls()).map(({ completion }) => completion)
  const { links, sequences, discarded } = treeOf(answers)
  const { id, metadata, reward } = session
  return {
    session_id: id,
    metadata,
    reward,
    calls: answers.length,
    traced_calls: answers.filter(({ promptTokenIds, tokenIds }) => promptTokenIds && tokenIds).length,
    sequences: sequences.length,
    discarded: discarded.length,
    drifted: links.filter(({ driftsFrom }) => driftsFrom !== null).length,
    prompt_tokens: answers.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    completion_tokens: answers.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
  }
}

export async function readSequences(session: ReadableSession): Promise<object> {
  const answers = (await session.calls()).map(({ completion }) => completion)
  return { ...(await readFigures(session)), sequences: sequenceFields(answers, treeOf(answers)) }
}

/** Throws `untraceable` if ids or log-probabilities of an answer are missing, or there is none yet. */
export async function readTrace({ id, metadata, reward, ...session }: ReadableSession): Promise<object> {
  const calls = await session.calls()
  const answers = calls.map(({ completion }) => completion)
  const requests = calls.map(({ request }) => request)
  const trace = traceOf(answers, requests, { id, metadata: { ...metadata, reward } })
  if (trace) return trace
  const lacks = ({ promptTokenIds, tokenIds }: Completion) =>
    !promptTokenIds ? 'ids of its prompt' : tokenIds ? 'as many log-probabilities as ids' : 'ids of its tokens'
  const missing = [...new Set(answers.map(lacks))].join(', ') || 'answers'
  const why = `There is no trace: the engine returned an answer without ${missing}, or there is none yet.`
  throw new RolloutRefused('untraceable', why)
}
