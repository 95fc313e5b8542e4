import { defineContext, defineConversation } from '@episodic/contexts'
import { defineStages, defineTasks, generateTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment, defineGame } from '@episodic/mcp-server'
import { defineMcpEnvironment } from '@episodic/mcp-worlds'
import { defineGrader } from '@episodic/report/grades/grader'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

// Types find a misspelt key too, but nothing checks them where Node strips them: what is written here has none.
type Extra = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: what Node runs has no types.
const untyped = (value: object): any => value

const empty = z.object({})
const play = ({ say }: { say(text: string): never }) => say('Yes.')
const tool = (more: Extra = {}) => untyped({ description: 'Do it.', input: empty, play, ...more })
const world = (more: Extra = {}, ofTool: Extra = {}) =>
  defineEnvironment(
    untyped({
      name: 'lamp',
      version: '1.0.0',
      description: 'Light it.',
      state: { public: empty, private: empty },
      start: () => ({ public: {}, private: {} }),
      observe: () => '',
      tools: (make: { tool(written: object): unknown }) => ({ light: make.tool(tool(ofTool)) }),
      rewards: { lit: () => 1 },
      ...more,
    }),
  )
const game = (more: Extra) =>
  defineGame(
    untyped({
      name: 'duel',
      version: '1.0.0',
      description: 'Win.',
      seats: ['first', 'second'],
      state: { public: empty, own: empty, private: empty },
      start: () => ({ public: {}, own: { first: {}, second: {} }, private: {} }),
      observe: () => '',
      turn: () => 'first',
      tools: (make: { tool(written: object): unknown }) => ({ act: make.tool(tool()) }),
      rewards: { won: () => 1 },
      ...more,
    }),
  )
const context = (more: Extra = {}, ofState: Extra = {}, ofHandler: Extra = {}) =>
  defineContext(
    untyped({
      name: 'chat',
      description: 'Talk.',
      data: empty,
      intents: { hello: empty },
      initial: 'open',
      states: { open: { on: { hello: { effect: () => {}, ...ofHandler } }, ...ofState } },
      ...more,
    }),
  )
const conversation = (more: Extra) =>
  defineConversation(untyped({ name: 'talk', contexts: [context()], fallback: () => {}, ...more }))
const tasks = (more: Extra = {}, ofDraft: Extra = {}) =>
  defineTasks(
    untyped({
      name: 'lamps',
      environment: world(),
      generate: () => ({ prompt: 'Light it.', params: {}, difficulty: 0, ...ofDraft }),
      ...more,
    }),
  )
const start = () => () => ({ tool: 'light', arguments: {} })
const grader = (more: Extra) =>
  defineGrader(untyped({ name: 'fast', version: '1', scale: 'boolean', grade: () => true, ...more }))
const stage = (more: Extra) => defineStages([untyped({ name: 'easy', difficulty: [0, 1], episodes: 1, ...more })])

/** Every place of a definition, with a key that it knows, and what makes it with another key. */
const places: readonly (readonly [place: string, known: string, make: (more: Extra) => unknown])[] = [
  ['defineEnvironment', 'success', (more) => world(more)],
  ['a tool', 'annotations', (more) => world({}, more)],
  [
    'an event',
    'description',
    (more) => world({ events: () => ({ dark: { description: '', data: empty, apply: play, ...more } }) }),
  ],
  ['the state', 'private', (more) => world({ state: { public: empty, private: empty, ...more } })],
  ['the limits', 'turnSeconds', (more) => world({ limits: more })],
  ['the settings of a check', 'waive', (more) => world({ check: more })],
  ['defineGame', 'utility', (more) => game(more)],
  ['defineConversation', 'interpreter', (more) => conversation(more)],
  ['the bounds of a conversation', 'summary', (more) => conversation({ bounds: more })],
  ['defineContext', 'unrecognised', (more) => context(more)],
  ['a state of a context', 'always', (more) => context({}, more)],
  ['a handler of a context', 'target', (more) => context({}, {}, more)],
  ['defineTasks', 'generate', (more) => tasks(more)],
  ['a draft of a task', 'metadata', (more) => [...generateTasks(tasks({}, more), { seed: '0', count: 1 })]],
  ['defineStages', 'episodes', (more) => stage(more)],
  ['definePolicy', 'resume', (more) => definePolicy(untyped({ name: 'one', start, ...more }))],
  ['defineGrader', 'identity', (more) => grader(more)],
  ['defineMcpEnvironment', 'callSeconds', (more) => defineMcpEnvironment(untyped({ server: 'true', ...more }))],
]

describe('a definition', () => {
  it.each(places)('refuses a misspelt key, and says what may have been meant: %s', async (_, known, make) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(known.length - 1), async (left) => {
        const misspelt = known.slice(0, left) + known.slice(left + 1)
        const made = new Promise((resolve) => resolve(make({ [misspelt]: 1 })))
        await expect(made).rejects.toThrow(
          new RegExp(`There is no "(\\w+\\.)*${misspelt}"\\. Did you mean "(\\w+\\.)*${known}"\\?`),
        )
      }),
      { seed: 1, numRuns: 20 },
    )
  })

  it('takes a key that is undefined, and a policy of a class with fields of its own', () => {
    expect(world({ succes: undefined }).name).toBe('lamp')
    class Player {
      readonly name = 'own'
      readonly memory = 3
      start = start
    }
    expect(definePolicy(untyped(new Player())).name).toBe('own')
  })
})
