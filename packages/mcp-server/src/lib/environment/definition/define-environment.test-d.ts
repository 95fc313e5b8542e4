import { z } from 'zod'
import { numberGuessing } from '../../fixtures/number-guessing.fixture.ts'
import { defineEnvironment } from './define-environment.ts'
import type { EnvironmentDefinition } from './environment.ts'

// A whole world, as an author writes it: nothing is annotated.
numberGuessing satisfies EnvironmentDefinition
numberGuessing.tools.guess.description satisfies string
// @ts-expect-error there is no such tool
numberGuessing.tools.peek

const described = {
  name: 'counter',
  version: '1.0.0',
  description: 'Counts.',
  params: z.object({ step: z.int().default(1) }),
  state: { public: z.object({ count: z.int() }), private: z.object({ goal: z.int() }) },
} as const
const counter = {
  ...described,
  start: () => ({ public: { count: 0 }, private: { goal: 1 } }),
  observe: () => '',
} as const

// Everything that the schemas know, the rules are held to.
defineEnvironment({
  ...described,
  start: ({ params, rng }) => {
    // @ts-expect-error parameters are those of the schema
    params.stride
    // @ts-expect-error and have its types, defaults filled in
    params.step satisfies string
    return { public: { count: 0 }, private: { goal: rng.int(1, 9) } }
  },
  observe(state, params) {
    // @ts-expect-error `observe` gets the public state alone
    state.goal
    // @ts-expect-error and there is no way around it
    state.private
    return `${state.count satisfies number}, by ${params.step satisfies number}`
  },
  tools: ({ tool }) => ({
    add: tool({
      description: 'Adds.',
      input: z.object({ times: z.int(), note: z.string().optional() }),
      output: z.object({ count: z.int() }),
      play({ state, input, params, say, reveal }) {
        input.times satisfies number
        // @ts-expect-error optional arguments may be missing
        input.note satisfies string
        // @ts-expect-error arguments are those of the input schema
        input.amount
        // @ts-expect-error state is that of the schemas
        state.public.total
        // @ts-expect-error each part on its own side
        state.public.goal
        // @ts-expect-error and of its types
        state.public.count = 'many'
        // @ts-expect-error parameters are not to be changed
        params.step.toFixed = null
        // @ts-expect-error only what JSON can say is revealed
        reveal(new Map())
        if (input.times > 9) {
          // @ts-expect-error an answer carries the data that the output schema describes
          return say('Done.')
        }
        if (input.times > 8) {
          // @ts-expect-error of its types
          return say('Done.', { count: 'many' })
        }
        // @ts-expect-error and all of it
        if (input.times > 7) return say('Done.', {})
        return say('Done.', { count: state.public.count })
      },
    }),
    reset: tool({
      description: 'Has no output of its own: its answer is the public state.',
      input: z.object({}),
      play({ say }) {
        // @ts-expect-error so there is no data to give
        say('Reset.', { count: 0 })
        return say('Reset.')
      },
    }),
    mute: tool({
      description: 'Answers nothing.',
      input: z.object({}),
      // @ts-expect-error a play answers: say or refuse
      play() {},
    }),
    later: tool({
      description: 'Answers later.',
      input: z.object({}),
      // @ts-expect-error rules are synchronous
      play: async ({ say }) => say('Later.'),
    }),
  }),
  rewards: {
    progress: ({ before, after, params }) =>
      (after.public.count - before.public.count) * params.step + after.private.goal * 0,
    // @ts-expect-error a term sees the state of the schemas
    typo: ({ after }) => after.public.total,
    // @ts-expect-error and is a number
    word: () => 'good',
    // @ts-expect-error an end has a kind and a reason
    ended: ({ end }) => (end?.cause === 'done' ? 1 : 0),
    refused: ({ refused }) => (refused === 'arguments' ? -1 : 0),
    // @ts-expect-error a refusal has one of five reasons
    misspelt: ({ refused }) => (refused === 'argument' ? -1 : 0),
  },
  // @ts-expect-error Φ is a number
  potential: ({ public: { count } }) => `${count}`,
})

// Where the player has left, the server has taken the last step.
defineEnvironment({
  ...counter,
  tools: ({ tool }) => ({
    add: tool({ description: 'Adds.', input: z.object({ times: z.int() }), play: ({ say }) => say('') }),
  }),
  absent: ({ tool }) => tool({ description: 'Judges.', input: z.object({}), play: ({ say }) => say('') }),
  rewards: {
    left(step) {
      if (step.tool !== 'absent') return 0
      step.refused satisfies null
      // @ts-expect-error it is called by nobody, so it has not the arguments of a tool
      step.input.times satisfies number
      return step.input.cause === 'left' ? -1 : 0
    },
    // @ts-expect-error there is no other name
    misspelt: ({ tool }) => (tool === 'gone' ? 1 : 0),
  },
})

// What comes from outside has the types of its schemas too.
defineEnvironment({
  ...counter,
  events: ({ event }) => ({
    counted: event({
      description: 'Somebody else counted.',
      data: z.object({ by: z.int().default(1) }),
      apply({ state, data, params, rng, now, say, end, elapse }) {
        state.public.count += data.by * params.step + rng.int(0, now) * state.private.goal
        // @ts-expect-error data are those of the schema
        data.amount
        // @ts-expect-error state is that of the schemas
        state.public.total
        // @ts-expect-error what is said is a text
        say({ count: 1 })
        say('Counted.')
        elapse(1)
        end('counted')
      },
    }),
  }),
  tools: ({ tool }) => ({
    ask: tool({
      description: 'Asks outside.',
      input: z.object({ what: z.string() }),
      output: z.object({ answer: z.string() }),
      prepared: z.object({ answer: z.string(), cost: z.int().default(0) }),
      effect: 'external',
      prepareSeconds: 5,
      async prepare({ state, input, params, signal }) {
        signal satisfies AbortSignal
        // @ts-expect-error the state is only looked at
        state.public.count = 1
        // @ts-expect-error and has the types of its schemas
        state.public.total
        return { answer: `${input.what satisfies string}, ${params.step satisfies number}, ${state.private.goal}` }
      },
      play({ prepared, say }) {
        prepared.cost satisfies number
        // @ts-expect-error what was prepared has the types of its schema
        prepared.price
        return say('Asked.', { answer: prepared.answer })
      },
    }),
    guess: tool({
      description: 'Gives something else than its schema says.',
      input: z.object({}),
      prepared: z.object({ answer: z.string() }),
      // @ts-expect-error what is prepared is what its schema describes
      prepare: async () => ({ answer: 1 }),
      play: ({ say }) => say(''),
    }),
    quiet: tool({
      description: 'Prepares nothing.',
      input: z.object({}),
      play({ prepared, say }) {
        prepared satisfies undefined
        return say('')
      },
    }),
  }),
  rewards: { news: ({ events }) => events.filter(({ type }) => type === 'counted').length },
})

// A state with JSON at large in it can be looked at as well.
defineEnvironment({
  ...described,
  state: { public: z.object({ notes: z.json(), marks: z.array(z.int()) }), private: z.object({}) },
  start: () => ({ public: { notes: {}, marks: [] }, private: {} }),
  observe: () => '',
  tools: ({ tool }) => ({
    look: tool({
      description: 'Looks.',
      input: z.object({}),
      prepared: z.number(),
      prepare({ state }) {
        // @ts-expect-error a list is only looked at
        state.public.marks.push(1)
        return JSON.stringify(state.public.notes).length + state.public.marks.length
      },
      play: ({ prepared, say }) => say(prepared.toFixed()),
    }),
  }),
  rewards: {},
})

// An observation is a function of the public state; secrets are a function of the whole state.
defineEnvironment({
  ...counter,
  // @ts-expect-error `observe` does not get the private state
  observe: (state: { count: number; goal: number }) => `${state.goal}`,
  tools: ({ tool }) => ({ nothing: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: {},
  secrets: (state, { step }) => [`${state.private.goal satisfies number}`, `${step satisfies number}`],
})
defineEnvironment({
  ...counter,
  // @ts-expect-error nor does the whole of the state
  observe: (state: { public: { count: number }; private: { goal: number } }) => `${state.private.goal}`,
  tools: ({ tool }) => ({ nothing: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: {},
  // @ts-expect-error a secret is a text
  secrets: ({ private: { goal } }) => [goal],
})

defineEnvironment({
  ...described,
  // @ts-expect-error a start without private state is no start
  start: () => ({ public: { count: 0 } }),
  observe: () => '',
  tools: ({ tool }) => ({ nothing: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: {},
})

defineEnvironment({
  ...described,
  // @ts-expect-error nor is one of other types
  start: () => ({ public: { count: '0' }, private: { goal: 1 } }),
  observe: () => '',
  tools: ({ tool }) => ({ nothing: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: {},
})

// What a tool publishes is typed by the events of its world, if those are written before its tools.
defineEnvironment({
  ...counter,
  events: ({ event }) => ({
    counted: event({ description: '', data: z.object({ by: z.int().default(1) }), apply: () => {} }),
    reset: event({
      description: '',
      data: z.object({ to: z.int() }),
      apply: ({ data }) => void (data.to satisfies number),
    }),
  }),
  tools: ({ tool }) => ({
    add: tool({
      description: '',
      input: z.object({ by: z.int() }),
      output: z.object({ sum: z.int() }),
      play({ state, input, publish, say }) {
        publish('counted', {})
        publish('counted', { by: input.by })
        publish('reset', { to: state.public.count })
        // @ts-expect-error there is no such event
        publish('recounted', {})
        // @ts-expect-error its data lack a field
        publish('reset', {})
        // @ts-expect-error and a text is no number
        publish('counted', { by: '1' })
        return say('', { sum: 1 })
      },
    }),
  }),
  rewards: {},
})

// Written after them, or if there are none, it is looked at when it is published.
defineEnvironment({
  ...counter,
  tools: ({ tool }) => ({
    add: tool({
      description: '',
      input: z.object({}),
      play({ publish, say }) {
        publish('counted', { by: 1 })
        // @ts-expect-error a type is a text
        publish(1, {})
        return say('')
      },
    }),
  }),
  events: ({ event }) => ({
    counted: event({ description: '', data: z.object({ by: z.int() }), apply: () => {} }),
  }),
  rewards: {},
})

// Literals of a start keep their types: after statements, in branches, drawn, and with no parameters.
const Room = z.enum(['hall', 'cellar', 'attic'])
const adventure = {
  name: 'adventure',
  version: '1.0.0',
  description: 'Finds the treasure.',
  params: z.object({ lamps: z.int().default(1) }),
  state: {
    public: z.object({
      room: Room,
      carried: z.array(z.enum(['lamp', 'key'])),
      locks: z.record(z.string(), z.enum(['open', 'locked'])),
      items: z.array(z.object({ name: z.enum(['lamp', 'key']), at: Room.nullable() })),
    }),
    private: z.object({ treasure: Room, trap: Room.nullable() }),
  },
} as const
defineEnvironment({
  ...adventure,
  start: ({ params, rng }) => {
    const treasure = rng.pick(['cellar', 'attic'])
    const room = 'hall'
    if (params.lamps === 0)
      return {
        public: { room: 'cellar', carried: [], locks: { cellar: 'open', attic: 'open' }, items: [] },
        private: { treasure: 'attic', trap: null },
      }
    return {
      public: {
        room,
        carried: ['key'],
        locks: { cellar: 'locked', attic: 'open' },
        items: [{ name: 'lamp', at: 'hall' }],
      },
      private: { treasure, trap: rng.pick(['hall', 'cellar']) },
    }
  },
  observe: ({ room }) => room,
  tools: ({ tool }) => ({ wait: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: { found: ({ after }) => (after.public.room === after.private.treasure ? 1 : 0) },
})
defineEnvironment({
  ...adventure,
  start: () => {
    const items = [] as const
    return {
      public: { room: 'hall', carried: ['lamp'], locks: { attic: 'open' }, items: [...items] },
      private: { treasure: 'attic', trap: null },
    }
  },
  observe: ({ room }) => room,
  tools: ({ tool }) => ({ wait: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: {},
})
defineEnvironment({
  ...adventure,
  // @ts-expect-error a word that the schema does not list
  start: () => {
    return {
      public: { room: 'kitchen', carried: [], locks: {}, items: [] },
      private: { treasure: 'attic', trap: null },
    }
  },
  observe: ({ room }) => room,
  tools: ({ tool }) => ({ wait: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: {},
})
defineEnvironment({
  ...adventure,
  start: ({ rng }) => ({
    // @ts-expect-error for an expression, the error is at the wrong value
    public: { room: 'kitchen', carried: [], locks: {}, items: [] },
    private: { treasure: rng.pick(['attic', 'hall']), trap: null },
  }),
  observe: ({ room }) => room,
  tools: ({ tool }) => ({ wait: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: {},
})
defineEnvironment({
  ...adventure,
  // @ts-expect-error a field of the schema is missing
  start: ({ rng }) => {
    const treasure = rng.pick(['attic', 'hall'])
    return { public: { room: 'hall', carried: [], locks: {} }, private: { treasure, trap: null } }
  },
  observe: ({ room }) => room,
  tools: ({ tool }) => ({ wait: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
  rewards: {},
})

// Reward terms know the tools, if those are written before them, and the inputs of calls that the schema accepted.
const rewarded = defineEnvironment({
  ...counter,
  tools: ({ tool }) => ({
    buy: tool({
      description: '',
      input: z.object({ amount: z.int(), gift: z.boolean().default(false) }),
      play: ({ say }) => say(''),
    }),
    close: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }),
  }),
  rewards: {
    bought: ({ tool, input, refused }) => (tool === 'buy' && refused === null ? input.amount : 0),
    gift: (step) => (step.tool === 'buy' && !step.refused && step.input.gift ? step.params.step : 0),
    // @ts-expect-error there is no such tool
    bye: ({ tool }) => (tool === 'bye' ? 1 : 0),
    // @ts-expect-error there is no such argument
    given: ({ tool, input, refused }) => (tool === 'buy' && refused === null && input.gitf ? 1 : 0),
    // @ts-expect-error refused arguments have any type
    wanted: ({ tool, input }) => (tool === 'buy' ? input.amount : 0),
    // @ts-expect-error there is no such parameter
    stepped: ({ params }) => params.stp,
  },
})
rewarded.terms satisfies readonly ('bought' | 'gift' | 'bye' | 'given' | 'wanted' | 'stepped')[]

// Terms that are written first take any name.
defineEnvironment({
  ...counter,
  rewards: { any: ({ tool }) => (tool === 'anything' ? 1 : 0) },
  tools: ({ tool }) => ({ close: tool({ description: '', input: z.object({}), play: ({ say }) => say('') }) }),
})
