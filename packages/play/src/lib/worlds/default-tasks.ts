import { defineTasks } from '@episodic/dataset'
import type { World } from './world.ts'

export function defaultTasks({ environment }: Pick<World, 'environment'>) {
  return defineTasks({
    name: `${environment.name}-defaults`,
    environment,
    generate: () => ({ prompt: environment.description, params: {}, difficulty: 0 }),
  })
}
