import { findNonJson, type Task, taskSchema } from '@episodic/protocol'
import { findUnknownKeys } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { DatasetError } from './dataset-error.ts'
import { taskId } from './task-id.ts'
import { type FieldProblem, formatProblem, problemsOf, unknownKey } from './task-problem.ts'

/**
 * Checks one row by itself: its shape, that it is plain JSON (a lone surrogate or `-0` would not survive every
 * reader), and that its id is the hash of its content. Returns the problems, or an empty list.
 */
export function checkTask(value: unknown): readonly FieldProblem[] {
  const problems = checkShape(value)
  if (problems.length > 0) return problems
  const task = value as Task
  const id = taskId(task)
  if (task.id === id) return []
  return [{ code: 'id', field: 'id', reason: `${task.id} is not the hash of the content, which is ${id}` }]
}

/** Like {@link checkTask}, without the id: a row that passes can be hashed. */
export function checkShape(value: unknown): readonly FieldProblem[] {
  const read = taskSchema.safeParse(value)
  if (!read.success) return problemsOf(read.error, 'shape')
  return Object.entries(value as Task).flatMap(([field, part]): FieldProblem[] => {
    const reason = findNonJson(part, field)
    return reason ? [{ code: 'shape', field, reason }] : []
  })
}

/**
 * Returns the value as a task. Throws `task-invalid` with everything that {@link checkTask} finds.
 *
 * @param where - names the row in the message, for example `line 12`.
 */
export function parseTask(value: unknown, where = 'The row'): Task {
  assertNoProblems(checkTask(value), where)
  return value as Task
}

export function assertNoProblems(problems: readonly FieldProblem[], where: string): void {
  if (problems.length === 0) return
  throw new DatasetError('task-invalid', `${where} is not a task. ${problems.map(formatProblem).join('; ')}.`, {
    details: { problems: problems.map(({ code, field, reason }) => ({ code, field, reason })) },
  })
}

/**
 * Parses parameters with an environment's schema. A key that the schema drops is a problem: most schemas ignore unknown
 * keys, and a misspelt parameter would silently have its default.
 */
export function checkParams(schema: z.ZodType, params: unknown) {
  const read = schema.safeParse(params)
  if (!read.success) return { params, problems: problemsOf(read.error, 'params', ['params']) }
  const unknown = findUnknownKeys(schema, params)
  return { params: read.data, problems: unknown.map(({ path }) => unknownKey(['params', ...path])) }
}
