import { loadWorld } from '@episodic/play/worlds/world'
import { formatTable } from '@episodic/run/base/align-columns'
import type { Console } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { type Matrix, type MatrixCell, runMatrix } from '../../evaluate/replay/run-matrix.ts'

const EXAMPLES = ['number-guessing', 'frozen-lake', 'warehouse']
/** A replay should be this many times as fast as recording over HTTP. */
const RATIO_WANTED = 20

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
  const { cells, skipped, recording, replaying } = matrix
  for (const cell of skipped) console.err.write(`${settingOf(cell)}: skipped, ${cell.reason}\n`)
  const differingEpisodes = cells.reduce((sum, cell) => sum + cell.differingEpisodes, 0)
  const ratio = replaying.stepsPerSecond / recording.stepsPerSecond
  if (options.json) {
    const ok = differingEpisodes === 0
    const sums = { differingEpisodes, ratio, ratioAsked: RATIO_WANTED }
    const { episodes } = options
    console.out.write(
      `${JSON.stringify({ name: 'replay-matrix', ok, episodes, worlds: references, ...sums, ...matrix })}\n`,
    )
  } else console.out.write(formatMatrix(matrix, ratio))
  if (differingEpisodes > 0)
    throw new HarnessError(
      'replay-diverged',
      `${differingEpisodes} episodes differ from what the rules alone play, or from those of the first setting.`,
    )
}

function formatMatrix({ cells, recording, replaying }: Matrix, ratio: number): string {
  const rows = cells.map(({ store, transport, concurrency, episodes, steps, seconds, differingEpisodes }) =>
    [store, transport, concurrency, episodes, steps, Math.round(steps / seconds), differingEpisodes].map(String),
  )
  return `${formatTable([['store', 'transport', 'in flight', 'episodes', 'steps', 'steps/s', 'differing'], ...rows])}

  recorded over HTTP  ${Math.round(recording.stepsPerSecond)} steps/s, ${recording.concurrency} in flight
  replayed            ${Math.round(replaying.stepsPerSecond)} steps/s, ${ratio.toFixed(1)} times as fast (target: ${RATIO_WANTED})
`
}

function settingOf({ store, transport, concurrency }: Pick<MatrixCell, 'store' | 'transport' | 'concurrency'>): string {
  return `${store}, ${transport}, ${concurrency} in flight`
}

function lineOf(cell: MatrixCell): string {
  const { episodes, steps, seconds, differingEpisodes, field } = cell
  const differs = field === null ? '' : `, first in ${field}`
  return `${settingOf(cell)}: ${episodes} episodes, ${steps} steps in ${seconds.toFixed(1)} s, ${differingEpisodes} differ${differs}`
}
