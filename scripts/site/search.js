// The search of the site: parts of pages first, each with an excerpt, and below them the names of the API, which the
// search of TypeDoc finds. `assets/pages.js`, which is loaded when somebody searches, has MiniSearch and the parts of all
// pages, `window.pageParts`.
;(() => {
  const MOST = 8
  /** Parts of one page that are shown. */
  const MOST_OF_A_PAGE = 2
  /** Characters of an excerpt before the first word that was found, and in all. */
  const [BEFORE, LENGTH] = [40, 150]

  const input = document.getElementById('tsd-search-input')
  const names = document.getElementById('tsd-search-results')
  const base = (document.documentElement.dataset.base ?? '.').replace(/\/?$/, '/')
  const list = Object.assign(document.createElement('ul'), { id: 'page-results' })
  const heading = Object.assign(document.createElement('h3'), { id: 'name-results', textContent: 'API' })
  names.before(list, heading)

  let index = null
  function load() {
    input.removeEventListener('focus', load)
    const script = Object.assign(document.createElement('script'), { src: `${base}assets/pages.js` })
    script.addEventListener('load', () => {
      const fields = ['title', 'heading', 'text']
      index = new MiniSearch({ fields, storeFields: [...fields, 'url', 'weight'] })
      index.addAll(window.pageParts.map((part, id) => ({ id, ...part })))
      show()
    })
    document.head.append(script)
  }

  function search(text) {
    const options = {
      prefix: true,
      boost: { title: 4, heading: 6 },
      boostDocument: (_id, _term, { weight }) => weight,
    }
    const all = index.search(text, { ...options, combineWith: 'AND' })
    const found =
      all.length > 0 ? all : index.search(text, { ...options, fuzzy: (term) => (term.length > 4 ? 0.2 : false) })
    const shown = new Map()
    return found
      .filter(({ title }) => {
        const count = (shown.get(title) ?? 0) + 1
        shown.set(title, count)
        return count <= MOST_OF_A_PAGE
      })
      .slice(0, MOST)
  }

  function show() {
    const isEmpty = index === null || input.value.trim() === ''
    list.replaceChildren(...(isEmpty ? [] : search(input.value).map(itemOf)))
    heading.hidden = isEmpty
  }

  function itemOf({ title, heading, text, url, terms }) {
    const link = Object.assign(document.createElement('a'), { href: base + url })
    const name = Object.assign(document.createElement('b'), {
      textContent: heading === title ? title : `${title}: ${heading}`,
    })
    link.append(name, excerptOf(text, terms))
    const item = document.createElement('li')
    item.append(link)
    return item
  }

  function excerptOf(text, terms) {
    const words = new RegExp(`(${terms.map((term) => term.replace(/[^\w]/g, String.raw`\$&`)).join('|')})`, 'i')
    const at = Math.max(0, text.search(words))
    const start = at <= BEFORE ? 0 : text.lastIndexOf(' ', at - BEFORE) + 1
    const part = `${start > 0 ? '…' : ''}${text.slice(start, start + LENGTH)}${text.length > start + LENGTH ? '…' : ''}`
    const excerpt = document.createElement('span')
    for (const [i, piece] of part.split(new RegExp(words.source, 'gi')).entries())
      excerpt.append(i % 2 === 1 ? Object.assign(document.createElement('mark'), { textContent: piece }) : piece)
    return excerpt
  }

  /** Moves the focus among the pages; below the last of them stands what TypeDoc moves through. */
  function move(event) {
    const links = [...list.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement)
    const isChosen = (input.getAttribute('aria-activedescendant') ?? '') !== ''
    if (links.length === 0 || isChosen) return
    if (event.key === 'Enter' && at < 0) links[0].click()
    else if (event.key === 'ArrowDown') (links[at + 1] ?? input).focus()
    else if (event.key === 'ArrowUp' && at >= 0) (links[at - 1] ?? input).focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  input.addEventListener('focus', load)
  input.addEventListener('input', show)
  document.getElementById('tsd-search').addEventListener('keydown', move, { capture: true })
  show()
})()
