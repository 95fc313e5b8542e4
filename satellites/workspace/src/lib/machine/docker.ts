import { execFile, spawn } from 'node:child_process'
import { basename } from 'node:path'
import { monotonic } from '@episodic/protocol/internal'
import type { BoxResult } from './box.ts'
import { variablesOf } from './box-view.ts'
import { type Machine, type MachineCommand, MachineError } from './machine.ts'
import { BoxLost, createSessionMachine } from './session-machine.ts'
import { type CopiesOptions, openCopies, runOnCopy } from './working-copies.ts'
import type { WorkingCopy } from './working-copy.ts'

/** How commands run in containers of an image. The daemon has to see the folder of the copies as this process does. */
export interface DockerOptions extends CopiesOptions {
  /** The image, which has to be on this computer: nothing is pulled. It needs `sh`. */
  readonly image: string
  /** The program, and what it is given before all else. Default `['docker']`; `['podman']` speaks the same. */
  readonly program?: readonly [string, ...string[]]
}

const LABEL = 'episodic.owner'

/** Seconds that a container may need to start, and by which the end of a command may be late. */
const START = 60
const LATE = 5

/** Processes of a container that are not the command's: the shell, and what bounds the time without this process. */
const OWN_PROCESSES = 4

/** Begins what the container says of itself on standard error, before and after the command; and its most bytes. */
const MARK = '\u0001'
const MOST_SAID = 100

/**
 * The first process of a container. It says that the command begins, and how it has ended, which the program cannot
 * tell from its own failures; and it ends the command in time where this process was killed.
 */
const FIRST = `exec 3<&0
seconds=$1
ulimit -c 0
ulimit -n 1024
ulimit -t "$2"
shift 2
printf '\\001' >&2
"$@" <&3 3<&- &
main=$!
{ sleep "$seconds"; kill -9 -1; } > /dev/null 2>&1 < /dev/null 3<&- &
exec 3<&-
wait $main 2> /dev/null
code=$?
kill -9 -1 2> /dev/null
over=$(cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2> /dev/null | grep '^oom_kill ')
printf '\\001%s %s' $code "$over" >&2`

/**
 * Returns a machine that runs each command in a new container, by the command line of Docker or Podman, with the files
 * of the session from folders of this computer. The system is that of the image, read-only, without capabilities.
 */
export function docker(options: DockerOptions): Machine {
  const { image, program = ['docker'] } = options
  const client = createClient(basename(program[0]), program, image)
  return createSessionMachine(client.name, async () => {
    const userOf = await client.begin()
    const gone: string[] = []
    const { folder, pool } = await openCopies(options, (name) => void gone.push(name))
    await Promise.all(gone.map((name) => client.sweep(name)))
    let made = 0
    return {
      pool,
      run: (kept, command, signal, discard) =>
        runOnCopy(kept, command, discard, () => {
          made += 1
          const name = `${folder.name}-${made}`
          const named = ['--name', name, '--label', `${LABEL}=${folder.name}`]
          const args = [...named, ...userOf(kept.user ?? process.getuid?.() ?? 0), ...boxArguments(command, kept.copy)]
          return client.run(name, args, command, signal)
        }),
      close: async () => {
        await client.sweep(folder.name)
        await folder.remove()
      },
    }
  })
}

function createClient(client: string, cli: readonly [string, ...string[]], image: string) {
  return {
    name: client,
    /** Checks that containers of the image can run. Returns what gives the arguments for a user of this computer. */
    async begin(): Promise<(user: number) => string[]> {
      const info = JSON.parse(await ask('info', '--format', '{{json .}}'))
      if ((info.ServerErrors ?? []).length > 0) throw refused(info.ServerErrors.join(' '))
      await ask('image', 'inspect', '--format', '{{.Id}}', image)
      // Without a root, Podman can give a user the same number inside, and Docker's root inside is this user.
      if (info.host?.security?.rootless === true) return (user) => ['--userns', 'keep-id', '--user', `${user}:${user}`]
      if ((info.SecurityOptions ?? []).includes('name=rootless')) return () => ['--user', '0:0']
      return (user) => ['--user', `${user}:${user}`]
    },
    async sweep(owner: string): Promise<void> {
      const found = await ask('ps', '--all', '--quiet', '--filter', `label=${LABEL}=${owner}`).catch(() => '')
      for (const id of found.split(/\s+/).filter(Boolean)) await ask('rm', '--force', id).catch(() => {})
    },
    async run(name: string, args: readonly string[], command: MachineCommand, signal: AbortSignal): Promise<BoxResult> {
      const { argv, bounds, stdin } = command
      const [program, ...before] = cli
      const own = [String(bounds.seconds + LATE), String(Math.ceil(bounds.cpuSeconds))]
      const child = spawn(program, [...before, 'run', ...args, image, '-c', FIRST, 'sh', ...own, ...argv])
      let began: number | null = null
      let ended: BoxResult['ended'] = null
      let timer = setTimeout(() => child.kill('SIGKILL'), START * 1_000)
      const kill = () => {
        // One that is not there yet is ended when it says that it begins.
        if (began === null) return
        clearTimeout(timer)
        timer = setTimeout(() => child.kill('SIGKILL'), LATE * 1_000)
        void ask('kill', name).catch(() => {})
      }
      const end = (bound: NonNullable<BoxResult['ended']>) => {
        ended ??= bound
        kill()
      }
      let room = bounds.output
      const keep = (chunks: Buffer[], chunk: Buffer) => {
        if (room > 0) chunks.push(chunk.subarray(0, room + MOST_SAID))
        room -= chunk.length
        if (room < -MOST_SAID) end('output')
      }
      const [stdout, stderr, warnings]: [Buffer[], Buffer[], Buffer[]] = [[], [], []]
      child.stdout.on('data', (chunk: Buffer) => keep(stdout, chunk))
      child.stderr.on('data', (chunk: Buffer) => {
        if (began !== null) return keep(stderr, chunk)
        // What the program says itself comes before the mark.
        const mark = chunk.indexOf(MARK)
        warnings.push(chunk.subarray(0, mark < 0 ? undefined : mark))
        if (mark < 0) return
        began = monotonic()
        clearTimeout(timer)
        timer = setTimeout(() => end('time'), bounds.seconds * 1_000)
        if (signal.aborted) kill()
        keep(stderr, chunk.subarray(mark + 1))
      })
      child.stdin.on('error', () => {}).end(stdin)
      signal.addEventListener('abort', kill, { once: true })
      try {
        await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', kill)
      }
      signal.throwIfAborted()
      if (began === null) throw refused(Buffer.concat(warnings).toString())
      const elapsed = Math.round(monotonic() - began)
      const said = Buffer.concat(stderr)
      const mark = said.lastIndexOf(MARK)
      const [, code, kills] =
        /^(\d+) (?:oom_kill (\d+))?$/.exec(mark < 0 ? '' : said.toString('latin1', mark + 1)) ?? []
      const printed = { stdout: Buffer.concat(stdout), stderr: said.subarray(0, code === undefined ? undefined : mark) }
      if (Number(kills) > 0) ended ??= 'memory'
      if (printed.stdout.length + printed.stderr.length > bounds.output) ended ??= 'output'
      if (ended) return { ...printed, elapsed, exitCode: 137, ended }
      if (code !== undefined) return { ...printed, elapsed, exitCode: Number(code), ended }
      await ask('rm', '--force', name).catch(() => {})
      throw new BoxLost(`the container said no end, and ${client} ended with ${child.exitCode}.`, true)
    },
  }

  function ask(...args: readonly string[]): Promise<string> {
    const [program, ...before] = cli
    return new Promise((resolve, reject) => {
      execFile(program, [...before, ...args], (error, stdout, stderr) => {
        if (!error) resolve(stdout)
        else reject(error.code === 'ENOENT' ? missing(error) : refused(stderr || error.message))
      })
    })
  }

  function missing(cause: Error): MachineError {
    const message = `${client} is not installed: see https://docs.docker.com/engine/install, or apt-get install podman.`
    return new MachineError('machine-missing', message, { cause })
  }

  function refused(text: string): MachineError {
    const said = text.replaceAll(MARK, '').trim().slice(0, 1_000)
    if (/no such image|unable to find image|image not known/i.test(said)) {
      const message = `${client} has no image ${image}, and pulls none by itself: run ${cli.join(' ')} pull ${image}, or build it.`
      return new MachineError('machine-missing', message)
    }
    const help = /cannot connect|daemon running|permission denied.*sock|error during connect/i.test(said)
      ? ' Start the daemon, and let this user speak to it: add it to the group docker, or use podman.'
      : ''
    return new MachineError('machine-refused', `${client} could not run a container: ${said}.${help}`)
  }
}

function boxArguments(command: MachineCommand, copy: WorkingCopy): string[] {
  const { folders, readOnly, variables, network, bounds, cwd } = command
  const args = ['--rm', '--interactive', '--pull', 'never', '--log-driver', 'none', '--hostname', 'workspace']
  args.push('--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--workdir', cwd)
  args.push('--memory', String(bounds.memory), '--memory-swap', String(bounds.memory))
  args.push('--pids-limit', String(bounds.processes + OWN_PROCESSES), '--entrypoint', 'sh')
  if (!network) args.push('--network', 'none')
  for (const path of ['/tmp', '/var/tmp', '/var/cache', '/root'])
    if (!folders.includes(path)) args.push('--tmpfs', `${path}:rw,exec,mode=1777,size=${bounds.memory}`)
  for (const folder of folders) args.push('--mount', mountOf(copy.at(folder), folder, false))
  for (const path of readOnly) if (copy.hasFile(path)) args.push('--mount', mountOf(copy.at(path), path, true))
  for (const [name, value] of variablesOf(variables)) args.push('--env', `${name}=${value}`)
  return args
}

/** Returns a value of `--mount`, which is a line of comma-separated values. */
function mountOf(source: string, target: string, isReadOnly: boolean): string {
  const fields = ['type=bind', `source=${source}`, `target=${target}`, ...(isReadOnly ? ['readonly'] : [])]
  return fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')
}
