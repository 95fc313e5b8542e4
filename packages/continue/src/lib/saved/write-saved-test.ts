import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stepsOf } from '@episodic/analysis/replay/steps-before'
import { limitsOf } from '@episodic/play/play/plan/plan'
import { resolvePackage } from '@episodic/play/worlds/world'
import { type EpisodeRecord, isMatchRecord } from '@episodic/protocol'
import { shownPath } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { writeWhole } from '@episodic/run/base/own-files'
import { isLlm } from '@episodic/run/base/player-names'
import type { Continues } from '@episodic/run/folder/plan/configuration'
import { ancestorsOf } from '../origin/origins-file.ts'
import { assertChanges, assertPoint } from '../run/assert-request.ts'
import type { Parent, Point } from '../run/parent.ts'
import { splitLines } from './renew-case.ts'
import { writeSavedCase } from './saved-case.ts'

export interface SavedTest {
  /** The file of the test, such as `tests/refund.test.ts`. */
  readonly file: string
  readonly parent: Parent
  readonly point: Point
  readonly changes: Continues['changes']
  /** What must hold: success by default, a grader of the world, or a return or a reward term of at least this. */
  readonly holds?: { readonly grader: string } | { readonly earns: number; readonly term?: string } | undefined
  /** Who goes on: `llm:<model>`, or a policy that the world exports. Default: the calls that were played. */
  readonly policy?: string | undefined
  readonly systemPrompt?: string | undefined
}

/** Vitest finds such files by itself. */
const TEST_FILE = /(\.(?:test|spec))\.[cm]?[jt]sx?$/

/**
 * Writes a step of an episode as a test of Vitest, and its case beside it. Resolves with both paths.
 *
 * Rejects with `option-invalid` for a file that is no test or is there already, for a line of several seats, for a
 * policy or a grader that a test cannot name, and as `continueRun` does for a step and changes.
 */
export async function writeSavedTest(given: SavedTest): Promise<{ readonly test: string; readonly fixture: string }> {
  const { file, parent, point, changes } = given
  const { task, step, record } = point
  assertChanges(parent.world.environment, changes)
  assertPoint(point, changes)
  const test = resolve(file)
  if (!TEST_FILE.test(test))
    throw invalidOption(`Vitest does not find ${file}: give --save a file that ends with .test.ts.`)
  if (isMatchRecord(record))
    throw invalidOption(
      'A saved test plays one seat, and this episode has several. Continue it without --save, and keep what that comes to with `episodic gate`.',
    )
  const fixture = test.replace(TEST_FILE, '$1.fixture.json')
  const taken = [test, fixture].find((path) => existsSync(path))
  if (taken) throw invalidOption(`${shownPath(taken)} is there already. Give --save another file, or remove it.`)
  const text = await formatTest(given, test, basename(fixture))
  const earlier = ancestorsOf(record, parent.origins).map((line) => line.record as EpisodeRecord)
  const lines = [...earlier.toReversed(), record]
  const calls = splitLines(lines, stepsOf(record)).actions.slice(step)
  const limits = limitsOf(task, parent.manifest.configuration.maxSteps)
  await writeSavedCase(fixture, { task: { ...task, limits }, step, calls, lines })
  return { test: await writeWhole(test, text), fixture }
}

async function formatTest(given: SavedTest, test: string, fixture: string): Promise<string> {
  const { parent, changes } = given
  const { task, step, record } = given.point
  const names = new Set(['environment'])
  const policy = findPolicy(given, names)
  const expected = await findExpectation(given, names)
  const { before, after } = importWorld(parent, test, names)
  const at = changes.answer === undefined ? step + 1 : step
  return [
    ...before,
    `import { playEpisode${policy?.startsWith('recorded') ? ', recordedModel' : ''} } from 'episodic/vitest'`,
    "import { expect, it } from 'vitest'",
    ...after,
    '',
    `// Attempt ${record.attempt} of task ${task.id} of ${relative(dirname(test), parent.folder)}.`,
    `// What came before step ${at} is in ${fixture}; where the rules play it otherwise, \`vitest -u\` writes it anew.`,
    `it(${quoted(`goes on from step ${at} of task ${task.id.slice(0, 8)}`)}, async () => {`,
    '  const episode = await playEpisode(environment, {',
    `    from: new URL(${quoted(fixture)}, import.meta.url),`,
    ...(policy ? [`    policy: ${policy},`] : []),
    ...(Object.keys(changes).length > 0 ? [`    changes: ${JSON.stringify(changes)},`] : []),
    '  })',
    `  ${expected}`,
    '})',
    '',
  ].join('\n')
}

function findPolicy({ policy, systemPrompt, parent: { world } }: SavedTest, names: Set<string>): string | null {
  if (policy === undefined) return null
  const options = systemPrompt === undefined ? '' : `, ${JSON.stringify({ systemPrompt })}`
  if (isLlm(policy)) return `recordedModel(${quoted(policy.slice('llm:'.length))}${options})`
  const [name, text] =
    policy === 'solver' && world.solver ? [policy, policy] : ['policies', `policies[${quoted(policy)}]`]
  if (name === 'policies' && !Object.hasOwn(world.policies, policy))
    throw invalidOption(
      `A test cannot name the policy ${policy}: it names llm:<model>, and what the world exports. Leave --policy out for the calls that were played, and write another one into the test.`,
    )
  names.add(name)
  return text
}

async function findExpectation({ holds, parent: { world } }: SavedTest, names: Set<string>): Promise<string> {
  if (!holds) return 'expect(episode).toSucceed()'
  if ('earns' in holds) return `expect(episode).toEarn(${holds.earns}${holds.term ? `, ${quoted(holds.term)}` : ''})`
  const { graders = {} } = (await import(world.url)) as { readonly graders?: { [key: string]: { name: string } } }
  const key = Object.keys(graders).find((key) => graders[key]?.name === holds.grader)
  const known = Object.keys(world.graders).join(', ') || 'none'
  if (key === undefined) throw invalidOption(`The world has no grader ${holds.grader}. Its graders: ${known}.`)
  names.add('graders')
  return `await expect(episode).toPassGrader(graders[${quoted(key)}])`
}

/** Returns the lines of a test that have its world: before those of Vitest, and after them. */
function importWorld({ world: { url }, manifest }: Parent, test: string, exported: ReadonlySet<string>) {
  const file = fileURLToPath(url)
  const path = relative(dirname(test), file).replaceAll('\\', '/')
  const beside = quoted(path.startsWith('.') ? path : `./${path}`)
  if (/\.jsonl?$/.test(file)) {
    const recorded = `const environment = await defineMcpEnvironment({ recording: new URL(${beside}, import.meta.url) })`
    return { before: ["import { defineMcpEnvironment } from 'episodic'"], after: ['', recorded] }
  }
  const { reference = '' } = manifest.sources?.world ?? {}
  const names = ['', '@episodic/classics/', '@episodic/benchmarks/'].map((scope) => `${scope}${reference}`)
  const installed = names.find((name) => /^[@\w]/.test(name) && resolvePackage(name, dirname(test)) === file)
  return {
    before: [],
    after: [`import { ${[...exported].join(', ')} } from ${installed ? quoted(installed) : beside}`],
  }
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
