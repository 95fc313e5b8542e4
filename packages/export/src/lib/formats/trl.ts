import type { Completion, EpisodeRecord } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { columnsOf, termSums } from '../episode/chat.ts'
import { conversationOf, type Message } from '../episode/conversation.ts'
import { chatMessage, toolsField } from '../episode/messages.ts'
import type { ExportReward } from '../episode/rewards.ts'
import { type ExportFormat, jsonLine, linePerEpisode } from '../export-format.ts'

const written = (messages: readonly Message[]) => messages.map(chatMessage)

/** TRL's conversational format for `SFTTrainer`: https://huggingface.co/docs/trl/dataset_formats */
export const trlSft = linePerEpisode('TRL supervised fine-tuning: messages and tools', (record, source) => {
  const { prompt, completion } = conversationOf(record)
  return { messages: written([...prompt, ...completion]), ...toolsField(record, source), ...columnsOf(record, source) }
})

/**
 * Rollouts for reinforcement learning in TRL's conversational prompt-completion format: a line for each episode with an
 * action or an answer, with its reward, its group and the tokens that were kept. A failed episode has no reward, nor
 * has one that the chosen grader left undecided: `mask` is `false`.
 */
export const trl: ExportFormat = {
  description: 'TRL rollouts: prompt, completion, reward, group, tokens',
  keepsFailed: true,
  hasReward: true,
  hasCredit: true,
  async *write(source) {
    for await (const record of source.allEpisodes()) {
      const { prompt, completion } = conversationOf(record)
      if (completion.length === 0) continue
      const outcome = scoredOutcomeOf(record)
      const finished = outcome.kind === 'finished'
      const tokens = tokensOf(completionsOf(record), record.policy.version)
      const reward = finished ? source.reward.of(record) : null
      const line = {
        prompt: written(prompt),
        completion: written(completion),
        ...toolsField(record, source),
        reward,
        reward_kind: source.reward.name,
        terms: finished ? termSums(record) : null,
        mask: reward !== null,
        group: record.task.id,
        ...columnsOf(record, source),
        ...(tokens && { tokens }),
        ...(source.credit && { state_advantages: source.credit.of(record) }),
      }
      yield jsonLine(line)
    }
  },
}

/** The tokens of each answer as the model's server returned them; `null` if it did not for one of them. */
function tokensOf(completions: readonly Completion[], version: string | undefined): object[] | null {
  if (completions.length === 0 || completions.some(({ tokenIds }) => !tokenIds)) return null
  return completions.map(({ promptTokenIds, tokenIds, logProbabilities, policyVersion = version }) => ({
    ...(promptTokenIds && { prompt_ids: promptTokenIds }),
    completion_ids: tokenIds,
    ...(logProbabilities && { logprobs: logProbabilities }),
    ...(policyVersion !== undefined && { policy_version: policyVersion }),
  }))
}

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
      const conversations = [conversationOf(chosen), conversationOf(rejected)] as const
      const columns = [columnsOf(chosen, source), columnsOf(rejected, source)] as const
      const line = {
        prompt: written(conversations[0].prompt),
        chosen: written(conversations[0].completion),
        rejected: written(conversations[1].completion),
        ...toolsField(chosen, source),
        environment: columns[0].environment,
        task: id,
        split: columns[0].split,
        returns: [chosen, rejected].map((each) => source.reward.of(each)),
        reward: source.reward.name,
        episodes: columns.map(({ episode }) => episode),
      }
      yield jsonLine(line)
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
