import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineTasks, type TasksDefinition } from '@episodic/dataset'
import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { type JsonObject, jsonObjectSchema, type LimitsRequest } from '@episodic/protocol'
import { findUnknownKeys, formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'
import { Recording } from '../recording/recording.ts'

const rowSchema = z.looseObject({
  prompt: z.string().min(1),
  params: jsonObjectSchema.optional(),
  hints: z.array(z.string()).optional(),
  difficulty: z.number().min(0).max(1).optional(),
  limits: jsonObjectSchema.optional(),
  tags: z.array(z.string()).optional(),
  seed: z.string().optional(),
})

/**
 * Returns the tasks of an environment that a JSONL file lists, one in each line: an object with a `prompt`, and
 * whatever else its score needs, such as the expected answer. All of it is the params of the task, unless the line has
 * `params` of its own; the prompt is, if the environment has such a parameter. `hints`, `difficulty` (0 to 1),
 * `limits`, `tags` and `seed` mean what they mean in any task. Of a recording, returns the tasks that were played, each
 * with the seed of its first episode.
 *
 * Reads the file at once. Throws `option-invalid` with the number of a line that is none.
 */
export function tasksFromFile(environment: EnvironmentDefinition, file: string | URL): TasksDefinition {
  const path = typeof file === 'string' ? file : fileURLToPath(file)
  const text = readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  const rows: Row[] = Recording.isRecording(text)
    ? Recording.read(path).tasks.map(({ text: _, starts: __, ...task }) => task)
    : text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [readRow(line, `${path}:${i + 1}`)]))
  if (rows.length === 0)
    throw new ServerError('option-invalid', `${path} has no tasks. Write one in each line, as JSON.`)
  const hasPrompt = findUnknownKeys(environment.params, { prompt: '' }).length === 0
  return defineTasks({
    name: `${environment.name}-tasks`,
    environment,
    count: rows.length,
    generate({ index }) {
      const { prompt, params, hints, difficulty = 0, limits, tags, seed, ...others } = rows[index] as Row
      return {
        prompt,
        params: params ?? { ...(hasPrompt && { prompt }), ...(others as JsonObject) },
        difficulty,
        ...(hints && { hints }),
        ...(limits && { limits: limits as LimitsRequest }),
        ...(tags && { tags }),
        ...(seed !== undefined && { seed }),
      }
    },
  })
}

type Row = z.output<typeof rowSchema>

function readRow(line: string, where: string): Row {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw new ServerError('option-invalid', `${where} is not JSON: ${(cause as Error).message}.`, { cause })
  }
  const { data, error } = rowSchema.safeParse(value)
  if (data) return data
  throw new ServerError(
    'option-invalid',
    `${where} is no task: ${formatZodError(error, value)}. Write an object with a prompt, such as { "prompt": "…" }.`,
  )
}
