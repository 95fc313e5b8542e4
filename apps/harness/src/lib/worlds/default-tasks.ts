import { defineTasks } from '@episodic/dataset'
import type { World } from './world.ts'

/** Tasks of a world without a generator: its default parameters, with a different seed for each. */
export function defaultTasks({ environment }: Pick<World, 'environment'>) {
  return defineTasks({
    name: `${environment.name}-defaults`,
    environment,
    generate: () => ({ prompt: environment.description, params: {}, difficulty: 0 }),
  })
}
