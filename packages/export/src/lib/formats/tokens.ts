import { type EpisodeRecord, requestsOf } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { treeOf } from '@episodic/report/fold/token-tree'
import { sequenceFields, traceOf } from '@episodic/report/group/token-fields'
import { columnsOf } from '../episode/chat.ts'
import { type ExportFormat, jsonLine } from '../export-format.ts'

/**
 * Token sequences for trainers: a line for each way through the answers of an episode, as one list of ids with a mask.
 * An episode without ids has none.
 */
export const sequences: ExportFormat = {
  description: 'token sequences with a loss mask: for TRL, verl, SkyRL',
  needs: 'an answer with token ids: play it with --token-ids, by a model whose server returns them',
  hasReward: true,
  async *write(source) {
    for await (const record of source.episodes()) {
      const reward = source.reward.of(record)
      const answers = completionsOf(record).map((answer) => withVersion(answer, record))
      for (const fields of sequenceFields(answers, treeOf(answers)))
        yield jsonLine({
          ...fields,
          reward,
          reward_kind: source.reward.name,
          group: record.task.id,
          ...columnsOf(record, source),
        })
    }
  },
}

/**
 * Traces of OpenEnv: a line an episode, each a `TrainingTrace` of version 1. It has no place for a reward, which is in
 * the metadata of each turn. An episode has none if ids or log-probabilities of an answer are not known.
 */
export const trainingTrace: ExportFormat = {
  description: 'OpenEnv TrainingTrace: ids, log-probabilities, masks',
  needs:
    'token ids and log-probabilities of each answer: play it with --token-ids, by a model whose server returns them',
  hasReward: true,
  async *write(source) {
    for await (const record of source.episodes()) {
      const answers = completionsOf(record).map((answer) => withVersion(answer, record))
      const metadata = { reward: source.reward.of(record), ...columnsOf(record, source) }
      const trace = traceOf(answers, requestsOf(record), { id: record.chain.slice(0, 12), metadata })
      if (trace) yield jsonLine(trace)
    }
  },
}

/** An answer without a version of its own has that of the policy. */
function withVersion<T extends { readonly policyVersion?: string | undefined }>(
  answer: T,
  { policy: { version } }: EpisodeRecord,
): T {
  return version === undefined ? answer : { policyVersion: version, ...answer }
}
