import { rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { type CheckResult, type Finding, resultOf } from './check-report.ts'
import { privateLiterals } from './private-literals.ts'
import { walkSchema } from './schema-walk.ts'
import type { Subject } from './subject.ts'

/** Longest observation, in UTF-16 code units, that passes without a word. */
const LONG_TEXT = 20_000

/**
 * Looks at what an agent is told before it plays: tools and parameters are described, inputs are bounded, and no schema
 * or description holds a value of the private state.
 */
export function checkHygiene({ world, settings, seed }: Subject): CheckResult {
  const { environment } = world
  const findings: Finding[] = []
  const warnings: string[] = []
  const wrong = (what: string, again: string, advice: string) => findings.push({ what, again, advice })

  if (environment.description.trim() === '')
    wrong('The world has no description.', environment.name, 'Say in a sentence what there is to do.')
  for (const tool of environment.toolInfos) {
    if (tool.description.trim() === '')
      wrong(`Tool ${tool.name} has no description.`, `tool ${tool.name}`, 'Say in a sentence what it does and costs.')
    for (const { path, schema } of walkSchema(tool.inputSchema)) {
      const place = `${tool.name}: ${path || 'its input'}`
      if (path !== '' && !path.includes('.') && typeof schema.description !== 'string')
        warnings.push(`${place} has no description.`)
      const open = openBound(schema)
      if (open) warnings.push(`${place} ${open}.`)
    }
  }
  if (Object.keys((environment.paramsSchema.properties ?? {}) as object).length > 0 && settings[0]?.task !== null)
    warnings.push('The parameters have no defaults, so that a plain client cannot play.')

  for (const { value, place } of privateLiterals(environment, settings, seed))
    wrong(
      `The private value ${JSON.stringify(value)} stands in ${place}.`,
      `tools/list of ${environment.name}`,
      'Build what players read from what is public alone, and compare with the private state inside play.',
    )

  for (const setting of settings) {
    const { text } = rehearse(environment, { params: setting.params, seed }).observation
    const again = `params ${JSON.stringify(setting.params)}, seed ${seed}`
    if (text.trim() === '') wrong('The first observation is empty.', again, 'Tell the player how the world stands.')
    if (text.length > LONG_TEXT) warnings.push(`The first observation has ${text.length} characters (${again}).`)
  }
  const tools = environment.toolInfos.length
  return resultOf(
    'hygiene',
    `${tools} ${tools === 1 ? 'tool' : 'tools'}, ${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}`,
    {
      findings,
      warnings,
      figures: { tools, warnings: warnings.length },
    },
  )
}

/** What a schema leaves open that could be large; `null` where it is bounded. */
function openBound(schema: JsonObject): string | null {
  const { type } = schema
  if (schema.enum !== undefined || schema.const !== undefined) return null
  if (type === 'string' && schema.maxLength === undefined && schema.format === undefined)
    return 'takes a text of any length: give it a maximum'
  if (type === 'array' && schema.maxItems === undefined) return 'takes a list of any length: give it a maximum'
  if (type === 'number' || type === 'integer') {
    const bounds = [schema.minimum ?? schema.exclusiveMinimum, schema.maximum ?? schema.exclusiveMaximum]
    const open = bounds.some((bound) => typeof bound !== 'number' || Math.abs(bound) >= Number.MAX_SAFE_INTEGER)
    if (open) return 'takes a number of any size: give it a range where it has one'
  }
  return null
}
