/**
 * The script of a report page: lists the sampled episodes and shows the steps of the selected one.
 *
 * All output of worlds and policies is set as text, never as markup. Plain JavaScript, because it is not compiled.
 */
export const PAGE_SCRIPT = `
const episodes = JSON.parse(document.getElementById('episodes').textContent)
const list = document.getElementById('list')
const play = document.getElementById('play')
const search = document.getElementById('search')
const chips = [...document.querySelectorAll('.chips button')]
const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })
let outcome = 'all'
let current = null

function make(tag, className, text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}
const format = (value) => (value === null ? '–' : number.format(value).replace('-', '−'))
const signed = (value) => (value > 0 ? '+' : '') + format(value)
const signOf = (value) => (value > 0 ? ' positive' : value < 0 ? ' negative' : '')
const time = (ms) => (ms < 1 ? Math.round(ms * 1000) + ' µs' : ms < 1000 ? ms.toPrecision(3) + ' ms' : (ms / 1000).toFixed(2) + ' s')
const stepsOf = (episode) => episode.steps.length + episode.omitted
const plural = (count, word) => count + ' ' + word + (count === 1 ? '' : 's')

function row(episode) {
  const button = make('button')
  button.type = 'button'
  button.title = episode.task
  button.append(make('span', 'dot ' + episode.outcome), make('span', 'title', episode.prompt || episode.task))
  button.append(make('span', 'value', episode.returns ? format(episode.returns.unshaped) : 'no score'))
  button.append(make('span', 'detail', [
    episode.task.length > 12 ? episode.task.slice(0, 12) + '…' : episode.task, 'attempt ' + episode.attempt, plural(stepsOf(episode), 'step'), episode.ending, episode.because.join(', '),
  ].join(' · ')))
  button.onclick = () => show(episode)
  return button
}

function facts(episode) {
  const pairs = [
    ['Unshaped return', episode.returns ? format(episode.returns.unshaped) : 'not scored'],
    ['Shaped return', episode.returns ? format(episode.returns.total) : null],
    ['Discounted', episode.returns ? format(episode.returns.discounted) : null],
    ['Duration', time(episode.milliseconds)],
    ['Difficulty', format(episode.difficulty)],
    ['Split', episode.split],
    ['Tags', episode.tags.join(', ') || null],
    ['Policy', episode.policy],
    ['Seed', episode.seed],
  ]
  const dl = make('dl')
  for (const [name, value] of pairs) {
    if (value === null) continue
    const pair = make('div')
    pair.append(make('dt', '', name), make('dd', '', value))
    dl.append(pair)
  }
  return dl
}

function stepRow(index, call, reward, says) {
  const node = make('div', 'step')
  node.append(make('span', 'index', index), call, reward, make('div', 'says', says))
  return node
}

const cost = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })

function answersOf({ shown, omitted }) {
  const nodes = shown.map((answer) => {
    const node = make('div', 'answer')
    if (answer.reasoning) {
      const folded = make('details')
      folded.append(make('summary', '', 'Reasoning'), make('div', 'thought', answer.reasoning))
      node.append(folded)
    }
    if (answer.text) node.append(make('div', 'said', answer.text))
    for (const call of answer.unplayed) node.append(make('code', 'unplayed', 'not played: ' + call))
    const { time: spent } = answer
    const facts = [
      format(answer.promptTokens) + ' tokens read',
      format(answer.completionTokens) + ' written',
      answer.cost === null ? null : 'cost ' + cost.format(answer.cost),
      spent ? 'answered in ' + time(spent.milliseconds) : null,
      spent && spent.waited >= 1 ? 'waited ' + time(spent.waited) : null,
      answer.failedTries > 0 ? plural(answer.failedTries, 'failed request') + ' before' : null,
    ]
    const line = make('div', 'spent')
    for (const fact of facts) if (fact) line.append(make('span', '', fact))
    node.append(line)
    return node
  })
  if (omitted > 0) nodes.unshift(make('p', 'answer empty', plural(omitted, 'answer') + ' of the model omitted to keep this page small'))
  return nodes
}

function stepOf(step) {
  const node = stepRow(
    '#' + step.number,
    make('code', 'call', (step.seat ? step.seat + ': ' : '') + step.tool + '(' + step.arguments + ')'),
    make('span', 'reward' + signOf(step.total), signed(step.total)),
    step.observation,
  )
  if (step.answers) node.querySelector('.says').before(...answersOf(step.answers))
  if (step.structured) node.append(make('code', 'data', step.structured))
  const line = make('div', 'facts')
  for (const [name, value] of step.terms) line.append(make('span', '', name + ' ' + signed(value)))
  if (step.shaping !== 0) line.append(make('span', '', 'shaping ' + signed(step.shaping)))
  if (step.potential !== null) line.append(make('span', '', 'Φ ' + format(step.potential)))
  if (step.milliseconds !== null) line.append(make('span', '', time(step.milliseconds)))
  if (step.refused) line.append(make('span', 'badge refused', 'refused: ' + step.refused))
  node.append(line)
  return node
}

function show(episode) {
  current = episode
  const children = [make('p', 'meta', 'Attempt ' + episode.attempt + ' of ' + episode.task), make('h3', '', episode.prompt || 'No prompt'), facts(episode)]
  if (episode.start) {
    const potential = episode.start.potential
    children.push(stepRow('start', make('span', 'meta', 'first observation'), make('span', 'meta', potential === null ? '' : 'Φ ' + format(potential)), episode.start.observation))
  }
  let last = 0
  for (const step of episode.steps) {
    if (step.number > last + 1) children.push(make('p', 'empty', plural(episode.omitted, 'step') + ' omitted to keep this page small'))
    last = step.number
    children.push(stepOf(step))
  }
  const words = { succeeded: 'Terminated', 'fell-short': 'Terminated', truncated: 'Truncated', failed: 'Failed' }
  children.push(stepRow('end', make('span', 'badge ' + episode.outcome, words[episode.outcome] + ': ' + episode.ending), make('span', ''), episode.message || ''))
  if (episode.undecided) children.at(-1).querySelector('.says').before(...answersOf(episode.undecided))
  play.replaceChildren(...children)
  play.scrollTop = 0
  mark()
}

function mark() {
  for (const button of list.children) button.setAttribute('aria-current', String(button.episode === current))
}

function filter() {
  const wanted = search.value.trim().toLowerCase()
  const found = episodes.filter((episode) =>
    (outcome === 'all' || episode.outcome === outcome) &&
    [episode.task, episode.prompt, episode.ending, ...episode.tags, ...episode.because].join(' ').toLowerCase().includes(wanted))
  list.replaceChildren(...found.map((episode) => Object.assign(row(episode), { episode })))
  if (found.length === 0) list.append(make('p', 'empty', 'No sampled episode matches.'))
  mark()
}

for (const chip of chips) {
  chip.onclick = () => {
    outcome = chip.dataset.outcome
    for (const other of chips) other.setAttribute('aria-pressed', String(other === chip))
    filter()
  }
}
search.oninput = filter
filter()
if (episodes.length > 0) show(episodes[0])
`
