import { connect, type PolicyContext, randomPolicy, runEpisode } from '@episodic/env'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { calling, saying, startChatServer } from '../chat-server.fixture.ts'
import { DEFAULT_OPTIONS } from '../model-options.ts'
import { createLlmPolicy } from './llm-policy.ts'

/** Stairs of which the next one appears as the one before it vanishes. */
const stairs = defineEnvironment({
  name: 'stairs',
  version: '1.0.0',
  description: 'Three stairs, one after the other.',
  state: { public: z.object({ passed: z.int() }), private: z.object({}) },
  start: () => ({ public: { passed: 0 }, private: {} }),
  observe: ({ passed }) => `Passed: ${passed}.`,
  offers: ({ public: { passed } }) => ['listen', ['first.stair', 'second.stair', 'third.stair'][passed] ?? 'listen'],
  tools({ tool }) {
    const stair = (description: string) =>
      tool({
        description,
        input: z.object({}),
        play({ state, end, say }) {
          state.public.passed += 1
          if (state.public.passed === 3) end('through')
          return say('You go up.')
        },
      })
    return {
      listen: tool({ description: 'Listen.', input: z.object({}), play: ({ say }) => say('Silence.') }),
      'first.stair': stair('The first stair.'),
      'second.stair': stair('The second stair.'),
      'third.stair': stair('The third stair.'),
    }
  },
  rewards: { through: ({ end }) => (end?.reason === 'through' ? 1 : 0) },
})

async function play(policy: Parameters<typeof runEpisode>[0]['policy']) {
  await using host = createHost({ environments: [stairs] })
  await using connection = await connect(inProcess(host))
  return await runEpisode({ createEnvironment: () => connection.environment(), policy })
}

const tokensOf = (number: number) => ({
  choice: { token_ids: [number], logprobs: { content: [{ token: 'x', logprob: -1 }] } },
  prompt_token_ids: [100 + number],
})

describe('a policy, where tools change within an episode', () => {
  it('knows the tools at the start from its context, and those of now from its view', async () => {
    const seen: (readonly string[] | undefined)[] = []
    const names = (tools: PolicyContext['tools'] | undefined) => tools?.map(({ name }) => name)
    const episode = await play({
      name: 'walker',
      start: ({ tools }) => {
        seen.push(names(tools))
        return (observation, view) => {
          expect(names(view.tools)).toEqual(observation.tools)
          seen.push(names(view.tools))
          return { tool: observation.tools?.[1] as string, arguments: {} }
        }
      },
    })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'through' } })
    expect(seen).toEqual([
      ['listen', 'first.stair'],
      ['listen', 'first.stair'],
      ['listen', 'second.stair'],
      ['listen', 'third.stair'],
    ])
  })

  it('draws from those of now, if it is random', async () => {
    const { steps } = await play(randomPolicy())
    expect(steps.at(-1)?.end).toMatchObject({ reason: 'through' })
    expect(steps.every(({ info }) => info.refused === null)).toBe(true)
  })

  it('plays the calls of one answer in their order, and refuses that of a tool that an earlier one took away', async () => {
    await using server = await startChatServer((_, number) => {
      const next = ['first_stair', 'second_stair', 'third_stair'][number] as string
      const calls = ['listen', next, next, 'listen'].map((name, i) => ({
        id: `call_${i}`,
        type: 'function',
        function: { name, arguments: '{}' },
      }))
      return saying({ role: 'assistant', content: null, tool_calls: calls }, 'tool_calls')
    })
    const episode = await play(createLlmPolicy('llm:m', 'm', { ...DEFAULT_OPTIONS, baseUrl: server.url }))
    const turn = (stair: string) => [
      ['listen', null],
      [stair, null],
      [stair, 'tool'],
      ['listen', null],
    ]
    expect(episode.steps.map(({ action, info }) => [action.tool, info.refused])).toEqual([
      ...turn('first.stair'),
      ...turn('second.stair'),
      ...turn('third.stair').slice(0, 2),
    ])
    const results = server.requests.map(({ messages }) => messages.filter(({ role }) => role === 'tool').length)
    expect(results).toEqual([0, 4, 8])
  })

  it('sends a model those of now with each request, and names calls of those that are gone as before', async () => {
    await using server = await startChatServer((_, number) =>
      calling(['first_stair', 'second_stair', 'second_stair', 'third_stair'][number] as string, {}, tokensOf(number)),
    )
    const settings = { ...DEFAULT_OPTIONS, baseUrl: server.url, tokenIds: true }
    const episode = await play(createLlmPolicy('llm:m', 'm', settings))
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'through' } })
    expect(episode.steps.map(({ info }) => info.refused)).toEqual([null, null, 'tool', null])
    const sent = server.requests.map(({ tools }) => tools.map(({ function: { name } }) => name))
    expect(sent).toEqual([
      ['listen', 'first_stair'],
      ['listen', 'second_stair'],
      ['listen', 'third_stair'],
      ['listen', 'third_stair'],
    ])
    expect(JSON.stringify(server.requests[3]?.messages)).toMatch(/first_stair.*second_stair.*second_stair/)
    const recorded = episode.steps.map(({ completions }) => completions[0]?.request?.tools)
    expect(recorded).toEqual(server.requests.map(({ tools }) => tools))
    // A prompt begins with its tools: tokens of one with other tools are no part of it.
    const handed = server.requests.map(({ messages }) => messages.some((message) => 'prompt_token_ids' in message))
    expect(handed).toEqual([false, false, false, true])
  })
})
