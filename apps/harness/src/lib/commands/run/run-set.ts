import { basename, join, resolve } from 'node:path'
import { episodesLeft } from '@episodic/play/play/complete-run'
import { type RunSettings, runSettingsSchema } from '@episodic/play/play/run-settings'
import { formatMembers, formatSet, listMembers } from '@episodic/play/play/sets/format-set'
import { openSet, readAsked } from '@episodic/play/play/sets/open-set'
import { type PlayedMember, playSet } from '@episodic/play/play/sets/play-set'
import { type Player, readPlayers } from '@episodic/play/play/sets/players'
import { type AskedSet, planSet } from '@episodic/play/play/sets/set-plan'
import { withWordings } from '@episodic/play/play/wordings/wordings'
import { type Console, commandLine, sameCommand, say, shownPath, withOption } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { interruptible } from '@episodic/run/base/interruption'
import { raisedLimit } from '@episodic/run/base/limit-reached'
import { defaultFolder, shortName } from '@episodic/run/folder/record/run-folder'
import { planOptions } from '@episodic/run/folder/resume-commands'
import type { Command } from 'commander'
import { openQueue } from './queue-of-run.ts'
import { isGiven } from './run-file.ts'
import type { RunOptions } from './run-options.ts'

interface GivenSet extends Pick<RunOptions, 'policy' | 'policies' | 'wordings' | 'baseline'> {
  readonly worlds: readonly string[]
  readonly settings: RunSettings
}

export async function askForSet(given: GivenSet): Promise<AskedSet> {
  const { worlds, policy, policies, wordings, baseline, settings } = given
  const named: Player[] = policy.map((each) => ({ name: shortName(each), policy: each }))
  const alone = [...named, ...(policies === undefined ? [] : await readPlayers(policies))]
  const players = wordings === undefined ? alone : await withWordings(alone, wordings)
  const [first = { name: 'default' }] = players
  const compared = players.find(({ name, policy }) => name === baseline || policy === baseline)
  return {
    worlds: worlds.length > 0 ? [...worlds] : [null],
    players: players.length > 0 ? players : [first],
    baseline: compared?.name ?? baseline ?? first.name,
    settings,
  }
}

/** Settings that do not decide what a set plays, by the names of their options. */
const { policy: _, ...deciding } = planOptions.shape
const HOW: readonly string[] = Object.keys(runSettingsSchema.in.shape).filter((name) => !(name in deciding))
const OTHER: readonly string[] = ['file', 'resume', 'json', 'dryRun', 'metricsPort', 'metricsAddress']

/**
 * Returns the set in a folder as it was asked for, with the settings of this command that do not decide what it plays.
 * Rejects with `option-invalid` if others were given, and with `run-invalid`.
 */
export async function askAgain(
  folder: string,
  settings: RunSettings,
  worlds: readonly string[],
  command: Command,
): Promise<AskedSet> {
  const given = command.options.filter((option) => isGiven(command, option.attributeName()))
  const deciding = given.filter((option) => ![...HOW, ...OTHER].includes(option.attributeName()))
  if (deciding.length > 0 || worlds.length > 0)
    throw invalidOption(
      `${shownPath(folder)} says what the set plays. Leave ${[...worlds, ...deciding.map(({ long }) => long)].join(', ')} out.`,
    )
  const asked = await readAsked(folder)
  const names = given.map((option) => option.attributeName()).filter((name) => HOW.includes(name))
  const how = Object.fromEntries(names.map((name) => [name, settings[name as keyof RunSettings]]))
  return { ...asked, settings: { ...asked.settings, ...how } }
}

/** Returns the folder of a set: `--out`, `runs/<--set>`, or one named after its worlds. Throws `option-invalid`. */
export function setFolder({ worlds, settings }: AskedSet, { set, out }: Pick<RunOptions, 'set' | 'out'>): string {
  if (set !== undefined && out !== undefined)
    throw invalidOption('--set names a folder in runs/, and --out any folder for the set. Give one of them.')
  if (out !== undefined) return resolve(out)
  if (set !== undefined && !/^(?!\.+$)[\w.-]{1,40}$/.test(set))
    throw invalidOption(`"${set}" cannot name a set: use up to 40 letters, digits, dots, dashes and underscores.`)
  const [world] = worlds
  const played = worlds.length === 1 ? basename(world ?? 'server').replace(/[^\w.-]+/g, '-') : `${worlds.length}-worlds`
  return resolve('runs', set ?? `set-${played.slice(0, 32)}-${settings.seed.replace(/[^\w.-]+/g, '-').slice(0, 32)}`)
}

/**
 * Prints the members of a set, their episodes and what they can cost.
 *
 * @param folder - the folder of the set; `null` for a run of its own, which is in `out` or the default folder.
 *
 * @param file - the file of the run, which is printed with them as JSON; `null` for a table.
 */
export async function listSet(
  asked: AskedSet,
  { folder, out, file }: Pick<RunOptions, 'out'> & { readonly folder: string | null; readonly file: object | null },
  console: Console,
): Promise<void> {
  const planned = await planSet(asked)
  const listed = listMembers(planned)
  const set = folder === null ? null : shownPath(folder)
  const alone = planned.flatMap(({ members }) => members.map(({ run }) => out ?? defaultFolder(run.configuration)))
  const members =
    set === null ? listed.members.map((member, i) => ({ ...member, run: alone[i] ?? '' })) : listed.members
  const shown = { ...listed, members }
  const ofSet = set === null ? {} : { folder: set, baseline: asked.baseline }
  const asFile = { ...file, planned: { ...ofSet, ...shown } }
  console.out.write(file ? `${JSON.stringify(asFile)}\n` : formatMembers(shown, set))
}

export interface RunSetOptions extends Pick<RunOptions, 'json' | 'anchors'> {
  readonly folder: string
  readonly resume: boolean
  /** Whether the command says no more than `--resume` with the folder, and how to play. Default: false. */
  readonly isAgain?: boolean
}

/** Plays a set, prints its results, and sets the exit status: 0 if every member has played all of its episodes. */
export async function runSet(asked: AskedSet, options: RunSetOptions, console: Console): Promise<void> {
  const { folder, resume, json } = options
  if (asked.settings.retryFailed && !resume)
    throw invalidOption('--retry-failed plays the failed episodes of a set again: give --resume too.')
  const planned = await planSet(asked)
  const measuring = options.anchors ? await import('../../evaluate/anchors/measure-anchors.ts') : null
  for (const { run } of planned.flatMap(({ members }) => members))
    measuring?.assertMeasured(run.configuration, run.reference, run.world)
  await interruptible(console, async (interruption) => {
    const { signal } = interruption
    const worlds = await openSet(folder, asked, planned, { resume, signal })
    const members = await playSet(folder, worlds, { signal, openRunner: await openQueue(asked.settings) }, console)
    try {
      // In each world the next ones find the runs of the first beside them.
      for (const [i, member] of members.entries())
        if (measuring && member.summary?.counts.unresolved === 0 && !signal.aborted)
          members[i] = { ...member, summary: await measuring.reportAnchors(join(folder, member.run), signal, console) }
    } finally {
      if (json) console.out.write(`${JSON.stringify(toJson(folder, asked, members))}\n`)
      else {
        const compare = members.length > 1 ? `\ncompare: ${commandLine(['compare', shownPath(folder)])}\n` : ''
        console.out.write(`\n${formatSet(members, asked.baseline)}${compare}`)
      }
      if (!conclude(folder, asked, members, options.isAgain === true, console))
        process.exitCode = interruption.status ?? 1
    }
  })
}

function toJson(folder: string, { baseline }: AskedSet, members: readonly PlayedMember[]) {
  const listed = members.map(({ stopped, ...member }) => ({
    ...member,
    stopped: stopped && { code: stopped.code, message: stopped.message },
  }))
  return { set: basename(folder), folder: shownPath(folder), baseline, members: listed }
}

/**
 * Returns whether all members have played all of their episodes and finished some, and otherwise writes what is left.
 */
function conclude(
  folder: string,
  { settings: { url, concurrency }, players }: AskedSet,
  members: readonly PlayedMember[],
  isAgain: boolean,
  { err }: Console,
): boolean {
  const left = members.reduce((sum, { summary, scheduled }) => sum + (summary?.counts.unresolved ?? scheduled), 0)
  const scheduled = members.reduce((sum, member) => sum + member.scheduled, 0)
  const limited = members.find(({ stopped }) => HarnessError.is(stopped, 'limit-reached'))
  const raise = raisedLimit(limited?.stopped, {
    sealed: scheduled - left,
    scheduled,
    concurrency: concurrency * players.length,
  })
  const resume = ['run', '--resume', shownPath(folder), ...(url === undefined ? [] : ['--url', url])]
  // Options that were given to go on with the set are not in its file.
  const line = isAgain ? sameCommand(raise) : commandLine(withOption(resume, raise))
  const without = members.filter(({ summary }) => summary?.counts.finished === 0 && summary.counts.unresolved === 0)
  for (const { world, player, summary } of without)
    say(err, `${player} finished no episode of ${world}. ${summary?.failures[0]?.message}`)
  if (left > 0) err.write(`${episodesLeft(left, raise)}\n  ${line}\n`)
  return left === 0 && without.length === 0
}
