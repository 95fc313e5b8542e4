import { rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { plural } from '@episodic/report/text/format'
import type { CheckContext } from './check-context.ts'
import { type CheckOutcome, checkOutcome } from './check-report.ts'
import type { Finding } from './finding.ts'
import { privateLiterals, SEEDS } from './secrecy/private-literals.ts'
import { walkSchema } from './walk-json.ts'

/** Longest observation that passes without a warning, in UTF-16 code units. */
const LONG_TEXT = 20_000

/**
 * Checks what an agent reads before it plays: tools and arguments are described, inputs are bounded, and no schema or
 * description contains a value of the private state.
 */
export function checkHygiene({ world, settings, seed, affordable }: CheckContext): CheckOutcome {
  const { environment } = world
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const wrong: typeof warn = (name, what, again, advice) => void findings.push({ name, what, again, advice })
  const warn = (name: Finding['name'], what: string, again: string, advice: string) =>
    void warnings.push({ name, what, again, advice })
  const isOfServer = Array.isArray(environment.madeOf?.tools)

  if (environment.description.trim() === '')
    wrong(
      'description-missing:world',
      'The world has no description.',
      environment.name,
      'Describe the goal in a sentence.',
    )
  for (const tool of environment.toolInfos) {
    if (tool.description.trim() === '')
      (isOfServer ? warn : wrong)(
        `description-missing:${tool.name}`,
        `Tool ${tool.name} has no description.`,
        `tool ${tool.name}`,
        'Describe in a sentence what it does and what it costs.',
      )
    const again = `tools/list of ${environment.name}`
    for (const [name, schema] of Object.entries((tool.inputSchema.properties ?? {}) as JsonObject)) {
      const place = `${tool.name}.${name}`
      // What an argument is made of, such as the elements of an array, is described with it.
      if (typeof (schema as JsonObject).description !== 'string')
        warn(
          `argument-undescribed:${place}`,
          `${place} has no description, so a model does not know what to pass.`,
          again,
          'Describe it with .describe(…).',
        )
    }
    for (const { path, schema } of walkSchema(tool.inputSchema)) {
      const place = `${tool.name}.${path || 'input'}`
      const open = openBound(schema)
      if (open)
        warn(
          `argument-unbounded:${place}`,
          `${place} accepts ${open.accepts} of any ${open.measure}.`,
          again,
          open.advice,
        )
    }
  }
  // The author of a world cannot change what an MCP server says of its tools, so that is counted and no warning.
  const ofServer = isOfServer ? warnings.splice(0).length : 0
  if (Object.keys((environment.paramsSchema.properties ?? {}) as object).length > 0 && settings[0]?.task !== null)
    warn(
      'defaults-missing',
      'The parameters have no defaults, so a plain MCP client cannot play.',
      environment.name,
      'Give each parameter a .default(…).',
    )

  for (const { value, place, doubtful } of privateLiterals(environment, settings, seed, affordable(SEEDS, 4))) {
    const note = doubtful ? warn : wrong
    note(
      `private-value-named:${value}`,
      `${place.charAt(0).toUpperCase()}${place.slice(1)} contains the private value ${JSON.stringify(value)}.`,
      `tools/list of ${environment.name}`,
      doubtful
        ? 'If the match is a coincidence, enumerate the private values with z.enum, or waive this finding.'
        : 'Build descriptions and schemas from public values only, and compare with the private state inside play.',
    )
  }

  for (const setting of settings) {
    const { start } = rehearse(environment, { params: setting.params, seed })
    const seats = start.seats ? Object.entries(start.seats) : [[null, start] as const]
    for (const [seat, { observation }] of seats) {
      const again = `params ${JSON.stringify(setting.params)}, seed ${seed}`
      const subject = `The first observation${seat === null ? '' : ` of ${seat}`}`
      const { text } = observation
      if (text.trim() === '')
        wrong('observation-empty', `${subject} is empty.`, again, 'Describe the initial state to the player.')
      if (text.length > LONG_TEXT)
        warn(
          'observation-long',
          `${subject} has ${text.length} characters.`,
          again,
          'Shorten it, and give players a tool that reads the rest.',
        )
    }
  }
  const tools = environment.toolInfos.length
  return checkOutcome(
    'hygiene',
    [
      `${tools} ${tools === 1 ? 'tool' : 'tools'}: descriptions, bounds, and private values in what agents read before playing`,
      ...(ofServer > 0
        ? [`the server leaves ${plural(ofServer, 'part')} of its schemas without a description or bound`]
        : []),
    ].join('; '),
    { findings, warnings, figures: { tools, warnings: warnings.length } },
  )
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
