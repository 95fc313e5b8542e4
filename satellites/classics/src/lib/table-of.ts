import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { canonicalJson, type JsonObject } from '@episodic/protocol'
import type { Classic } from './classic.ts'
import { transitionTable } from './solve/transition-table.ts'

export type TransitionTable = ReturnType<typeof transitionTable>

/** What making the table of a world takes. */
export type TabledWorld = Pick<Classic, 'environment' | 'states' | 'keyOf'>

const tables = new WeakMap<EnvironmentDefinition, Map<string, TransitionTable>>()

/** Returns the transition table of a world without secrets. Each is made once. */
export function tableOf({ environment, states, keyOf }: TabledWorld, params: JsonObject): TransitionTable {
  const parsed = environment.params.parse(params) as JsonObject
  const known = tables.get(environment) ?? new Map<string, TransitionTable>()
  tables.set(environment, known)
  const key = canonicalJson(parsed)
  const listed = states?.(parsed).map((state) => ({ public: state, private: {} }))
  const table =
    known.get(key) ??
    transitionTable(environment, {
      params: parsed,
      ...(listed && { states: listed }),
      ...(keyOf && { keyOf: (state) => keyOf(state.public) }),
    })
  known.set(key, table)
  return table
}
