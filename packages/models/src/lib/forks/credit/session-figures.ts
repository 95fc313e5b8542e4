import type { JsonObject } from '@episodic/protocol'
import { treeOf } from '@episodic/report/fold/token-tree'
import { withSegments } from '@episodic/report/group/segments/with-segments'
import { sequenceFields } from '@episodic/report/group/token-fields'
import type { RecordedCall } from '../recorded-call.ts'
import { type SessionFork, toPlace } from '../session-forks.ts'
import { branchOf, type CreditedSession, type creditOf } from './session-credit.ts'

export interface ReadableSession extends CreditedSession {
  readonly fork?: SessionFork | undefined
  readonly metadata: JsonObject
  readonly reward: number | null
  calls(): Promise<readonly RecordedCall[]>
}

export async function readFigures(session: ReadableSession): Promise<object> {
  const answers = (await session.calls()).map(({ completion }) => completion)
  const { links, sequences, discarded } = treeOf(answers)
  const { id, metadata, reward, fork } = session
  return {
    session_id: id,
    metadata,
    reward,
    ...(fork && { fork: toPlace(fork) }),
    calls: answers.length,
    traced_calls: answers.filter(({ promptTokenIds, tokenIds }) => promptTokenIds && tokenIds).length,
    sequences: sequences.length,
    discarded: discarded.length,
    drifted: links.filter(({ driftsFrom }) => driftsFrom !== null).length,
    prompt_tokens: answers.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    completion_tokens: answers.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
  }
}

/**
 * Returns the figures with the sequences. What a fork shares is learned once: in the session that was forked.
 */
export async function readSequences(session: ReadableSession, credit: ReturnType<typeof creditOf>): Promise<object> {
  const answers = (await session.calls()).map(({ completion }) => completion)
  const { answers: shared = 0, branch = [] } = session.fork ?? {}
  const worthOf = (answer: number) => ({ branch: branchOf(session, answer), ...credit(session.id, answer) })
  const sequences = sequenceFields(answers, treeOf(answers, Array(shared).keys())).map((fields) => ({
    ...withSegments(fields, answers, worthOf),
    branch,
  }))
  return { ...(await readFigures(session)), sequences }
}
