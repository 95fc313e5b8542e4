import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { explainLoss, whereLost } from '@episodic/continue/lost/where-lost'
import { type ContinueRequest, findContinued } from '@episodic/continue/run/continue-run'
import type { Parent, Point } from '@episodic/continue/run/parent'
import { settingsOf, withPlayers } from '@episodic/continue/run/settings-of'
import { continueWithControl } from '@episodic/continue/run/with-control'
import { writeSavedTest } from '@episodic/continue/saved/write-saved-test'
import type { Continuations } from '@episodic/pages/server/continuations'
import { continuedFolders } from '@episodic/pages/server/folder/find-runs'
import type { ViewedRun } from '@episodic/pages/server/folder/viewed-run'
import { HttpProblem } from '@episodic/pages/server/http-problem'
import type { RunSettings } from '@episodic/play/play/run-settings'
import { loadWorld } from '@episodic/play/worlds/world'
import { formatCost, plural } from '@episodic/report/text/format'
import { type Continuation, lossCurveSchema, type Offer } from '@episodic/report/view/continuations'
import { shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { jsonInFile } from '@episodic/run/base/json'
import { writeWhole } from '@episodic/run/base/own-files'
import { isLlm, policyNames } from '@episodic/run/base/player-names'
import { configurationSchema, type RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { holdsRun, isOwnRun, type RunManifest, readManifest, runIdOf } from '@episodic/run/folder/record/run-folder'
import { z } from 'zod'
import { nextFolder } from './next-folder.ts'
import { openParent, withTasks } from './open-parent.ts'

const MOST_ROLLOUTS = 64
const MOST_SEARCHED = 2_000

const askedSchema = z.strictObject({
  row: z.int().min(0),
  step: z.int().min(0),
  changes: configurationSchema.shape.continues.unwrap().shape.changes,
  policy: z.string().optional(),
  seat: z.string().optional(),
  systemPrompt: z.string().optional(),
  rollouts: z.int().min(1).max(MOST_ROLLOUTS),
  budget: z.int().min(10).max(MOST_SEARCHED).optional(),
  costLimit: z.number().positive().optional(),
  confirmed: z.boolean(),
})
type AskedPlay = z.infer<typeof askedSchema>

interface Played {
  readonly end: AbortController
  done: Promise<void>
  isPlaying: boolean
  problem: string | null
}

/** What the folder of continuations keeps for pages, from their start: a search has no run of all of them. */
const KEPT = 'page.json'
const keptSchema = z.object({
  run: z.string(),
  seal: z.string(),
  step: z.int(),
  changed: z.string(),
  loss: lossCurveSchema.nullable(),
})
type Kept = z.infer<typeof keptSchema>
const SEARCH = 'where was it lost?'

interface ContinuationsOptions {
  /** Names or paths of worlds, as the person who started the server gave them. */
  readonly worlds: readonly string[]
  /** Who may play besides the players of a run that has the mark of this user, and those of its world. */
  readonly players: readonly string[]
}

/**
 * Plays continuations for the pages of runs, in folders beside each run, as `episodic continue` does. Nothing is
 * loaded or played that a run of somebody else names. Disposing of it stops what is being played.
 */
export function viewContinuations({ worlds, players }: ContinuationsOptions): Continuations & AsyncDisposable {
  const opened = new Map<string, ReturnType<typeof openAllowed>>()
  const playing = new Map<string, Played>()
  const open = (run: ViewedRun) => {
    const { folder } = run.found
    const known = opened.get(folder) ?? openAllowed(run, worlds, players)
    opened.set(folder, known)
    known.catch(() => opened.delete(folder))
    return known
  }

  /** Returns what is to be played and its control, `null` for no change. Rejects for what may not be played. */
  const requestOf = async (run: ViewedRun, asked: AskedPlay) => {
    const { parent, ...own } = await open(run)
    const point = await readPoint(run, parent, asked)
    const { rollouts, budget = 2 * rollouts } = asked
    // Unless it is given, the limit is what as many episodes would cost that are all as dear as the dearest one.
    const costLimit = asked.costLimit ?? (((await findDearest(run)) ?? 0) * budget || undefined)
    const recorded = { ...own.settings, rollouts, costLimit }
    const { changes, policy, seat, systemPrompt } = asked
    const player = seat === undefined || policy === undefined ? { policy } : { seat: { [seat]: policy } }
    const settings = withPlayers(recorded, { ...player, systemPrompt })
    // Of somebody else's run, the control has the player that is chosen too.
    const usual = playersIn(recorded).every((name) => own.players.includes(name)) ? recorded : settings
    const names = [...new Set([...playersIn(settings), ...playersIn(usual)])]
    const unknown = names.find((name) => !own.players.includes(name))
    if (unknown !== undefined)
      throw new HarnessError(
        'policy-unknown',
        `"${unknown}" may not play here. No command of yours made the run in this folder, or it has no such player. There is: ${own.players.join(', ')}. Start the command with --policy for another one.`,
      )
    const request: ContinueRequest = { points: [point], changes, settings }
    const control = { points: [point], changes: {}, settings: usual }
    return { parent, request, control, models: names.filter(isLlm), costLimit }
  }

  return {
    token: randomBytes(24).toString('base64url'),
    answers: {
      async offer(run): Promise<Offer> {
        const { parent, settings, players } = await open(run)
        const { toolInfos } = parent.world.environment
        const cost = await findDearest(run)
        return { tools: toolInfos as Offer['tools'], players, systemPrompt: settings.systemPrompt ?? null, cost }
      },
      async start(run, given) {
        const asked = parsed(askedSchema, given)
        const { parent, request, control, models, costLimit } = await requestOf(run, asked)
        const { configuration } = await findContinued(parent, request)
        if (models.length > 0 && !asked.confirmed)
          return { cost: costOf({ ...asked, costLimit }, models, !isDeepStrictEqual(request, control)) }
        const folder = nextFolder(parent.folder)
        // Two that start at once have two folders.
        mkdirSync(folder)
        const kept = keptOf(configuration, parent.manifest.configuration) as Kept
        const keep = (loss: Kept['loss'], changed = kept.changed) =>
          writeWhole(join(folder, KEPT), JSON.stringify({ ...kept, changed, loss } satisfies Kept))
        await keep(null, asked.budget === undefined ? kept.changed : SEARCH)
        const end = new AbortController()
        const quiet = { add() {}, skip() {}, stop() {} }
        const options = { folder, resume: false, signal: end.signal, warn() {}, showProgress: () => quiet }
        const played: Played = { end, done: Promise.resolve(), isPlaying: true, problem: null }
        const play = async () => {
          if (asked.budget === undefined) {
            const { changed, control: other } = await continueWithControl(parent, request, control, options)
            played.problem = [other, changed].find((one) => one?.stopped)?.stopped?.message ?? null
          } else
            for await (const found of whereLost(parent, request, asked.budget, options)) {
              const { loss } = found
              const step = loss.kind === 'lost' ? loss.step : null
              await keep({ step, said: explainLoss(found), values: [...loss.curve] }, SEARCH)
            }
        }
        played.done = play()
          .catch((error) => {
            played.problem = (error as Error).message
          })
          .finally(() => {
            played.isPlaying = false
            if (end.signal.aborted) played.problem = 'It was stopped.'
          })
        playing.set(folder, played)
        return { name: basename(folder) }
      },
      async save(run, given) {
        const { file, ...asked } = parsed(askedSchema.extend({ file: z.string() }), given)
        const { parent } = await open(run)
        const place = relative(process.cwd(), resolve(file))
        if (place.startsWith('..') || isAbsolute(place))
          throw invalidOption(
            `${file} is not within ${process.cwd()}, where the command was started. Name a file there.`,
          )
        const { changes, policy, systemPrompt } = asked
        const point = await readPoint(run, parent, asked)
        const saved = await writeSavedTest({ file: place, parent, point, changes, policy, systemPrompt })
        return { files: [saved.test, saved.fixture].map((path) => shownPath(path)) }
      },
      async list(run, _, runs): Promise<Continuation[]> {
        const { manifest, folder } = run.found
        const known = new Set(runs.all().map((one) => one.found.id))
        const found: Continuation[] = []
        for (const path of await continuedFolders(folder)) {
          const one = await readContinuation(path, manifest, playing.get(path))
          if (!one) continue
          // The server finds a new run within two seconds: until then there is something to wait for.
          const shown = Object.entries(one.runs).filter(([, id]) => known.has(id))
          const isFound = shown.length === Object.keys(one.runs).length
          found.unshift({ ...one, runs: Object.fromEntries(shown), isPlaying: one.isPlaying || !isFound })
        }
        return found
      },
      async stop(run, given) {
        const { name } = parsed(z.object({ name: z.string() }), given)
        const played = playing.get(join(dirname(run.found.folder), name))
        played?.end.abort(new Error('stopped by hand'))
        await played?.done
        return {}
      },
    },
    async [Symbol.asyncDispose]() {
      for (const { end } of playing.values()) end.abort(new Error('the server ends'))
      await Promise.all([...playing.values()].map(({ done }) => done))
    },
  }
}

function parsed<T extends z.ZodType>(schema: T, given: unknown): z.infer<T> {
  const { data, error } = schema.safeParse(given)
  if (error) throw new HttpProblem('invalid', `This cannot be played: ${z.prettifyError(error)}`)
  return data as z.infer<T>
}

function playersIn({ seat, policy = '' }: RunSettings): string[] {
  return Object.values(seat ?? { '': policy })
}

/**
 * Opens a run with the world of its name that was given, else by the rules of a replay, with who may play and how. Of
 * somebody else's run it is not known how models are asked: that names servers and keys.
 */
async function openAllowed({ found }: ViewedRun, worlds: readonly string[], others: readonly string[]) {
  const { folder, manifest } = found
  const { configuration } = manifest
  const loaded = await Promise.all(worlds.map(async (given) => [given, await loadWorld(given)] as const))
  const [given] = loaded.find(([, { environment }]) => environment.name === configuration.environment.name) ?? []
  const parent = await openParent(folder, given, () => {})
  const { policies, solver } = parent.world
  const isOwn = await isOwnRun(folder)
  const { modelOptions: _, ...played } = manifest.played
  const settings = settingsOf(
    isOwn ? manifest : { ...manifest, played, configuration: { ...configuration, sampling: null } },
  )
  const named = [...others, ...(solver ? ['solver'] : []), ...Object.keys(policies), 'random']
  const players = [...new Set([...(isOwn ? policyNames(configuration) : []), ...named])]
  return { parent, settings, players }
}

/** What the dearest episode of a run has cost; `null` if it is not known of any. */
async function findDearest(run: ViewedRun): Promise<number | null> {
  const { cost } = (await run.rows(true)).columns(['cost']).columns
  const known = Array.from(cost ?? []).filter((value) => !Number.isNaN(value))
  return known.length === 0 ? null : known.reduce((most, one) => Math.max(most, one))
}

async function readPoint(run: ViewedRun, parent: Parent, { row, step }: AskedPlay): Promise<Point> {
  const [episode] = await withTasks(parent, [await (await run.rows(true)).record(row)])
  return { ...(episode as Omit<Point, 'step'>), step }
}

function costOf(
  { rollouts, budget = rollouts, costLimit }: AskedPlay,
  models: readonly string[],
  hasControl: boolean,
): string {
  const what = `${models.join(' and ')} will play ${plural(budget, 'continuation')}${hasControl ? ', and as many without the change' : ''}.`
  const most =
    costLimit === undefined
      ? 'What it costs is not known, and nothing limits it.'
      : `It stops when ${formatCost(costLimit)} are spent.`
  return `${what} ${most}`
}

/** Reads continuations of a run in a folder; `null` for those of another run. */
async function readContinuation(
  path: string,
  parent: RunManifest,
  played: Played | undefined,
): Promise<Continuation | null> {
  const [changed, control] = await Promise.all(
    [holdsRun(path) ? path : join(path, 'changed'), join(path, 'control')].map((folder) =>
      holdsRun(folder) ? readManifest(folder).catch(() => null) : null,
    ),
  )
  const configuration = (changed ?? control)?.configuration
  const kept =
    (await jsonInFile(keptSchema, join(path, KEPT))) ?? (configuration && keptOf(configuration, parent.configuration))
  if (!kept || kept.run !== runIdOf(parent)) return null
  const { run: _, ...found } = kept
  const isCut = found.changed === SEARCH && found.loss === null
  const { isPlaying = false, problem = isCut ? 'It was stopped.' : null } = played ?? {}
  return {
    ...{ name: basename(path), ...found },
    runs: { ...(changed && { changed: runIdOf(changed) }), ...(control && { control: runIdOf(control) }) },
    ...{ isPlaying, problem },
  }
}

/** Returns what a run of continuations is for pages; `null` for another run. */
function keptOf(continued: RunConfiguration, parent: RunConfiguration): Kept | null {
  const { run, points: [point] = [], changes } = continued.continues ?? {}
  if (run === undefined || !point || !changes) return null
  const { call, answer, prompt, describe = {}, seed } = changes
  const players = policyNames(continued).filter((name) => !policyNames(parent).includes(name))
  const words = [
    ...players.map((name) => `played by ${name}`),
    ...(call ? [`${call.tool} ${JSON.stringify(call.arguments)}`] : []),
    ...(answer !== undefined ? ['another answer is read'] : []),
    ...(prompt !== undefined ? ['another task prompt'] : []),
    ...(continued.sampling?.systemPrompt !== parent.sampling?.systemPrompt ? ['another system prompt'] : []),
    ...Object.keys(describe).map((tool) => `another description of ${tool}`),
    ...(seed !== undefined ? [`new chance, ${seed}`] : []),
  ]
  return { run, seal: point.seal, step: point.step, changed: words.join(', ') || 'as it was', loss: null }
}
