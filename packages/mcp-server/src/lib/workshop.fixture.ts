import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** What the world throws, and an agent must never read. */
export const TRADE_SECRET = 'the vault opens at midnight'

/** A world whose tools do what worlds should not, each in its own way. */
export const workshop = defineEnvironment({
  name: 'workshop',
  version: '2.1.0',
  description: 'A shop of tools.',
  handle: false,
  params: z.object({ stock: z.int().min(0).default(3), broken: z.boolean().default(false) }),
  state: {
    public: z.object({ stock: z.int(), now: z.number(), remembered: z.array(z.string()) }),
    private: z.object({ spoiled: z.number().nullable(), stuffing: z.string() }),
  },
  limits: ({ stock }) => ({ steps: 10 + stock }),
  history: { entries: 3, bytes: 10_000 },
  start({ params }) {
    if (params.broken) throw new Error(TRADE_SECRET)
    return {
      public: { stock: params.stock, now: 0, remembered: [] },
      private: { spoiled: null, stuffing: '' },
    }
  },
  observe: ({ stock }) => `${stock} in stock.`,
  tools: ({ tool }) => ({
    take: tool({
      description: 'Takes one out of stock. Answers with the public state.',
      input: z.strictObject({}),
      play({ state, history, now, refuse, say }) {
        if (state.public.stock === 0) return refuse('Nothing is left.')
        state.public.stock -= 1
        state.public.now = now
        state.public.remembered = history.map(({ tool }) => String(tool))
        return say('Taken.')
      },
    }),
    wait: tool({
      description: 'Lets virtual time pass.',
      input: z.object({ milliseconds: z.number() }),
      play({ state, input, elapse, say }) {
        elapse(input.milliseconds)
        elapse(input.milliseconds)
        state.public.now = -1
        return say('Waited.')
      },
    }),
    regret: tool({
      description: 'Changes everything, draws, ends, and is then refused.',
      input: z.object({}),
      play({ state, rng, end, elapse, refuse }) {
        state.public.stock = rng.int(1_000, 2_000)
        elapse(5)
        end('regretted')
        return refuse('On second thoughts, no.')
      },
    }),
    gossip: tool({
      description: 'Says more than its output declares.',
      input: z.object({}),
      output: z.object({ heard: z.string() }),
      play: ({ say }) => say('Psst.', { heard: 'something', secret: TRADE_SECRET } as { heard: string }),
    }),
    lie: tool({
      description: 'Says something else than its output declares.',
      input: z.object({}),
      output: z.object({ heard: z.string() }),
      play: ({ say }) => say('Psst.', { heard: 7 } as unknown as { heard: string }),
    }),
    crash: tool({
      description: 'Changes the stock, then throws.',
      input: z.object({}),
      play({ state }) {
        state.public.stock = 0
        throw new Error(TRADE_SECRET)
      },
    }),
    silence: tool({
      description: 'Answers nothing.',
      input: z.object({}),
      play: () => undefined as never,
    }),
    spoil: tool({
      description: 'Leaves a state that JSON cannot say.',
      input: z.object({}),
      play({ state, say }) {
        state.private.spoiled = Number.NaN
        return say('Spoiled.')
      },
    }),
    stuff: tool({
      description: 'Makes the state large.',
      input: z.object({ bytes: z.int() }),
      play({ state, input, say }) {
        state.private.stuffing = 'x'.repeat(input.bytes)
        return say('Stuffed.')
      },
    }),
    shout: tool({
      description: 'Writes to standard output, as a forgotten console.log does.',
      input: z.object({}),
      play({ say }) {
        // biome-ignore lint/suspicious/noConsole: this is what must not break the framing of a pipe
        console.log('{"jsonrpc":"2.0","id":1,"result":"a stray line"}')
        return say('Shouted.')
      },
    }),
  }),
  rewards: { patience: ({ refused, before, after }) => (refused ? -1 : before.public.stock - after.public.stock) },
})
