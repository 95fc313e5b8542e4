import { loadWorld } from '@episodic/play/worlds/world'
import { formatTable } from '@episodic/run/base/align-columns'
import type { Console } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { type Matrix, type MatrixCell, runMatrix } from '../../evaluate/replay/run-matrix.ts'

const EXAMPLES = ['number-guessing', 'frozen-lake', 'warehouse']
interface MatrixOptions {
  readonly world: readonly string[]
  readonly episodes: number
  readonly json?: boolean | undefined
}

/** `episodic replay --matrix`: checks that records do not depend on how they are played. Throws `replay-diverged`. */
export async function replayMatrix(options: MatrixOptions, console: Console): Promise<void> {
  const references = options.world.length > 0 ? options.world : EXAMPLES
  const worlds = await Promise.all(
    references.map(async (reference) => ({ reference, world: await loadWorld(reference) })),
  )
  if (options.episodes < worlds.length)
    throw invalidOption(
      `--episodes ${options.episodes} is too few: give at least ${worlds.length}, one for each world.`,
    )
  const matrix = await runMatrix(worlds, options.episodes, (cell) => console.err.write(`${lineOf(cell)}\n`))
  const { cells, skipped } = matrix
  for (const cell of skipped) console.err.write(`${settingOf(cell)}: skipped, ${cell.reason}\n`)
  const differingEpisodes = cells.reduce((sum, cell) => sum + cell.differingEpisodes, 0)
  if (options.json) {
    const ok = differingEpisodes === 0
    const asked = { name: 'replay-matrix', ok, episodes: options.episodes, worlds: references }
    console.out.write(`${JSON.stringify({ ...asked, differingEpisodes, ...matrix })}\n`)
  } else console.out.write(formatMatrix(matrix))
  if (differingEpisodes > 0)
    throw new HarnessError(
      'replay-diverged',
      `${differingEpisodes} episodes differ from what the rules alone play, or from those of the first setting.`,
    )
}

function formatMatrix({ cells }: Matrix): string {
  const rows = cells.map(({ store, transport, concurrency, episodes, steps, seconds, differingEpisodes }) =>
    [store, transport, concurrency, episodes, steps, Math.round(steps / seconds), differingEpisodes].map(String),
  )
  return `${formatTable([['store', 'transport', 'in flight', 'episodes', 'steps', 'steps/s', 'differing'], ...rows])}\n`
}

function settingOf({ store, transport, concurrency }: Pick<MatrixCell, 'store' | 'transport' | 'concurrency'>): string {
  return `${store}, ${transport}, ${concurrency} in flight`
}

function lineOf(cell: MatrixCell): string {
  const { episodes, steps, seconds, differingEpisodes, field } = cell
  const differs = field === null ? '' : `, first in ${field}`
  return `${settingOf(cell)}: ${episodes} episodes, ${steps} steps in ${seconds.toFixed(1)} s, ${differingEpisodes} differ${differs}`
}
