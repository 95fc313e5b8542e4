import { readFileSync } from 'node:fs'
import { environment, solver } from '@episodic/classics/kuhn-poker'
import { describe, expect, it } from 'vitest'
import type { CheckedWorld } from '../check-context.ts'
import type { CheckName } from '../check-report.ts'
import { checkWorld } from '../check-world.ts'
import { leverWorld } from '../lever-world.fixture.ts'
import { RULES } from './rules.ts'
import { toValidationReport } from './validation-report.ts'

const page = readFileSync(new URL('../../../../../docs/judge/check.md', import.meta.url), 'utf8')
const url = new URL('../lever-world.fixture.ts', import.meta.url).href

async function reportOf(
  world: CheckedWorld,
  { differing = 0, share = 0.1, only }: { differing?: number; share?: number; only?: CheckName[] } = {},
) {
  const checked = await checkWorld(world, {
    pairs: 40,
    share,
    ...(only && { only }),
  })
  const cells = [{ store: 'memory', transport: 'http', differingEpisodes: differing }]
  const record = async () => ({ cells })
  const report = await toValidationReport({ target: 'levers', world: { ...world, url }, report: checked, record })
  const by = (status: string) => report.results.filter((result) => result.status === status)
  return { ...report, failed: by('fail').map(({ check_id }) => check_id), skipped: by('skip') }
}

describe('toValidationReport', () => {
  it('answers the ids of the page by what the page says', () => {
    const rows = [...page.matchAll(/^\| `((?:static|runtime|semantic)\.[a-z_]+)` +\| ([^|]*?) +\|$/gm)]
    const shown = Object.fromEntries(rows.map(([, id, by = '']) => [id, by === '–' ? [] : by.split(', ')]))
    const wanted = Object.entries(RULES).map(([id, [by]]) => [id, by.map((name) => `\`${name}\``)])
    expect(shown).toEqual(Object.fromEntries(wanted))
  })

  it('passes what was played of a sound world, and skips what nobody looks at', async () => {
    const { failed, skipped, verdict, manifest } = await reportOf(leverWorld(), { share: 1 })
    expect(failed).toEqual([])
    expect(verdict).toBe('warn')
    expect(skipped.map(({ check_id }) => check_id)).toEqual([
      'static.reproducible_build',
      'static.image_hygiene',
      'static.layout',
      'static.sbom',
      'static.oci_labels',
      'static.task_distribution_pinning',
      'runtime.task_declaration_accuracy',
    ])
    expect(manifest).toMatchObject({
      reward: { range: [-0.01, 1] },
      capabilities: { declared_tools: ['pull', 'wait'] },
    })
  })

  it.each<[string, Parameters<typeof leverWorld>[0], string[]]>([
    ['shows what it hides', { board: ({ left }) => `It is ${left}.` }, ['semantic.no_solution_leakage']],
    [
      'asks the network',
      { onPull: () => void fetch('http://127.0.0.1:1').catch(() => {}) },
      ['runtime.episode_determinism', 'runtime.network_policy'],
    ],
    ['pays too much', { reward: ({ won }) => (won ? 1e7 : 0) }, ['runtime.reward_well_formed']],
  ])('fails a world that %s', async (_, flaw, wanted) => {
    const { failed, verdict, results } = await reportOf(leverWorld(flaw))
    expect(failed).toEqual(expect.arrayContaining(wanted))
    expect(verdict).toBe('fail')
    for (const { status, evidence, remediation } of results)
      expect([evidence.length > 0, remediation !== null]).toEqual([true, status === 'fail'])
  })

  it('fails what depends on where it is kept, and skips what was not run', async () => {
    const { failed, skipped } = await reportOf(leverWorld(), { differing: 1, only: ['hygiene'] })
    expect(failed).toEqual([
      'runtime.episode_isolation',
      'semantic.verifier_determinism',
      'semantic.verifier_portability',
      'semantic.replayability',
    ])
    const { evidence } = skipped.find(({ check_id }) => check_id === 'runtime.seed_control') ?? {}
    expect(evidence).toEqual(['the check determinism was not run'])
  })

  it('says that RFC 008 refuses several seats', async () => {
    const { results, manifest } = await reportOf({ environment, solver })
    expect(manifest).toBe(null)
    expect(results[0]).toMatchObject({ status: 'skip', evidence: [expect.stringContaining('multi-agent')] })
  })
})
