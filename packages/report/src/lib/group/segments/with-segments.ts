import type { Completion } from '@episodic/protocol'
import type { SequenceFields } from '../token-fields.ts'

/**
 * Returns a sequence with what its answers were worth: an advantage for each token, 0 for those that were given, and a
 * segment for each answer, with its place in `response_ids` and whether it is learned here.
 *
 * @param worthOf - what else is known of an answer, with its advantage if it has one.
 */
export function withSegments<W extends { readonly advantage?: number }>(
  fields: SequenceFields,
  answers: readonly Completion[],
  worthOf: (answer: number) => W,
) {
  const advantages = fields.response_ids.map(() => 0)
  const segments = fields.answers.map((answer) => {
    const { promptTokenIds = [], tokenIds = [] } = answers[answer] as Completion
    const from = promptTokenIds.length - fields.prompt_ids.length
    const to = from + tokenIds.length
    const worth = worthOf(answer)
    advantages.fill(worth.advantage ?? 0, from, to)
    return { answer, from, to, ...worth, learned: fields.response_mask[from] === 1 }
  })
  return { ...fields, response_advantages: advantages, segments }
}
