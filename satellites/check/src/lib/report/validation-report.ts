import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { invalidOption } from '@episodic/run/base/harness-error'
import { hashModule } from '@episodic/run/folder/plan/content-hash'
import type { CheckedWorld } from '../check-context.ts'
import type { CheckReport } from '../check-report.ts'
import { type Evidence, notRun } from './evidence.ts'
import { formatManifest, proposeManifest } from './manifest.ts'
import { drawTasks, type Recorded, readLockfile, readMatrix } from './package-evidence.ts'
import { BLOCKING, RULES, WARNS } from './rules.ts'
import { playServed } from './served-evidence.ts'

interface Validated {
  readonly target: string
  readonly world: CheckedWorld & { readonly url: string }
  readonly report: CheckReport
  /** Records the same few episodes with each store and transport. */
  readonly record: () => Promise<Recorded>
}

/**
 * Writes a report in the words of RFC 008, and beside it what its package declares in `openenv.yaml`. Resolves with a
 * line that says what was answered. Rejects with `option-invalid` if it cannot be written.
 */
export async function writeValidationReport(file: string, validated: Validated): Promise<string> {
  const report = await toValidationReport(validated)
  const { results, verdict, manifest } = report
  const refuse = (cause: Error) => {
    throw invalidOption(`--report ${file} cannot be written: ${cause.message}. Name another file.`, { cause })
  }
  await mkdir(dirname(file), { recursive: true }).catch(refuse)
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`).catch(refuse)
  const declared = `${file.replace(/\.json$/, '')}.openenv.yaml`
  if (manifest) await writeFile(declared, formatManifest(manifest))
  return `${file}: ${results.filter(({ status }) => status !== 'skip').length} of ${results.length} ids of RFC 008 answered, verdict ${verdict}${manifest ? `; ${declared} has what openenv.yaml declares` : ''}\n`
}

/**
 * Answers each id of RFC 008, in version 2 of its report, by the results of a check and a few episodes that it plays
 * itself. What was not run, or is waived, is a `skip` with the reason. Rejects if the module cannot be read.
 */
export async function toValidationReport({ target, world, report, record }: Validated) {
  const { seed, checks } = report
  const module = fileURLToPath(world.url)
  const matrix = await record().then(readMatrix, (error) => notRun('matrix', error.message))
  const tasks = await drawTasks(world, seed).catch((error) => notRun('tasks', error.message))
  const own = [matrix, tasks, await playServed(world, seed), readLockfile(module)]
  const location = relative(process.cwd(), module)
    .replaceAll('\\', '/')
    .replace(/^(\.\.\/)+/, '')
  const [proposed, manifest] = proposeManifest(world, location, [...checks, ...own])
  const evidence = new Map([...checks, ...own, proposed].map((one): [string, Evidence] => [one.name, one]))
  const isDeterministic = resultOf('runtime.episode_determinism', evidence).status === 'pass'
  const results = Object.keys(RULES).map((id) => {
    const result = resultOf(id, evidence)
    if (!id.startsWith('semantic.') || result.status !== 'pass' || isDeterministic) return result
    return { ...result, status: 'skip', evidence: ['unmet dependency: runtime.episode_determinism'] }
  })
  const isGrave = results.some(({ status, check_id }) => status === 'fail' && !WARNS.test(check_id))
  return {
    ...{ report_schema_version: '2', target, source_digest: await hashModule(module), signature: 'openenv.yaml' },
    ...{ manifest, policy_version: 'v2', lane: 'local', levels_run: [1, 2, 3], results },
    verdict: isGrave ? 'fail' : results.some(({ status }) => status !== 'pass') ? 'warn' : 'pass',
  }
}

function resultOf(check_id: string, evidence: ReadonlyMap<string, Evidence>) {
  const [by, fails, note] = RULES[check_id] ?? [[]]
  const answers = by.flatMap((source) => evidence.get(source) ?? [])
  const isOwn = ({ name, what }: { name: string; what: string }) => name === check_id || fails?.test(`${name} ${what}`)
  const problems = answers.flatMap(({ findings, warnings }) => [...findings, ...warnings])
  const failed = problems.filter(isOwn)
  const why = [
    ...(by.length === 0 ? ['no image is made of a world, so there is nothing to look at'] : []),
    ...by.flatMap((source) => (evidence.has(source) ? [] : [`the check ${source} was not run`])),
    ...answers.flatMap(({ name, outcome, summary }) => (outcome === 'skipped' ? [`${name}: ${summary}`] : [])),
    ...answers.flatMap(({ waived }) =>
      waived.filter(isOwn).map(({ what, reason }) => `left open: ${reason} ${what}`.trim()),
    ),
    ...problems.filter(({ name }) => BLOCKING.test(name)).map(({ what }) => `too little was looked at: ${what}`),
  ]
  const status = failed.length > 0 ? 'fail' : why.length > 0 ? 'skip' : 'pass'
  const said = [...answers.map(({ name, summary }) => `${name}: ${summary}`), ...(note ? [note] : [])]
  const found = failed.map(({ name, what, again }) => `[${name}] ${what} Where: ${again}`)
  return {
    ...{ check_id, status },
    measured: status === 'skip' ? {} : Object.fromEntries(answers.map(({ name, figures }) => [name, figures])),
    evidence: { pass: said, fail: [...found, ...said], skip: why }[status],
    remediation: failed[0]?.advice ?? null,
    duration_s: 0,
  }
}
