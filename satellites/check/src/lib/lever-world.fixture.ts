import { definePolicy } from '@episodic/env'
import { defineEnvironment, type PlayContext } from '@episodic/mcp-server'
import { z } from 'zod'
import type { CheckedWorld } from './check-context.ts'

/** A state of the world below. */
interface LeverState {
  public: { lit: boolean; pulls: number; board: string }
  private: { left: boolean; serial: number }
}

/** The flaws of the world below. */
export interface LeverFlaw {
  /** Runs at every pull. */
  readonly onPull?: (context: PlayContext<LeverState, unknown, { left: boolean }, undefined>) => void
  /** The reward of a step. */
  readonly reward?: (step: {
    readonly won: boolean
    readonly refused: boolean
    readonly tool: string
    readonly pulls: number
  }) => number
  /** The initial text on the board. */
  readonly board?: (hidden: LeverState['private']) => string
  /** The declared secrets. */
  readonly secrets?: (hidden: LeverState['private']) => readonly string[]
  /** Whether the private state is the same for all seeds. */
  readonly fixed?: boolean
  /** Runs at the start. */
  readonly onStart?: () => void
  /** Whether a tool lets the player choose which lever wins. */
  readonly settable?: boolean
}

/** A world of two levers, one of which wins. The light shows which one it is. */
export function leverWorld(flaw: LeverFlaw = {}): CheckedWorld {
  const { reward = ({ won }) => (won ? 1 : -0.01) } = flaw
  const environment = defineEnvironment({
    name: 'levers',
    version: '1.0.0',
    description: 'Pull the lever that wins.',
    params: z.object({}),
    state: {
      public: z.object({ lit: z.boolean(), pulls: z.int(), board: z.string() }),
      private: z.object({ left: z.boolean(), serial: z.int() }),
    },
    limits: { steps: 6 },
    start({ rng }) {
      flaw.onStart?.()
      const hidden = flaw.fixed ? { left: true, serial: 1 } : { left: rng.chance(), serial: rng.int(1, 999_999) }
      return { public: { lit: false, pulls: 0, board: flaw.board?.(hidden) ?? '' }, private: hidden }
    },
    observe: ({ lit }) => (lit ? 'The light is on the left.' : 'The light is on the right, or off.'),
    secrets: ({ private: hidden }) => flaw.secrets?.(hidden) ?? [],
    tools: ({ tool }) => ({
      pull: tool({
        description: 'Pull a lever.',
        input: z.object({ left: z.boolean().describe('Which one.') }),
        play(context) {
          const { state, input, reveal, end, say } = context
          flaw.onPull?.(context)
          state.public.pulls += 1
          const wins = reveal(input.left === state.private.left)
          if (wins) end('won')
          else if (state.public.pulls === 3) end('lost')
          state.public.lit = wins ? input.left : !input.left
          return say(wins ? 'It opens.' : 'Nothing happens.')
        },
      }),
      wait: tool({ description: 'Do nothing.', input: z.object({}), play: ({ say }) => say('You wait.') }),
      ...(flaw.settable && {
        rewire: tool({
          description: 'Choose which lever wins.',
          input: z.object({ left: z.boolean().describe('Which one.') }),
          play({ state, input, say }) {
            state.private.left = input.left
            return say('It clicks.')
          },
        }),
      }),
    }),
    rewards: {
      all: ({ after, end, refused, tool }) =>
        reward({ won: end?.reason === 'won', refused: refused !== null, tool, pulls: after.public.pulls }),
    },
  })
  const solver = definePolicy({
    name: 'alternating',
    start() {
      let left = true
      return (_, { last }) => {
        if (last) left = !left
        return { tool: 'pull', arguments: { left } }
      }
    },
  })
  return { environment, solver }
}
