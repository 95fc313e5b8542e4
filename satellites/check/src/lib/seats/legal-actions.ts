import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { type Action, canonicalJson, type Json, type JsonObject, type LegalActions, type Rng } from '@episodic/protocol'
import type { Finding } from '../finding.ts'
import { randomAction, randomLegalAction } from '../noisy-policy.ts'
import { formatPlace, listPositions, playMove, type RehearsedEpisode } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'

const TRIES = 8

/**
 * Finds a listed action that is refused, and an action that is accepted though it is not listed, at each position of an
 * episode. One of each is drawn for the seat that moved.
 */
export async function findWrongLegal(episode: RehearsedEpisode, rng: Rng): Promise<Finding[]> {
  const { environment, setting } = episode
  const findings: Finding[] = []
  for await (const { at, step, rehearsal } of listPositions(episode)) {
    const { seat } = step
    const again = (action: Action) => `${formatPlace(episode, at)}, then ${seat}: ${JSON.stringify(action)}`
    // What fails, the policies meet too.
    const attempt = (action: Action) => playMove(rehearsal.fork(), { seat, action }).catch(() => null)
    const legal = environment.legal(rehearsal.state, setting.params, seat)
    const listed = randomLegalAction(legal, rng)
    const refused = listed && (await attempt(listed))?.refused
    if (listed && refused)
      findings.push({
        name: `legal-refused:${listed.tool}`,
        what: `\`legal\` lists ${JSON.stringify(listed)} for ${seat}, and the rules refuse it (${refused}).`,
        again: again(listed),
        advice: 'List what the rules accept. A player who trusts the list loses steps.',
      })
    const unlisted = drawUnlisted(environment, legal, seat, rng)
    if (unlisted && (await attempt(unlisted))?.refused === null)
      findings.push({
        name: `legal-missing:${unlisted.tool}`,
        what: `The rules accept ${JSON.stringify(unlisted)} of ${seat}, and \`legal\` does not list it.`,
        again: again(unlisted),
        advice: 'List it, or refuse it: solvers, masks and the random policy play listed actions alone.',
      })
  }
  return findings
}

function drawUnlisted(environment: EnvironmentDefinition, legal: LegalActions, seat: string, rng: Rng): Action | null {
  const { tools } = environment
  for (let i = 0; i < TRIES; i++) {
    const action = randomAction(toolsOfSeat(environment, seat), rng)
    const parsed = tools[action.tool]?.input.safeParse(action.arguments)
    if (!parsed?.success) continue
    const listed = legal[action.tool]
    if (listed === undefined) return action
    if (!Array.isArray(listed.enum)) continue
    // What the schema does not accept is refused, and found as that.
    const known = (listed.enum as Json[]).map((args) =>
      canonicalJson((tools[action.tool]?.input.safeParse(args).data ?? args) as JsonObject),
    )
    if (!known.includes(canonicalJson(parsed.data as JsonObject))) return action
  }
  return null
}
