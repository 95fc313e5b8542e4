import { absolutePath, type ReadOnlyDisk } from '../disk/disk.ts'
import type { DiskChanges } from '../disk/disk-changes.ts'
import type { DiskAccess } from '../disk/edited-disk.ts'
import { contentOf, toBytes } from '../disk/file-content.ts'
import { MACHINE_BOUNDS, type Machine, type MachineBounds, type MachineResult } from '../machine/machine.ts'
import type { ShellMemory } from '../shell/run-shell.ts'
import { endedResult, type JobResult } from '../workers/job-result.ts'

export interface MachineUse {
  /** The machine on which commands run, such as `bubblewrap()`. Default: a shell in this process. */
  readonly machine?: Machine
  /**
   * Absolute paths of the directories that a machine shows of the disk; other directories are those of the machine.
   * Default: all in the root of the disk but those of a system such as `/usr` and `/etc`, and `/tmp` and `/root`.
   */
  readonly folders?: readonly string[]
  /** Whether commands on a machine reach its network. Default false. */
  readonly network?: boolean
  /** What a command on a machine may use, where it is not {@link MACHINE_BOUNDS}. */
  readonly bounds?: Partial<Omit<MachineBounds, 'seconds' | 'disk'>>
}

export interface MachineLine extends Omit<MachineUse, 'machine'> {
  readonly machine: Machine
  readonly session: string
  readonly script: string
  /** Default: nothing. */
  readonly stdin?: string | null
  readonly memory: ShellMemory
  readonly disk: ReadOnlyDisk
  readonly access: DiskAccess
  /** Milliseconds since 1970. */
  readonly now: number
  readonly seconds: number
}

/** Directories of a system, which no disk replaces. */
const SYSTEM = new Set('bin boot dev etc lib lib32 lib64 libx32 proc run sbin sys usr'.split(' '))

/** The longest argument or variable of a program on Linux, in bytes. */
const LONGEST = 131_071

/** Milliseconds by which a command on a machine moves virtual time, however long it takes. */
const ELAPSED = 1_000

/** Milliseconds by which clocks of files may be behind. */
const BEHIND = 2_000

/**
 * Runs a command line in bash on a machine, in the directory and with the variables of the last one. Files that it
 * changes have the time of the session, unless it gives them an earlier one.
 */
export async function runOnMachine(line: MachineLine, signal: AbortSignal): Promise<JobResult> {
  const { machine, session, script, memory, disk, access, seconds, network = false, bounds } = line
  const { cwd, variables } = memory
  if (script.includes('\0') || Buffer.byteLength(script) > LONGEST)
    return endedResult('bash: the command line has a NUL, or more than 131071 bytes', 126)
  const folders = line.folders ?? foldersOf(disk, cwd).filter((folder) => !access.hidden.includes(folder))
  const kept = `${folders.includes('/tmp') ? '/tmp' : folders[0]}/.shell-${session.slice(-8)}`
  const command = {
    session,
    // Commands may have changed PATH, and removed the directory.
    argv: ['/bin/bash', '-c', BEGIN, 'bash', kept, script, cwd],
    cwd: '/',
    variables: Object.fromEntries(variables),
    disk,
    folders,
    hidden: access.hidden,
    readOnly: access.readOnly,
    stdin: Buffer.from(line.stdin ?? ''),
    network,
    bounds: { ...MACHINE_BOUNDS, ...bounds, seconds, disk: Math.max(0, access.room) },
  }
  const began = Date.now() - BEHIND
  const result = await machine.run(command, signal)
  const found = result.changes.find(({ path }) => path === kept)
  const saved =
    found?.how === 'write' && 'entry' in found && found.entry.kind !== 'directory' && found.entry.kind !== 'link'
      ? toBytes(contentOf(found.entry))
      : null
  const decoder = new TextDecoder()
  const said = [
    ...(result.ended ? [`It ${ENDED[result.ended]} and was ended: nothing that it changed was kept.`] : []),
    ...result.notKept,
  ]
  return {
    stdout: decoder.decode(result.stdout),
    stderr: [decoder.decode(result.stderr).replace(/(?<=[^\n])$/, '\n'), ...said.map((each) => `${each}\n`)].join(''),
    exitCode: result.exitCode,
    changes: result.changes
      .filter((change) => change !== found)
      .map((change) => withTime(change, (time) => (time >= began ? line.now : time))),
    grown: result.grown - (saved?.length ?? 0),
    elapsed: ELAPSED,
    memory: saved && memoryFrom(decoder.decode(saved), variables),
    transaction: null,
  }
}

const ENDED: Readonly<Record<NonNullable<MachineResult['ended']>, string>> = {
  time: 'ran for longer than it may',
  memory: 'needed more memory than there is',
  output: 'printed more than it may',
  disk: 'wrote more than the disk has room for',
}

/** All variables of a shell, without another process. */
const NAMES = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'].map((first) => `"\${!${first}@}"`).join(' ')

/**
 * Runs a script in the shell itself, and writes down at its end in which directory it is, and the variables that it
 * began and ended with. Names with an underscore, and those of the shell itself, are left out. It is one line, so that
 * the shell counts lines from the first of the script. A directory that is gone is no reason to run nothing.
 */
const BEGIN = `_saved=$1 _script=$2; cd -- "$3"; unset OLDPWD; shift 3;
_variables() {
  local _name;
  for _name in ${NAMES}; do
    case $_name in
      _*|BASH*|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HIST*|HOST*|IFS|LINENO|MACHTYPE|OLDPWD|OPT*|OSTYPE|PIPESTATUS|PPID|PS4|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|TERM|UID) ;;
      *) [[ \${!_name@a} == *[aAr]* ]] || printf "$@" "$_name" "\${!_name}" ;;
    esac;
  done;
};
_begun=();
_variables -v '_begun[\${#_begun[@]}]' '%s\\1%s\\1';
trap '{ set +exu; } 2>/dev/null; { printf "%s\\0" "$PWD"; printf %s "\${_begun[@]}"; printf "\\0"; _variables "%s\\0%s\\0"; } 2>/dev/null >|"$_saved"' EXIT;
eval "$_script"`.replaceAll(/\n */g, ' ')

function withTime(change: DiskChanges[number], toTime: (modified: number) => number): DiskChanges[number] {
  if (change.how === 'write' && 'modified' in change.entry && change.entry.modified !== undefined)
    return { ...change, entry: { ...change.entry, modified: toTime(change.entry.modified) } }
  return 'modified' in change && change.modified !== undefined
    ? { ...change, modified: toTime(change.modified) }
    : change
}

function memoryFrom(saved: string, given: ShellMemory['variables']): ShellMemory {
  const [cwd = '/', begun = '', ...ended] = saved.split('\0')
  const names = new Set(given.map(([name]) => name))
  const before = new Map(pairsOf(begun.split('\x01')))
  const isKept = ([name, value]: [string, string]) =>
    (names.has(name) || before.get(name) !== value) && Buffer.byteLength(`${name}=${value}`) < LONGEST
  const variables = pairsOf(ended).filter(isKept)
  return { cwd: absolutePath('/', cwd), variables }
}

function pairsOf(texts: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i + 1 < texts.length; i += 2) pairs.push([texts[i] as string, texts[i + 1] as string])
  return pairs
}

function foldersOf(disk: ReadOnlyDisk, cwd: string): string[] {
  const names = new Set(['tmp', 'root'])
  for (const path of [...(Reflect.ownKeys(disk) as string[]), `${cwd}/`]) {
    const slash = path.indexOf('/', 1)
    const name = path.slice(1, slash < 0 ? undefined : slash)
    if (name && (slash > 0 || disk[path]?.kind === 'directory')) names.add(name)
  }
  return [...names].filter((name) => !SYSTEM.has(name)).map((name) => `/${name}`)
}
