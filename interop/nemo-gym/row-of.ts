import type { JsonObject } from '@episodic/protocol'
import type { World } from '../world.ts'

/** The row of a dataset that asks for one episode of a world. */
export function rowOf({ name, environment }: World, seed: string): JsonObject {
  return {
    responses_create_params: {
      input: [{ role: 'user', content: `Play ${name} well.` }],
      tools: environment.toolInfos.map(({ name, description, inputSchema }) => ({
        type: 'function',
        name,
        description,
        parameters: inputSchema,
        strict: false,
      })),
    },
    episodic: { environment: name, seed },
  }
}
