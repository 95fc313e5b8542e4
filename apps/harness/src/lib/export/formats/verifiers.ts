import type { EpisodeRecord } from '@episodic/protocol'
import { completionsOf, isSuccess, scoredOutcomeOf } from '@episodic/report'
import { usageOf } from '../../run-folder/model-usage.ts'
import { columnsOf, termSums } from '../episode/chat.ts'
import { conversationOf, type Message } from '../episode/conversation.ts'
import { toolsOf } from '../episode/messages.ts'
import { type Activity, type Timeline, timelineOf } from '../episode/timeline.ts'
import { type ExportFormat, type ExportSource, jsonLine } from '../export-format.ts'

/**
 * The `results.jsonl` of an evaluation with verifiers 0.1, in the order of the run: rows of one task share
 * `example_id`, counted in the order in which tasks first appear. Tool calls are JSON texts in a list, as verifiers
 * writes them.
 */
export const verifiers: ExportFormat = {
  description: 'verifiers 0.1: results.jsonl of an evaluation',
  hasReward: true,
  async *write(source) {
    const examples = new Map<string, number>()
    for await (const record of source.episodes()) {
      const reward = source.reward.of(record)
      if (reward === null || conversationOf(record).completion.length === 0) continue
      const example = examples.get(record.task.id) ?? examples.size
      examples.set(record.task.id, example)
      yield jsonLine(rolloutOf(record, example, reward, source))
    }
  },
}

function rolloutOf(record: EpisodeRecord, example: number, reward: number, source: ExportSource): object {
  const { prompt, completion } = conversationOf(record)
  const outcome = scoredOutcomeOf(record)
  const tools = toolsOf(record, source)
  const usage = usageOf(completionsOf(record))
  const terms = Object.entries(termSums(record)).map(([term, sum]) => [`term.${term}`, sum])
  const metrics = { success: isSuccess(record) ? 1 : 0, steps: record.steps.length, ...Object.fromEntries(terms) }
  return {
    example_id: example,
    prompt: prompt.map(messageOf),
    completion: completion.map(messageOf),
    info: { ...columnsOf(record, source), params: record.params, seed: record.seed, reward_kind: source.reward.name },
    reward,
    timing: timingOf(timelineOf(record, source)),
    is_completed: true,
    is_truncated: outcome.kind === 'finished' && outcome.end.kind === 'truncated',
    stop_condition: outcome.kind === 'finished' ? outcome.end.reason : null,
    metrics,
    ...(tools && { tool_defs: tools }),
    ...(usage?.promptTokens != null && {
      token_usage: { input_tokens: usage.promptTokens, output_tokens: usage.completionTokens },
    }),
    // Its readers look for metrics here too.
    ...metrics,
  }
}

function messageOf({ role, content, reasoning, calls, callId }: Message): object {
  return {
    role,
    content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls && { tool_calls: calls.map((call) => JSON.stringify(call)) }),
    ...(role === 'tool' && { tool_call_id: callId ?? '' }),
  }
}

/** Seconds since 1970. Scoring takes no time: the world scores each step. */
function timingOf({ started, ended, activities }: Timeline): object {
  const spans = (kind: Activity['kind']) => {
    const all = activities.filter((each) => each.kind === kind).map(({ from, to }) => spanOf(from, to))
    return { spans: all, duration: all.reduce((sum, { duration }) => sum + duration, 0) }
  }
  const [model, env] = [spans('answer'), spans('call')]
  const total = (ended - started) / 1000
  return {
    start_time: started / 1000,
    setup: spanOf(started, started),
    generation: spanOf(started, ended),
    scoring: spanOf(ended, ended),
    model,
    env,
    total,
    overhead: total - model.duration - env.duration,
  }
}

function spanOf(from: number, to: number) {
  return { start: from / 1000, end: to / 1000, duration: (to - from) / 1000 }
}
