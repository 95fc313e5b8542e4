import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type MachineCommand, MachineError, type MachineResult } from './machine.ts'
import type { MemoryGroup } from './memory-group.ts'
import type { Pipes } from './pipes.ts'
import { processIdentity } from './process-identity.ts'

export interface BoxOptions {
  readonly program: string
  readonly args: readonly string[]
  /** The user who runs it; `null` for the one of this process. */
  readonly user: number | null
  readonly pipes: Pipes
  /** Bounds the memory; `null` where the kernel does not do it for all processes together. */
  readonly group: MemoryGroup | null
  readonly folder: string
}

/** What is known of a command before its files are read. */
export type BoxResult = Pick<MachineResult, 'stdout' | 'stderr' | 'exitCode' | 'elapsed' | 'ended'>

/** Milliseconds between two looks at what a command uses. */
const LOOK = 100

/** Bytes that may go on the disk of this computer, to whomever, before the files of a box are counted. */
const SLACK = 67_108_864

/** Waits until the process that has started the box says so: if that is killed before, nothing is run. */
const BEGIN = 'read -r go <&6 || exit 125; exec 6<&-; cd -- "$1" || exit 1; shift; exec "$@"'

/** Puts the box into the group that bounds its memory, before it has any process. */
const JOIN = 'echo 0 >&5 && exec 5>&- && exec "$@"'

const FIRST_INHERITED = 7

/** Runs a command in a box, and resolves when all of its processes have ended. Rejects if there is no box. */
export async function runInBox(command: MachineCommand, options: BoxOptions, signal: AbortSignal): Promise<BoxResult> {
  const { bounds, argv, cwd, stdin } = command
  const { program, args, user, group, pipes } = options
  const limits = {
    core: 0,
    cpu: Math.ceil(bounds.cpuSeconds),
    // One call can allocate all of a disk before anybody looks.
    fsize: Math.max(bounds.memory, bounds.disk) + SLACK,
    nofile: 1_024,
    // The box itself has two.
    nproc: bounds.processes + 2,
    ...(group ? {} : { data: bounds.memory }),
  }
  group?.bound(bounds.memory)
  const { ofCommand, release, ...streams } = pipes.open(stdin, user)
  const members = group?.open() ?? openSync('/dev/null', 'w')
  const child = spawn(
    '/bin/sh',
    [
      ...['-c', JOIN, 'sh', program, '--args', '3', '--', '/bin/sh', '-c', BEGIN, 'sh', cwd, '/usr/bin/prlimit'],
      ...Object.entries(limits).map(([name, value]) => `--${name}=${value}`),
      ...['--', ...argv],
    ],
    {
      cwd: '/',
      env: {},
      stdio: [...ofCommand, 'pipe', 'pipe', members, 'pipe', ...inheritedAsNull()],
      ...(user !== null && { uid: user, gid: user }),
    },
  )
  const pipe = (number: number) => child.stdio[number] as Socket
  release()
  closeSync(members)
  const printed = [streams.stdout, streams.stderr].map((stream) => once(stream, 'close'))
  const closed = new Promise<void>((resolve, reject) => child.once('close', () => resolve()).once('error', reject))
  // Who waits for it comes later.
  closed.catch(() => {})
  for (const stream of [pipe(3), pipe(6)]) stream.on('error', () => {})

  let ended: BoxResult['ended'] = null
  const end = (bound: NonNullable<BoxResult['ended']>) => {
    ended ??= bound
    child.kill('SIGKILL')
  }
  const stop = () => child.kill('SIGKILL')
  signal.addEventListener('abort', stop, { once: true })
  const room = { left: bounds.output }
  const [stdout, stderr] = [streams.stdout, streams.stderr].map((stream) =>
    collect(stream, room, () => end('output')),
  ) as [Buffer[], Buffer[]]
  pipe(3).end(['--json-status-fd', '4', ...args].map((each) => `${each}\0`).join(''))

  let began = performance.now()
  let first: string | null = null
  let exitCode: number | null = null
  let timer: NodeJS.Timeout | undefined
  let look: NodeJS.Timeout | undefined
  createInterface({ input: pipe(4) }).on('line', (line) => {
    const said = JSON.parse(line) as { 'child-pid'?: number; 'exit-code'?: number }
    if (said['exit-code'] !== undefined) exitCode = said['exit-code']
    const pid = said['child-pid']
    if (pid === undefined) return
    first = processIdentity(pid)
    pipe(6).end('1\n')
    began = performance.now()
    timer = setTimeout(() => end('time'), bounds.seconds * 1_000)
    look = startLooks(pid, command, options, end)
  })
  try {
    await closed
    await Promise.all(printed)
  } catch (error) {
    const said = `${program} cannot be started (${(error as Error).message}). ${INSTALL}`
    throw new MachineError('machine-missing', said, { cause: error })
  } finally {
    clearTimeout(timer)
    clearInterval(look)
    for (const stream of Object.values(streams)) stream.destroy()
    signal.removeEventListener('abort', stop)
  }
  // The box's first process goes after all others, which may outlive the one that started it for a moment.
  while (first !== null && processIdentity(Number((first as string).split('-')[0])) === first) await pause(1)
  const elapsed = Math.round(performance.now() - began)
  signal.throwIfAborted()
  if (group?.isOver) ended ??= 'memory'
  const output = { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }
  if (ended) return { ...output, exitCode: 137, elapsed, ended }
  if (exitCode === null) throw refused(output.stderr.toString().trim())
  return { ...output, exitCode, elapsed, ended }
}

function collect(stream: Readable, room: { left: number }, onFull: () => void): Buffer[] {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => {
    if (room.left > 0) chunks.push(chunk.subarray(0, room.left))
    room.left -= chunk.length
    if (room.left < 0) onFull()
  })
  return chunks
}

/** Looks from time to time whether a box uses more than it may, where the kernel does not bound it. */
function startLooks(
  pid: number,
  { bounds }: MachineCommand,
  { group, folder }: BoxOptions,
  end: (bound: 'memory' | 'disk') => void,
): NodeJS.Timeout {
  const freeOf = ({ bavail, bsize }: { readonly bavail: number; readonly bsize: number }) => bavail * bsize
  const before = statfs(folder).then(freeOf)
  let isLooking = false
  return setInterval(async () => {
    if (isLooking) return
    isLooking = true
    if (!group && residentBytes(pid) > bounds.memory) end('memory')
    const used = (await before) - freeOf(await statfs(folder))
    if (used > bounds.disk + SLACK && (await bytesIn(folder)) > bounds.disk + SLACK) end('disk')
    isLooking = false
  }, LOOK)
}

/** Bytes of memory of a process and all that it has started. */
function residentBytes(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ').map(Number)
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean)
    return children.reduce((sum, child) => sum + residentBytes(Number(child)), (resident - shared) * 4_096)
  } catch {
    // It has ended.
    return 0
  }
}

function bytesIn(folder: string): Promise<number> {
  return new Promise((resolve) => {
    execFile('du', ['-skx', folder], (_, stdout) => resolve(Number.parseInt(stdout, 10) * 1_024))
  })
}

/** The flag O_CLOEXEC of Linux. */
const CLOSED_ON_START = 0o2000000

/** Files of this process that another one has left open to all that it starts: a box gets the empty file for them. */
let inherited: (number | null)[] | null = null

function inheritedAsNull(): readonly (number | null)[] {
  if (inherited) return inherited
  inherited = []
  let empty: number | null = null
  for (const name of readdirSync('/proc/self/fd')) {
    const number = Number(name)
    if (number < FIRST_INHERITED || !isInherited(number)) continue
    empty ??= openSync('/dev/null', 'r')
    while (inherited.length <= number - FIRST_INHERITED) inherited.push(null)
    inherited[number - FIRST_INHERITED] = empty
  }
  return inherited
}

function isInherited(number: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_START) === 0
  } catch {
    return false
  }
}

export const INSTALL =
  'A machine of this computer needs bubblewrap 0.8 or later: apt-get install bubblewrap, or dnf install bubblewrap.'

function refused(said: string): MachineError {
  const help = /namespace|uid map|Operation not permitted/.test(said)
    ? ' It needs user namespaces: in a container, allow them (docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined); on Ubuntu, sysctl kernel.apparmor_restrict_unprivileged_userns=0; on Debian, sysctl kernel.unprivileged_userns_clone=1.'
    : /[Uu]nknown option/.test(said)
      ? ` ${INSTALL}`
      : ''
  return new MachineError('machine-refused', `bubblewrap could not make a box: ${said || 'it was ended'}.${help}`)
}
