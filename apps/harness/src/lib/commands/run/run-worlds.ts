import { resolve } from 'node:path'
import { concludeRun, runAlone } from '@episodic/play/play/complete-run'
import { findRun } from '@episodic/play/play/find-run'
import { type RunSettings, runSettingsSchema } from '@episodic/play/play/run-settings'
import { countRows, findWorlds } from '@episodic/play/worlds/mcp-world'
import { guaranteesOf } from '@episodic/play/worlds/served-world'
import { noteGuarantees, noteNeverEnded } from '@episodic/report/notes/run-notes'
import { type Console, resumeCommand, say, shownPath } from '@episodic/run/base/console'
import { type HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { interruptible } from '@episodic/run/base/interruption'
import { showSummary } from '@episodic/run/folder/record/report-run'
import { defaultFolder, freeFolder, readManifest } from '@episodic/run/folder/record/run-folder'
import { commandsFor } from '@episodic/run/folder/resume-commands'
import { holdsSet } from '@episodic/run/folder/set/holds-set'
import type { Command } from 'commander'
import { openMetrics, openQueue } from './queue-of-run.ts'
import { isGiven, readFiles, toRunFile } from './run-file.ts'
import type { RunOptions } from './run-options.ts'

/** Returns the error for a run that shall be resumed by its folder alone, as a set can be. */
async function worldMissing(folder: string): Promise<HarnessError> {
  const manifest = await readManifest(folder)
  const { resume } = commandsFor({ folder: resolve(folder), setFolder: null, manifest }, { missing: 1, failed: 0 })
  const example = resume === undefined ? '' : `, for example:\n  ${resume}`
  return invalidOption(
    `${shownPath(folder)} is one run, and only a set is resumed by its folder alone. Give what the run plays too${example}`,
  )
}

export async function runWorlds(references: readonly string[], command: Command, console: Console): Promise<void> {
  const given = readFiles(references, command)
  const options = command.opts<RunOptions>()
  const { out, resume, json, policy, policies, wordings, set, baseline, dryRun, anchors, tasks } = options
  const { metricsPort, metricsAddress } = options
  if (options.worker) return (await import('@episodic/play/play/workers/worker-main')).runWorker()
  const isMcp = options.mcp !== undefined || options.mcpConfig !== undefined
  const request = { ...options, tasks: typeof tasks === 'string' ? tasks : undefined }
  const worlds = await findWorlds(given, request, { optional: true })
  if (typeof tasks === 'string' && options.dataset !== undefined)
    throw invalidOption(`--tasks ${tasks} and --dataset ${options.dataset} are both a file of tasks. Give one.`)
  // Players are no settings, which has the worlds of a set in common.
  const { policy: _, ...common } = options
  const settings = runSettingsSchema.parse({
    ...common,
    ...(typeof tasks === 'string' &&
      (isMcp ? { tasks: await countRows(tasks) } : { tasks: undefined, dataset: tasks })),
    ...(isMcp && { server: undefined }),
  })
  assertForQueue(settings, command)
  const file = json ? toRunFile(given, command) : null
  await using _metrics =
    metricsPort === undefined ? null : await openMetrics(settings, metricsPort, metricsAddress, console)
  if (typeof resume === 'string' && holdsSet(resume)) {
    const { askAgain, listSet, runSet } = await import('./run-set.ts')
    const asked = await askAgain(resume, settings, given, command)
    const folder = resolve(resume)
    return dryRun
      ? listSet(asked, { folder, file }, console)
      : runSet(asked, { folder, resume: true, isAgain: true, json, anchors }, console)
  }
  const isSet = worlds.length > 1 || policy.length > 1 || [policies, wordings, set].some((given) => given !== undefined)
  if (baseline !== undefined && !isSet) {
    if (settings.until === undefined)
      throw invalidOption(
        '--baseline is for a set of runs, and for --until: give several players or worlds, or --until.',
      )
    settings.until = `${settings.until} from ${baseline}`
  }
  if (typeof resume === 'string' && isSet) throw invalidOption(`${resume} holds no set to resume.`)
  if (isSet || dryRun) {
    // What plays sets is large, and most runs are of one player in one world.
    const { askForSet, listSet, runSet, setFolder } = await import('./run-set.ts')
    const asked = await askForSet({ worlds, policies, wordings, policy, baseline, settings })
    const folder = isSet ? setFolder(asked, { set, out }) : null
    if (dryRun || folder === null) return listSet(asked, { folder, out, file }, console)
    return runSet(asked, { folder, resume: resume === true, json, anchors }, console)
  }
  if (typeof resume === 'string' && worlds.length === 0 && !settings.url) throw await worldMissing(resume)
  const run = await findRun(worlds[0], { ...settings, policy: policy[0] })
  const { assertMeasured, reportAnchors } = anchors ? await import('../../evaluate/anchors/measure-anchors.ts') : {}
  assertMeasured?.(run.configuration, run.reference, run.world)
  const named = (typeof resume === 'string' ? resume : out) ?? defaultFolder(run.configuration)
  const folder = resolve(out === undefined && resume === undefined ? await freeFolder(named) : named)
  if (folder !== resolve(named))
    say(console.err, `${named} holds a run that was played to its end. This one goes to ${shownPath(folder)}.`)
  for (const note of noteGuarantees({ guarantees: guaranteesOf(run.world) })) say(console.err, note)
  await interruptible(console, async (interruption) => {
    const { signal } = interruption
    const openRunner = await openQueue(settings)
    const playing = { folder, resume: resume !== undefined, signal, openRunner, resumeLine: resumeCommand }
    const played = await runAlone(run, playing, console)
    let { summary } = played
    try {
      const isDone = summary.counts.unresolved === 0 && !signal.aborted
      if (reportAnchors && isDone) summary = await reportAnchors(folder, signal, console)
    } finally {
      showSummary(folder, summary, { json }, console)
    }
    const notice = noteNeverEnded(summary)
    if (notice !== null) say(console.err, notice)
    if (!concludeRun(played, resumeCommand, console)) process.exitCode = interruption.status ?? 1
  })
}

/** Throws `option-invalid` for `--concurrency` with a queue. Its default does not count. */
function assertForQueue({ queue, concurrency }: RunSettings, command: Command): void {
  if (queue !== undefined && isGiven(command, 'concurrency'))
    throw invalidOption(
      `--concurrency is for episodes that this process plays, and with --queue the workers play them all. Leave it out, and start the workers with it: episodic queue work --concurrency ${concurrency} --queue …`,
    )
}
