import { definePolicy, type Policy } from '@episodic/env'
import { type Action, createRng, type Json } from '@episodic/protocol'
import type { ParityWorld } from './parity-world.ts'

/** How many of the actions are preceded by a wrong one. */
const SHARE = 0.4

/** What is sent as the argument that a world needs: wrong types, and values that a wire may change on the way. */
const ODD_VALUES: readonly Json[] = [
  { nested: [true, null, {}] },
  null,
  1.5,
  1e21,
  1e-7,
  Number.MAX_SAFE_INTEGER,
  'Zürich ✈️ 東京 👩‍👩‍👧 \u2028 "quoted" \\ \u0007 </script> %2F',
  'word '.repeat(500),
]

/** Returns the solver of a world with fumbling hands: some of its calls miss an argument, or have an odd one. */
export function clumsySolver({ solver, demanding: { tool, argument } }: ParityWorld): Policy {
  return blundering(solver, `clumsy-${solver.name}`, [
    { tool, arguments: {} },
    { tool, arguments: { zeta: 1, alpha: { b: 2, a: 1 } } },
    ...ODD_VALUES.map((value) => ({ tool, arguments: { [argument]: value } })),
  ])
}

/** Returns the solver of a world, which also calls tools that do not exist. */
export function inventiveSolver({ solver }: ParityWorld): Policy {
  return blundering(solver, `inventive-${solver.name}`, [
    { tool: 'teleport', arguments: {} },
    { tool: 'tele-port_2', arguments: { to: 'the goal', at: [1, 2] } },
  ])
}

/** Puts a wrong action in front of some of a policy's own, which it does not notice. */
function blundering(policy: Policy, name: string, wrong: readonly Action[]): Policy {
  return definePolicy({
    name,
    async start(context) {
      const player = await policy.start(context)
      const rng = createRng(context.seed).stream('mistakes')
      let meant: Action | null = null
      return async (observation, view) => {
        const action: Action = meant ?? (await player(observation, view))
        const fumbles = meant === null && rng.float() < SHARE
        meant = fumbles ? action : null
        return fumbles ? rng.pick(wrong) : action
      }
    },
  })
}
