import { buffer } from 'node:stream/consumers'
import type { EpisodeRecord, JsonObject, ToolInfo } from '@episodic/protocol'
import { clusteredMean } from '@episodic/report/fold/statistics'
import { playRun } from '@episodic/report/testing'
import { strFromU8, unzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { playedByModel } from '../episode/model-run.fixture.ts'
import { EXPORT_REWARDS } from '../episode/rewards.ts'
import { inspect } from './inspect.ts'
import { sampleIdOf } from './inspect-sample.ts'
import { inspectTool } from './inspect-tools.ts'

const RECORDS = playRun({ tasks: 6, attempts: 3, failures: 0.3 })
const FINISHED = RECORDS.filter(({ outcome }) => outcome.kind === 'finished')
const RUN = { name: 'guess-baseline', createdAt: '2026-01-05T09:00:00.000Z' }
const TOOLS: readonly ToolInfo[] = [
  { name: 'guess', description: 'Guess.', inputSchema: { type: 'object' }, outputSchema: null },
]

// biome-ignore lint/suspicious/noExplicitAny: the tests read the files of others, whose fields they check.
type Json = any

/** The entries of the log, in their order. */
async function logOf(records: readonly EpisodeRecord[]): Promise<Record<string, Json>> {
  async function* allEpisodes() {
    yield* records
  }
  const source = { run: RUN, tools: TOOLS, reward: EXPORT_REWARDS.unshaped, episodes: allEpisodes, allEpisodes }
  const files = unzipSync(await buffer(inspect.write(source)))
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, JSON.parse(strFromU8(file))]))
}

function sampleOf(log: Record<string, Json>, { task, attempt }: EpisodeRecord): Json {
  return log[`samples/${task.id}_epoch_${attempt + 1}.json`]
}

describe('inspect', () => {
  it('writes a sample for each episode, its summary, reductions, start and header', async () => {
    const log = await logOf(RECORDS)
    const others = Object.keys(log).filter((name) => !name.startsWith('samples/'))
    expect(others).toEqual(['summaries.json', 'reductions.json', '_journal/start.json', 'header.json'])
    expect(log['summaries.json'].map(({ id, epoch }: Json) => [id, epoch])).toEqual(
      RECORDS.map(({ task, attempt }) => [task.id, attempt + 1]),
    )
    for (const record of RECORDS) expect(sampleOf(log, record)).toMatchObject({ uuid: record.chain })
    const { version, eval: spec } = log['_journal/start.json']
    expect(log['header.json']).toMatchObject({ version, eval: spec, status: 'success' })
    expect([version, spec.created, spec.config.epochs]).toEqual([2, RUN.createdAt, 3])
    expect(spec.dataset.samples).toBe(6)
  })

  it('has the mean of each score over finished episodes, and success as the share of them that succeeded', async () => {
    const { 'header.json': header, 'reductions.json': reductions } = await logOf(RECORDS)
    expect(header.results).toMatchObject({ total_samples: RECORDS.length, completed_samples: FINISHED.length })
    const scores = new Map<string, Json>(header.results.scores.map((score: Json) => [score.name, score]))
    expect([...scores.keys()]).toEqual(['success', 'return', 'term.solved', 'term.cost'])
    const mean = (read: (record: EpisodeRecord) => number) =>
      FINISHED.reduce((sum, record) => sum + read(record), 0) / FINISHED.length
    const solved = ({ outcome }: EpisodeRecord) =>
      Number(outcome.kind === 'finished' && outcome.end.reason === 'solved')
    expect(scores.get('success').metrics.mean.value).toBe(mean(solved))
    // One cluster a task, as the intervals of a report.
    const sorted = FINISHED.toSorted((a, b) => (a.task.id < b.task.id ? -1 : 1))
    const clusters = [...new Set(sorted.map(({ task }) => task.id))]
    const clustered = clusteredMean(
      sorted.map(({ returns }) => returns?.unshaped ?? 0),
      sorted.map(({ task }) => clusters.indexOf(task.id)),
    )
    expect(scores.get('return').metrics.stderr.value).toBeCloseTo(clustered?.standardError as number, 12)
    expect(scores.get('return').metrics.mean.value).toBeCloseTo(mean(({ returns }) => returns?.unshaped ?? 0))
    expect(scores.get('success').unscored_samples).toBe(RECORDS.length - FINISHED.length)
    for (const { sample_id, value } of reductions[0].samples) {
      const attempts = FINISHED.filter(({ task }) => task.id === sample_id)
      expect(value).toBeCloseTo(attempts.reduce((sum, record) => sum + solved(record), 0) / attempts.length)
    }
  })

  it('has the shares of success if failed episodes were lost and won beside the mean, and none if nothing failed', async () => {
    const metricsOf = async (records: readonly EpisodeRecord[]) => {
      const { scores } = (await logOf(records))['header.json'].results
      return Object.fromEntries(scores.map(({ name, metrics }: Json) => [name, metrics]))
    }
    const { success, return: returned } = await metricsOf(RECORDS)
    const [won, failed] = [success.mean.value * FINISHED.length, RECORDS.length - FINISHED.length]
    expect(success.if_failed_lost).toEqual({ name: 'if_failed_lost', value: won / RECORDS.length })
    expect(success.if_failed_won).toEqual({ name: 'if_failed_won', value: (won + failed) / RECORDS.length })
    expect(Object.keys(returned)).toEqual(['mean', 'stderr'])
    expect(Object.keys((await metricsOf(FINISHED)).success)).toEqual(['mean', 'stderr'])
  })

  it('writes a failed episode as a sample with an error, and nowhere with a score', async () => {
    const log = await logOf(RECORDS)
    expect(FINISHED.length).toBeLessThan(RECORDS.length)
    for (const [i, record] of RECORDS.entries()) {
      const [sample, summary] = [sampleOf(log, record), log['summaries.json'][i]]
      const failed = record.outcome.kind === 'failed'
      for (const each of [sample, summary])
        expect([Object.hasOwn(each, 'scores'), Object.hasOwn(each, 'error')]).toEqual([!failed, failed])
      const kinds = new Set(sample.events.map(({ event }: Json) => event))
      expect([kinds.has('score'), kinds.has('error')]).toEqual([!failed && record.steps.length > 0, failed])
      if (failed) expect(sample.metadata).toMatchObject({ return: null, success: null })
    }
  })

  it('has the requests and answers of a model as events, with usage, and each message once', async () => {
    const record = playedByModel()
    const log = await logOf([record])
    const { events, events_data: pool, messages, model_usage: usage } = sampleOf(log, record)
    const models = events.filter(({ event }: Json) => event === 'model')
    const answers = record.steps.flatMap(({ completions = [] }) => completions)
    expect(models).toHaveLength(answers.length)
    expect(models[0]).toMatchObject({ model: 'served-model', requested_model: 'asked-model', retries: 1 })
    for (const [i, { input_refs: refs, output }] of models.entries()) {
      const input = refs.flatMap(([from, to]: [number, number]) => pool.messages.slice(from, to))
      expect(input.map(({ role }: Json) => role)).toEqual(messages.slice(0, input.length).map(({ role }: Json) => role))
      const { promptTokens, completionTokens } = answers[i] as (typeof answers)[number]
      expect(output.usage).toEqual({
        input_tokens: promptTokens - 40,
        output_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
        input_tokens_cache_read: 40,
        reasoning_tokens: 3,
        total_cost: 0.25,
      })
      expect(output.choices[0].message.content[0]).toEqual({ type: 'reasoning', reasoning: `reasoning ${i}` })
      expect(output.choices[0].stop_reason).toBe(i === 0 ? 'stop' : 'tool_calls')
    }
    expect(pool.messages).toHaveLength(messages.length - 2)
    expect(usage['served-model'].total_cost).toBeCloseTo(0.25 * answers.length)
    expect(log['header.json'].stats.model_usage).toEqual(usage)
  })

  it('has each step as a call of a tool with its result, then its reward, in the order of time', async () => {
    const record = playedByModel()
    const { events, started_at, completed_at, messages } = sampleOf(await logOf([record]), record)
    const calls = events.filter(({ event }: Json) => event === 'tool')
    expect(calls.map(({ function: name, arguments: args, result }: Json) => [name, args, result])).toEqual(
      record.steps.map(({ action, observation }) => [action.tool, action.arguments, observation.text]),
    )
    const ids = messages.filter(({ role }: Json) => role === 'tool').map(({ tool_call_id }: Json) => tool_call_id)
    expect(calls.map(({ id }: Json) => id)).toEqual(ids)
    const rewards = events.filter(({ event }: Json) => event === 'score')
    expect(rewards.map(({ score }: Json) => score.value)).toEqual(
      record.steps.map(({ reward }) => reward.total - reward.shaping),
    )
    expect(rewards.every(({ intermediate }: Json) => intermediate)).toBe(true)
    const times = events.map(({ timestamp }: Json) => timestamp)
    expect([started_at, ...times, completed_at]).toEqual([started_at, ...times, completed_at].toSorted())
  })

  it('writes a log without samples, and one without a finished episode', async () => {
    expect((await logOf([]))['header.json']).toMatchObject({ results: { total_samples: 0, scores: [] } })
    const failed = await logOf(RECORDS.filter(({ outcome }) => outcome.kind === 'failed'))
    expect(failed['header.json'].results).toMatchObject({ completed_samples: 0, scores: [] })
    expect((await logOf([]))['summaries.json']).toEqual([])
  })

  it('writes no entry outside of its folder, whatever the id of a task is', async () => {
    const [record] = FINISHED as [EpisodeRecord]
    const ids = ['../../up', 'a/../b', '/etc/x', 'C:\\x', 'a\\..\\b', '.', 'a//b', '', 'a%2Fb', 'line\nbreak', '\ud800']
    const log = await logOf(ids.map((id) => ({ ...record, task: { ...record.task, id } })))
    const names = Object.keys(log).filter((name) => name.startsWith('samples/'))
    expect(names).toHaveLength(ids.length)
    for (const name of names) expect(name).toMatch(/^samples\/[\w%-]*_epoch_1\.json$/)
    expect(log['summaries.json'].map(({ id, epoch }: Json) => `samples/${id}_epoch_${epoch}.json`)).toEqual(names)
  })
})

describe('sampleIdOf', () => {
  it.each(['bf2baebc', 'task/white', 'a b', 'é', 'x.y'])('keeps %j', (id) => {
    expect(sampleIdOf(id)).toBe(id)
  })

  it('gives different ids to different tasks', () => {
    const ids = ['..', '%2E%2E', '%252E%252E', 'a/b', 'a%2Fb', 'a:b', 'a%3Ab']
    expect(new Set(ids.map(sampleIdOf)).size).toBe(ids.length)
  })
})

describe('inspectTool', () => {
  it('keeps what Inspect reads of a schema, and nothing else', () => {
    const parameters: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: {},
      required: ['a'],
      properties: {
        a: { type: ['string', 'null'], minLength: 1, maxLength: 2.5, $comment: 'x' },
        b: { oneOf: [{ const: 1 }, { type: 'thing', items: true }] },
        c: true,
        d: { type: 'array', items: { type: 'integer', minimum: 0 }, prefixItems: [{}] },
      },
    }
    expect(inspectTool({ name: 'n', description: 'd', parameters })).toEqual({
      name: 'n',
      description: 'd',
      parameters: {
        type: 'object',
        additionalProperties: {},
        required: ['a'],
        properties: {
          a: { type: ['string', 'null'], minLength: 1 },
          b: { anyOf: [{ enum: [1] }, {}] },
          c: {},
          d: { type: 'array', items: { type: 'integer', minimum: 0 } },
        },
      },
    })
  })
})
