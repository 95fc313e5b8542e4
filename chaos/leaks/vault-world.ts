import { defineEnvironment, type EnvironmentDefinition } from '@episodic/mcp-server'
import { z } from 'zod'

/** The private state of a vault. */
interface Hidden {
  word: string
  code: number
}

/** The public state of a vault. */
interface Open {
  tries: number
  field: string
  shelf: number[]
  dials: { left?: number | undefined; right?: number | undefined }
}

/** Mistakes that an author may make in a vault. A correct vault has none. */
export interface Flaw {
  /** Returns the value of an unneeded field of the public state. */
  readonly field?: (hidden: Hidden) => string
  /** Changes the public state with every try; its answer does not show the change. */
  readonly changes?: (open: Open, hidden: Hidden) => void
  /** Changes the public state of a new vault. */
  readonly begins?: (open: Open, hidden: Hidden) => void
  /** Returns the value of a field of the structured answer that the text does not mention. */
  readonly note?: (hidden: Hidden) => string
  /** Replaces the text. */
  readonly text?: (hidden: Hidden, text: string) => string
  /** Returns whether a look is refused. */
  readonly refuses?: (hidden: Hidden) => boolean
  /** The word of every vault, instead of a random one. */
  readonly word?: string
  /** Added to the description of the tool. */
  readonly description?: string
  /** The schema of a further argument. */
  readonly spoken?: z.ZodType
}

const LARGEST = 15
/** The numbers on the shelf of every vault. */
const SHELF = [0, 3, 6, 9, 12, 15]

/** A vault with a code and a word. A try reveals whether the code is higher or lower; a look reveals nothing new. */
export function createVault(flaw: Flaw = {}): EnvironmentDefinition {
  return defineEnvironment({
    name: 'vault',
    version: '1.0.0',
    description: 'Open a vault.',
    handle: false,
    params: z.object({}),
    state: {
      public: z.object({
        tries: z.int().min(0),
        low: z.int(),
        high: z.int(),
        field: z.string(),
        shelf: z.array(z.int()),
        dials: z.object({ left: z.int().optional(), right: z.int().optional() }),
      }),
      private: z.object({ word: z.string(), code: z.int() }),
    },
    limits: { steps: 20 },
    start({ rng }) {
      const open = { tries: 0, low: 0, high: LARGEST, field: '', shelf: [...SHELF], dials: {} }
      const hidden = {
        word: flaw.word ?? Array.from({ length: 12 }, () => rng.pick([...'abcdefghijklmnop'])).join(''),
        code: rng.int(0, LARGEST),
      }
      flaw.begins?.(open, hidden)
      return { public: open, private: hidden }
    },
    observe: ({ tries, low, high }) => `${tries} tries so far. The code is from ${low} to ${high}.`,
    tools: ({ tool }) => ({
      look: tool({
        description: 'Look at the vault.',
        input: z.object({}),
        play({ state, refuse, say }) {
          if (flaw.refuses?.(state.private)) return refuse('It is too dark.')
          if (flaw.field) state.public.field = flaw.field(state.private)
          return say('A vault.')
        },
      }),
      try: tool({
        description: `Try a code.${flaw.description ?? ''}`,
        input: z.object({
          code: z.int().min(0).max(LARGEST).describe('The code to try.'),
          ...(flaw.spoken && { spoken: flaw.spoken }),
        }),
        output: z.object({ hint: z.enum(['higher', 'lower', 'open']), note: z.string() }),
        play({ state, input, reveal, end, say }) {
          const { code } = state.private
          const tried = Number(input.code)
          const hint = reveal(tried === code ? 'open' : tried < code ? 'higher' : 'lower')
          state.public.tries += 1
          flaw.changes?.(state.public, state.private)
          if (hint === 'open') end('open')
          else if (hint === 'higher') state.public.low = Math.max(state.public.low, tried + 1)
          else state.public.high = Math.min(state.public.high, tried - 1)
          const text = `${tried}: ${hint}.`
          return say(flaw.text?.(state.private, text) ?? text, { hint, note: flaw.note?.(state.private) ?? '' })
        },
      }),
    }),
    rewards: { open: ({ end }) => (end?.reason === 'open' ? 1 : 0), cost: () => -0.01 },
  })
}
