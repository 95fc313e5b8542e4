import type { TaskDraft, TasksDefinition } from '@episodic/dataset'
import type { z } from 'zod'

/** Returns tasks that differ by what is drawn in them alone: one for each seed, or a single one of a given seed. */
export function plainTasks<Params extends z.ZodType>(
  environment: TasksDefinition<Params>['environment'],
  { params, ...rest }: Pick<TaskDraft, 'prompt' | 'hints' | 'seed'> & { readonly params?: z.input<Params> },
): TasksDefinition<Params> {
  const draft = { params: (params ?? {}) as z.input<Params>, difficulty: 0.5, tags: [], ...rest }
  return { name: environment.name, environment, generate: () => draft }
}
