import type { JsonObject, Task } from '@episodic/protocol'
import type { World } from '../worlds/world.ts'

/** The row of a dataset that asks for one episode of a world. */
export function rowOf(
  { name, environment }: Pick<World, 'name' | 'environment'>,
  { seed, params = {}, limits = {} }: Pick<Task, 'seed'> & Partial<Pick<Task, 'params' | 'limits'>>,
): JsonObject {
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
    episodic: { environment: name, params, seed, limits: { ...limits } },
  }
}
