import { generateTasks, type Rows } from '@episodic/dataset'
import { readLines, readTasks } from '@episodic/dataset/jsonl'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Task } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { objectOf } from '@episodic/run/base/json'

/**
 * Streams the tasks of a file: whole ones, as `dataset generate` writes them, or rows of a `prompt` and `params` alone,
 * as an MCP server has them too. Rejects with `task-invalid` and `option-invalid` for what is neither, and for rows if
 * it is not known of which environment they are.
 */
export async function* tasksInFile(
  file: string,
  environment: EnvironmentDefinition | null,
  options: Parameters<typeof readTasks>[1] = {},
): Rows<Task> {
  if (!(await holdsRows(file))) return yield* readTasks(file, options)
  if (environment === null)
    throw invalidOption(`${file} has rows of a prompt and params, and not of which world they are. Name one world.`)
  // Imported on demand: most runs have no such file.
  const { tasksFromFile } = await import('@episodic/mcp-worlds')
  const tasks = tasksFromFile(environment, file)
  yield* generateTasks(tasks, { seed: 'file', count: tasks.count as number })
}

/** Whether the first line of a file is a row with a prompt that does not say of which environment it is. */
export async function holdsRows(file: string): Promise<boolean> {
  for await (const { text } of readLines(file)) {
    if (text.trim() === '') continue
    const row = objectOf(text)
    return row !== null && 'prompt' in row && !('environment' in row) && !('id' in row)
  }
  return false
}
