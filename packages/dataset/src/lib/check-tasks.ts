import type { Split, Task } from '@episodic/protocol'
import { checkParams, checkTask } from './check-task.ts'
import { type JsonLine, NOT_JSON, OF_THE_FILE, parseJson } from './json-line.ts'
import type { Rows } from './rows.ts'
import { type TaskEnvironment, toolNames } from './task-environment.ts'
import { worldId } from './task-id.ts'
import { type FieldProblem, problemAt, type TaskProblem } from './task-problem.ts'

export interface CheckOptions {
  /**
   * The environments that the rows are for. Version, tools and parameters are then checked too, and a row for another
   * environment is a problem, unless it names the server that has it. Default: no environment is checked.
   */
  readonly environments?: readonly TaskEnvironment[]
}

/**
 * Checks rows one by one and against each other, and yields each problem as it is found. Rows are counted from 1.
 *
 * To find repeats it keeps two hashes of each row, some 200 bytes, until the iteration ends.
 */
export async function* checkTasks(
  rows: Rows<unknown>,
  options: CheckOptions = {},
): AsyncGenerator<TaskProblem, void, undefined> {
  const check = createChecker(options)
  let line = 0
  for await (const row of rows) {
    line += 1
    for (const problem of check(line, row)) yield problemAt(line, problem)
  }
}

/**
 * Like {@link checkTasks}, for lines of JSONL, for example from `readLines(path)`. Skips blank lines. A last line that
 * was cut short is a `torn` problem.
 */
export async function* checkLines(
  lines: Rows<JsonLine>,
  options: CheckOptions = {},
): AsyncGenerator<TaskProblem, void, undefined> {
  const check = createChecker(options)
  for await (const each of lines) {
    const { line, text, torn } = each
    if (text.trim() === '') continue
    const row = parseJson(each)
    const problems = 'value' in row ? check(line, row.value) : [unreadable(row.problem, torn)]
    for (const problem of problems) yield problemAt(line, problem)
    if ('problem' in row && OF_THE_FILE.includes(row.problem)) return
  }
}

function unreadable(reason: string, torn: boolean): FieldProblem {
  return torn && reason === NOT_JSON
    ? { code: 'torn', field: '', reason: 'the file ends in the middle of this line; the rows before it are whole' }
    : { code: 'json', field: '', reason }
}

function createChecker({ environments }: CheckOptions): (line: number, row: unknown) => readonly FieldProblem[] {
  const ids = new Map<string, number>()
  const worlds = new Map<string, { readonly line: number; readonly split: Split }>()
  return (line, row) => {
    const problems = checkTask(row)
    if (problems.some(({ code }) => code !== 'id')) return problems
    const task = row as Task
    return [
      ...problems,
      ...checkRepeat(task, line),
      ...checkSplit(task, line),
      ...(environments ? checkEnvironment(task, environments) : []),
    ]
  }

  function checkRepeat({ id }: Task, line: number): FieldProblem[] {
    const earlier = ids.get(id)
    if (earlier !== undefined) return [{ code: 'duplicate', field: 'id', reason: `line ${earlier} has the same id` }]
    ids.set(id, line)
    return []
  }

  function checkSplit(task: Task, line: number): FieldProblem[] {
    const world = worldId(task)
    const earlier = worlds.get(world)
    if (!earlier) worlds.set(world, { line, split: task.split })
    if (!earlier || earlier.split === task.split) return []
    const reason = `line ${earlier.line} sets up the same world for ${earlier.split}, this one for ${task.split}`
    return [{ code: 'split', field: 'split', reason }]
  }
}

function checkEnvironment(task: Task, environments: readonly TaskEnvironment[]): readonly FieldProblem[] {
  const named = environments.filter(({ name }) => name === task.environment.name)
  const environment = named.find(({ version }) => version === task.environment.version)
  if (environment) {
    const tools = new Set(toolNames(environment))
    const missing = task.tools.flatMap((tool, i): FieldProblem[] =>
      tools.has(tool) ? [] : [{ code: 'tools', field: `tools[${i}]`, reason: `the environment has no "${tool}"` }],
    )
    return environment.params ? [...missing, ...checkParams(environment.params, task.params).problems] : missing
  }
  if (named.length > 0) {
    const versions = named.map(({ version }) => version).join(' or ')
    const reason = `the row is for ${task.environment.version}, the environment is ${versions}`
    return [{ code: 'version', field: 'environment.version', reason }]
  }
  // Another server has this environment, so nothing about it can be checked here.
  if (task.server !== undefined) return []
  const reason = `there is no "${task.environment.name}" among the environments given`
  return [{ code: 'environment', field: 'environment.name', reason }]
}
