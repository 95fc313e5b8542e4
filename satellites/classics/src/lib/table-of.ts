import type { JsonObject } from '@episodic/protocol'
import type { Classic } from './classic.ts'
import { makeOnce } from './make-once.ts'
import { transitionTable } from './solve/transition-table.ts'

export type TransitionTable = ReturnType<typeof transitionTable>

/** What making the table of a world takes. */
export type TabledWorld = Pick<Classic, 'environment' | 'states' | 'keyOf'>

const tables = makeOnce<TransitionTable>()

/** Returns the transition table of a world without secrets. Each is made once. */
export function tableOf({ environment, states, keyOf }: TabledWorld, params: JsonObject): TransitionTable {
  const parsed = environment.params.parse(params) as JsonObject
  const listed = states?.(parsed).map((state) => ({ public: state, private: {} }))
  return tables(environment, parsed, () =>
    transitionTable(environment, {
      params: parsed,
      ...(listed && { states: listed }),
      ...(keyOf && { keyOf: (state) => keyOf(state.public) }),
    }),
  )
}
