import { definePolicy } from '@episodic/env'
import { defineEnvironment, defineGame } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from './check-world.ts'

const PLANS = ['basic', 'medium', 'unlimited']

/** What a tool says beside what its seat may read: of the other seat's part, or of what nobody may read. */
type Leak = 'device to the clerk' | 'database to the caller' | 'audit to the clerk' | null

interface Shop {
  readonly leak?: Leak
  /** Declares nothing, as before. */
  readonly undeclared?: boolean
}

/** A clerk who reads a database, and a caller who reads a device, as in benchmarks of telephone support. */
const phoneShop = ({ leak = null, undeclared = false }: Shop = {}) =>
  defineGame({
    name: 'phone-shop',
    version: '1.0.0',
    description: 'Find out why the telephone of the caller has no signal.',
    seats: ['clerk', 'caller'],
    utility: 'common',
    limits: { steps: 8 },
    ...(!undeclared && { readable: { clerk: ['db'], caller: ['device'] } }),
    state: {
      public: z.object({ turns: z.int() }),
      own: z.object({}),
      private: z.object({
        db: z.object({
          lines: z.record(z.string(), z.object({ owner: z.string(), plan: z.string(), note: z.string() })),
        }),
        device: z.object({ pin: z.string(), model: z.string(), bars: z.int() }),
        audit: z.object({ remark: z.string() }),
      }),
    },
    start: ({ rng }) => {
      const text = (length: number) => Array.from({ length }, () => String.fromCharCode(97 + rng.int(0, 25))).join('')
      const lines = Object.fromEntries(
        ['L1', 'L2', 'L3'].map((id) => [id, { owner: text(14), plan: rng.pick(PLANS), note: text(20) }]),
      )
      return {
        public: { turns: 0 },
        own: { clerk: {}, caller: {} },
        private: {
          db: { lines },
          device: { pin: text(13), model: text(16), bars: rng.int(0, 4) },
          audit: { remark: text(18) },
        },
      }
    },
    turn: ({ turns }) => (turns % 2 === 0 ? 'clerk' : 'caller'),
    observe: ({ public: { turns } }) => `Turn ${turns}.`,
    tools: ({ tool }) => ({
      read_line: tool({
        description: 'Reads a line of the database, such as L1.',
        seats: ['clerk'],
        input: z.object({ id: z.string().max(10).describe('The id of the line.') }),
        output: z.object({ line: z.string() }),
        play({ state, input, say, refuse }) {
          state.public.turns += 1
          const { db, device, audit } = state.private
          const line = Object.hasOwn(db.lines, input.id) ? db.lines[input.id] : undefined
          if (!line) return refuse(`There is no line ${input.id}.`)
          const more = leak === 'device to the clerk' ? device.pin : leak === 'audit to the clerk' ? audit.remark : ''
          return say({ line: JSON.stringify(line) + more })
        },
      }),
      read_device: tool({
        description: 'Reads the status of the telephone.',
        seats: ['caller'],
        input: z.object({}),
        output: z.object({ status: z.string() }),
        play({ state, say, end }) {
          state.public.turns += 1
          if (state.public.turns >= 8) end('done')
          const { db, device } = state.private
          return say({ status: JSON.stringify(device) + (leak === 'database to the caller' ? db.lines.L1?.note : '') })
        },
      }),
    }),
    rewards: { done: ({ end }) => (end?.reason === 'done' ? 1 : 0) },
  })

const solver = definePolicy({
  name: 'asking',
  start: ({ tools }) => {
    let at = 0
    return () =>
      tools.some(({ name }) => name === 'read_line')
        ? { tool: 'read_line', arguments: { id: `L${(at++ % 3) + 1}` } }
        : { tool: 'read_device', arguments: {} }
  },
})

async function check(shop: Shop, only: NonNullable<Parameters<typeof checkWorld>[1]>['only']) {
  const world = { environment: phoneShop(shop), solver }
  const { checks } = await checkWorld(world, { ...(only && { only }), pairs: 60 })
  return checks.flatMap(({ findings }) => findings.map(({ name }) => name))
}

describe('what a world declares as readable', () => {
  it('is not found when its seat reads it through a tool', async () => {
    expect(await check({}, ['canaries', 'non-interference', 'hygiene'])).toEqual([])
    const undeclared = await check({ undeclared: true }, ['canaries', 'non-interference'])
    expect(undeclared).toContain('secret-sent:private.db.lines.*.note')
    expect(undeclared).toContain('secret-sent:private.device.pin')
    expect(undeclared).toContain('answer-differs:read_line')
  })

  it.each([
    ['device to the clerk', 'secret-sent:private.device.pin', 'answer-differs:read_line'],
    ['audit to the clerk', 'secret-sent:private.audit.remark', 'answer-differs:read_line'],
    ['database to the caller', 'secret-sent:private.db.lines.*.note', 'answer-differs:read_device'],
  ] as const)('is all that a seat may read: a leak of %s is found', async (leak, sent, differs) => {
    expect(await check({ leak }, ['canaries'])).toEqual([sent])
    expect(await check({ leak }, ['non-interference'])).toContain(differs)
  })

  it('is for all seats if it is a list, and has to be a part of the private state and of seats', async () => {
    const shelf = (readable: readonly string[] | { readonly [seat: string]: readonly string[] }, leak = false) =>
      defineEnvironment({
        name: 'shelf',
        version: '1.0.0',
        description: 'Read a box.',
        readable,
        limits: { steps: 3 },
        state: {
          public: z.object({}),
          private: z.object({ boxes: z.object({ left: z.string(), right: z.string() }), key: z.string() }),
        },
        start: ({ rng }) => {
          const text = () => String(rng.int(1e15, 2e15))
          return { public: {}, private: { boxes: { left: text(), right: text() }, key: text() } }
        },
        observe: () => 'A shelf.',
        tools: ({ tool }) => ({
          open: tool({
            description: 'Opens the left box.',
            input: z.object({}),
            output: z.object({ held: z.string() }),
            play: ({ state: { private: rest }, say }) => say({ held: rest.boxes.left + (leak ? rest.key : '') }),
          }),
        }),
        rewards: { none: () => 0 },
      })
    const found = async (...given: Parameters<typeof shelf>) => {
      const { checks } = await checkWorld(
        { environment: shelf(...given) },
        { only: ['canaries', 'non-interference'], pairs: 20 },
      )
      return checks.flatMap(({ findings }) => findings.map(({ name }) => name))
    }
    expect(await found(['boxes'])).toEqual([])
    expect(await found(['boxes.left'])).toEqual([])
    expect(await found(['boxes.right'])).toContain('secret-sent:boxes.left')
    expect(await found(['boxes'], true)).toContain('secret-sent:key')
    expect(() => shelf(['boxen'])).toThrow('There is no "private.boxen". Did you mean "private.boxes"?')
    expect(() => shelf({ clerk: ['boxes'] })).toThrow('There is no "readable.clerk"')
  })
})
