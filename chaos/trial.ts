import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { createRng, type Rng } from '@episodic/protocol'

/** What a program has to work with. */
export interface Trial {
  /**
   * Draws every fault and every move. The same seed draws the same ones; what the machine makes of their order is its
   * own.
   */
  readonly rng: Rng
  /** For processes that draw what is theirs. */
  readonly seed: string
  /** A few seconds of the same, instead of the whole. */
  readonly quick: boolean
  /** What was given on the command line, besides `--seed` and `--quick`. */
  readonly options: Readonly<Record<string, string | undefined>>
  /** A folder of its own, removed afterwards. */
  readonly folder: string
  /** What is disposed of when the trial is over, however it ends: processes above all. */
  readonly stack: AsyncDisposableStack
}

/** What a program found: its figures, and every way in which an invariant was broken. */
export interface Outcome {
  readonly breaches: readonly string[]
  readonly figures: Readonly<Record<string, unknown>>
}

/** How many breaches are shown; after the first few, they repeat. */
const SHOWN = 10

/**
 * Runs a program, prints the one line of JSON that it ends with, and sets the exit status: 0 if every invariant held.
 *
 * `options` names what it takes besides `--seed` and `--quick`, with defaults.
 */
export async function runTrial(
  name: string,
  options: Readonly<Record<string, string>>,
  run: (trial: Trial) => Promise<Outcome>,
): Promise<void> {
  const { seed, quick, ...given } = readOptions(name, options)
  const folder = mkdtempSync(join(tmpdir(), `episodic-chaos-${name}-`))
  let outcome: Outcome
  const began = performance.now()
  try {
    await using stack = new AsyncDisposableStack()
    const interrupted = Promise.withResolvers<never>()
    const interrupt = () => interrupted.reject(new Error('Interrupted.'))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
    const trial = { rng: createRng(seed), seed, quick, options: given, folder, stack }
    outcome = await Promise.race([run(trial), interrupted.promise])
  } catch (cause) {
    console.error(cause)
    outcome = { breaches: [`The program failed: ${cause instanceof Error ? cause.message : cause}`], figures: {} }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const { breaches, figures } = outcome
  const seconds = Math.round((performance.now() - began) / 100) / 10
  for (const breach of breaches.slice(0, SHOWN)) console.error(`broken: ${breach}`)
  if (breaches.length > SHOWN) console.error(`… and ${breaches.length - SHOWN} more.`)
  const ok = breaches.length === 0
  if (!ok) console.error(`To replay it: pnpm chaos ${name} ${replayOptions(given, seed, quick)}`)
  console.log(JSON.stringify({ name, ok, seed, ...given, ...figures, broken: breaches.length, seconds }))
  // What the trial started is gone; a socket or a timer that somebody forgot does not keep the process.
  process.exit(ok ? 0 : 1)
}

function readOptions(name: string, options: Readonly<Record<string, string>>) {
  const known: ParseArgsOptionsConfig = {
    seed: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    ...Object.fromEntries(Object.entries(options).map(([key, value]) => [key, { type: 'string', default: value }])),
  }
  try {
    return parseArgs({ options: known }).values as { seed: string; quick: boolean } & Record<string, string>
  } catch (cause) {
    console.error(`${(cause as Error).message} pnpm chaos ${name} takes: --${Object.keys(known).join(', --')}.`)
    process.exit(2)
  }
}

function replayOptions(given: Trial['options'], seed: string, quick: boolean): string {
  const words = Object.entries(given).map(([key, value]) => `--${key} ${value}`)
  return [...words, `--seed ${seed}`, ...(quick ? ['--quick'] : [])].join(' ')
}
