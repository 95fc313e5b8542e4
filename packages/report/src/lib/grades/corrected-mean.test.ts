import { createRng } from '@episodic/protocol'
import { studentPoint } from '@episodic/protocol/internal'
import { describe, expect, it } from 'vitest'
import { correctedMean, LABELS_NEEDED, type LabelledEpisode } from './corrected-mean.ts'

const DATA_SETS = process.env.CI ? 2_000 : 600

describe('correctedMean', () => {
  it('adds what people say more than the judge (worked by hand)', () => {
    // The judge passes 60 of 100. Of 40 labels it passed 24, and people pass 4 of these less: −4/40.
    const episodes = Array.from({ length: 100 }, (_, i): LabelledEpisode => {
      const judge = i % 5 < 3 ? 1 : 0
      return { task: `t${i}`, judge, person: i < 40 ? (i % 10 === 0 ? 0 : judge) : null }
    })
    const { mean, low, high, labelled, missing } = correctedMean(episodes)
    expect(mean).toBeCloseTo(0.6 - 0.1, 12)
    expect([labelled, missing]).toEqual([40, 0])
    // Contributions: (judge − 0.6)/100, and of labelled ones also (person − judge + 0.1)/40. Unlabelled: 36 of 0.004,
    // 24 of −0.006. Labelled and contradicted: 4 of 0.004 − 0.0225; others: 20 of 0.004 + 0.0025, 16 of −0.006 +
    // 0.0025.
    const spread = 36 * 0.004 ** 2 + 24 * 0.006 ** 2 + 4 * 0.0185 ** 2 + 20 * 0.0065 ** 2 + 16 * 0.0035 ** 2
    const half = studentPoint(39) * Math.sqrt((100 / 99) * spread)
    expect(low).toBeCloseTo(0.5 - half, 12)
    expect(high).toBeCloseTo(0.5 + half, 12)
  })

  it('is what people say if they label all, whatever the judge says', () => {
    const rng = createRng('all')
    const episodes = Array.from({ length: 60 }, (_, i) => ({
      task: `t${i}`,
      judge: rng.float(),
      person: Number(rng.chance(0.3)),
    }))
    const people = episodes.reduce((sum, { person }) => sum + person, 0) / 60
    expect(correctedMean(episodes).mean).toBeCloseTo(people, 12)
  })

  it('keeps a width if no label contradicts the judge', () => {
    const episodes = Array.from({ length: 100 }, (_, i) => ({ task: `t${i}`, judge: 1, person: i < 50 ? 1 : null }))
    const { mean, low } = correctedMean(episodes)
    expect(mean).toBe(1)
    expect(low).toBeCloseTo(1 - studentPoint(49) / 50, 12)
  })

  it('says how many labels are missing, and corrects nothing before', () => {
    const labelled = (count: number) =>
      Array.from({ length: 90 }, (_, i) => ({ task: `t${i}`, judge: i % 2, person: i < count ? 1 : null }))
    expect(correctedMean(labelled(0))).toEqual({ mean: null, low: null, high: null, labelled: 0, missing: 30 })
    expect(correctedMean(labelled(29))).toMatchObject({ mean: null, labelled: 29, missing: 1 })
    expect(correctedMean(labelled(LABELS_NEEDED)).mean).toBe(1)
  })

  it.each([
    { share: 0.6, wrong: 0.25, labels: 60, rollouts: 1 },
    { share: 0.6, wrong: 0.25, labels: 120, rollouts: 4 },
    { share: 0.5, wrong: 0.05, labels: 40, rollouts: 1 },
    { share: 0.8, wrong: 0, labels: 30, rollouts: 2 },
  ])(
    'has an interval that holds the true rate in 92 of 100 or more: $share, $wrong wrong, $labels labels, $rollouts rollouts',
    ({ share, wrong, labels, rollouts }) => {
      const rng = createRng(`coverage ${share} ${wrong} ${labels} ${rollouts}`)
      let [held, plain] = [0, 0]
      for (let set = 0; set < DATA_SETS; set++) {
        // The episodes of half of the tasks are all alike, and the judge passes some that people do not.
        const episodes = Array.from({ length: 400 / rollouts }, (_, task) => {
          const [alike, shared] = [rng.chance(0.5), rng.chance(share)]
          return Array.from({ length: rollouts }, () => {
            const truth = Number(alike ? shared : rng.chance(share))
            return { task: `t${task}`, truth, judge: truth || Number(rng.chance(wrong)) }
          })
        }).flat()
        const drawn = new Set(rng.shuffle([...episodes.keys()]).slice(0, labels))
        const { low, high } = correctedMean(
          episodes.map(({ task, truth, judge }, i) => ({ task, judge, person: drawn.has(i) ? truth : null })),
        )
        held += Number((low as number) <= share && share <= (high as number))
        const judged = episodes.reduce((sum, { judge }) => sum + judge, 0) / episodes.length
        plain += Number(Math.abs(judged - share) < 1.96 * Math.sqrt((judged * (1 - judged)) / episodes.length))
      }
      expect(held / DATA_SETS).toBeGreaterThanOrEqual(0.92)
      if (wrong > 0.1) expect(held / DATA_SETS).toBeLessThanOrEqual(0.98)
      // The judge alone is wrong, and sure of it.
      if (wrong > 0.1) expect(plain / DATA_SETS).toBeLessThan(0.1)
    },
  )
})
