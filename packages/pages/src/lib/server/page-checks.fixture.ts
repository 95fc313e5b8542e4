import axe from 'axe-core'

/** Runs in a page: the rules of accessibility that it breaks, each with the first elements that do. */
export const AXE_VIOLATIONS: string = axeViolations()

/** The same for the only rule that depends on colors. */
export const CONTRAST_VIOLATIONS: string = axeViolations(['color-contrast'])

/** @param rules - the ids of the rules; default: all. */
function axeViolations(rules?: readonly string[]): string {
  // What passes is not described.
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  return `(async () => {
    if (!('axe' in globalThis)) { ${axe.source} }
    const { violations } = await axe.run(${JSON.stringify(options)})
    return violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(' | '))
  })()`
}

/** Runs in a page: what is wrong with its layout. It scrolls sideways, or texts lie over each other. */
export const LAYOUT_FAULTS = `(() => {
  const faults = []
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) faults.push('the page is ' + scrollWidth + ' px wide in a window of ' + clientWidth)
  const texts = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode() && texts.length < 1500) {
    const { textContent, parentElement } = walker.currentNode
    if (!textContent.trim() || !parentElement.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true, contentVisibilityAuto: true })) continue
    if (parentElement.closest('svg, script, style, .visually-hidden, .skip')) continue
    // What is sticky lies over what is scrolled.
    let frame = parentElement
    let isSticky = false
    for (; frame && !isSticky; frame = frame.parentElement) isSticky = /sticky|fixed/.test(getComputedStyle(frame).position)
    if (isSticky) continue
    const range = document.createRange()
    range.selectNodeContents(walker.currentNode)
    // One box for each line of a text.
    for (const box of range.getClientRects()) {
      if (box.width <= 1 || box.height <= 1) continue
      // What is scrolled out of its frame is cut off there.
      let cut = false
      for (frame = parentElement; frame && !cut; frame = frame.parentElement) {
        if (getComputedStyle(frame).overflow === 'visible') continue
        const edge = frame.getBoundingClientRect()
        cut = box.right > edge.right + 1 || box.left < edge.left - 1 || box.bottom > edge.bottom + 1 || box.top < edge.top - 1
      }
      if (!cut) texts.push({ text: textContent.trim().slice(0, 30), node: parentElement, box })
    }
  }
  for (const [i, one] of texts.entries())
    for (const other of texts.slice(i + 1)) {
      const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left)
      const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top)
      // Lines of running text share their edges.
      if (wide > 2 && high > 6 && one.node !== other.node) faults.push('"' + one.text + '" lies over "' + other.text + '"')
    }
  return faults.slice(0, 5)
})()`
