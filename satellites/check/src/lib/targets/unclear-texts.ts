import type { JsonObject, ToolInfo } from '@episodic/protocol'
import type { Finding } from '../finding.ts'
import { walkSchema } from '../walk-json.ts'

/** Longest observation that passes without a warning, in UTF-16 code units. */
const LONG_TEXT = 20_000

/** Returns what the list of tools does not tell a player: what each does, what its arguments are, and their bounds. */
export function unclearTools(tools: readonly ToolInfo[], again: string): Finding[] {
  return tools.flatMap(({ name: tool, description, inputSchema }) => {
    const found: Finding[] = []
    const add = (name: Finding['name'], what: string, advice: string) => void found.push({ name, what, again, advice })
    if (description.trim() === '')
      add(
        `description-missing:${tool}`,
        `Tool ${tool} has no description.`,
        'Describe in a sentence what it does and what it costs.',
      )
    for (const [name, schema] of Object.entries((inputSchema.properties ?? {}) as JsonObject)) {
      const place = `${tool}.${name}`
      // What an argument is made of, such as the elements of an array, is described with it.
      if (typeof (schema as JsonObject).description !== 'string')
        add(
          `argument-undescribed:${place}`,
          `${place} has no description, so a model does not know what to pass.`,
          'Describe it with .describe(…).',
        )
    }
    for (const { path, schema } of walkSchema(inputSchema)) {
      const place = `${tool}.${path || 'input'}`
      const open = openBound(schema)
      if (open)
        add(`argument-unbounded:${place}`, `${place} accepts ${open.accepts} of any ${open.measure}.`, open.advice)
    }
    return found
  })
}

/** Returns what is wrong with the first observation of a player. */
export function unclearStart(text: string, subject: string, again: string): Finding[] {
  if (text.trim() === '')
    return [
      {
        name: 'observation-empty',
        what: `${subject} is empty.`,
        again,
        advice: 'Describe the initial state to the player.',
      },
    ]
  if (text.length <= LONG_TEXT) return []
  const what = `${subject} has ${text.length} characters.`
  return [{ name: 'observation-long', what, again, advice: 'Shorten it, and give players a tool that reads the rest.' }]
}

function openBound(schema: JsonObject) {
  const { type } = schema
  if (schema.enum !== undefined || schema.const !== undefined) return null
  if (type === 'string' && schema.maxLength === undefined && schema.format === undefined)
    return { accepts: 'a string', measure: 'length', advice: 'Give it a .max(…).' }
  if (type === 'array' && schema.maxItems === undefined)
    return { accepts: 'an array', measure: 'length', advice: 'Give it a .max(…).' }
  if (type === 'number' || type === 'integer') {
    const bounds = [schema.minimum ?? schema.exclusiveMinimum, schema.maximum ?? schema.exclusiveMaximum]
    const open = bounds.some((bound) => typeof bound !== 'number' || Math.abs(bound) >= Number.MAX_SAFE_INTEGER)
    if (open)
      return { accepts: 'a number', measure: 'size', advice: 'If it has a range, give it a .min(…) and .max(…).' }
  }
  return null
}
