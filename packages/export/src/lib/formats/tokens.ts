import { requestsOf } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { traceOf } from '@episodic/report/group/token-fields'
import { withVersion } from '../credit/sequences.ts'
import { columnsOf } from '../episode/chat.ts'
import { type ExportFormat, jsonLine } from '../export-format.ts'

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
