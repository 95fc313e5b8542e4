import { basename, join } from 'node:path'
import { writeTasks } from '@episodic/dataset/jsonl'
import { shownPath } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { whyInvalid } from '@episodic/run/base/json'
import { makeFolder } from '@episodic/run/base/own-files'
import { hashFile } from '@episodic/run/folder/plan/content-hash'
import { SET_FILE, writeRunFile } from '@episodic/run/folder/record/run-folder'
import { holdsSet } from '@episodic/run/folder/set/holds-set'
import { readSet, type SetManifest } from '@episodic/run/folder/set/set-folder'
import { tasksOf } from '../plan/plan.ts'
import { type AskedSet, askedSchema, configurationId, type SetMember, type SetWorld } from './set-plan.ts'

/** Returns how a set was asked for. Rejects with `run-invalid` if it cannot be played as it was. */
export async function readAsked(folder: string): Promise<AskedSet> {
  return parseAsked(folder, await readSet(folder))
}

function parseAsked(folder: string, { asked }: SetManifest): AskedSet {
  const parsed = askedSchema.safeParse(asked)
  if (parsed.success) return parsed.data
  throw new HarnessError(
    'run-invalid',
    `${shownPath(join(folder, SET_FILE))} cannot be read as a set of runs: ${whyInvalid(parsed.error)}`,
    { cause: parsed.error },
  )
}

/**
 * Creates the folder of a set with the tasks of each world, or finds it there to be resumed. Resolves with its worlds,
 * whose members play the tasks of the folder. The limits of this start are those of the next.
 *
 * Rejects with `run-exists`; with `run-invalid` if there is nothing to resume or the tasks were changed; with
 * `run-mismatch` if the folder holds another set; and with `disk-failed`.
 */
export async function openSet(
  folder: string,
  asked: AskedSet,
  planned: readonly SetWorld[],
  { resume, signal }: { readonly resume: boolean; readonly signal: AbortSignal },
): Promise<SetWorld[]> {
  if (holdsSet(folder)) {
    if (!resume)
      throw new HarnessError(
        'run-exists',
        `${shownPath(folder)} holds this set already. Give --resume ${shownPath(folder)} to play its missing episodes, or another --set.`,
      )
    const set = await readSet(folder)
    const { worlds } = set
    const before = parseAsked(folder, set)
    assertSame(folder, worlds, planned)
    for (const { tasks } of worlds)
      if ((await hashFile(join(folder, tasks.file))) !== tasks.sha256)
        throw new HarnessError(
          'run-invalid',
          `${shownPath(join(folder, tasks.file))} has changed since the set was created, so its players would not play the same.`,
        )
    const { costLimit, tokenLimit, timeLimit } = asked.settings
    const kept = { ...before, settings: { ...before.settings, costLimit, tokenLimit, timeLimit } }
    if (JSON.stringify(kept) !== JSON.stringify(before)) await writeSet(folder, { ...set, asked: kept })
    return planned.map((world, i) => withTasks(folder, world, worlds[i]?.tasks.sha256 ?? ''))
  }
  if (resume) throw new HarnessError('run-invalid', `${shownPath(folder)} holds no set to resume.`)
  const opened: SetWorld[] = []
  const written: SetManifest['worlds'] = []
  makeFolder(folder)
  for (const world of planned) {
    const { run } = world.members[0] as SetMember
    const tasks = tasksOf(run.configuration, run.world, { signal })
    const { sha256, count } = await writeTasks(join(folder, world.file), tasks, { signal })
    written.push({
      environment: world.environment,
      tasks: { file: world.file, sha256, count },
      members: toMembers(world),
    })
    opened.push(withTasks(folder, world, sha256))
  }
  // A retry is of one start of the set. A token is a secret, and a URL may hold one.
  const { token: _, url: __, retryFailed: ___, queue: ____, lease: _____, ...settings } = asked.settings
  const manifest: SetManifest = {
    format: 1,
    name: basename(folder),
    createdAt: new Date().toISOString(),
    asked: { ...asked, settings },
    worlds: written,
  }
  await writeSet(folder, manifest)
  return opened
}

async function writeSet(folder: string, set: SetManifest): Promise<void> {
  await writeRunFile(folder, SET_FILE, `${JSON.stringify(set, null, 2)}\n`)
}

/** Makes the members of a world play the tasks of the set's file. */
function withTasks(folder: string, world: SetWorld, sha256: string): SetWorld {
  const file = join(folder, world.file)
  const members = world.members.map(({ run, ...member }) => {
    const { split } = run.configuration.tasks
    const tasks = { from: 'dataset', file, sha256, split } as const
    return { ...member, run: { ...run, configuration: { ...run.configuration, tasks } } }
  })
  return { ...world, members }
}

function toMembers({ members }: SetWorld): SetManifest['worlds'][number]['members'] {
  return members.map(({ player, folder, run }) => ({
    player: player.name,
    run: folder,
    configuration: configurationId(run.configuration),
  }))
}

/** Throws `run-mismatch` if a folder holds another set. */
function assertSame(folder: string, kept: SetManifest['worlds'], planned: readonly SetWorld[]): void {
  const linesOf = (world: string, members: SetManifest['worlds'][number]['members']) =>
    members.map(({ player, configuration }) => `${player} in ${world}, configuration ${configuration.slice(0, 6)}`)
  const was = kept.flatMap(({ environment, members }) => linesOf(environment.name, members))
  const is = planned.flatMap((world) => linesOf(world.environment.name, toMembers(world)))
  const differences = [
    ...was.filter((line) => !is.includes(line)).map((line) => `was: ${line}`),
    ...is.filter((line) => !was.includes(line)).map((line) => `now: ${line}`),
  ]
  if (differences.length === 0 && was.length === is.length) return
  throw new HarnessError('run-mismatch', [
    `${shownPath(folder)} holds another set:`,
    ...differences.map((line) => `  ${line}`),
    `Resume it with --resume ${shownPath(folder)} alone, or give another --set.`,
  ])
}
