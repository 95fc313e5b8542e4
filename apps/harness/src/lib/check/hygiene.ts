import { rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { type Examined, examined } from './check-report.ts'
import type { Finding } from './finding.ts'
import { walkSchema } from './schema-walk.ts'
import { privateLiterals } from './secrecy/private-literals.ts'
import type { Subject } from './subject.ts'

/** Longest observation, in UTF-16 code units, that passes without a word. */
const LONG_TEXT = 20_000

/**
 * Looks at what an agent is told before it plays: tools and parameters are described, inputs are bounded, and no schema
 * or description holds a value of the private state.
 */
export function checkHygiene({ world, settings, seed }: Subject): Examined {
  const { environment } = world
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const wrong = (name: Finding['name'], what: string, again: string, advice: string) =>
    findings.push({ name, what, again, advice })
  const warn = (name: Finding['name'], what: string, again: string, advice: string) =>
    warnings.push({ name, what, again, advice })

  if (environment.description.trim() === '')
    wrong(
      'description-missing:world',
      'The world has no description.',
      environment.name,
      'Say in a sentence what there is to do.',
    )
  for (const tool of environment.toolInfos) {
    if (tool.description.trim() === '')
      wrong(
        `description-missing:${tool.name}`,
        `Tool ${tool.name} has no description.`,
        `tool ${tool.name}`,
        'Say in a sentence what it does and costs.',
      )
    for (const { path, schema } of walkSchema(tool.inputSchema)) {
      const place = `${tool.name}.${path || 'input'}`
      const again = `tools/list of ${environment.name}`
      if (path !== '' && !path.includes('.') && typeof schema.description !== 'string')
        warn(
          `argument-undescribed:${place}`,
          `${place} has no description, which is all that a model reads of it.`,
          again,
          'Say what it is with .describe(…).',
        )
      const open = openBound(schema)
      if (open)
        warn(`argument-unbounded:${place}`, `${place} takes ${open.takes} of any ${open.measure}.`, again, open.advice)
    }
  }
  if (Object.keys((environment.paramsSchema.properties ?? {}) as object).length > 0 && settings[0]?.task !== null)
    warn(
      'defaults-missing',
      'The parameters have no defaults, so that a plain MCP client cannot play.',
      environment.name,
      'Give each a .default(…).',
    )

  for (const { value, place, doubtful } of privateLiterals(environment, settings, seed)) {
    const note = doubtful ? warn : wrong
    note(
      `private-value-named:${value}`,
      `The private value ${JSON.stringify(value)} stands in ${place}.`,
      `tools/list of ${environment.name}`,
      doubtful
        ? 'If it is the same word by chance, enumerate the private values with z.enum, or waive this.'
        : 'Build what players read from what is public alone, and compare with the private state inside play.',
    )
  }

  for (const setting of settings) {
    const { text } = rehearse(environment, { params: setting.params, seed }).observation
    const again = `params ${JSON.stringify(setting.params)}, seed ${seed}`
    if (text.trim() === '')
      wrong('observation-empty', 'The first observation is empty.', again, 'Tell the player how the world stands.')
    if (text.length > LONG_TEXT)
      warn(
        'observation-long',
        `The first observation has ${text.length} characters.`,
        again,
        'Let it say less, and give players a tool to read the rest.',
      )
  }
  const tools = environment.toolInfos.length
  return examined(
    'hygiene',
    `${tools} ${tools === 1 ? 'tool' : 'tools'}: descriptions, bounds, and no private value in what is read before playing`,
    {
      findings,
      warnings,
      figures: { tools, warnings: warnings.length },
    },
  )
}

/** What a schema takes without a bound, in words. */
interface OpenBound {
  readonly takes: string
  readonly measure: string
  readonly advice: string
}

/** What a schema leaves open that could be large; `null` where it is bounded. */
function openBound(schema: JsonObject): OpenBound | null {
  const { type } = schema
  if (schema.enum !== undefined || schema.const !== undefined) return null
  if (type === 'string' && schema.maxLength === undefined && schema.format === undefined)
    return { takes: 'a text', measure: 'length', advice: 'Give it a .max(…).' }
  if (type === 'array' && schema.maxItems === undefined)
    return { takes: 'a list', measure: 'length', advice: 'Give it a .max(…).' }
  if (type === 'number' || type === 'integer') {
    const bounds = [schema.minimum ?? schema.exclusiveMinimum, schema.maximum ?? schema.exclusiveMaximum]
    const open = bounds.some((bound) => typeof bound !== 'number' || Math.abs(bound) >= Number.MAX_SAFE_INTEGER)
    if (open)
      return { takes: 'a number', measure: 'size', advice: 'Give it a .min(…) and .max(…) where it has a range.' }
  }
  return null
}
