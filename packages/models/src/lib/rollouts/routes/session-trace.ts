import type { Completion } from '@episodic/protocol'
import { traceOf } from '@episodic/report/group/token-fields'
import type { ReadableSession } from '../../forks/credit/session-figures.ts'
import { RolloutRefused } from '../rollout-queue.ts'

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
