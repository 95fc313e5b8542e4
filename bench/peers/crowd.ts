import { readCpu, readResident } from '../process-tree.ts'
import { connectOpenEnv, type OpenEnvPlayer } from './open-env-player.ts'
import type { MeasuredServer } from './start-server.ts'

/** What became of many sessions that were open at once. */
export interface Crowd {
  readonly sessions: number
  /** Sessions whose episode was played to its end. */
  readonly succeeded: number
  readonly seconds: number
  readonly serverCpuSeconds: number
  /** Bytes of memory that the server had before, and when every session was in its episode. */
  readonly residentBefore: number
  readonly resident: number
}

/** Handshakes at once: a client that starts thousands in one moment is too slow to send them in time. */
const HANDSHAKES = 64

/** Opens sessions of OpenEnv, and plays an episode in each, all at once, when all of them are open. */
export async function playCrowd(
  server: MeasuredServer,
  url: string,
  headers: Readonly<Record<string, string>>,
  sessions: number,
  seconds: number,
): Promise<Crowd> {
  const signal = AbortSignal.timeout(seconds * 1_000)
  const residentBefore = readResident(server.pid)
  const cpuBefore = readCpu(server.pid)
  const began = performance.now()
  const players: OpenEnvPlayer[] = []
  const problems: unknown[] = []
  let begun = 0
  const openSome = async () => {
    while (begun < sessions)
      try {
        const seed = begun++
        const player = await connectOpenEnv(url, headers, signal)
        await player.reset(seed)
        players.push(player)
      } catch (problem) {
        problems.push(problem)
      }
  }
  await Promise.all(Array.from({ length: HANDSHAKES }, openSome))
  const resident = readResident(server.pid)
  const played = await Promise.allSettled(players.map((player) => player.playOn()))
  const took = (performance.now() - began) / 1_000
  for (const player of players) player.close()
  for (const one of played) if (one.status === 'rejected') problems.push(one.reason)
  if (problems.length > 0) console.error(`  a session failed: ${problems[0]}`)
  return {
    sessions,
    succeeded: played.filter(({ status }) => status === 'fulfilled').length,
    seconds: took,
    serverCpuSeconds: readCpu(server.pid) - cpuBefore,
    residentBefore,
    resident,
  }
}
