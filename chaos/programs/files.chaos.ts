/** A run's files, with the run killed at each of its first changes to them, and on a disk that fills up. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EpisodeRecord, parseSealedRecord } from '@episodic/protocol'
import { countsHold } from '../oracles/oracle.ts'
import { type CrashPoint, crashAt, eachUpTo, visitAll } from '../processes/crash.ts'
import { CLI } from '../processes/server.ts'
import { runTrial } from '../trial.ts'

/** The second one has large states, of which no file of a run holds anything but hashes. */
const WORLDS = [
  fileURLToPath(import.meta.resolve('@episodic-world/number-guessing')),
  fileURLToPath(new URL('../worlds/ledger-world.ts', import.meta.url)),
] as const
const SETTINGS = ['run.json']
const LINES = ['episodes.jsonl']
const FIGURES = ['summary.json', 'report.html']
/** Kills a run where it is about to give a file its name: strace cannot know the name of its draft. */
const KILL_AT_RENAME = new URL('../../packages/run/src/lib/folder/record/kill-at-rename.fixture.ts', import.meta.url)
  .href

interface Change extends Omit<Required<CrashPoint>, 'paths'> {
  readonly files: readonly string[]
}

/** The changes that a run makes to its files, in order, as `strace` counts them. */
function changesOf(episodes: number): Change[] {
  return [
    // Each was written under the name of a draft, which nobody knows before.
    { files: SETTINGS, call: 'rename', point: 1 },
    { files: LINES, call: 'ftruncate', point: 1 },
    ...eachUpTo(episodes).map((point) => ({ files: LINES, call: 'write', point })),
    { files: FIGURES, call: 'rename', point: 1 },
    { files: FIGURES, call: 'rename', point: 2 },
  ]
}

/** The size of the disk that fills up. */
const DISK_KIB = 256
/** Bytes that a crash may tear off, at most: some lines and a part of one. */
const TORN = 3_000

await runTrial('files', {}, async ({ rng, quick, folder }) => {
  const env = {
    EPISODIC_HOME: folder,
    // One thread makes the changes that the main thread does not make.
    UV_THREADPOOL_SIZE: '1',
  }
  const runIn = (out: string, tasks: number, world: string = WORLDS[0]) => {
    const args = [CLI, 'run', world, '--tasks', String(tasks), '--concurrency', '1', '--out', out]
    return { args, resumed: () => finish(process.execPath, [...args, '--resume'], { cwd: folder, env }) }
  }
  const tasks = quick ? 30 : 220
  const wholes: (readonly string[])[] = []
  for (const [i, world] of WORLDS.entries()) {
    await finish(process.execPath, runIn(`undisturbed-${i}`, tasks, world).args, { cwd: folder, env })
    wholes.push(played(join(folder, `undisturbed-${i}`)))
  }

  const breaches: string[] = []
  let killed = 0
  const changes = changesOf(tasks)
  const points = quick ? changes.filter((_, i) => i % 7 === 1) : changes
  const tears = rng.stream('tears')
  let visited = 0
  await visitAll(points, async ({ files, call, point }) => {
    const which = visited++ % WORLDS.length
    const whole = wholes[which] as readonly string[]
    const name = `${call} ${point} of ${files[0]}`
    const out = `killed-${name.replaceAll(' ', '-')}`
    const path = join(folder, out)
    const { args, resumed } = runIn(out, tasks, WORLDS[which])
    const killedAt = { ...env, NODE_OPTIONS: `--import ${KILL_AT_RENAME}`, KILLED_AT: files[point - 1] ?? '' }
    const crashed =
      call === 'rename'
        ? { killed: (await ended(process.execPath, args, { cwd: folder, env: killedAt })).status !== 0 }
        : await crashAt({ paths: files.map((file) => join(path, file)), call, point }, process.execPath, args, {
            cwd: folder,
            env,
          })
    if (!crashed.killed) return void breaches.push(`The run made no ${name}.`)
    killed += 1
    const tear = point % 2 === 0 ? tears.int(1, TORN) : 0
    const kept = tearOff(join(path, 'episodes.jsonl'), tear)
    // Before the run is written down there is nothing to resume: it begins.
    await (existsSync(join(path, 'run.json')) ? resumed() : finish(process.execPath, args, { cwd: folder, env }))
    for (const breach of wrongWith(path, whole, kept))
      breaches.push(`Killed at ${name}, ${tear} bytes torn off: ${breach}`)
  })

  const tooMany = 440
  const large = runIn('large', tooMany)
  await finish(process.execPath, large.args, { cwd: folder, env })
  const full = await fillDisk(runIn('disk/run', tooMany).args, { cwd: folder, env })
  for (const breach of [...full.breaches, ...wrongWith(join(folder, 'copy'), played(join(folder, 'large')), full.kept)])
    breaches.push(`With room for ${DISK_KIB} KiB: ${breach}`)
  return {
    breaches,
    figures: {
      points: points.length,
      killed,
      episodes: wholes[0]?.length,
      ofLargeStates: wholes[1]?.length,
      fullAfter: full.kept.split('\n').length - 1,
      filled: full.by,
    },
  }
})

interface Setting {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs a program to its end. Rejects if it fails. */
async function finish(command: string, args: readonly string[], setting: Setting): Promise<void> {
  const { status, err } = await ended(command, args, setting)
  if (status !== 0) throw new Error(`${args.slice(1).join(' ')} ended with ${status}: ${err}`)
}

function ended(
  command: string,
  args: readonly string[],
  { cwd, env }: Setting,
): Promise<{ status: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1_048_576 }, (error, out, err) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? 1), out, err }),
    )
  })
}

/** Tears bytes off the end of a file, and gives what is left of it in whole lines. */
function tearOff(file: string, bytes: number): string {
  if (!existsSync(file)) return ''
  const { length } = readFileSync(file)
  truncateSync(file, Math.max(0, length - bytes))
  const text = readFileSync(file, 'utf8')
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

/** What is wrong with a run that was resumed, beside one that was left alone: nothing, unless the promise is broken. */
function wrongWith(path: string, whole: readonly string[], kept: string): string[] {
  const breaches: string[] = []
  try {
    const file = readFileSync(join(path, 'episodes.jsonl'), 'utf8')
    if (!file.startsWith(kept)) breaches.push('sealed lines were changed.')
    const again = played(path)
    if (new Set(again).size !== again.length) breaches.push('O4 an episode is sealed twice.')
    if (again.join('\n') !== whole.join('\n')) breaches.push('what was played differs from an undisturbed run.')
    const { counts } = JSON.parse(readFileSync(join(path, 'summary.json'), 'utf8'))
    if (!countsHold(counts) || counts.unresolved !== 0) breaches.push(`O4 the counts are ${JSON.stringify(counts)}.`)
  } catch (error) {
    breaches.push(`it cannot be read: ${error}`)
  }
  return breaches
}

/**
 * Every line of a run, parsed, without times and names, in the order of tasks. Throws for a line that is not an
 * episode.
 */
function played(path: string): string[] {
  return readFileSync(join(path, 'episodes.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map(parseEpisode)
    .map(withoutTimes)
    .sort()
}

/** Parses a line of a run of one seat. */
function parseEpisode(line: string): EpisodeRecord {
  const parsed = parseSealedRecord(JSON.parse(line))
  if (!parsed.success) throw parsed.error
  return parsed.data as EpisodeRecord
}

function withoutTimes({ time: _, run: __, seal: ____, steps, ...record }: EpisodeRecord): string {
  return JSON.stringify({ ...record, steps: steps.map(({ milliseconds: ___, ...step }) => step) })
}

/** The result of a run on a disk that is too small. */
interface Filled {
  readonly breaches: readonly string[]
  /** The lines that were sealed when the disk was full. */
  readonly kept: string
  /**
   * `disk` if one could be mounted; otherwise `limit`: the size of files was limited, which fails in the same places.
   */
  readonly by: 'disk' | 'limit'
}

/** Runs with too little disk space, adds space, and resumes; the resumed run is then in `copy` in the folder. */
async function fillDisk(args: readonly string[], { cwd, env }: Setting): Promise<Filled> {
  const mount = `mount -t tmpfs -o size=${DISK_KIB}k chaos disk`
  const namespaces = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
  mkdirSync(join(cwd, 'disk'))
  const canMount = (await ended('unshare', [...namespaces, 'sh', '-c', mount], { cwd, env })).status === 0
  // A limit is in blocks of 512 bytes, and holds for the first run alone.
  const [prepare, first, enlarge] = canMount
    ? [mount, '"$0" "$@"', 'mount -o remount,size=64m disk']
    : ['true', `(ulimit -f ${DISK_KIB * 2}; exec "$0" "$@")`, 'true']
  const script = `
    ${prepare} || exit 97
    ${first}; status=$?
    cp disk/run/episodes.jsonl kept.jsonl
    ${enlarge} || exit 97
    "$0" "$@" --resume || exit 98
    cp -r disk/run copy
    exit $status`
  const [command, ...before] = canMount ? ['unshare', ...namespaces, 'sh'] : ['sh']
  const { status, err } = await ended(command as string, [...before, '-c', script, process.execPath, ...args], {
    cwd,
    env,
  })
  const kept = readFileSync(join(cwd, 'kept.jsonl'), 'utf8')
  const breaches: string[] = []
  if (status === 98) breaches.push(`the run does not resume with room: ${err}`)
  if (status === 0) breaches.push('the run ended well, though its disk was full.')
  if (!err.includes('--resume')) breaches.push(`it did not say how to go on: ${err}`)
  if (kept !== '' && !kept.endsWith('\n')) breaches.push('its last line is torn.')
  return { breaches, kept, by: canMount ? 'disk' : 'limit' }
}
