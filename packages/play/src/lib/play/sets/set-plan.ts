import { canonicalJson, contentId, type JsonObject } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { isAgentName } from '@episodic/run/base/player-names'
import { countLeaves, type RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { countDraws } from '@episodic/run/folder/plan/curriculum-settings'
import { shortName } from '@episodic/run/folder/record/run-folder'
import { z } from 'zod'
import { loadPlayedWorld } from '../../worlds/served-world.ts'
import { targetOf } from '../../worlds/target.ts'
import { PLAYED_SERVERS } from '../../worlds/target-options.ts'
import { findRun, type Run } from '../find-run.ts'
import { checkTasks, tasksOf } from '../plan/plan.ts'
import { seatsOf } from '../plan/players.ts'
import { runSettingsSchema } from '../run-settings.ts'
import { type Player, playerSchema } from './players.ts'

export const askedSchema = z.object({
  /** As they were named; `null` for the first environment of another system's server. */
  worlds: z.array(z.string().nullable()).min(1),
  players: z.array(playerSchema).min(1),
  /** The name of the player that the others are compared with. */
  baseline: z.string(),
  settings: runSettingsSchema,
})
export type AskedSet = z.infer<typeof askedSchema>

export interface SetMember {
  readonly player: Player
  /** The folder of its run, relative to that of the set. */
  readonly folder: string
  /** The run alone. In the set it plays the tasks of the set's file. */
  readonly run: Run
}

export type SetWorld = Awaited<ReturnType<typeof planWorld>>

/**
 * Plans a set: every world with every player. Rejects with `option-invalid` for two players or two worlds of one name,
 * an unknown baseline, or a dataset for several worlds, and with what a run rejects with before it plays.
 */
export async function planSet({ worlds, players, baseline, settings }: AskedSet): Promise<SetWorld[]> {
  const names = players.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  const problem =
    twice !== undefined
      ? `Two players are called ${twice}. Give them names of their own in a file, with --policies.`
      : !names.includes(baseline)
        ? `--baseline ${baseline} is none of the players: ${names.join(', ')}.`
        : settings.dataset !== undefined && worlds.length > 1
          ? '--dataset has the tasks of one world, and the set has several. Leave it out, or play one set for each world.'
          : null
  if (problem !== null) throw invalidOption(problem)
  const planned: SetWorld[] = []
  for (const [world, own] of await settingsByWorld(worlds, settings)) {
    const next = await planWorld(world ?? undefined, players, own)
    if (planned.some(({ environment }) => environment.name === next.environment.name))
      throw invalidOption(`The set has the world ${next.environment.name} twice. Name it once.`)
    planned.push(next)
  }
  return planned
}

/** Gives each of several worlds, of the seats that are named, those that it has. */
async function settingsByWorld(worlds: AskedSet['worlds'], settings: AskedSet['settings']) {
  const { seat = {}, focus = '' } = settings
  const given = [...Object.keys(seat), ...(focus === '' ? [] : [focus])]
  if (worlds.length === 1 || given.length === 0) return worlds.map((world) => [world, settings] as const)
  const known = new Set<string>()
  const planned: [world: string | null, own: AskedSet['settings']][] = []
  for (const world of worlds) {
    const seats = seatsOf(await loadPlayedWorld(world ?? undefined, targetOf(settings, PLAYED_SERVERS))) ?? []
    for (const name of seats) known.add(name)
    const own = Object.fromEntries(Object.entries(seat).filter(([name]) => seats.includes(name)))
    planned.push([world, { ...settings, seat: own, focus: seats.includes(focus) ? focus : undefined }])
  }
  const unknown = given.find((name) => !known.has(name))
  if (unknown === undefined) return planned
  throw invalidOption(
    `No world of the set has the seat "${unknown}". Their seats are: ${[...known].join(', ') || 'none'}.`,
  )
}

async function planWorld(reference: string | undefined, players: readonly Player[], settings: AskedSet['settings']) {
  const members: SetMember[] = []
  for (const player of players) {
    const { name: _, ...own } = player
    const run = await findRun(reference, settingsOf(own, players, settings))
    const name = `${folderName(player.name)}-${configurationId(run.configuration).slice(0, 6)}`
    const folder = `${folderName(run.configuration.environment.name)}/${name}`
    if (members.some((other) => other.folder === folder))
      throw invalidOption(`Two players would play in the folder ${folder}. Give them other names.`)
    members.push({ player, folder, run })
  }
  const { configuration, world } = (members[0] as SetMember).run
  const { environment, curriculum, rollouts, branch } = configuration
  // A policy may play a simulated user, and no agent.
  const { players: checked } = (members.find(({ run }) => run.isPlayedByAgent) ?? (members[0] as SetMember)).run
  const { count: tasks } = await checkTasks(() => tasksOf(configuration, world), configuration, checked)
  return {
    environment: { name: environment.name, version: environment.version },
    /** The file of its tasks, relative to the folder of the set. */
    file: `tasks.${folderName(environment.name)}.jsonl`,
    tasks,
    episodes: (curriculum?.kind === 'staged' ? countDraws(curriculum) : tasks) * rollouts * countLeaves(branch),
    members,
  }
}

/**
 * Returns the settings of a member. Only agents have their models recorded, and what has an effect on nobody is
 * refused.
 */
function settingsOf(
  own: Omit<Player, 'name'>,
  players: readonly Player[],
  { recordModels, seat = {}, ...settings }: AskedSet['settings'],
): AskedSet['settings'] {
  const hasAgent = ({ policy }: Pick<Player, 'policy'>) =>
    [policy ?? '', ...Object.values(seat)].some((name) => isAgentName(name))
  const records = recordModels && (hasAgent(own) || !players.some(hasAgent))
  return { ...settings, ...own, ...(Object.keys(seat).length > 0 && { seat }), ...(records && { recordModels }) }
}

/** Identifies what a member plays. A dataset counts by its content, and not by its name. */
export function configurationId({ tasks, ...rest }: RunConfiguration): string {
  return contentId(canonicalJson({ ...rest, tasks: { ...tasks, file: '' } } as unknown as JsonObject))
}

/** The longest name of a folder, without the hash of the configuration. */
const LONGEST_NAME = 40

function folderName(name: string): string {
  return shortName(name)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, LONGEST_NAME)
}
