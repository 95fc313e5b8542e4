import type { z } from 'zod'

export type TaskProblemCode =
  | 'json'
  /** The last line was cut short, because a writer was stopped. Earlier rows are complete. */
  | 'torn'
  /** A field is missing, has the wrong type, or is out of range. */
  | 'shape'
  /** The row has an unknown key, often a typing error. */
  | 'unknown-key'
  /** The id is not the hash of the content. */
  | 'id'
  /** An earlier row has the same id. */
  | 'duplicate'
  /** An earlier row sets up the same world for another split. */
  | 'split'
  /** No environment of that name was given. */
  | 'environment'
  /** The environment that was given has another version. */
  | 'version'
  | 'tools'
  /** The environment's schema does not accept the parameters. */
  | 'params'

export interface FieldProblem {
  readonly code: TaskProblemCode
  /** For example `params.high` or `tools[2]`; empty for the whole row. */
  readonly field: string
  /** The expected and the actual value, without the field's name. */
  readonly reason: string
}

export interface TaskProblem extends FieldProblem {
  /** Counted from 1. */
  readonly line: number
  /** For people: `line 12: params.high: expected number, received string`. */
  readonly message: string
}

export function formatProblem({ field, reason }: FieldProblem): string {
  return field ? `${field}: ${reason}` : reason
}

export function problemAt(line: number, problem: FieldProblem): TaskProblem {
  return { ...problem, line, message: `line ${line}: ${formatProblem(problem)}` }
}

/** Converts a schema's issues to problems, one for each unknown key. `base` is the path of the checked value. */
export function problemsOf(error: z.ZodError, code: TaskProblemCode, base: readonly string[] = []): FieldProblem[] {
  return error.issues.flatMap((issue): FieldProblem[] => {
    const path = [...base, ...issue.path]
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key]))
    return [{ code, field: fieldOf(path), reason: issue.message.replace(/^Invalid input: /, '') }]
  })
}

export function unknownKey(path: readonly PropertyKey[]): FieldProblem {
  return { code: 'unknown-key', field: fieldOf(path), reason: 'there is no such key' }
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((field, key) => {
    if (typeof key === 'number') return `${field}[${key}]`
    return field ? `${field}.${String(key)}` : String(key)
  }, '')
}
