// The page of a conversation: sends what is typed, shows every turn once, and reconnects by itself when the connection drops.

const world = decodeURIComponent(location.pathname.split('/').at(-1))
const address = new URL(`./${encodeURIComponent(world)}`, location.href)
const at = (id) => document.getElementById(id)

/** Reconnection delays in milliseconds, and the factor between two of them. Short at first, so that a restarted server is found soon. */
const AGAIN = { first: 100, slowest: 5_000, growth: 1.6 }
/** Error codes for a `seq` that is not the next one: another window sent a message, or the server lost one. */
const COUNTED_WRONG = new Set(['seq-conflict', 'seq-reused'])
/** The key under which this tab stores its side of the conversation, so that it survives a reload. Everything shown comes from the server. */
const KEPT = `conversation ${world}`

const kept = { handle: null, key: null, seq: 0, pending: null, ...read() }
let socket = null
let wait = AGAIN.first
/** The timer of the next attempt to connect, or `null`. */
let retry = null
/** The last turn that is shown. */
let shown = 0
/** The context that the user has selected; `null` follows the active one. */
let chosen = null
let stack = []
let over = false
/** Whether another window has taken the conversation over. Sending a message here takes it back. */
let elsewhere = false

const described = await (await fetch(`${address.pathname}.json`)).json()
at('name').textContent = described.name
at('description').textContent = described.description
document.title = described.name
at('text').maxLength = described.characters
showMachine()
connect()

at('say').addEventListener('submit', (event) => {
  event.preventDefault()
  const text = at('text').value.trim()
  if (text === '' || kept.pending || over) return
  keep({ pending: { type: 'say', seq: kept.seq, text } })
  showLine('user', text, { pending: true })
  at('text').value = ''
  if (elsewhere) reconnect()
  else send(kept.pending)
})

at('anew').addEventListener('click', beginAnew)
// Reconnects at once when the page becomes visible again or the network is back.
addEventListener('online', connectNow)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') connectNow()
})

function connect() {
  clearTimeout(retry)
  retry = null
  const url = new URL(address)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const opened = new WebSocket(url, 'episodic')
  socket = opened
  opened.onopen = () => {
    if (kept.handle === null && kept.key === null) keep({ key: crypto.randomUUID() })
    const { handle, key } = kept
    send(handle === null ? { type: 'join', key } : { type: 'resume', handle, since: shown })
  }
  opened.onmessage = ({ data }) => {
    if (opened === socket) receive(JSON.parse(data))
  }
  opened.onclose = ({ code }) => {
    // A conversation that is over does not change any more.
    if (opened !== socket || over) return
    if (code === 4_001) {
      elsewhere = true
      status('Goes on in another window')
      return complain('This conversation goes on in another window. Say something to take it back.')
    }
    const seconds = Math.round(wait / 1_000)
    status(`Connection lost. Trying again${seconds > 0 ? ` in ${seconds} s` : ''}…`)
    retry = setTimeout(connect, wait)
    wait = Math.min(AGAIN.growth * wait, AGAIN.slowest)
  }
}

/** Connects now, if an attempt is scheduled. */
function connectNow() {
  if (retry === null) return
  wait = AGAIN.first
  connect()
}

function receive(frame) {
  switch (frame.type) {
    case 'joined':
      wait = AGAIN.first
      keep({ handle: frame.handle })
      status('Connected', true)
      complain(null)
      if (frame.turn < shown) return showAgain()
      if (shown === 0 && at('lines').childElementCount === 0)
        for (const text of frame.opening) showLine('assistant', text)
      showNews(frame)
      // It may have been answered already: a repeated seq returns the stored answer.
      if (kept.pending) send(kept.pending)
      return
    case 'news':
      return showNews(frame)
    case 'answer':
      if (frame.seq !== kept.pending?.seq) return
      keep({ seq: frame.seq + 1, pending: null })
      dropPending()
      if (frame.refused !== null) complain(frame.refused)
      else complain(null)
      return
    case 'error':
      return showError(frame)
  }
}

function showError({ code, message, seq, expected }) {
  complain(COUNTED_WRONG.has(code) && expected !== undefined ? outOfStep(seq, expected) : message)
  if (seq !== undefined && seq === kept.pending?.seq) {
    // A rejected message can be sent again.
    at('text').value ||= kept.pending.text
    keep({ pending: null, seq: expected ?? kept.seq })
    dropPending()
  }
  if (code === 'session-not-found' || code === 'episode-ended' || code === 'state-lost') end()
}

/** Explains why a message was not the next one. */
function outOfStep(seq, expected) {
  return expected > seq
    ? 'Something was said from elsewhere meanwhile. Read it, and send yours again.'
    : 'The server has lost some of what was said. Send yours again.'
}

function showNews({ turn, turns, missed, ended, stack: present }) {
  if (missed) showLine('notice', 'Some of what was said before is not remembered any more.')
  for (const each of turns) if (each.turn > shown) showTurn(each)
  shown = Math.max(shown, turn)
  stack = present
  showStack()
  showMachine()
  if (ended !== null) end()
}

function showTurn({ turn, kind, text, replies, transitions }) {
  dropPending()
  if (kind === 'event') showLine('event', `Event: ${text}`)
  else showLine('user', kind === 'utterance' ? text : `(${text})`)
  for (const reply of replies) showLine('assistant', reply)
  if (kind === 'event') log(turn, `event ${text}`, 'event')
  for (const { kind: how, context, from, to } of transitions)
    log(turn, how === 'moved' ? `${context}: ${from} → ${to}` : `${context} ${how}${to ? ` in ${to}` : ''}`, how)
}

function made(tag, name, text = '') {
  const element = document.createElement(tag)
  element.className = name
  element.textContent = text
  return element
}

function showLine(by, text, { pending = false } = {}) {
  const line = made('li', '', text)
  line.dataset.by = by
  if (pending) line.dataset.pending = ''
  at('lines').append(line)
  showLast()
}

function showLast() {
  at('lines').scrollTop = at('lines').scrollHeight
}

function dropPending() {
  for (const line of at('lines').querySelectorAll('[data-pending]')) line.remove()
}

function log(turn, text, kind) {
  const line = made('li', '')
  line.dataset.kind = kind
  line.append(made('b', '', turn), made('span', '', text))
  at('log').append(line)
  at('log').scrollTop = at('log').scrollHeight
}

function showStack() {
  const frames = stack.toReversed().map(({ context, state, data }, depth) => {
    const known = Object.entries(data)
      .filter(([, value]) => value !== null && JSON.stringify(value) !== '[]')
      .map(([key, value]) => `${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    const line = made('li', '')
    const is = made('span', 'is', depth === 0 ? state : `${state}, suspended`)
    line.append(made('strong', '', context), is, made('span', 'data', known.join(' · ')))
    return line
  })
  at('stack').replaceChildren(...(frames.length > 0 ? frames : [made('p', '', 'Nothing is open.')]))
}

function showMachine() {
  const active = stack.at(-1)?.context
  const name = chosen ?? active ?? described.contexts[0]?.name
  const context = described.contexts.find((each) => each.name === name)
  if (!context) return
  const present = stack.findLast((frame) => frame.context === name)?.state
  at('contexts').replaceChildren(
    ...described.contexts.map((each) => {
      const button = made('button', '', each.name)
      button.type = 'button'
      button.setAttribute('aria-pressed', String(each.name === name))
      button.addEventListener('click', () => {
        chosen = each.name === active ? null : each.name
        showMachine()
      })
      return button
    }),
  )
  at('machine').replaceChildren(...context.states.map((state) => stateLine(context, state, present)))
  const accepted = context.edges.filter(({ from, on }) => from === present && on !== null).map(({ on }) => on)
  const names = [...new Set(accepted)].join(', ') || 'nothing'
  at('accepts').textContent = present ? `Accepts now: ${names}.` : 'Not open.'
}

/** A state with the transitions that leave it. */
function stateLine({ edges, final }, state, present) {
  const leaving = edges.filter(({ from, to }) => from === state && to !== state)
  const ways = Map.groupBy(leaving, ({ to }) => to)
  const texts = [...ways].map(([to, all]) => `${all.map(({ on }) => on ?? 'by itself').join(', ')} → ${to}`)
  const line = made('li', final.includes(state) ? 'final' : '')
  line.dataset.state = state
  if (state === present) {
    line.classList.add('lit')
    line.setAttribute('aria-current', 'step')
  }
  line.append(made('strong', '', state), made('span', 'data', texts.join(' · ')))
  return line
}

function end() {
  over = true
  status('Over')
  at('text').disabled = true
  at('text').placeholder = 'This conversation is over.'
}

function beginAnew() {
  over = false
  shown = 0
  stack = []
  chosen = null
  keep({ handle: null, key: null, seq: 0, pending: null })
  at('lines').replaceChildren()
  at('log').replaceChildren()
  at('text').disabled = false
  at('text').placeholder = 'Say something'
  complain(null)
  showStack()
  showMachine()
  reconnect()
  at('text').focus()
}

function reconnect() {
  const last = socket
  socket = null
  elsewhere = false
  last.close()
  connect()
}

/** Shows the server's view of a conversation of which it has lost some turns. */
function showAgain() {
  shown = 0
  at('lines').replaceChildren()
  at('log').replaceChildren()
  showLine('notice', 'The server has lost some of what was said. This is what it knows.')
  send({ type: 'resume', handle: kept.handle, since: 0 })
}

function status(text, live = false) {
  at('status').textContent = text
  at('status').dataset.live = live ? 'yes' : 'no'
}

function complain(text) {
  at('problem').hidden = text === null
  at('problem').textContent = text ?? ''
  // The machine takes space from the log.
  if (text !== null) showLast()
}

function send(frame) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame))
}

function keep(changes) {
  Object.assign(kept, changes)
  sessionStorage.setItem(KEPT, JSON.stringify(kept))
}

function read() {
  return JSON.parse(sessionStorage.getItem(KEPT) ?? '{}')
}
