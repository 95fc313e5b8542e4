import { rehearse } from '@episodic/mcp-server'
import { plural } from '@episodic/report/text/format'
import type { CheckContext } from './check-context.ts'
import { type CheckOutcome, checkOutcome } from './check-report.ts'
import type { Finding } from './finding.ts'
import { privateLiterals, SEEDS } from './secrecy/private-literals.ts'
import { unclearStart, unclearTools } from './targets/unclear-texts.ts'

/**
 * Checks what an agent reads before it plays: tools and arguments are described, inputs are bounded, and no schema or
 * description contains a value of the private state.
 */
export function checkHygiene({ world, settings, seed, affordable }: CheckContext): CheckOutcome {
  const { environment } = world
  const [findings, warnings]: [Finding[], Finding[]] = [[], []]
  const isOfServer = Array.isArray(environment.madeOf?.tools)

  if (environment.description.trim() === '')
    findings.push({
      name: 'description-missing:world',
      what: 'The world has no description.',
      again: environment.name,
      advice: 'Describe the goal in a sentence.',
    })
  for (const finding of unclearTools(environment.toolInfos, `tools/list of ${environment.name}`))
    (finding.name.startsWith('description-missing') && !isOfServer ? findings : warnings).push(finding)
  // The author of a world cannot change what an MCP server says of its tools, so that is counted and no warning.
  const ofServer = isOfServer ? warnings.splice(0).length : 0
  if (Object.keys((environment.paramsSchema.properties ?? {}) as object).length > 0 && settings[0]?.task !== null)
    warnings.push({
      name: 'defaults-missing',
      what: 'The parameters have no defaults, so a plain MCP client cannot play.',
      again: environment.name,
      advice: 'Give each parameter a .default(…).',
    })

  for (const { value, place, doubtful } of privateLiterals(environment, settings, seed, affordable(SEEDS, 4))) {
    const to = doubtful ? warnings : findings
    to.push({
      name: `private-value-named:${value}`,
      what: `${place.charAt(0).toUpperCase()}${place.slice(1)} contains the private value ${JSON.stringify(value)}.`,
      again: `tools/list of ${environment.name}`,
      advice: doubtful
        ? 'If the match is a coincidence, enumerate the private values with z.enum, or waive this finding.'
        : 'Build descriptions and schemas from public values only, and compare with the private state inside play.',
    })
  }

  for (const setting of settings) {
    const { start } = rehearse(environment, { params: setting.params, seed })
    const seats = start.seats ? Object.entries(start.seats) : [[null, start] as const]
    for (const [seat, { observation }] of seats) {
      const again = `params ${JSON.stringify(setting.params)}, seed ${seed}`
      const subject = `The first observation${seat === null ? '' : ` of ${seat}`}`
      for (const finding of unclearStart(observation.text, subject, again))
        (finding.name === 'observation-empty' ? findings : warnings).push(finding)
    }
  }
  const tools = environment.toolInfos.length
  const said = `${plural(tools, 'tool')}: descriptions, bounds, and private values in what agents read before playing`
  const left = `; the server leaves ${plural(ofServer, 'part')} of its schemas without a description or bound`
  const figures = { tools, warnings: warnings.length }
  return checkOutcome('hygiene', ofServer > 0 ? said + left : said, { findings, warnings, figures })
}
