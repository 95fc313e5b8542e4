/**
 * A fake of Docker's command line, without a daemon: `info`, `image inspect`, `run`, `kill`, `ps` and `rm`, with the
 * options that `docker --help` of version 28 lists. A container is a box of bubblewrap with the programs of this
 * machine, as the image `tiny:1`, and memory bounded by a control group.
 *
 * It keeps its containers in the folder `FAKE_DOCKER`. A file `down` there makes it answer as without a daemon, and a
 * file `lose` loses the connection of the next container once that has begun: it runs on, and the program ends with 1.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { Pipes } from './pipes.ts'

interface Container {
  readonly pid: number
  readonly labels: readonly string[]
}

const folder = process.env.FAKE_DOCKER ?? ''
const [, , command = '', ...rest] = process.argv

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
const LIST = { type: 'string', multiple: true } as const

/** Where control groups are, of the second version and the first. */
const ROOTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/pids']

/** Options of each command that the driver gives. Others are refused, as by the real one. */
const OPTIONS = {
  info: { format: TEXT },
  image: { format: TEXT },
  kill: { signal: TEXT },
  rm: { force: FLAG },
  ps: { all: FLAG, quiet: FLAG, filter: LIST },
  run: {
    ...{ rm: FLAG, interactive: FLAG, pull: TEXT, name: TEXT, label: LIST, 'log-driver': TEXT, hostname: TEXT },
    ...{ 'read-only': FLAG, 'cap-drop': LIST, 'security-opt': LIST, user: TEXT, workdir: TEXT, userns: TEXT },
    ...{ network: TEXT, memory: TEXT, 'memory-swap': TEXT, 'pids-limit': TEXT, tmpfs: LIST, mount: LIST, env: LIST },
    entrypoint: TEXT,
  },
}

if (!(command in OPTIONS)) fail(1, `docker: unknown command: docker ${command}`)
if (existsSync(join(folder, 'down')))
  fail(1, 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?')
const own = command === 'image' ? rest.slice(1) : rest
// What comes after the image is the container's.
const until = command === 'run' ? own.indexOf('tiny:1') : own.length
if (until < 0) fail(125, 'docker: Error response from daemon: No such image: other:1')
const { values, positionals } = read(own.slice(0, until))

if (command === 'info') say(JSON.stringify({ ServerVersion: '28.0.0', SecurityOptions: ['name=seccomp'] }))
else if (command === 'image') {
  if (positionals[0] !== 'tiny:1') fail(1, `Error response from daemon: No such image: ${positionals[0]}`)
  say('sha256:0')
} else if (command === 'ps') {
  const wanted = (values.filter as string[]).map((each) => each.replace(/^label=/, ''))
  for (const [name, { labels }] of containers()) if (wanted.every((each) => labels.includes(each))) say(name)
} else if (command === 'kill' || command === 'rm') {
  for (const name of positionals) {
    const found = containers().get(name)
    if (!found) fail(1, `Error response from daemon: No such container: ${name}`)
    end(name, found)
  }
} else await run(own.slice(until + 1))

function containers(): Map<string, Container> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return new Map(
    files.flatMap((file): [string, Container][] => {
      const [name, text] = [file.slice(0, -5), readFileSync(join(folder, file), 'utf8')]
      return [[name, JSON.parse(text) as Container]]
    }),
  )
}

function end(name: string, { pid }: Container): void {
  try {
    // The first process of the box is bubblewrap's child, and all others go with it.
    const inner = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean)
    for (const each of [...inner, pid]) process.kill(Number(each), 'SIGKILL')
  } catch {
    // It has ended.
  }
  remove(name)
}

function remove(name: string): void {
  for (const file of [`${name}.json`, `pipe-${name}-out`, `pipe-${name}-err`])
    rmSync(join(folder, file), { force: true })
  for (const root of ROOTS)
    try {
      rmdirSync(join(root, `docker-${name}`))
    } catch {
      // It is not there, or its last process is just ending.
    }
}

async function run(argv: readonly string[]): Promise<void> {
  const isRoot = process.getuid?.() === 0
  const given = values as Record<string, string> & { mount: string[]; env: string[]; tmpfs: string[]; label: string[] }
  const [user = '0'] = (given.user ?? '').split(':')
  const { name = '' } = given
  // Bubblewrap's own is in it too.
  const processes = boundBy(name, 'pids.max', Number(given['pids-limit']) + 1)
  const memory = Number(given.memory)
  const group = boundBy(name, 'memory.max', memory) ?? boundBy(name, 'memory.limit_in_bytes', memory)
  const mounts = given.mount.flatMap((line) => {
    const fields = Object.fromEntries(line.split(',').map((field) => field.split('=')))
    return ['readonly' in fields ? '--ro-bind' : '--bind', fields.source, fields.target]
  })
  const system = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc'].flatMap((path) => ['--ro-bind-try', path, path])
  const pipes = await Pipes.create(join(folder, `pipe-${given.name}`))
  const streams = pipes.open(await buffer(process.stdin), isRoot ? Number(user) : null)
  // In its group before anything of it runs, and as its user after the box was made.
  const groups = [group, processes].filter((each) => each !== null)
  const begin = `${groups.map((each) => `echo 0 > ${each}/cgroup.procs; `).join('')}exec "$@"`
  const become = ['setpriv', '--reuid', user, '--regid', user, '--clear-groups', '--bounding-set=-all']
  const box = spawn(
    'sh',
    [
      ...['-c', begin, 'sh', 'bwrap', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--clearenv', '--as-pid-1'],
      ...['--hostname', given.hostname ?? 'box', ...(given.network === 'none' ? ['--unshare-net'] : [])],
      ...(isRoot ? [] : ['--unshare-user', '--uid', user, '--gid', user]),
      ...[...system, '--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/dev/shm'],
      ...given.tmpfs.flatMap((each) => ['--perms', '1777', '--tmpfs', each.split(':')[0] as string]),
      ...mounts,
      ...['/sys', '/sys/fs', '/sys/fs/cgroup'].flatMap((path) => ['--perms', '0755', '--dir', path]),
      ...(group ? ['--ro-bind', group, '/sys/fs/cgroup/memory'] : []),
      ...given.env.flatMap((each) => ['--setenv', each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
      ...['--remount-ro', '/', '--chdir', given.workdir ?? '/', '--'],
      ...(processes ? [] : ['prlimit', `--nproc=${given['pids-limit']}`, '--']),
      ...[...(isRoot ? become : []), given.entrypoint ?? 'sh', ...argv],
    ],
    { detached: true, stdio: [...streams.ofCommand] },
  )
  streams.release()
  streams.stdout.pipe(process.stdout)
  streams.stderr.pipe(process.stderr)
  const { pid = 0 } = box
  const file = join(folder, `${given.name}.json`)
  writeFileSync(`${file}.new`, JSON.stringify({ pid, labels: given.label }))
  renameSync(`${file}.new`, file)
  if (existsSync(join(folder, 'lose')))
    streams.stderr.once('data', () => {
      rmSync(join(folder, 'lose'), { force: true })
      fail(1, 'error waiting for container: unexpected EOF')
    })
  const printed = [streams.stdout, streams.stderr].map((stream) => once(stream, 'close'))
  box.on('close', async (code) => {
    await Promise.all(printed)
    remove(given.name as string)
    process.exitCode = code ?? 137
  })
}

/** Returns the folder of a control group with a bound, such as `pids.max`; `null` where none may be created. */
function boundBy(name: string, file: string, value: number): string | null {
  for (const root of ROOTS)
    try {
      if (!existsSync(join(root, 'cgroup.procs'))) continue
      const group = join(root, `docker-${name}`)
      mkdirSync(group, { recursive: true })
      if (!existsSync(join(group, file))) continue
      writeFileSync(join(group, file), String(value))
      return group
    } catch {
      // It may not.
    }
  return null
}

function read(args: readonly string[]) {
  try {
    const options = OPTIONS[command as keyof typeof OPTIONS]
    return parseArgs({ args: [...args], options, allowPositionals: true }) as {
      values: Record<string, unknown>
      positionals: string[]
    }
  } catch (error) {
    return fail(125, `unknown flag: ${(error as Error).message}`)
  }
}

function fail(code: number, message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
