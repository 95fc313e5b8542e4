import { resolve } from 'node:path'
import type { Point } from '@episodic/continue/run/parent'
import { settingsOf, withoutMissing, withPlayers } from '@episodic/continue/run/settings-of'
import { continueWithControl } from '@episodic/continue/run/with-control'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { showProgress } from '@episodic/play/play/record/progress'
import type { Action } from '@episodic/protocol'
import { formatQuery } from '@episodic/report/query/parse-query'
import { type Console, say } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { playToEnd } from '@episodic/run/base/interruption'
import { readQuery } from '@episodic/run/folder/matching-lines'
import type { Continues } from '@episodic/run/folder/plan/configuration'
import { nextFolder } from '../../evaluate/continue/next-folder.ts'
import { findEpisodes, openParent } from '../../evaluate/continue/open-parent.ts'
import { defineCommand } from '../define-command.ts'
import { fieldTerm } from '../field-term.ts'
import { type ContinueOptions, continueOptions } from './continue-options.ts'
import { formatContinued, toJson } from './format-continued.ts'
import { saveTest } from './save-test.ts'
import { printLosses } from './where-lost.ts'

export const command = defineCommand('continue', continueOptions, {
  argument: ['<run>', 'folder of the run whose episodes are continued'],
  help: `
Puts the world and the player back at a step, and plays on from there, many
times. Nothing is asked again for the steps before: answers of models are kept,
and the rules play the same. A change is made for the continuations alone, and
as many continuations without it show what comes of it. With --answer the step
stays as it was, and what the player reads of it is another text.

The continuations are a run of their own: it can be viewed, compared, exported
and replayed. Nothing is written into the run that they go on from.

Examples:
  episodic continue runs/june --task 3f2a --attempt 0 --step 7
  episodic continue runs/june --task 3f2a --step 7 --policy llm:other --rollouts 16
  episodic continue runs/june --task 3f2a --step 7 --call refund '{"order":"#17"}'
  episodic continue runs/june --task 3f2a --step 7 --answer 'Order not found.'
  episodic continue runs/june --task 3f2a --step 7 --system @strict.txt --describe lookup='Finds one order.'
  episodic continue runs/june --query 'success:no' --step 1 --seed 2
  episodic continue runs/june --task 3f2a --step 7 --save tests/refund.test.ts
  episodic continue runs/june --query 'success:no' --where-lost`,
  run: continueEpisodes,
})

async function continueEpisodes(run: string, options: ContinueOptions, console: Console): Promise<void> {
  const { step = 1, answer, call, save, json = false, resume = false, control, whereLost } = options
  if (whereLost ? (options.step ?? answer ?? call ?? save) !== undefined : options.step === undefined)
    throw invalidOption(
      'Say from which step to go on, as --step 7: step 1 is the first one. Or give --where-lost, which finds the steps itself, without --step, --call, --answer and --save.',
    )
  if (step === 0 && answer === undefined)
    throw invalidOption('Step 0 is the start, of which --answer alone can change what is read. The first step is 1.')
  const query = queryOf(options)
  readQuery(query)
  const warn = (notice: string) => say(console.err, notice)
  const parent = await openParent(run, options.world[0], warn)
  const episodes = await findEpisodes(parent, query, options.dataset)
  const before = answer === undefined ? step - 1 : step
  const points = episodes.map((episode): Point => ({ ...episode, step: before }))
  const changes = changesOf(options, parent.world.environment)
  if (save !== undefined) return saveTest(parent, { points, changes }, options, console)
  const { policy, seat, system: systemPrompt, temperature, maxTokens } = options
  const { rollouts = whereLost ? 16 : 8, maxSteps, concurrency, prices, baseUrl } = options
  const { costLimit, tokenLimit, timeLimit } = options
  const how = { rollouts, maxSteps, concurrency, prices, baseUrl, costLimit, tokenLimit, timeLimit }
  const settings = { ...settingsOf(parent.manifest), ...withoutMissing(how) }
  const changed = withPlayers(settings, { policy, seat, systemPrompt, temperature, maxTokens })
  const request = { points, changes, settings: changed }
  const folder = resolve(options.out ?? nextFolder(parent.folder, resume))
  const playing = {
    ...{ folder, resume, warn },
    showProgress: (scheduled: number, done: number, describe?: () => string) =>
      showProgress(console.err, scheduled, done, { describe }),
  }
  if (whereLost) {
    await playToEnd({ what: 'The search', folder }, console, (_, signal) =>
      printLosses([parent, request, options.budget, { ...playing, signal }], { ...console, json }),
    )
    return
  }
  await playToEnd({ what: 'The run of continuations', folder }, console, async (_, signal) => {
    const played = await continueWithControl(parent, request, control ? { points, changes: {}, settings } : null, {
      ...playing,
      signal,
    })
    console.out.write(json ? `${JSON.stringify(toJson(request, played))}\n` : formatContinued(request, played, console))
    const left = [played.changed, played.control].some((one) => one && one.summary.counts.unresolved > 0)
    return left ? null : played
  })
}

function queryOf({ task, attempt, query = '' }: ContinueOptions): string {
  const terms = [
    ...(task === undefined ? [] : [fieldTerm('task', task)]),
    ...(attempt === undefined ? [] : [fieldTerm('attempt', String(attempt))]),
  ]
  if (terms.length === 0 && query === '')
    throw invalidOption(
      "Say which episodes to continue: --task 3f2a, with --attempt 0 of several, or --query 'success:no'.",
    )
  return `${query} ${formatQuery(terms)}`.trim()
}

function changesOf(
  { call, answer, prompt, describe, seed }: ContinueOptions,
  { multiplayer }: EnvironmentDefinition,
): Continues['changes'] {
  return withoutMissing({ call: call && multiplayer ? seatedCall(call) : call, answer, prompt, describe, seed })
}

/** Of several seats, a call is `<seat>.<tool>`. */
function seatedCall({ tool, ...call }: Action): NonNullable<Continues['changes']['call']> {
  const [, seat, name = tool] = /^([^.]+)\.(.+)$/.exec(tool) ?? []
  return { tool: name, ...call, ...(seat !== undefined && { seat }) }
}
