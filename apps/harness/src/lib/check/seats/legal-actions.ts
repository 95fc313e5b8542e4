import type { EnvironmentDefinition, RehearsedStep } from '@episodic/mcp-server'
import {
  type Action,
  canonicalJson,
  type Json,
  type JsonObject,
  type LegalActions,
  type Rng,
  type ToolInfo,
} from '@episodic/protocol'
import type { Setting } from '../check-context.ts'
import type { Finding } from '../finding.ts'
import { randomAction } from '../noisy-policy.ts'
import { type PlayedStep, playMove, replayMoves } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'

/** Random actions in search of one that is not listed. */
const TRIES = 8

/**
 * Finds a listed action that is refused, and an action that is accepted though it is not listed, at each position of an
 * episode. One of each is drawn for the seat that moved.
 */
export async function findWrongLegal(
  environment: EnvironmentDefinition,
  setting: Setting,
  seed: string,
  steps: readonly PlayedStep[],
  rng: Rng,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const { params } = setting
  for (const [at, { seat }] of steps.entries()) {
    const moves = steps.slice(0, at)
    const before = () => replayMoves({ environment, setting, seed }, moves)
    const again = (action: Action) =>
      `params ${JSON.stringify(params)}, seed ${seed}, moves ${JSON.stringify(moves.map(({ seat: who, action: what }) => [who, what])).slice(0, 600)}, then ${seat}: ${JSON.stringify(action)}`
    const attempt = async (action: Action): Promise<RehearsedStep | null> => {
      try {
        return await playMove(await before(), { seat, action })
      } catch {
        // The policies meet it too.
        return null
      }
    }
    const legal = environment.legal((await before()).state, params, seat)
    const listed = drawListed(legal, rng)
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

function drawListed(legal: LegalActions, rng: Rng): Action | null {
  const tools = Object.entries(legal).map(([name, inputSchema]) => ({ name, inputSchema }) as unknown as ToolInfo)
  return tools.length === 0 ? null : randomAction(tools, rng)
}

/** Draws a valid action of a seat that is not listed; `null` if none was found, or the list is no list of values. */
function drawUnlisted(
  { tools, ...environment }: EnvironmentDefinition,
  legal: LegalActions,
  seat: string,
  rng: Rng,
): Action | null {
  for (let i = 0; i < TRIES; i++) {
    const action = randomAction(toolsOfSeat({ tools, ...environment }, seat), rng)
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
