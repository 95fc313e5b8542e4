import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { FoundContext, FoundText, toBlocks } from './found-text.tsx'

const found = (text: string, wanted: string) =>
  renderToString(h(FoundContext.Provider, { value: wanted, children: h(FoundText, { text }) }))

describe('FoundText', () => {
  it('marks what is found in one frame, so that words from right to left stay whole', () => {
    expect(found('a شلوم b', 'لو')).toBe('<bdi>a ش<mark>لو</mark>م b</bdi>')
    expect(found('a\u001bb', 'b')).toBe(
      '<bdi>a<span class="sign" title="a character that is not shown">␛</span><mark>b</mark></bdi>',
    )
    expect(found('nothing', 'x')).toBe('<bdi>nothing</bdi>')
  })

  it('marks the first thousand of a frequent word, and shows the whole text', () => {
    const shown = found('a '.repeat(50_000), 'a')
    expect(shown.match(/<mark>/g)).toHaveLength(1_000)
    expect(shown.replaceAll(/<[^>]*>/g, '')).toBe('a '.repeat(50_000))
  })

  it('shows megabytes in blocks, which a browser need not lay out, with at most as many marks', () => {
    const text = 'a line of it\n'.repeat(250_000)
    const shown = found(text, 'line')
    expect(shown.match(/class="text-block"/g)?.length).toBeGreaterThan(20)
    expect(shown.match(/<mark>/g)?.length).toBeLessThan(1_050)
    expect(shown.replaceAll(/<\/span>(?=<span)/g, '\n').replaceAll(/<[^>]*>/g, '')).toBe(text)
  })
})

describe('toBlocks', () => {
  it('splits a long text after lines, and one line of megabytes between characters', () => {
    const lines = 'a line of it\n'.repeat(50_000)
    expect(toBlocks(lines).length).toBeGreaterThan(4)
    expect(toBlocks(lines).join('\n')).toBe(lines)
    const rockets = `.${'🚀'.repeat(200_000)}`
    expect(toBlocks(rockets).every((block) => block.isWellFormed())).toBe(true)
    expect(toBlocks(rockets).join('')).toBe(rockets)
    expect(toBlocks('short\n')).toEqual(['short\n'])
  })
})
