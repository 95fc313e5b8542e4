import { canonicalJson, contentId, type JsonObject, type LimitsRequest, type Task } from '@episodic/protocol'

/**
 * Computes the id of a task: a hash of everything that decides what is played, so the same task has the same id
 * wherever it is made. Difficulty, hints, tags, split, server and metadata describe the task and are left out.
 *
 * @returns 32 hexadecimal digits: 128 bits of the SHA-256 of the canonical JSON (RFC 8785).
 */
export function taskId(
  task: Pick<Task, 'environment' | 'params' | 'seed' | 'limits' | 'tools' | 'prompt' | 'seats'>,
): string {
  const { name, version } = task.environment
  return contentId(
    canonicalJson({
      environment: { name, version },
      params: task.params,
      seed: task.seed,
      limits: namedLimits(task.limits),
      // A set: the order in which a world lists its tools changes nothing.
      tools: task.tools.toSorted(),
      prompt: task.prompt,
      ...(task.seats && { seats: promptsOf(task.seats) }),
    }),
  )
}

/**
 * Computes the id of the world that a task sets up: name, parameters and seed. Tasks that ask different things of
 * the same world share it, and so do tasks of different versions of the environment.
 */
export function worldId({ environment, params, seed }: Pick<Task, 'environment' | 'params' | 'seed'>): string {
  return contentId(canonicalJson({ environment: environment.name, params, seed }))
}

function promptsOf(seats: NonNullable<Task['seats']>): JsonObject {
  return Object.fromEntries(Object.entries(seats).map(([seat, { prompt }]) => [seat, prompt]))
}

function namedLimits(limits: LimitsRequest): JsonObject {
  const named: Record<string, number> = {}
  for (const [name, limit] of Object.entries(limits)) if (limit !== undefined) named[name] = limit
  return named
}
