import type { EpisodeRecord } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { isSuccess, scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import type { GradeValue } from '@episodic/report/grades/grade-record'
import { mapValues } from '@episodic/run/base/map-values'
import { callIdOf, columnsOf, figuresOf, openingOf } from '../episode/chat.ts'
import { conversationOf } from '../episode/conversation.ts'
import { toolsOf } from '../episode/messages.ts'
import { returnsOf } from '../episode/rewards.ts'
import { type Activity, type Timeline, timelineOf } from '../episode/timeline.ts'
import type { ExportSource } from '../export-format.ts'
import { InspectPool, inspectMessage, inspectOutput, usageByModel } from './inspect-messages.ts'
import { inspectTool } from './inspect-tools.ts'

/** The values of an episode's scores, and what graders said; `null` for a failed episode, which has none. */
export function scoresOf(
  record: EpisodeRecord,
  { verdicts = [] }: Pick<ExportSource, 'verdicts'>,
): Readonly<Record<string, GradeValue>> | null {
  if (scoredOutcomeOf(record).kind === 'failed') return null
  const returns = returnsOf(record)
  const grades = verdicts.flatMap(({ name, of }) => {
    const value = of(record)
    return value === null ? [] : [[`grade.${name}`, value] as const]
  })
  const earned = returns && { return: returns.unshaped }
  return { success: isSuccess(record), ...earned, ...figuresOf(record), ...Object.fromEntries(grades) }
}

/** The entry of an episode in the zip. Inspect looks for it by the sample's id and epoch. */
export function sampleFileOf(record: EpisodeRecord): string {
  return `samples/${sampleIdOf(record.task.id)}_epoch_${record.attempt + 1}.json`
}

/**
 * The id of a sample, which is a path in the zip. An id that could lead out of the folder in which a zip is unpacked,
 * or has characters that paths do not have everywhere, is percent-encoded; no other id has a percent sign.
 */
export function sampleIdOf(task: string): string {
  const isSafe = /^[^\\:%\p{C}]+$/u.test(task) && task.split('/').every((name) => !['', '.', '..'].includes(name))
  return isSafe ? task : encodeURIComponent(task.toWellFormed()).replaceAll('.', '%2E')
}

/** An episode as a sample of an Inspect log: attempts are epochs. */
export function sampleOf(record: EpisodeRecord, source: ExportSource): object {
  const { task, environment, params, seed, outcome, steps } = record
  const { prompt, completion } = conversationOf(record, 'sent')
  const messages = [...prompt, ...completion].map(inspectMessage)
  const timeline = timelineOf(record, source)
  const { events, pool } = eventsOf(record, timeline, source)
  const last = completionsOf(record).at(-1)
  const { error, ...summary } = headOf(record, source, timeline)
  return {
    ...summary,
    messages,
    ...(last && { output: inspectOutput(last) }),
    metadata: {
      ...columnsOf(record, source),
      difficulty: task.difficulty,
      tags: task.tags,
      version: environment.version,
      params,
      seed,
      steps: steps.length,
      outcome,
    },
    store: {},
    events,
    ...(pool.messages.length > 0 && { events_data: { messages: pool.messages, calls: [] } }),
    attachments: {},
    ...(error !== undefined && { error: { message: error, traceback: error, traceback_ansi: error } }),
  }
}

export function summaryOf(record: EpisodeRecord, source: ExportSource): object {
  const { prompt, completion } = conversationOf(record)
  return {
    ...headOf(record, source, timelineOf(record, source)),
    metadata: columnsOf(record, source),
    completed: true,
    message_count: prompt.length + completion.length,
  }
}

/** What a sample and its summary have in common; the error as text. */
function headOf(record: EpisodeRecord, source: ExportSource, { started, ended, activities }: Timeline) {
  const { task, start, attempt, chain, steps } = record
  const outcome = scoredOutcomeOf(record)
  const scores = scoresOf(record, source)
  const end = outcome.kind === 'finished' ? `${outcome.end.kind}: ${outcome.end.reason}` : ''
  const working = activities.reduce((sum, activity) => sum + workingMilliseconds(activity), 0)
  return {
    id: sampleIdOf(task.id),
    epoch: attempt + 1,
    input: openingOf(task, start?.observation),
    target: '',
    ...(scores && {
      scores: mapValues(scores, (value, name) => (name === 'success' ? { value, explanation: end } : { value })),
    }),
    model_usage: usageByModel(completionsOf(record)),
    started_at: timeOf(started),
    completed_at: timeOf(ended),
    total_time: (ended - started) / 1000,
    working_time: working / 1000,
    uuid: chain,
    turn_count: steps.length,
    error: outcome.kind === 'failed' ? `${outcome.error.code}: ${outcome.error.message}` : undefined,
  }
}

function workingMilliseconds(activity: Activity): number {
  return activity.kind === 'call' ? activity.to - activity.from : (activity.completion.time?.milliseconds ?? 0)
}

export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** The events of a sample: answers of models, calls of tools, and the reward of each step as an intermediate score. */
function eventsOf(record: EpisodeRecord, { started, ended, activities }: Timeline, source: ExportSource) {
  const pool = new InspectPool()
  const events: object[] = []
  const outcome = scoredOutcomeOf(record)
  const tools = toolsOf(record, source)?.map(inspectTool) ?? []
  const id = record.chain.slice(0, 12)
  let working = 0
  const add = (time: number, event: object) => {
    const uuid = `${id}-${events.length}`
    events.push({ uuid, timestamp: timeOf(time), working_start: working / 1000, ...event })
  }
  for (const activity of activities) {
    if (activity.kind === 'answer') {
      const { completion, request } = activity
      add(activity.from, {
        event: 'model',
        model: completion.model,
        ...(completion.asked !== undefined && { requested_model: completion.asked }),
        input: [],
        ...(request && { input_refs: pool.add(request.messages) }),
        tools,
        tool_choice: 'auto',
        config: {},
        output: inspectOutput(completion),
        ...(completion.tries && { retries: completion.tries.length }),
        completed: timeOf(activity.to),
        working_time: workingMilliseconds(activity) / 1000,
      })
      working += workingMilliseconds(activity)
      continue
    }
    const { action, observation, refused, reward, potential } = activity.step
    const { terms, shaping } = reward
    // Words are in the answer of the model, and called no tool.
    if (!activity.step.speech)
      add(activity.from, {
        event: 'tool',
        type: 'function',
        id: activity.callId ?? callIdOf(record.chain, activity.index + 1),
        function: action.tool,
        arguments: action.arguments,
        result: observation.text,
        ...(refused && { error: { type: 'unknown', message: `${refused}: ${observation.text}` } }),
        completed: timeOf(activity.to),
        working_time: workingMilliseconds(activity) / 1000,
      })
    working += workingMilliseconds(activity)
    if (outcome.kind === 'finished')
      add(activity.to, {
        event: 'score',
        intermediate: true,
        scorer: 'reward',
        score: { value: reward.total - shaping, metadata: { terms, shaping, potential } },
      })
  }
  if (outcome.kind === 'failed') {
    const message = `${outcome.error.code}: ${outcome.error.message}`
    add(ended, { event: 'error', error: { message, traceback: message, traceback_ansi: message } })
  }
  if (events.length === 0) add(started, { event: 'info', source: 'episodic', data: 'The episode has no step.' })
  return { events, pool }
}
