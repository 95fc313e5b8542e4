import type { PlayContext, Tool } from '@episodic/mcp-server'
import { z } from 'zod'
import { absolutePath, EPOCH } from '../disk/disk.ts'
import { applyChanges, diskChanges } from '../disk/disk-changes.ts'
import { type DiskAccess, DiskError, EditedDisk } from '../disk/edited-disk.ts'
import { sizeOf, toText } from '../disk/file-content.ts'
import { listed } from '../disk/read-disk.ts'
import type { Language } from '../shell/commands/commands.ts'
import type { ShellMemory } from '../shell/run-shell.ts'
import { JobEnded, runJob } from '../workers/command-pool.ts'
import type { JobResult, Task } from '../workers/messages.ts'
import { boundedOutput, KEPT } from './bounded-output.ts'
import type { WorkspaceState } from './workspace-state.ts'

/** How the tools of a workspace may be used. */
export interface WorkspaceOptions {
  /** Paths that do not exist for the agent, with what is in them. */
  readonly hidden?: readonly string[]
  /** Paths that the agent cannot change, with what is in them. */
  readonly readOnly?: readonly string[]
  /** Bytes that all files may have together. Default 32 MiB. */
  readonly bytes?: number
  /** Seconds that a command may run before it is ended. Default 10. */
  readonly seconds?: number
  /** Languages in which programs can be run: `node` runs JavaScript, `python3` Python. Default: none. */
  readonly languages?: readonly Language[]
  /**
   * The module with programs of the world's own, such as `new URL('./programs.ts', import.meta.url)`: it exports
   * `commands` and `services` ({@link ProgramModule}). Threads load it.
   */
  readonly programs?: URL
}

/** The names of the tools of a workspace. */
export type WorkspaceTool = 'bash' | 'read_file' | 'write_file' | 'edit_file' | 'list_files' | 'search' | 'sql'

interface State {
  private: WorkspaceState
}

type Play<Input, Given = undefined> = PlayContext<State, unknown, Input, undefined, Given>

/** The maker of tools that a definition is given, its types erased. */
type MakeTool = (definition: object) => Tool

const prepared = z.strictObject({
  stdout: z.string(),
  stderr: z.string(),
  exitCode: z.int(),
  changes: diskChanges,
  grown: z.int(),
  elapsed: z.number(),
  memory: z.strictObject({ cwd: z.string(), variables: z.array(z.tuple([z.string(), z.string()])) }).nullable(),
  transaction: z.array(z.strictObject({ sql: z.string(), now: z.number(), seed: z.tuple([z.int(), z.int()]) })),
})

type Prepared = z.output<typeof prepared>

/** Characters of JSON text that the changes of one call may have: a step is recorded with them. */
const MOST_CHANGED = 700_000

/** Lines that `read_file` returns by default. */
const LINES = 500

/** Characters that `read_file` returns at most. */
const MOST_READ = 32_000

/**
 * Returns the tools of a workspace: `bash`, `read_file`, `write_file`, `edit_file`, `list_files`, `search` and `sql`.
 * Spread them into the tools of a definition whose private state has {@link workspaceState}.
 *
 * Commands run in threads of their own, over a copy of the disk, with virtual time and the chance of the session: the
 * same command on the same state prints the same bytes. What a command did is recorded with its step, so replays and
 * forks run nothing.
 *
 * `tool` is the maker of tools of the definition.
 */
export function workspaceTools(
  tool: unknown,
  options: WorkspaceOptions = {},
): { readonly [Name in WorkspaceTool]: Tool } {
  const make = tool as MakeTool
  const { hidden = [], readOnly = [], bytes = 33_554_432, seconds = 10, languages = [], programs } = options
  const address = programs?.href ?? null
  const accessOf = ({ shell }: WorkspaceState): DiskAccess => ({ hidden, readOnly, room: bytes - shell.bytes })

  /** A tool whose work is done by a thread. */
  const job = <Input extends z.ZodType>(
    description: string,
    input: Input,
    task: (input: z.output<Input>, state: WorkspaceState) => Task,
    show: (result: Prepared) => string = shown,
  ): Tool =>
    make({
      description,
      input,
      prepared,
      repeatable: true,
      prepareSeconds: seconds + 30,
      annotations: { openWorldHint: false },
      prepare: async ({ state, input, now, rng, signal }: PrepareContext<z.output<Input>>): Promise<Prepared> => {
        const { disk, shell } = state.private
        const chance = rng.stream(`workspace ${shell.calls}`)
        const seed = [chance.int(0, 0xffffffff), chance.int(0, 0xffffffff)] as const
        const work = {
          access: accessOf(state.private),
          now: EPOCH + now,
          seed,
          files: {},
          task: task(input, state.private),
        }
        try {
          return bounded(await runJob(work, disk, seconds, signal), shell.calls)
        } catch (error) {
          if (error instanceof JobEnded) return ended(error.message)
          throw error
        }
      },
      play: ({ state, input, prepared, reveal, say, elapse }: Play<z.output<Input>, Prepared>) => {
        const { disk, shell } = state.private
        shell.calls += 1
        shell.bytes += prepared.grown
        applyChanges(disk, prepared.changes)
        elapse(prepared.elapsed)
        if (prepared.memory) Object.assign(shell, prepared.memory)
        const done = task(input, state.private)
        if (done.kind === 'sql') keepTransaction(shell, done.database, prepared.transaction)
        return say(reveal(show(prepared)))
      },
    })

  /** A tool that the rules play by themselves. */
  const file = <Input extends z.ZodType>(
    description: string,
    input: Input,
    play: (input: z.output<Input>, disk: EditedDisk, path: (given: string) => string) => string,
    readOnlyHint: boolean,
  ): Tool =>
    make({
      description,
      input,
      annotations: { readOnlyHint },
      play: ({ state, input, now, reveal, refuse, say }: Play<z.output<Input>>) => {
        const { disk, shell } = state.private
        const edited = new EditedDisk(disk, accessOf(state.private), () => EPOCH + now)
        try {
          const text = play(input, edited, (given) => absolutePath(shell.cwd, given))
          shell.calls += 1
          shell.bytes += edited.grown
          applyChanges(disk, edited.changes())
          return say(reveal(text))
        } catch (error) {
          if (error instanceof DiskError) return refuse(reveal(`${error.message}.`))
          throw error
        }
      },
    })

  const path = z.string().min(1).max(4_096)
  return {
    bash: job(
      `Run a command line in bash. The working directory and variables are kept from call to call. Long output is cut; the whole is then in a file that the answer names. There is no network.${languages.length > 0 ? ` Programs: ${languages.map((language) => (language === 'javascript' ? 'node' : 'python3')).join(', ')}.` : ''}`,
      z.object({ command: z.string().min(1).max(65_536).describe('The command line.') }),
      ({ command }, { shell }) => ({
        kind: 'shell',
        script: command,
        stdin: null,
        memory: memoryOf(shell),
        languages,
        programs: address,
      }),
    ),
    read_file: file(
      'Read lines of a text file, each with its number.',
      z.object({
        path: path.describe('Absolute, or relative to the working directory.'),
        start_line: z.int().min(1).max(10_000_000).default(1).describe('The first line to read.'),
        lines: z.int().min(1).max(10_000).default(LINES).describe('How many lines to read.'),
      }),
      ({ path, start_line, lines }, disk, at) => readLines(disk, at(path), start_line, lines),
      true,
    ),
    write_file: file(
      'Write a text file. A file that is there is replaced; directories on the way are created.',
      z.object({
        path: path.describe('Absolute, or relative to the working directory.'),
        content: z.string().max(524_288).describe('All of its text.'),
      }),
      ({ path, content }, disk, at) => {
        const absolute = at(path)
        const directory = absolutePath(absolute, '..')
        disk.makeDirectory(directory, true)
        disk.write(absolute, content)
        return `Wrote ${absolute}: ${lineCount(content)} lines.`
      },
      false,
    ),
    edit_file: file(
      'Replace a text in a file by another. The text has to be in the file exactly once, unless `all` is set.',
      z.object({
        path: path.describe('Absolute, or relative to the working directory.'),
        old_text: z.string().min(1).max(262_144).describe('The exact text to replace, with its white space.'),
        new_text: z.string().max(262_144).describe('What takes its place; empty to remove it.'),
        all: z.boolean().default(false).describe('Replace it wherever it is.'),
      }),
      ({ path, old_text, new_text, all }, disk, at) => {
        const absolute = at(path)
        const text = readText(disk, absolute)
        const count = text.split(old_text).length - 1
        if (count === 0) return `Nothing was changed: the text is not in ${absolute}.`
        if (count > 1 && !all)
          return `Nothing was changed: the text is in ${absolute} ${count} times. Give more of what is around it, or set all.`
        disk.write(absolute, text.split(old_text).join(new_text))
        return `Changed ${absolute} in ${count} ${count === 1 ? 'place' : 'places'}.`
      },
      false,
    ),
    list_files: file(
      'List the files in a directory and below it, with their sizes in bytes.',
      z.object({
        path: path.default('.').describe('The directory. Default: the working directory.'),
        depth: z.int().min(1).max(20).default(2).describe('How many levels to list.'),
      }),
      ({ path, depth }, disk, at) => listing(disk, at(path), depth),
      true,
    ),
    search: job(
      'Search file contents for a regular expression, with the file and line of each match.',
      z.object({
        pattern: z.string().min(1).max(1_000).describe('The regular expression.'),
        path: path.default('.').describe('The file or directory. Default: the working directory.'),
      }),
      ({ pattern, path }, { shell }) => ({
        kind: 'shell',
        script: `rg -n -e ${quoted(pattern)} ${quoted(absolutePath(shell.cwd, path))}`,
        stdin: null,
        memory: memoryOf(shell),
        languages: [],
        programs: null,
      }),
      (result) => (result.exitCode === 1 && !result.stderr ? 'No match.' : shown(result)),
    ),
    sql: job(
      'Run SQL statements over a SQLite database. Rows come one JSON object a line. A transaction may go over several calls: it is open until COMMIT or ROLLBACK.',
      z.object({
        database: path.describe('The file of the database; it is created if there is none.'),
        sql: z.string().min(1).max(65_536).describe('One or several statements.'),
      }),
      ({ database, sql }, { shell }) => {
        const file = absolutePath(shell.cwd, database)
        const transaction = shell.transactions.find((each) => each.database === file)?.statements ?? []
        return { kind: 'sql', database: file, sql, transaction }
      },
    ),
  }
}

interface PrepareContext<Input> {
  readonly state: State
  readonly input: Input
  readonly now: number
  readonly rng: { stream(name: string): { int(low: number, high: number): number } }
  readonly signal: AbortSignal
}

/** Returns what is recorded of a job: bounded, with the whole of a long output in a file. */
function bounded(result: JobResult, calls: number): Prepared {
  const { elapsed, exitCode, memory, transaction } = result
  let { grown } = result
  const [said, problem] = [result.stdout.toWellFormed(), withoutAdvice(result.stderr)]
  const file = `/tmp/output-${calls + 1}.txt`
  const [stdout, stderr] = [boundedOutput(said, file), boundedOutput(problem, file)]
  const isCut = stdout !== said || stderr !== problem
  const text = `${said}${problem}`.slice(0, KEPT).toWellFormed()
  const kept: Prepared['changes'] = isCut ? [{ how: 'write', path: file, entry: { kind: 'text', text } }] : []
  if (isCut) grown += sizeOf(text)
  const changes = [...result.changes, ...kept] as Prepared['changes']
  if (JSON.stringify(changes).length > MOST_CHANGED)
    return ended(
      `It changed more than ${MOST_CHANGED} characters of files at once, so nothing was kept. Change less with one call.`,
    )
  return {
    stdout,
    stderr,
    exitCode,
    changes,
    grown,
    elapsed,
    memory: memory && { cwd: memory.cwd, variables: memory.variables.map(([name, value]) => [name, value]) },
    transaction: transaction.map(({ sql, now, seed }) => ({ sql, now, seed: [...seed] })),
  }
}

/** Returns what a shell keeps, without the rest of its state. */
function memoryOf({ cwd, variables }: WorkspaceState['shell']): ShellMemory {
  return { cwd, variables }
}

/** Returns an output without advice for those who configure the shell. */
function withoutAdvice(text: string): string {
  return text.replace(/, increase executionLimits\.\w+/g, '').toWellFormed()
}

/** What is recorded of a job that was ended: it changed nothing. */
function ended(message: string): Prepared {
  return {
    stdout: '',
    stderr: `${message}\n`,
    exitCode: 137,
    changes: [],
    grown: 0,
    elapsed: 0,
    memory: null,
    transaction: [],
  }
}

/** Returns what the agent reads of a command. */
function shown({ stdout, stderr, exitCode }: Prepared): string {
  const code = exitCode === 0 ? '' : `[exit code ${exitCode}]`
  const parts = [stdout.replace(/\n$/, ''), stderr.replace(/\n$/, ''), code].filter((part) => part !== '')
  return parts.join('\n') || '[no output]'
}

function keepTransaction(shell: WorkspaceState['shell'], database: string, statements: Prepared['transaction']): void {
  const others = shell.transactions.filter((each) => each.database !== database)
  shell.transactions = statements.length > 0 ? [...others, { database, statements }] : others
}

function readText(disk: EditedDisk, path: string): string {
  const text = toText(disk.read(path))
  if (text === null) throw new DiskError('EINVAL', 'not a text file', path)
  return text
}

function readLines(disk: EditedDisk, path: string, start: number, count: number): string {
  const text = readText(disk, path)
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  if (lines.length === 0) return `${path} is empty.`
  if (start > lines.length) return `${path} has ${lines.length} lines.`
  const read: string[] = []
  let length = 0
  for (const line of lines.slice(start - 1, start - 1 + count)) {
    length += line.length + 8
    if (length > MOST_READ && read.length > 0) break
    read.push(`${String(start + read.length).padStart(6)}\t${line.slice(0, MOST_READ)}`.toWellFormed())
  }
  const last = start - 1 + read.length
  const more =
    last < lines.length ? `\n[lines ${start} to ${last} of ${lines.length}; read on with start_line ${last + 1}]` : ''
  return `${read.join('\n')}${more}`
}

/** Files that a listing names at most. */
const MOST_LISTED = 500

function listing(disk: EditedDisk, directory: string, depth: number): string {
  disk.list(directory)
  const resolved = disk.resolve(directory, 'scandir')
  const above = resolved === '/' ? 0 : resolved.split('/').length - 1
  const found = listed(disk, resolved).filter(({ path }) => path.split('/').length - 1 - above <= depth)
  const lines = found
    .slice(0, MOST_LISTED)
    .map(({ path, kind, bytes }) => (kind === 'file' ? `${path} ${bytes}` : kind === 'link' ? `${path} @` : `${path}/`))
  if (lines.length === 0) return `${directory} is empty.`
  const more =
    found.length > MOST_LISTED ? [`[${found.length - MOST_LISTED} more: list a directory below, or less depth]`] : []
  return [...lines, ...more].join('\n')
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
