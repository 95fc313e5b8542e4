import type { EpisodeRecord, ToolInfo } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { playedByModel } from '../episode/model-run.fixture.ts'
import { EXPORT_REWARDS } from '../episode/rewards.ts'
import { otel } from './otel.ts'

const RECORDS = playRun({ tasks: 6, attempts: 3, failures: 0.3 })
const CREATED_AT = '2026-01-05T09:00:00.000Z'
const TOOLS: readonly ToolInfo[] = [
  { name: 'guess', description: 'Guess.', inputSchema: { type: 'object' }, outputSchema: null },
]

// biome-ignore lint/suspicious/noExplicitAny: the tests read the files of others, whose fields they check.
type Json = any

async function textOf(records: readonly EpisodeRecord[], createdAt = CREATED_AT): Promise<string> {
  async function* allEpisodes() {
    yield* records
  }
  const run = { name: 'guess-baseline', createdAt }
  const source = { run, tools: TOOLS, reward: EXPORT_REWARDS.unshaped, episodes: allEpisodes, allEpisodes }
  let text = ''
  for await (const piece of otel.write(source)) text += piece
  return text
}

const linesOf = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

function plain(value: Json): Json {
  if (value.arrayValue) return value.arrayValue.values.map(plain)
  return value.intValue === undefined ? Object.values(value)[0] : Number(value.intValue)
}

const plainAttributes = (attributes: Json[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))

/** The spans of all lines, with plain attributes. */
async function spansOf(records: readonly EpisodeRecord[], createdAt?: string): Promise<Json[]> {
  const lines = linesOf(await textOf(records, createdAt))
  return lines.flatMap(({ resourceSpans }) =>
    resourceSpans[0].scopeSpans[0].spans.map((span: Json) => ({
      ...span,
      attributes: plainAttributes(span.attributes),
    })),
  )
}

const named = (spans: Json[], operation: string) =>
  spans.filter(({ attributes }) => attributes['gen_ai.operation.name'] === operation)

describe('otel', () => {
  it('writes a trace for each episode, with a span for each step in the span of the agent', async () => {
    const spans = await spansOf(RECORDS)
    const agents = named(spans, 'invoke_agent')
    expect(agents.map(({ attributes }) => [attributes['episodic.task'], attributes['episodic.attempt']])).toEqual(
      RECORDS.map(({ task, attempt }) => [task.id, attempt]),
    )
    expect(new Set(agents.map(({ traceId }) => traceId)).size).toBe(RECORDS.length)
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    for (const [i, agent] of agents.entries()) {
      const { steps, time } = RECORDS[i] as EpisodeRecord
      const tools = named(spans, 'execute_tool').filter(({ traceId }) => traceId === agent.traceId)
      expect(tools.map(({ parentSpanId }) => parentSpanId)).toEqual(steps.map(() => agent.spanId))
      expect(tools.map(({ attributes }) => JSON.parse(attributes['gen_ai.tool.call.arguments']))).toEqual(
        steps.map(({ action }) => action.arguments),
      )
      const started = Number(BigInt(agent.startTimeUnixNano) / 1_000n) / 1_000
      expect(started - Date.parse(CREATED_AT)).toBeCloseTo(time.started, 1)
      for (const { startTimeUnixNano: from, endTimeUnixNano: to } of tools)
        expect([agent.startTimeUnixNano, from, to, agent.endTimeUnixNano].toSorted()).toEqual([
          agent.startTimeUnixNano,
          from,
          to,
          agent.endTimeUnixNano,
        ])
    }
  })

  it('writes ids in hexadecimal, and integers of 64 bits as text', async () => {
    const [line] = linesOf(await textOf(RECORDS))
    const [span] = line.resourceSpans[0].scopeSpans[0].spans
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
    expect(span.startTimeUnixNano).toMatch(/^\d{19}$/)
    expect(span.attributes.find(({ key }: Json) => key === 'episodic.attempt').value).toEqual({ intValue: '0' })
  })

  it('writes the same bytes each time, and other traces for another run of the same name', async () => {
    expect(await textOf(RECORDS)).toBe(await textOf(RECORDS))
    const [one, other] = [await spansOf(RECORDS), await spansOf(RECORDS, '2026-02-01T00:00:00.000Z')]
    expect(one.some(({ traceId }) => other.some((span) => span.traceId === traceId))).toBe(false)
    const [first] = RECORDS as [EpisodeRecord]
    const [again] = named(await spansOf([{ ...first, try: 1 }]), 'invoke_agent')
    expect(again.traceId).not.toBe(one[0].traceId)
  })

  it('has the scores of finished episodes, and for failed ones an error and no score', async () => {
    const spans = await spansOf(RECORDS)
    for (const [i, agent] of named(spans, 'invoke_agent').entries()) {
      const { outcome, returns } = RECORDS[i] as EpisodeRecord
      const scores = ['episodic.return', 'episodic.success', 'episodic.term.solved', 'episodic.return_total']
      const tools = named(spans, 'execute_tool').filter(({ traceId }) => traceId === agent.traceId)
      const rewarded = tools.filter(({ attributes }) => 'episodic.reward' in attributes)
      if (outcome.kind === 'finished') {
        expect(agent.attributes).toMatchObject({ 'episodic.return': returns?.unshaped, 'episodic.outcome': 'finished' })
        expect(agent.events.map(({ name }: Json) => name)).toEqual(Array(2).fill('gen_ai.evaluation.result'))
        expect(plainAttributes(agent.events[1].attributes)['gen_ai.evaluation.score.value']).toBe(returns?.unshaped)
        expect([agent.status, rewarded.length]).toEqual([{}, tools.length])
      } else {
        expect(scores.filter((name) => name in agent.attributes)).toEqual([])
        expect([agent.attributes['error.type'], agent.events, rewarded]).toEqual([outcome.error.code, undefined, []])
        expect(agent.status).toEqual({ code: 2, message: outcome.error.message })
      }
    }
  })

  it('has a span for each answer of a model, with its messages, tokens and reason to stop', async () => {
    const record = playedByModel()
    const spans = await spansOf([record])
    const answers = record.steps.flatMap(({ completions = [] }) => completions)
    const chats = named(spans, 'chat')
    expect(chats.map(({ name, kind }) => [name, kind])).toEqual(answers.map(() => ['chat asked-model', 3]))
    for (const [i, { attributes }] of chats.entries()) {
      const { promptTokens, completionTokens, finish } = answers[i] as (typeof answers)[number]
      expect(attributes).toMatchObject({
        'gen_ai.response.model': 'served-model',
        'gen_ai.response.id': `chat_${i}`,
        'gen_ai.response.finish_reasons': [finish],
        'gen_ai.usage.input_tokens': promptTokens,
        'gen_ai.usage.output_tokens': completionTokens,
        'gen_ai.usage.cache_read.input_tokens': 40,
        'gen_ai.usage.reasoning.output_tokens': 3,
      })
      const input = JSON.parse(attributes['gen_ai.input.messages'])
      expect(input).toHaveLength(2 + 2 * i)
      const [output] = JSON.parse(attributes['gen_ai.output.messages'])
      expect(output.parts.slice(0, 2)).toEqual([
        { type: 'reasoning', content: `reasoning ${i}` },
        { type: 'text', content: `answer ${i}` },
      ])
    }
    const input = JSON.parse(chats[2].attributes['gen_ai.input.messages'])
    const { action, observation } = record.steps[0] as EpisodeRecord['steps'][number]
    expect(input[4].parts[1]).toMatchObject({ type: 'tool_call', name: action.tool, arguments: action.arguments })
    expect(input[5]).toEqual({
      role: 'tool',
      parts: [{ type: 'tool_call_response', id: input[4].parts[1].id, response: observation.text }],
    })
    const [agent] = named(spans, 'invoke_agent')
    const read = answers.reduce((sum, { promptTokens }) => sum + promptTokens, 0)
    expect(agent.attributes['gen_ai.usage.input_tokens']).toBe(read)
  })

  it('leaves out the oldest messages of a long request, and splits an episode with long spans into lines', async () => {
    const record = playedByModel()
    const long = 'x'.repeat(400_000)
    const [step, ...rest] = record.steps as [EpisodeRecord['steps'][number], ...EpisodeRecord['steps']]
    const steps = [{ ...step, observation: { ...step.observation, text: long } }, ...rest]
    const spans = await spansOf([{ ...record, steps }])
    const chats = named(spans, 'chat')
    const last = chats.at(-1).attributes
    expect(JSON.parse(last['gen_ai.input.messages']).length + last['episodic.input_messages_left_out']).toBe(
      2 * chats.length,
    )
    expect(last['gen_ai.input.messages'].length).toBeLessThan(70_000)
    const many = { ...record, steps: Array.from({ length: 4 }, () => steps).flat() }
    const lines = linesOf(await textOf([many]))
    expect(lines.length).toBeGreaterThan(1)
    const ids = lines.flatMap(({ resourceSpans }) =>
      resourceSpans[0].scopeSpans[0].spans.map(({ traceId }: Json) => traceId),
    )
    expect(new Set(ids).size).toBe(1)
  })

  it('marks a call that the world refused as an error', async () => {
    const [first] = RECORDS.filter(({ steps }) => steps.length > 0) as [EpisodeRecord]
    const steps = first.steps.map((step) => ({ ...step, refused: 'rules' as const }))
    for (const { attributes, status } of named(await spansOf([{ ...first, steps }]), 'execute_tool')) {
      expect(attributes['error.type']).toBe('rules')
      expect(status).toEqual({ code: 2, message: attributes['gen_ai.tool.call.result'] })
    }
  })
})
