import type { Completion, EpisodeRecord } from '@episodic/protocol'
import { withSegments } from '@episodic/report/group/segments/with-segments'
import type { SequenceFields } from '@episodic/report/group/token-fields'
import { chatOf } from '../episode/chat.ts'
import type { AnswerCredit, GroupCredit } from './answer-credit.ts'

/** Returns a sequence with what its answers were worth. Without credit, it returns the sequence as it is. */
export function withCredit(
  fields: SequenceFields,
  answers: readonly Completion[],
  record: EpisodeRecord,
  credit: GroupCredit | undefined,
) {
  const credited = credit?.of(record)
  if (!credited) return fields
  const turns = turnsOfAnswers(record)
  return withSegments(fields, answers, (answer) => {
    const { from, to, ...worth } = credited[turns[answer] as number] as AnswerCredit
    return { steps: [from, to], ...worth }
  })
}

function turnsOfAnswers(record: EpisodeRecord): number[] {
  const { turns } = chatOf(record)
  const own = turns.flatMap(({ steps }, turn) => steps.flatMap(({ completions = [] }) => completions.map(() => turn)))
  return [...own, ...(record.undecided ?? []).map(() => turns.length)]
}
