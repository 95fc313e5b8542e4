import { readFileSync } from 'node:fs'
import type { EpisodeRecord } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import type { ExportSource } from '../export-format.ts'
import { EXPORT_FORMATS, type ExportFormatName } from '../formats/formats.ts'
import { playedByModel } from './model-run.fixture.ts'
import { EXPORT_REWARDS } from './rewards.ts'
import { stalenessColumns } from './staleness-columns.ts'

/** The episode of a model whose answers name these versions in turn; `null`: none. */
function answeredBy(versions: readonly (string | null)[], version?: string): EpisodeRecord {
  const record = playedByModel()
  let answer = 0
  const steps = record.steps.map(({ completions = [], ...step }) => ({
    ...step,
    completions: completions.map((completion) => {
      const policyVersion = versions[answer++ % versions.length]
      return policyVersion ? { ...completion, policyVersion } : completion
    }),
  }))
  return { ...record, steps, policy: { ...record.policy, ...(version !== undefined && { version }) } }
}

async function textOf(format: ExportFormatName, record: EpisodeRecord, policyVersion?: string): Promise<string> {
  async function* episodes() {
    yield record
  }
  const reward = EXPORT_REWARDS.unshaped
  const source: ExportSource = { run: null, tools: [], reward, policyVersion, episodes, allEpisodes: episodes }
  let text = ''
  for await (const piece of EXPORT_FORMATS[format].write(source)) text += piece
  return text
}

describe('EXPORT_FORMATS, with versions of the weights', () => {
  it('counts staleness at the seal and at use from the oldest version', () => {
    const record = answeredBy(['step-12', 'step-13'])
    expect(stalenessColumns(record, 'step-15')).toEqual({
      policy_version: 'step-12',
      staleness_at_seal: 1,
      staleness: 3,
    })
    expect(stalenessColumns(record, undefined)).toEqual({ policy_version: 'step-12', staleness_at_seal: 1 })
    expect(stalenessColumns(answeredBy(['first', ...Array(20).fill('second')]), 'third')).toEqual({
      policy_version: 'first',
    })
  })

  it.each(['trl-sft', 'trl', 'atif'] as const)(
    'writes the columns into %s, and none of them for a record without a version',
    async (format) => {
      const text = await textOf(format, answeredBy(['step-12', 'step-13']), 'step-15')
      expect(text).toContain('"policy_version":"step-12","staleness_at_seal":1,"staleness":3')
      expect(await textOf(format, playedByModel(), 'step-15')).not.toMatch(/policy_version|staleness/)
    },
  )

  it('writes them as the last columns of a table, which has none of them if no version is known', async () => {
    const [header, row] = (await textOf('csv', answeredBy(['12', '13']), '15')).split('\r\n')
    expect(header).toMatch(/,policy_version,staleness_at_seal,staleness$/)
    expect(row).toMatch(/,12,1,3$/)
    expect(await textOf('csv', playedByModel(), '15')).not.toMatch(/policy_version|staleness/)
  })

  it('names the version of each answer beside its tokens', async () => {
    const record = answeredBy(['12', null], '11')
    const [trl, atif, otel] = await Promise.all(
      (['trl', 'atif', 'otel'] as const).map((format) => textOf(format, record)),
    )
    expect(JSON.parse(trl as string).tokens.slice(0, 2)).toMatchObject([
      { completion_ids: [3, 0], policy_version: '12' },
      { completion_ids: [3, 1], policy_version: '11' },
    ])
    expect(JSON.parse(atif as string).steps[1].extra.policy_version).toBe('11')
    expect(otel).toContain('{"key":"episodic.policy_version","value":{"stringValue":"12"}}')
  })

  it('has every column of a rollout on the page of the training record', async () => {
    const page = readFileSync(new URL('../../../../../docs/play/training-record.md', import.meta.url), 'utf8')
    const columns = page.slice(page.indexOf('\n## In exports\n'))
    const line = JSON.parse(await textOf('trl', answeredBy(['12']), '15'))
    const names = [...Object.keys(line), ...Object.keys(line.tokens[0]).map((name) => `tokens[].${name}`)]
    expect(names.filter((name) => !columns.includes(`\`${name}\``))).toEqual([])
  })
})
