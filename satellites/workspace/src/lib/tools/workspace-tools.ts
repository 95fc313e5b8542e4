import type { PlayContext, Tool } from '@episodic/mcp-server'
import type { z } from 'zod'
import { ATTACKS, findCheats } from '../cheats/cheats.ts'
import { absolutePath, EPOCH } from '../disk/disk.ts'
import { applyChanges } from '../disk/disk-changes.ts'
import { type DiskAccess, DiskError, EditedDisk } from '../disk/edited-disk.ts'
import { quoted } from '../quoted.ts'
import type { ShellMemory } from '../shell/run-shell.ts'
import type { Language } from '../shell/shell-parts.ts'
import { JobEnded, runJob } from '../workers/command-pool.ts'
import { endedResult, type JobResult, jobResult } from '../workers/job-result.ts'
import type { Task } from '../workers/messages.ts'
import { shownRecord, toRecord } from './command-record.ts'
import { editText } from './edit-text.ts'
import { listing, readLines, readText } from './read-files.ts'
import { type MachineUse, runOnMachine } from './run-on-machine.ts'
import { toolInputs, type WorkspaceTools } from './tool-inputs.ts'
import type { WorkspaceState } from './workspace-state.ts'

export interface WorkspaceOptions extends MachineUse {
  /** The directory in which the shell begins. Default `/`. */
  readonly cwd?: string
  /** Paths that do not exist for the agent, with what is in them. */
  readonly hidden?: readonly string[]
  /** Paths that the agent cannot change, with what is in them. */
  readonly readOnly?: readonly string[]
  /** Bytes that all files may have together. Default 32 MiB. */
  readonly bytes?: number
  /** Seconds that a command may run before it is ended. Default 10. */
  readonly seconds?: number
  /** Languages in which programs can be run without a machine: `node` runs JavaScript. Default: none. */
  readonly languages?: readonly Language[]
  /** Whether the shell has `git`, for repositories on the disk. Default false. */
  readonly git?: boolean
  /**
   * The module with programs of the world's own, such as `new URL('./programs.ts', import.meta.url)`: it exports
   * `commands` and `services` ({@link ProgramModule}). Threads load it.
   */
  readonly programs?: URL
  /** The seats of a game that have the tools. Default: all. */
  readonly seats?: readonly string[]
}

interface Play<Input, Given = undefined>
  extends PlayContext<{ private: WorkspaceState }, unknown, Input, undefined, Given> {
  /** The seat that plays, which alone reads the answer. */
  readonly seat: string
  reveal<T>(value: T, to?: string): T
}

type MakeTool = <Input extends z.ZodType>(
  definition: { readonly input: Input } & Record<string, unknown>,
) => Tool<Input, null>

/** Seconds that a command may wait for a thread. */
const WAITING = 600

/**
 * Returns the tools of a workspace: `bash`, `read_file`, `write_file`, `edit_file`, `list_files`, `search` and `sql`.
 * Spread them into the tools of a definition whose private state has {@link workspaceState}.
 *
 * Commands run in threads of their own, over a copy of the disk, with virtual time and the chance of the session: the
 * same command on the same state prints the same bytes. With a `machine` they run for real, in boxes of it. What a
 * command did is recorded with its step, so replays and forks run nothing, and need no machine.
 *
 * `tool` is the maker of tools of the definition.
 */
export function workspaceTools(tool: unknown, options: WorkspaceOptions = {}): WorkspaceTools {
  const make = tool as MakeTool
  const {
    cwd = '/',
    hidden = [],
    readOnly = [],
    bytes = 33_554_432,
    seconds = 10,
    languages = [],
    git = false,
    programs,
    seats,
    machine,
  } = options
  const address = programs?.href ?? null
  const more = [...languages.map(() => 'node'), ...(git ? ['git'] : [])]
  const accessOf = ({ shell }: WorkspaceState): DiskAccess => ({ hidden, readOnly, room: bytes - shell.bytes })

  const job = <Input extends z.ZodType>(
    description: string,
    input: Input,
    task: (input: z.output<Input>, state: WorkspaceState) => Task,
    show: (result: JobResult) => string = shownRecord,
    keep?: (result: JobResult, input: z.output<Input>, shell: WorkspaceState['shell']) => void,
  ) =>
    make({
      description,
      input,
      seats,
      prepared: jobResult,
      // What is reached by the network may have changed.
      ...(!options.network && { repeatable: true }),
      prepareSeconds: seconds + WAITING,
      annotations: { openWorldHint: options.network ?? false },
      prepare: async ({
        state,
        input,
        now,
        rng,
        session,
        signal,
      }: PrepareContext<z.output<Input>>): Promise<JobResult> => {
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
        if (machine && work.task.kind === 'shell') {
          const line = { ...options, ...work.task, machine, session, disk, access: work.access, now: work.now, seconds }
          return toRecord(await runOnMachine(line, signal), shell.calls)
        }
        try {
          return toRecord(await runJob(work, disk, seconds, signal), shell.calls)
        } catch (error) {
          if (error instanceof JobEnded) return endedResult(error.message)
          throw error
        }
      },
      play: ({ state, input, prepared, seat, reveal, say, elapse }: Play<z.output<Input>, JobResult>) => {
        const { disk, shell } = state.private
        shell.calls += 1
        shell.bytes += prepared.grown
        applyChanges(disk, prepared.changes)
        elapse(prepared.elapsed)
        if (prepared.memory) {
          shell.variables = prepared.memory.variables
          // Where it begins is no secret, as texts of the state may be: descriptions name it.
          shell.cwd = prepared.memory.cwd === cwd ? null : prepared.memory.cwd
        }
        keep?.(prepared, input, shell)
        return say(reveal(show(prepared), seat))
      },
    })

  const file = <Input extends z.ZodType>(
    description: string,
    input: Input,
    play: (input: z.output<Input>, disk: EditedDisk, path: (given: string) => string) => string,
    readOnlyHint: boolean,
  ) =>
    make({
      description,
      input,
      seats,
      annotations: { readOnlyHint },
      play: ({ state, input, now, seat, reveal, refuse, say }: Play<z.output<Input>>) => {
        const { disk, shell } = state.private
        const edited = new EditedDisk(disk, accessOf(state.private), () => EPOCH + now)
        try {
          const text = play(input, edited, (given) => absolutePath(shell.cwd ?? cwd, given))
          shell.calls += 1
          shell.bytes += edited.grown
          applyChanges(disk, edited.changes())
          return say(reveal(text, seat))
        } catch (error) {
          if (error instanceof DiskError) return refuse(reveal(`${error.message}.`, seat))
          throw error
        }
      },
    })

  const tools = {
    bash: job(
      `Run a command line in bash. The working directory and variables are kept from call to call. Long output is cut; the whole is then in a file that the answer names.${options.network ? '' : ' There is no network.'}${more.length > 0 ? ` Programs: ${more.join(', ')}.` : ''}`,
      toolInputs.bash,
      ({ command }, { shell }) => ({
        kind: 'shell',
        script: command,
        stdin: null,
        memory: memoryOf(shell, cwd),
        languages,
        git,
        programs: address,
      }),
    ),
    read_file: file(
      'Read lines of a text file, each with its number.',
      toolInputs.read_file,
      ({ path, start_line, lines }, disk, at) => readLines(disk, at(path), start_line, lines),
      true,
    ),
    write_file: file(
      'Write a text file. A file that is there is replaced; directories on the way are created.',
      toolInputs.write_file,
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
      'Replace a text in a file by another. The text has to be in the file exactly once, unless `all` is set. Line ends are those of the file.',
      toolInputs.edit_file,
      ({ path, old_text, new_text, all }, disk, at) => {
        const absolute = at(path)
        const [text, count] = editText(readText(disk, absolute), old_text, new_text)
        if (count === 0) return `Nothing was changed: the text is not in ${absolute}.`
        if (count > 1 && !all)
          return `Nothing was changed: the text is in ${absolute} ${count} times. Give more of what is around it, or set all.`
        disk.write(absolute, text)
        return `Changed ${absolute} in ${count} ${count === 1 ? 'place' : 'places'}.`
      },
      false,
    ),
    list_files: file(
      'List the files in a directory and below it, with their sizes in bytes.',
      toolInputs.list_files,
      ({ path, depth }, disk, at) => listing(disk, at(path), depth),
      true,
    ),
    search: job(
      'Search file contents for a regular expression, with the file and line of each match.',
      toolInputs.search,
      ({ pattern, path }, { shell }) => ({
        kind: 'shell',
        script: `${machine ? 'grep -rnIE' : 'rg -n'} -e ${quoted(pattern)} ${quoted(absolutePath(shell.cwd ?? cwd, path))}`,
        stdin: null,
        memory: memoryOf(shell, cwd),
        languages: [],
        git: false,
        programs: null,
      }),
      (result) => (result.exitCode === 1 && !result.stderr ? 'No match.' : shownRecord(result)),
    ),
    sql: job(
      'Run SQL statements over a SQLite database. Rows come one JSON object a line. A transaction may go over several calls: it is open until COMMIT or ROLLBACK.',
      toolInputs.sql,
      ({ database, sql }, { shell }) => {
        const file = absolutePath(shell.cwd ?? cwd, database)
        const transaction = shell.transactions.find((each) => each.database === file)?.statements ?? []
        return { kind: 'sql', database: file, sql, transaction }
      },
      shownRecord,
      ({ transaction }, { database }, shell) => {
        if (transaction) keepTransaction(shell, absolutePath(shell.cwd ?? cwd, database), transaction)
      },
    ),
  }
  return {
    ...tools,
    bash: Object.assign(tools.bash, { [ATTACKS]: findCheats('bash') }),
    write_file: Object.assign(tools.write_file, { [ATTACKS]: findCheats('write_file') }),
  }
}

interface PrepareContext<Input> {
  readonly state: { readonly private: WorkspaceState }
  readonly input: Input
  readonly now: number
  readonly rng: { stream(name: string): { int(low: number, high: number): number } }
  readonly session: string
  readonly signal: AbortSignal
}

function memoryOf({ cwd, variables }: WorkspaceState['shell'], start: string): ShellMemory {
  return { cwd: cwd ?? start, variables }
}

function keepTransaction(
  shell: WorkspaceState['shell'],
  database: string,
  statements: NonNullable<JobResult['transaction']>,
): void {
  const others = shell.transactions.filter((each) => each.database !== database)
  shell.transactions = statements.length > 0 ? [...others, { database, statements }] : others
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0)
}
