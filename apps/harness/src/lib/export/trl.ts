import type { EpisodeRecord } from '@episodic/protocol'
import { chatOf, columnsOf } from './chat.ts'
import { type ExportFormat, linePerEpisode } from './export-format.ts'
import { asObject, exchangeOf, messagesOf, openingOf, toolsField } from './messages.ts'
import type { ExportReward } from './rewards.ts'

/** TRL's conversational format for `SFTTrainer`: https://huggingface.co/docs/trl/dataset_formats */
export const trlSft = linePerEpisode('TRL supervised fine-tuning: messages and tools', (record, source) => ({
  messages: messagesOf(chatOf(record), asObject),
  ...toolsField(source),
  ...columnsOf(record),
}))

/** The best and the worst attempt at a task. */
interface Extremes {
  best: Attempt
  worst: Attempt
}

interface Attempt {
  readonly attempt: number
  readonly return: number
}

/**
 * TRL's conversational preference format for `DPOTrainer`: the best and the worst attempt at each task that was played
 * with different returns. The episodes are read twice, so that only one of each pair is ever held in memory.
 */
export const trlPreference: ExportFormat = {
  description: 'TRL preferences: the best and the worst attempt at each task',
  hasReward: true,
  async *write(source) {
    const tasks = new Map<string, Extremes>()
    for await (const record of source.episodes()) addAttempt(tasks, record, source.reward)
    const first = new Map<string, EpisodeRecord>()
    for await (const record of source.episodes()) {
      const { id } = record.task
      const { best, worst } = tasks.get(id) ?? {}
      if (!best || !worst || best === worst) continue
      if (record.attempt !== best.attempt && record.attempt !== worst.attempt) continue
      const other = first.get(id)
      if (!other) {
        first.set(id, record)
        continue
      }
      first.delete(id)
      const [chosen, rejected] = record.attempt === best.attempt ? [record, other] : [other, record]
      const completionOf = (each: EpisodeRecord) => chatOf(each).turns.flatMap((turn) => exchangeOf(turn, asObject))
      const columns = [columnsOf(chosen), columnsOf(rejected)] as const
      const line = {
        prompt: [openingOf(chatOf(chosen))],
        chosen: completionOf(chosen),
        rejected: completionOf(rejected),
        ...toolsField(source),
        environment: columns[0].environment,
        task: id,
        split: columns[0].split,
        returns: [chosen, rejected].map((each) => source.reward.of(each)),
        reward: source.reward.name,
        episodes: columns.map(({ episode }) => episode),
      }
      yield `${JSON.stringify(line)}\n`
    }
  },
}

function addAttempt(tasks: Map<string, Extremes>, record: EpisodeRecord, reward: ExportReward): void {
  const { task, attempt, steps } = record
  const earned = reward.of(record)
  if (earned === null || steps.length === 0) return
  const played = { attempt, return: earned }
  const known = tasks.get(task.id)
  if (!known) tasks.set(task.id, { best: played, worst: played })
  else if (played.return > known.best.return) known.best = played
  else if (played.return < known.worst.return) known.worst = played
}
