import { canonicalJson, type JsonObject } from '@episodic/protocol'
import type { Contrasts } from '@episodic/report/compare/contrasts'
import { asksModels } from '@episodic/run/base/player-names'
import { namesOfPrompts } from '@episodic/run/folder/plan/prompt-names'
import { shortName } from '@episodic/run/folder/record/run-folder'
import { meansOf } from './compare-runs.ts'
import type { ComparedRun } from './compared-run.ts'
import { adjustFigures } from './holm.ts'
import { meanOf, pairFigure, SHARES } from './paired-figure.ts'

/** What runs of one model may differ in: what is sent first, what stands for tools, and how it is asked. */
const FACTORS = ['prompt', 'tools', 'options'] as const

/** What a run is made of besides its tasks, and its success in each task that it finished. */
interface Leveled {
  /** Who plays every seat, and for how long at most, as JSON. */
  readonly model: string
  readonly name: string
  /** What models are sent before the task; `null` for the usual words. */
  readonly prompt: string | null
  /** Descriptions of tools in place of those of the world, as canonical JSON. */
  readonly tools: string
  /** How models are asked otherwise, as canonical JSON. */
  readonly options: string
  readonly success: ReadonlyMap<string, number>
}

/**
 * Returns success by model and prompt, and the effects of prompts, descriptions and options; `null` if no model is
 * asked in two ways that differ in one of them. Policies that ask no model are left out, and of two runs that differ in
 * nothing, the second.
 *
 * The effect of a prompt is paired by task and model: of each task the mean, over the models that finished it with both
 * prompts, of the difference of their means over rollouts. Tasks are a sample and models are not, so the interval and
 * the test are over tasks, as for two runs (Miller 2024, arXiv:2411.00640, section 4): they are about these models.
 *
 * @param runs - of one environment, the baseline first, with tasks under the ids of the baseline.
 */
export function factorsOf(runs: readonly ComparedRun[]): Contrasts['factors'] {
  const all = runs.filter(({ manifest }) => asksModels(manifest.configuration)).map(levelsOf)
  const effects = adjustFigures(FACTORS.flatMap((factor) => effectsOf(all, factor)))
  if (effects.length === 0) return null
  const prompts = [...new Set(all.map(({ prompt }) => prompt))]
  const nameOf = {
    prompt: namesOfPrompts(prompts),
    tools: namesOfTools(all.map(({ tools }) => tools)),
    options: namesOfOptions(all.map(({ options }) => options)),
  }
  const rows = [...Map.groupBy(all, ({ model, tools, options }) => `${model} ${tools} ${options}`).values()].map(
    (own) => {
      const [{ name, tools, options }] = own as [Leveled]
      const cells = prompts.map((level) => own.find(({ prompt }) => prompt === level))
      return {
        model: [name, nameOf.tools(tools), nameOf.options(options)].filter(Boolean).join(' · '),
        success: cells.map((run) => (run ? meanOf([...run.success.values()]) : null)),
      }
    },
  )
  const bestOf = (row: (typeof rows)[number]) => Math.max(...row.success.map((share) => share ?? -1))
  return {
    prompts: prompts.map(nameOf.prompt),
    rows: rows.toSorted((a, b) => bestOf(b) - bestOf(a)),
    effects: effects.map(({ level, base, ...effect }) => ({
      ...effect,
      level: nameOf[effect.factor](level) || `usual ${effect.factor}`,
      base: nameOf[effect.factor](base) || `usual ${effect.factor}`,
    })),
  }
}

function levelsOf({ manifest, tasks }: ComparedRun): Leveled {
  const { policy, seats, focus, maxSteps, episodeTimeout, sampling, toolFaults = null } = manifest.configuration
  const { systemPrompt = null, describe = {}, ...options } = { ...sampling, toolFaults }
  const given = Object.entries(options).filter(([, value]) => value !== null)
  const success = [...tasks].map(([id, task]) => [id, meansOf(task)?.success] as const)
  return {
    model: JSON.stringify([policy, seats, focus, maxSteps, episodeTimeout]),
    name: [shortName(policy.name), policy.version].filter(Boolean).join(' · '),
    prompt: systemPrompt,
    tools: canonicalJson(describe),
    options: canonicalJson(Object.fromEntries(given) as JsonObject),
    success: new Map(success.filter((one): one is readonly [string, number] => one[1] !== undefined)),
  }
}

/** The effects of the levels of a factor, each against that of the first run that has another one beside it. */
function effectsOf(all: readonly Leveled[], factor: (typeof FACTORS)[number]) {
  const restOf = ({ model, prompt, tools, options }: Leveled) =>
    JSON.stringify({ model, prompt, tools, options, [factor]: '' })
  const asked = [...Map.groupBy(all, restOf).values()].filter((own) => new Set(own.map((one) => one[factor])).size > 1)
  const [base = null, ...levels] = new Set(all.filter((one) => asked.flat().includes(one)).map((one) => one[factor]))
  return levels.flatMap((level) => {
    const pairs = asked.flatMap((own) => {
      const [a, b] = [base, level].map((side) => own.find((one) => one[factor] === side))
      return a && b ? [[a.success, b.success] as const] : []
    })
    const tasks = [...new Set(pairs.flatMap(([a]) => [...a.keys()]))].sort()
    const byTask = tasks.flatMap((id) => {
      const both = pairs.filter(([a, b]) => a.has(id) && b.has(id))
      const mean = (side: 0 | 1) => meanOf(both.map((pair) => pair[side].get(id) as number))
      return both.length > 0 ? [[mean(0), mean(1)] as const] : []
    })
    const figure = pairFigure(byTask, SHARES)
    return figure ? [{ factor, level, base, pairs: pairs.length, ...figure }] : []
  })
}

/** Names descriptions of tools by the tools, with the first words of those in which they differ. */
function namesOfTools(all: readonly string[]): (tools: string | null) => string {
  const parsed = all.map((tools) => JSON.parse(tools) as Record<string, string>)
  const names = [...new Set(parsed.flatMap(Object.keys))].sort()
  return (tools) => {
    const own = JSON.parse(tools ?? '{}') as Record<string, string>
    return names
      .filter((name) => own[name] !== undefined && parsed.some((other) => other[name] !== own[name]))
      .map((name) => `${name} ${namesOfPrompts(parsed.map((other) => other[name] ?? null))(own[name] ?? null)}`)
      .join(', ')
  }
}

/** Names options by those in which they differ: `temperature 0, maxTokens 100`. */
function namesOfOptions(all: readonly string[]): (options: string | null) => string {
  const parsed = all.map((options) => JSON.parse(options) as JsonObject)
  const keys = [...new Set(parsed.flatMap(Object.keys))].sort()
  const differing = keys.filter((key) => new Set(parsed.map((options) => JSON.stringify(options[key]))).size > 1)
  return (options) => {
    const own = JSON.parse(options ?? '{}') as JsonObject
    return differing.flatMap((key) => (own[key] === undefined ? [] : [`${key} ${JSON.stringify(own[key])}`])).join(', ')
  }
}
