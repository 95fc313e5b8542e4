import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EpisodeRecord, ToolInfo } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { readGroupCredit } from '../credit/group-credit.ts'
import { playedByModel, sampledEpisode } from '../episode/model-run.fixture.ts'
import { EXPORT_REWARDS, type ExportReward } from '../episode/rewards.ts'
import { EXPORT_FORMATS, type ExportFormatName } from './formats.ts'

const TOOLS: readonly ToolInfo[] = [
  { name: 'guess', description: 'Guess.', inputSchema: { type: 'object' }, outputSchema: null },
]
const RECORDS = playRun({ tasks: 12, attempts: 4, failures: 0.2 })
const FINISHED = RECORDS.filter(({ outcome }) => outcome.kind === 'finished')

async function exported(
  format: ExportFormatName,
  records: readonly EpisodeRecord[] = RECORDS,
  reward: ExportReward = EXPORT_REWARDS.unshaped,
): Promise<string> {
  async function* all() {
    yield* records
  }
  async function* finished() {
    for (const record of records) if (record.outcome.kind === 'finished') yield record
  }
  const run = { name: 'guess-baseline', createdAt: '2026-01-05T09:00:00.000Z' }
  let text = ''
  const source = { run, tools: TOOLS, reward, episodes: finished, allEpisodes: all }
  for await (const piece of EXPORT_FORMATS[format].write(source)) text += piece
  return text
}

// biome-ignore lint/suspicious/noExplicitAny: the tests read the files of others, whose fields they check.
type Line = any

async function linesOf(
  format: ExportFormatName,
  records?: readonly EpisodeRecord[],
  reward?: ExportReward,
): Promise<Line[]> {
  const text = await exported(format, records, reward)
  return text
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

describe('EXPORT_FORMATS', () => {
  const LINES = Object.keys(EXPORT_FORMATS).filter((name) => !['csv', 'inspect', 'sequences'].includes(name))

  it.each(LINES as ExportFormatName[])(
    'writes %s without the line separators of Unicode inside of a line',
    async (format) => {
      const words = 'one\u0085two\u2028three\u2029four'
      const odd = [...FINISHED, sampledEpisode()].map((record) => ({
        ...record,
        task: { ...record.task, prompt: words },
        steps: record.steps.map((step) => ({ ...step, observation: { ...step.observation, text: words } })),
      }))
      const text = await exported(format, odd)
      expect(text).not.toMatch(/[\u0085\u2028\u2029]/)
      expect(
        text
          .split('\n')
          .map((line) => line && JSON.stringify(JSON.parse(line)))
          .join(''),
      ).toContain('one\u0085two')
    },
  )

  it.each(['trl-sft', 'atif'] as const)(
    'writes %s with a line for each finished episode, traceable by its hash, and none for a failed one',
    async (format) => {
      const lines = await linesOf(format)
      expect(FINISHED.length).toBeLessThan(RECORDS.length)
      expect(lines).toHaveLength(FINISHED.length)
      for (const [i, line] of lines.entries()) expect(JSON.stringify(line)).toContain(FINISHED[i]?.chain.slice(0, 12))
    },
  )

  it('writes arguments as objects', async () => {
    const [first] = FINISHED
    const args = first?.steps[0]?.action.arguments
    const [trl] = await linesOf('trl-sft')
    expect(trl.messages[1].tool_calls[0]).toMatchObject({
      type: 'function',
      function: { name: 'guess', arguments: args },
    })
    expect(trl.messages[2]).toMatchObject({
      role: 'tool',
      name: 'guess',
      tool_call_id: trl.messages[1].tool_calls[0].id,
    })
    const [atif] = await linesOf('atif')
    expect(atif.steps[1].tool_calls[0].arguments).toEqual(args)
  })

  it('pairs the best and the worst finished attempt at each task, and leaves out tasks without a difference', async () => {
    const lines = await linesOf('trl-preference')
    const expected = new Map<string, number[]>()
    for (const { task, returns } of FINISHED)
      expected.set(task.id, [...(expected.get(task.id) ?? []), returns?.unshaped as number])
    const differing = [...expected].filter(([, returns]) => Math.max(...returns) > Math.min(...returns))
    expect(new Set(lines.map(({ task }) => task))).toEqual(new Set(differing.map(([task]) => task)))
    for (const { task, returns, chosen, rejected, prompt } of lines) {
      const all = expected.get(task) as number[]
      expect(returns).toEqual([Math.max(...all), Math.min(...all)])
      expect([prompt[0].role, chosen[0].role, rejected[0].role]).toEqual(['user', 'assistant', 'assistant'])
    }
  })

  it('writes valid files for a run without a finished episode', async () => {
    const failed = RECORDS.filter(({ outcome }) => outcome.kind === 'failed')
    expect(await exported('trl-sft', failed)).toBe('')
    expect(await exported('trl-preference', failed)).toBe('')
  })

  it('keeps what a model said, its tokens and log-probabilities in ATIF', async () => {
    const record = FINISHED.find(({ steps }) => steps.length > 0) as EpisodeRecord
    const [step, ...rest] = record.steps
    const completion = {
      model: 'a-model',
      promptTokens: 20,
      completionTokens: 2,
      cost: null,
      text: 'Halve it.',
      tokenIds: [5, 6],
      logProbabilities: [-0.1, -0.2],
    }
    const said = { ...record, steps: [{ ...step, completions: [completion] }, ...rest] } as EpisodeRecord
    const [{ agent, steps, final_metrics }] = await linesOf('atif', [said])
    expect(agent.model_name).toBe('a-model')
    expect(steps[1]).toMatchObject({
      message: 'Halve it.',
      metrics: { prompt_tokens: 20, completion_tokens: 2, completion_token_ids: [5, 6], logprobs: [-0.1, -0.2] },
    })
    expect(final_metrics.total_prompt_tokens).toBe(20)
  })

  it.each(['trl-preference', 'trl'] as const)('writes the chosen reward into %s', async (format) => {
    const rewardsOf = async (reward: ExportReward) =>
      (await linesOf(format, RECORDS, reward)).flatMap((line) => line.reward ?? line.returns)
    const shaped = await rewardsOf(EXPORT_REWARDS.total)
    const totals = FINISHED.map(({ returns }) => returns?.total)
    expect(shaped.length).toBeGreaterThan(0)
    for (const value of shaped.filter((each) => typeof each === 'number')) expect(totals).toContain(value)
    expect(shaped).not.toEqual(await rewardsOf(EXPORT_REWARDS.unshaped))
  })

  it('writes TRL rollouts with reward, terms and group, and failed ones masked, without a reward', async () => {
    const played = RECORDS.filter(({ steps }) => steps.length > 0)
    const lines = await linesOf('trl')
    expect(lines).toHaveLength(played.length)
    expect(played.length).toBeGreaterThan(FINISHED.length)
    for (const [i, line] of lines.entries()) {
      const { outcome, returns, task, attempt } = played[i] as EpisodeRecord
      expect(line).toMatchObject({ group: task.id, attempt, reward: returns?.unshaped ?? null })
      expect([line.mask, line.terms !== null, line.success !== null]).toEqual(
        Array(3).fill(outcome.kind === 'finished'),
      )
      expect([line.prompt.at(-1).role, line.completion[0].role]).toEqual(['user', 'assistant'])
    }
  })

  it('writes what a model was sent and the tokens of each answer into TRL rollouts', async () => {
    const record = playedByModel()
    const answers = record.steps.flatMap(({ completions = [] }) => completions)
    const [line] = await linesOf('trl', [record])
    expect(line.prompt.map(({ role }: Line) => role)).toEqual(['system', 'user'])
    expect(line.tools[0].function.description).toBe('As it was sent.')
    expect(line.completion[2].tool_calls[0].function.arguments).toEqual(record.steps[0]?.action.arguments)
    expect(line.tokens).toEqual(
      answers.map(({ promptTokenIds, tokenIds, logProbabilities }) => ({
        prompt_ids: promptTokenIds,
        completion_ids: tokenIds,
        logprobs: logProbabilities,
      })),
    )
    const [step, ...rest] = record.steps
    const [answer, ...others] = step?.completions ?? []
    const partly = {
      ...record,
      steps: [{ ...step, completions: [{ ...answer, tokenIds: undefined }, ...others] }, ...rest],
    }
    expect(await linesOf('trl', [partly as EpisodeRecord])).toEqual([
      expect.not.objectContaining({ tokens: expect.anything() }),
    ])
  })

  it('writes one list of tokens with a mask, and a trace of OpenEnv, of the answers of an episode', async () => {
    const record = sampledEpisode()
    const tokens = {
      prompt_ids: [1, 2],
      response_ids: [10, 11, 3, 12],
      response_mask: [1, 1, 0, 1],
      response_logprobs: [-0.5, -0.25, 0, -0.125],
      num_turns: 2,
      role: 'agent',
      answers: [0, 2],
      temperatures: [0.7, null],
      policy_versions: ['step-1', 'step-2'],
      drifted_answers: 1,
      discarded_answers: 1,
      reward: record.returns?.unshaped,
      group: record.task.id,
    }
    const fork = { prompt_ids: [1, 2, 99], response_ids: [13], response_mask: [1], role: 'agent', drifted_answers: 1 }
    expect(await linesOf('sequences', [record])).toEqual([
      expect.objectContaining(tokens),
      expect.objectContaining(fork),
    ])
    const [{ schema_version, turns }] = await linesOf('training-trace', [record])
    expect(schema_version).toBe(1)
    const masks = turns.map((turn: Line) => turn.loss_mask)
    expect(masks).toEqual([
      [0, 0, 1, 1],
      [0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 1],
      [0, 0, 0, 1],
    ])
    const [first, again, next, drifted] = turns
    expect(Object.keys(first).sort()).toEqual([
      ...['completion_token_ids', 'loss_mask', 'metadata', 'node_id', 'per_token_logps', 'prompt_token_ids'],
      ...['request', 'response'],
    ])
    expect(first.request.messages[0]).toMatchObject({ role: 'system' })
    expect(again.metadata).toMatchObject({ role: 'discarded', parent: first.node_id })
    expect(next.metadata).toMatchObject({ parent: first.node_id, drifts_from: null, policy_version: 'step-2' })
    expect(drifted.metadata).toMatchObject({ parent: null, drifts_from: first.node_id, reward: tokens.reward })
    expect(await exported('sequences', FINISHED)).toBe('')
    expect(await exported('training-trace', FINISHED)).toBe('')
  })
})

describe('readGroupCredit', () => {
  it('credits what an episode without a step earned to what its player said', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'episodic-credit-'))
    const file = join(folder, 'episodes.jsonl')
    const completion = { model: 'm', promptTokens: 9, completionTokens: 2, cost: null, text: 'No.' }
    const group = FINISHED.slice(0, 2).map((record) => ({
      ...record,
      task: FINISHED[0]!.task,
      undecided: [completion],
    }))
    const records = group.map((record, attempt) => ({ ...record, attempt, steps: [] }))
    writeFileSync(file, records.map((record) => `${JSON.stringify({ ...record, chain: 'x' })}\n`).join(''))
    const reward = { name: 'grader', description: '', of: ({ attempt }: EpisodeRecord) => attempt }
    const sealed = { file, name: 'x', folder, manifest: null, complete: true }
    const credit = await readGroupCredit(sealed, reward, {})
    rmSync(folder, { recursive: true })
    expect(records.map((record) => credit.of(record)?.map(({ advantage }) => advantage))).toEqual([[-1], [1]])
  })
})
