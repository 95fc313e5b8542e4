import { checkWorld } from '@episodic/harness'
import type { PlantedLeak } from './planted-leaks.ts'

/** Pairs of episodes with which a planted leak is searched for. Most show in few, some in one of hundreds. */
const PAIRS = [30, 400]

/**
 * Returns what the check that has to fail finds in a planted leak, or nothing if it passes. Many pairs are played only
 * if few are not enough.
 *
 * @param finding - the name of the finding that counts. Default: any.
 */
export async function catchLeak({ environment, endpoints, caughtBy }: Omit<PlantedLeak, 'channel'>, finding?: string) {
  for (const pairs of PAIRS) {
    const { checks } = await checkWorld({ environment }, { pairs, endpoints, only: [caughtBy] })
    const [{ outcome, findings } = { outcome: null, findings: [] }] = checks
    if (outcome === 'failed' && findings.some(({ name }) => name === (finding ?? name))) return findings
  }
  return []
}
