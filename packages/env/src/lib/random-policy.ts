import { createRng, type JsonObject } from '@episodic/protocol'
import { EnvError } from './env-error.ts'
import { definePolicy, type Policy } from './policy.ts'
import { sampleJson } from './sample-json.ts'

/**
 * A policy that picks a tool and arguments at random from the tools' own schemas: the floor that others are held
 * against. What it draws is said at {@link sampleJson}. An environment without tools fails with `option-invalid`.
 */
export function randomPolicy(): Policy {
  return definePolicy({
    name: 'random',
    begin({ tools, seed }) {
      if (tools.length === 0)
        throw new EnvError('option-invalid', 'The environment has no tools, so there is nothing to do in it.')
      // A stream of its own: a world that was given the same seed must not share its draws.
      const rng = createRng(seed).stream('policy')
      return () => {
        const tool = rng.pick(tools)
        return { tool: tool.name, arguments: sampleJson(tool.inputSchema, rng) as JsonObject }
      }
    },
  })
}
