import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { canonicalJson, type JsonObject } from '@episodic/protocol'

/** Returns a function that makes what an environment has for some parameters, each once. */
export function makeOnce<T>() {
  const made = new WeakMap<EnvironmentDefinition, Map<string, T>>()
  return (environment: EnvironmentDefinition, params: JsonObject, make: () => T): T => {
    const known = made.get(environment) ?? new Map<string, T>()
    made.set(environment, known)
    const key = canonicalJson(params)
    const one = known.get(key) ?? make()
    known.set(key, one)
    return one
  }
}
