import { parentPort, workerData } from 'node:worker_threads'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { loadToReplay } from '@episodic/mcp-server/internal'
import { loadWorld } from '@episodic/play/worlds/world'
import { type JsonObject, parseSealedRecord, type SealedRecord } from '@episodic/protocol'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { replayStates, unavailable } from './replay-states.ts'

// The code of a thread that replays episodes of one run, one after another: the rules of a world may take any time, and
// may never end.

export interface StatesData {
  /** Answered in their order, with a message each. */
  readonly lines: readonly string[]
  /** The lines that they go on from. */
  readonly origins: readonly string[]
  /** Modules or folders of worlds that may be the one of the episode, the likeliest first. */
  readonly worlds: readonly string[]
  /** What the environment of the run was made of, as the run keeps it; `null` if it keeps nothing. */
  readonly madeOf: JsonObject | null
}

const { lines, origins: earlier, worlds, madeOf } = workerData as StatesData
const origins = new Map(earlier.map((line) => JSON.parse(line) as SealedRecord).map((line) => [line.seal ?? '', line]))

async function computeStates(line: string): Promise<EpisodeStates> {
  const parsed = parseSealedRecord(JSON.parse(line))
  if (!parsed.success) return unavailable(`The line is not a sealed episode: ${parsed.error.issues[0]?.message}`)
  const { name, version } = parsed.data.environment
  const others: string[] = []
  for (const world of worlds) {
    let environment: EnvironmentDefinition
    try {
      environment = (await loadToReplay(name, madeOf, () => loadWorld(world))).environment
    } catch (error) {
      others.push((error as Error).message)
      continue
    }
    if (environment.name === name && environment.version === version)
      return replayStates(environment, parsed.data, origins)
    others.push(`${world} is ${environment.name} ${environment.version}.`)
  }
  return unavailable([`There is no world ${name} ${version} to replay this episode with.`, ...others].join(' '))
}

for (const line of lines)
  parentPort?.postMessage(
    await computeStates(line).catch((error: Error) => unavailable(`The episode cannot be replayed: ${error.message}`)),
  )
