import { type EpisodeRecord, type JsonObject, requestsOf } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { conversationOf, type Message, parseMessage } from './conversation.ts'
import { playedByModel, SAME_ID } from './model-run.fixture.ts'

const [PLAYED] = playRun({ tasks: 4, attempts: 1, failures: 0 }) as [EpisodeRecord]
const RECORDED = playedByModel()
const ids = (record: EpisodeRecord) => record.steps.map((_, i) => `call_${record.chain.slice(0, 12)}_${i + 1}`)

describe('conversationOf', () => {
  it('returns the task, then each action as a call with its result, for an episode that no model played', () => {
    const { prompt, completion } = conversationOf(PLAYED)
    expect(prompt).toEqual([{ role: 'user', content: `${PLAYED.task.prompt}\n\n${PLAYED.start?.observation.text}` }])
    expect(completion).toHaveLength(2 * PLAYED.steps.length)
    expect(completion.flatMap(({ calls = [] }) => calls)).toEqual(
      PLAYED.steps.map(({ action }, i) => ({
        id: ids(PLAYED)[i],
        name: action.tool,
        arguments: JSON.stringify(action.arguments),
      })),
    )
    const results = completion.filter(({ role }) => role === 'tool')
    expect(results.map(({ content, callId }) => [content, callId])).toEqual(
      PLAYED.steps.map(({ observation }, i) => [observation.text, ids(PLAYED)[i]]),
    )
  })

  it('returns the messages that a model was sent and its answers, with corrections, reasoning and own ids', () => {
    const { prompt, completion } = conversationOf(RECORDED)
    expect(prompt.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Call one tool in each answer.'],
      ['user', `${RECORDED.task.prompt}\n\n${RECORDED.start?.observation.text}`],
    ])
    expect(completion.map(({ role }) => role).slice(0, 4)).toEqual(['assistant', 'user', 'assistant', 'tool'])
    expect(completion[0]).toEqual({ role: 'assistant', content: 'answer 0', reasoning: 'reasoning 0' })
    expect(completion[2]).toMatchObject({ content: 'answer 1', reasoning: 'reasoning 1' })
    expect(completion.flatMap(({ calls = [] }) => calls.map(({ id }) => id))).toEqual(ids(RECORDED))
    const results = completion.filter(({ role }) => role === 'tool')
    expect(results.map(({ callId }) => callId)).toEqual(ids(RECORDED))
    expect(results.map(({ tool }) => tool)).toEqual(RECORDED.steps.map(({ action }) => action.tool))
    expect(JSON.stringify(completion)).not.toContain(SAME_ID)
  })

  it('has every message of the last request, in its order', () => {
    const { prompt, completion } = conversationOf(RECORDED)
    const sent = requestsOf(RECORDED).at(-1)?.messages ?? []
    expect([...prompt, ...completion].slice(0, sent.length).map(({ role, content }) => [role, content])).toEqual(
      sent.map(({ role, content }) => [role, content ?? '']),
    )
  })

  it('continues where a policy has left out old messages of a long conversation', () => {
    const whole = conversationOf(RECORDED)
    const { steps } = RECORDED
    const forgetful = steps.map((step, i) => ({
      ...step,
      completions: step.completions?.map((completion) => {
        const end = completion.prompt?.messages[0]?.[1] ?? 0
        const messages =
          i < 2
            ? [[0, end]]
            : [
                [0, 2],
                [end - 2, end],
              ]
        return { ...completion, prompt: { messages, tools: [[0, 1]] } }
      }),
    }))
    expect(steps.length).toBeGreaterThan(2)
    expect(conversationOf({ ...RECORDED, steps: forgetful } as EpisodeRecord)).toEqual(whole)
  })

  it('returns the actions where a request does not continue the one before', () => {
    const { steps } = RECORDED
    const apart = steps.map((step, i) => ({
      ...step,
      completions: step.completions?.map((completion) => ({
        ...completion,
        prompt: { messages: [i === 1 ? [0, 1] : [0, 2]], tools: [] },
      })),
    }))
    const { prompt, completion } = conversationOf({ ...RECORDED, steps: apart } as EpisodeRecord)
    expect(prompt).toHaveLength(1)
    expect(completion).toHaveLength(2 * steps.length)
    expect(completion[0]).toMatchObject({ content: 'answer 1', reasoning: 'reasoning 1' })
  })

  it('ends with the answers that led to no step', () => {
    const last = RECORDED.steps.at(-1)
    const undecided = last?.completions?.map(({ calls: _, ...said }) => ({ ...said, text: 'No tool.' }))
    const steps = RECORDED.steps.slice(0, -1)
    const { completion } = conversationOf({ ...RECORDED, steps, undecided } as EpisodeRecord)
    expect(completion.at(-1)).toMatchObject({ role: 'assistant', content: 'No tool.' })
    expect(completion.filter(({ calls }) => calls)).toHaveLength(steps.length)
  })

  it('marks the results of calls that the world refused', () => {
    const refused = PLAYED.steps.map((step, i) => (i === 0 ? { ...step, refused: 'rules' as const } : step))
    for (const record of [{ ...PLAYED, steps: refused }, playedByModel({ ...PLAYED, steps: refused })]) {
      const results = conversationOf(record).completion.filter(({ role }) => role === 'tool')
      expect(results.map((result) => result.refused)).toEqual(refused.map((step) => step.refused ?? undefined))
    }
  })
})

describe('parseMessage', () => {
  it.each<[JsonObject, Message]>([
    [
      { role: 'developer', content: 'a' },
      { role: 'system', content: 'a' },
    ],
    [
      { role: 'function', content: null },
      { role: 'user', content: '' },
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'u' } },
        ],
      },
      { role: 'user', content: 'a\n{"type":"image_url","image_url":{"url":"u"}}' },
    ],
    [
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'assistant', content: '' },
    ],
    [
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{' } }, 3] },
      {
        role: 'assistant',
        content: '',
        calls: [
          { id: 'a', name: 'f', arguments: '{' },
          { id: '', name: '', arguments: '{}' },
        ],
      },
    ],
  ])('reads %j', (json, message) => {
    expect(parseMessage(json)).toEqual(message)
  })
})
