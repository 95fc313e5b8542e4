import type { EpisodeRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { expect, it } from 'vitest'
import { BesideStep } from './beside-view.tsx'
import { episodeModel } from './episode-model.ts'
import { StepEntry } from './step-entry.tsx'

const [PLAYED] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]

it('shows words that were a move once, as words, and no call of a tool', () => {
  const [step] = PLAYED.steps
  const completion = { model: 'm', promptTokens: 1, completionTokens: 1, cost: null, text: 'Which number?' }
  const action = { tool: 'say', arguments: { text: 'Which number?' } }
  const spoken = { ...step!, action, speech: true as const, completions: [completion] }
  const model = episodeModel({ ...PLAYED, steps: [spoken] }, null)
  const entry = h(StepEntry, { model, index: 0, states: null, isChosen: false, onChoose: () => {} })
  for (const page of [renderToString(entry), renderToString(h(BesideStep, { model, index: 0 }))]) {
    expect(page.split('Which number?')).toHaveLength(2)
    expect(page).not.toMatch(/no tool|class="call|&quot;/)
  }
  expect(renderToString(entry)).toContain('says')
})
