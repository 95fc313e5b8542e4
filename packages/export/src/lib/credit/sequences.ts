import type { EpisodeRecord } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { treeOf } from '@episodic/report/fold/token-tree'
import { sequenceFields } from '@episodic/report/group/token-fields'
import { columnsOf } from '../episode/chat.ts'
import { type ExportFormat, jsonLine } from '../export-format.ts'
import { LearnedAnswers } from './learned-answers.ts'
import { withCredit } from './segments.ts'

/**
 * Token sequences for trainers: a line for each way through the answers of an episode, as one list of ids with a mask.
 * An episode without ids has none.
 */
export const sequences: ExportFormat = {
  description: 'token sequences with a loss mask: for TRL, verl, SkyRL',
  needs: 'an answer with token ids: play it with --token-ids, by a model whose server returns them',
  hasReward: true,
  hasCredit: true,
  async *write(source) {
    const learned = new LearnedAnswers()
    for await (const record of source.episodes()) {
      const reward = source.reward.of(record)
      const answers = completionsOf(record).map((answer) => withVersion(answer, record))
      const elsewhere = learned.add(record)
      for (const fields of sequenceFields(answers, treeOf(answers, elsewhere))) {
        // An episode that ended before its next fork is sealed for each of its leaves.
        if (elsewhere.size > 0 && !fields.response_mask.includes(1)) continue
        yield jsonLine({
          ...withCredit(fields, answers, record, source.credit),
          reward,
          reward_kind: source.reward.name,
          group: record.task.id,
          ...columnsOf(record, source),
        })
      }
    }
  },
}

/** An answer without a version of its own has that of the policy. */
export function withVersion<T extends { readonly policyVersion?: string | undefined }>(
  answer: T,
  { policy: { version } }: EpisodeRecord,
): T {
  return version === undefined ? answer : { policyVersion: version, ...answer }
}
