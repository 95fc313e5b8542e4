import type { Completion, EpisodeRecord } from '@episodic/protocol'
import type { SequenceFields } from '@episodic/report/group/token-fields'
import { chatOf } from '../episode/chat.ts'
import type { AnswerCredit, GroupCredit } from './answer-credit.ts'

/**
 * Returns a sequence with what its answers were worth: an advantage for each token, 0 for those that were given, and a
 * segment for each answer, with its place in `response_ids`. Without credit, it returns the sequence as it is.
 */
export function withSegments(
  fields: SequenceFields,
  answers: readonly Completion[],
  record: EpisodeRecord,
  credit: GroupCredit | undefined,
) {
  const credited = credit?.of(record)
  if (!credited) return fields
  const turns = turnsOfAnswers(record)
  const advantages = fields.response_ids.map(() => 0)
  const segments = fields.answers.map((answer) => {
    const { promptTokenIds = [], tokenIds = [] } = answers[answer] as Completion
    const from = promptTokenIds.length - fields.prompt_ids.length
    const to = from + tokenIds.length
    const { from: first, to: end, ...worth } = credited[turns[answer] as number] as AnswerCredit
    advantages.fill(worth.advantage, from, to)
    return { answer, from, to, steps: [first, end], ...worth, learned: fields.response_mask[from] === 1 }
  })
  return { ...fields, response_advantages: advantages, segments }
}

/** Returns for each answer of an episode the number of the turn that it led to. */
function turnsOfAnswers(record: EpisodeRecord): number[] {
  const { turns } = chatOf(record)
  const own = turns.flatMap(({ steps }, turn) => steps.flatMap(({ completions = [] }) => completions.map(() => turn)))
  return [...own, ...(record.undecided ?? []).map(() => turns.length)]
}
