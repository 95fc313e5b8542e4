import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  chainOf,
  type EpisodeRecord,
  isMatchRecord,
  type MatchRecord,
  parseSealedRecord,
  type SealedRecord,
  sealOf,
} from '@episodic/protocol'
import { main } from './main.ts'
import { listeningSchema } from './serve/start-server.ts'

/** The command's entry. */
export const CLI = fileURLToPath(new URL('../cli.ts', import.meta.url))

/** The folder of one of the example worlds. */
export function exampleWorld(name: string): string {
  return fileURLToPath(new URL(`../../../../examples/${name}`, import.meta.url))
}

/**
 * A module that exports a world of one toss, with neither potential nor tasks of its own. It imports by address, so
 * that it may lie anywhere.
 */
export const COIN_WORLD = `
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
export const environment = defineEnvironment({
  name: 'coin',
  version: '1.0.0',
  description: 'Call a coin.',
  params: z.object({}),
  state: { public: z.object({ tossed: z.boolean() }), private: z.object({ heads: z.boolean() }) },
  start: ({ rng }) => ({ public: { tossed: false }, private: { heads: rng.chance(0.5) } }),
  observe: () => 'Heads or tails?',
  tools: ({ tool }) => ({
    toss: tool({
      description: 'Call it.',
      input: z.object({ heads: z.boolean() }),
      output: z.object({}),
      play({ state, input, end, reveal, say }) {
        state.public.tossed = true
        end(reveal(input.heads === state.private.heads) ? 'right' : 'wrong')
        return say('It fell.', {})
      },
    }),
  }),
  rewards: { right: ({ end }) => (end?.reason === 'right' ? 1 : 0) },
})
`

/** A folder of a test's own, which is also the home of its tokens. */
export interface Workshop extends Disposable {
  readonly folder: string
  /** The real command as a child process, in that folder. */
  start(args: readonly string[], options?: StartOptions): Started
  /** The same, to its end. */
  run(args: readonly string[], options?: StartOptions): Promise<Ended>
  /**
   * The command in this process, to its end: as `run`, in a tenth of the time. Modules that it imports stay loaded.
   * Only one runs at a time, since it has the working folder, the environment and the exit code of the process.
   */
  main(args: readonly string[], options?: { readonly env?: Readonly<Record<string, string>> }): Promise<Ended>
  /** A server that listens. */
  serve(args: readonly string[], options?: StartOptions): Promise<Serving>
  /** Kills all that was started and has not ended. Resolves when it has. */
  killAll(): Promise<void>
}

interface StartOptions {
  /** What it reads; without it, standard input is empty. */
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  /** A program and arguments to put in front of the command. */
  readonly under?: readonly string[]
}

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

export interface Started {
  readonly pid: number
  readonly ended: Promise<Ended>
  /** Resolves with the match once what it has written to either stream matches; rejects if it ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  /** Sends SIGINT to the command and its process group, as Ctrl-C in a terminal does. */
  interrupt(): void
}

export interface Serving extends Started {
  readonly url: string
  readonly agentUrl: string
  readonly tokenFile: string
}

export function openWorkshop(): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const running = new Set<Started>()

  function start(args: readonly string[], { input, env, under = [] }: StartOptions = {}): Started {
    const [program = '', ...rest] = [...under, process.execPath, CLI, ...args]
    const child = spawn(program, rest, {
      cwd: folder,
      // A group of its own, so that a test can press Ctrl-C on it and not on the test.
      detached: true,
      env: { ...process.env, NO_COLOR: '', FORCE_COLOR: '', EPISODIC_HOME: home, ...env },
    })
    let [out, err] = ['', '']
    let written = Promise.withResolvers<void>()
    const notify = () => {
      written.resolve()
      written = Promise.withResolvers<void>()
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      notify()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
      notify()
    })
    let over = false
    const ended = once(child, 'close').then(([status]): Ended => {
      over = true
      running.delete(started)
      notify()
      return { status, out, err }
    })
    // `serve --json` stops when its input ends, so that is left open.
    if (input !== undefined) child.stdin.end(input)
    else if (!args.includes('serve')) child.stdin.end()
    child.stdin.on('error', () => {})
    const started: Started = {
      pid: child.pid as number,
      ended,
      async until(pattern) {
        for (;;) {
          const match = pattern.exec(out) ?? pattern.exec(err)
          if (match) return match
          if (over) throw new Error(`It ended and never wrote ${pattern}:\n${out}\n${err}`)
          await written.promise
        }
      },
      kill: (signal) => void child.kill(signal),
      interrupt: () => void process.kill(-(child.pid as number), 'SIGINT'),
    }
    running.add(started)
    return started
  }

  return {
    folder,
    start,
    run: (args, options) => start(args, options).ended,
    main: (args, { env } = {}) => runHere(args, folder, { NO_COLOR: '', FORCE_COLOR: '', EPISODIC_HOME: home, ...env }),
    async serve(args, options) {
      const started = start(['serve', ...args, '--port', '0', '--json'], options)
      const [line] = await started.until(/^\{"agentUrl".*\}$/m)
      const { trainerUrl, agentUrl, tokenFile } = listeningSchema.parse(JSON.parse(line))
      return { ...started, url: trainerUrl, agentUrl, tokenFile }
    },
    async killAll() {
      const killed = [...running]
      for (const started of killed) started.kill('SIGKILL')
      await Promise.all(killed.map(({ ended }) => ended))
    },
    [Symbol.dispose]() {
      for (const started of running) started.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

let lastHere: Promise<unknown> = Promise.resolve()

function runHere(args: readonly string[], folder: string, env: Readonly<Record<string, string>>): Promise<Ended> {
  const ended = lastHere.then(async () => {
    const [cwd, argv, before, exitCode] = [process.cwd(), process.argv, { ...process.env }, process.exitCode]
    const [out, err] = [captureStream(), captureStream()]
    process.chdir(folder)
    process.argv = [process.execPath, CLI, ...args]
    Object.assign(process.env, env)
    process.exitCode = undefined
    try {
      const code = await main(args, { out: out.stream, err: err.stream })
      return { status: code || Number(process.exitCode ?? 0), out: out.text(), err: err.text() }
    } finally {
      process.chdir(cwd)
      process.argv = argv
      for (const name of Object.keys(env)) delete process.env[name]
      Object.assign(process.env, before)
      process.exitCode = exitCode
    }
  })
  lastHere = ended.catch(() => {})
  return ended
}

/** A stream that is not a terminal and keeps what is written to it. */
function captureStream(): { readonly stream: NodeJS.WriteStream; text(): string } {
  const chunks: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => chunks.join('') }
}

/** Returns the sealed episodes of a run, in the order of their lines. Throws if a line is not a valid episode. */
export function readEpisodes(folder: string): EpisodeRecord[] {
  return readLines(folder).map((record) => {
    if (isMatchRecord(record)) throw new Error(`${folder} holds a match.`)
    return record
  })
}

/** Returns the sealed matches of a run of several seats. Throws if a line is not a valid match. */
export function readMatches(folder: string): MatchRecord[] {
  return readLines(folder).map((record) => {
    if (!isMatchRecord(record)) throw new Error(`${folder} holds an episode of one seat.`)
    return record
  })
}

function readLines(folder: string): SealedRecord[] {
  const text = readFileSync(join(folder, 'episodes.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseLine(JSON.parse(line)))
}

/** Returns an edited line with its chain and its seal computed again, as a forger can do too. */
export function sealAgain(record: EpisodeRecord): EpisodeRecord {
  const { seal: _, ...line } = { ...record, chain: chainOf(record) }
  return { ...line, seal: sealOf(line) }
}

/** Parses a line of a run. Throws if it is not a valid one. */
export function parseLine(json: unknown): SealedRecord {
  const parsed = parseSealedRecord(json)
  if (parsed.success) return parsed.data
  throw parsed.error
}

/**
 * Returns what two runs of a configuration have in common: everything except times, the run's name and the order of
 * lines.
 */
export function withoutTimes(records: readonly EpisodeRecord[]): unknown[] {
  return records
    .map(({ time: _, run: __, seal: ___, steps, ...record }) => ({
      ...record,
      steps: steps.map(({ milliseconds: _, ...step }) => step),
    }))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

/** Names an episode. */
export function nameOf({ task, attempt }: { task: { id: string }; attempt: number }): string {
  return `${task.id} ${attempt}`
}
