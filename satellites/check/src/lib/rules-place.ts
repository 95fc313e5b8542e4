import { type Debugger, Session } from 'node:inspector'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Finding, RulesPlace } from './finding.ts'

/** Where an environment has the definition, and a tool the `play`, as their author wrote it. */
export const WRITTEN = Symbol.for('episodic.written')
type Written = { readonly [WRITTEN]?: unknown }
const HELD = Symbol.for('episodic.placed')

/** Of findings that name no tool and no reward term. */
const FUNCTIONS: readonly (readonly [RegExp, string])[] = [
  [/^(start-|nothing-varies|pairs-invalid)/, 'start'],
  [/^(view-differs|observation-)/, 'observe'],
  [/^tools-differ/, 'offers'],
  [/^success-unearned/, 'success'],
]

/** Returns the place of the rules that a finding is about; `null` if none is known, or it is a library's. */
export function findRulesPlace(environment: EnvironmentDefinition, finding: Finding): RulesPlace | null {
  const definition = (environment as Written)[WRITTEN] as { readonly [part: string]: unknown } | undefined
  const framed = / at (?:.*\()?((?:[\w.…-]+\/)*[\w.-]+\.\w+):(\d+):\d+\)?/.exec(finding.what)
  if (framed) return { file: framed[1] as string, line: Number(framed[2]) }
  const subject = finding.part ?? finding.name.slice(finding.name.indexOf(':') + 1)
  const tool = environment.tools[subject] ?? environment.tools[subject.split('.')[0] as string]
  const named = FUNCTIONS.find(([kind]) => kind.test(finding.name))?.[1]
  const terms = definition?.rewards as { readonly [term: string]: unknown } | undefined
  const run = (tool as Written | undefined)?.[WRITTEN] ?? terms?.[subject] ?? (named && definition?.[named])
  return typeof run === 'function' ? findPlace(run) : null
}

/** `null` too where a runtime permits no inspector, such as Node under its permission model. */
function findPlace(run: object): RulesPlace | null {
  const scripts = new Map<string, string>()
  let found: Debugger.Location | undefined
  try {
    const session = new Session()
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url))
    session.connect()
    Reflect.set(globalThis, HELD, run)
    // In its own thread a session answers at once.
    session.post('Debugger.enable')
    session.post('Runtime.evaluate', { expression: `globalThis[Symbol.for('${HELD.description}')]` }, (_, { result }) =>
      session.post('Runtime.getProperties', { objectId: `${result.objectId}` }, (_, { internalProperties = [] }) => {
        found = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')?.value?.value
      }),
    )
    session.disconnect()
  } catch {
    return null
  } finally {
    Reflect.deleteProperty(globalThis, HELD)
  }
  const url = found && scripts.get(found.scriptId)
  if (!found || !url?.startsWith('file:') || url.includes('/node_modules/')) return null
  return { file: relative(process.cwd(), fileURLToPath(url)), line: found.lineNumber + 1 }
}
