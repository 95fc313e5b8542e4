import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { withoutDataLine } from '@episodic/protocol/internal'
import type { Finding } from './finding.ts'
import { formatStart, type PlayedStep, type RehearsedEpisode } from './rehearsed-episode.ts'
import { unsaidFields } from './unsaid-fields.ts'
import { walkSchema } from './walk-json.ts'

/**
 * Finds tools whose `dataFollows` does not suit what they say: `false` though a text leaves out a field of the data,
 * which no model reads then; and `true` though each text says all of the data, which a model then reads twice.
 */
export class UnsaidData {
  readonly #unsaid = new Map<string, Finding>()
  readonly #repeated = new Map<string, string | null>()

  add(episode: RehearsedEpisode): void {
    for (const [i, step] of episode.steps.entries()) {
      const name = step.action.tool
      const tool = Object.hasOwn(episode.environment.tools, name) ? episode.environment.tools[name] : undefined
      const { structured } = step.observation
      if (!tool?.output || step.refused !== null || structured === null) continue
      const again = `${formatStart(episode)}, step ${i + 1}`
      const shown = ownText(episode, step)
      const text = withoutDataLine(shown, structured)
      const unsaid = unsaidFields(text, structured, declaredKeys(episode.environment, name))
      if (!tool.dataFollows) for (const field of Object.keys(unsaid ?? {})) this.#note(name, field, again)
      else if (unsaid) this.#repeated.set(name, null)
      // The data of a text that has it as JSON already does not follow, nor does data that is empty.
      else if (text !== shown && !this.#repeated.has(name)) this.#repeated.set(name, again)
    }
  }

  get warnings(): Finding[] {
    const repeated = [...this.#repeated].flatMap(([tool, again]): Finding[] => {
      const what = `The texts of ${tool} say all of its data, which follows each of them as JSON once more.`
      const advice = 'Set dataFollows: false in the tool, which spares models the tokens, or waive this finding.'
      return again === null ? [] : [{ name: `data-repeated:${tool}`, what, again, advice }]
    })
    return [...this.#unsaid.values(), ...repeated]
  }

  #note(tool: string, field: string, again: string): void {
    const name = `data-unsaid:${tool}.${field}` as const
    if (this.#unsaid.has(name)) return
    this.#unsaid.set(name, {
      name,
      what: `A text of ${tool} does not say ${field} of its data. A model never reads it, because dataFollows is false.`,
      again,
      advice: 'Say it in the text, leave out dataFollows: false, or waive this finding.',
    })
  }
}

/** Returns the text of `say`, without what the player observes then: a number in that may be another one. */
function ownText({ environment, setting }: RehearsedEpisode, { observation, change, seat }: PlayedStep): string {
  const { text } = observation
  if (!change) return text
  const seen = `\n${environment.observe(change.state, environment.params.parse(setting.params), seat).text}`
  return text.endsWith(seen) ? text.slice(0, -seen.length) : text
}

/** The keys that the output of a tool declares anywhere. Others, as those of a record, are values. */
function declaredKeys({ toolInfos }: EnvironmentDefinition, tool: string): ReadonlySet<string> {
  const { outputSchema } = toolInfos.find(({ name }) => name === tool) ?? {}
  const schemas = [...walkSchema((outputSchema ?? {}) as JsonObject)]
  return new Set(schemas.flatMap(({ schema }) => Object.keys((schema.properties ?? {}) as JsonObject)))
}
