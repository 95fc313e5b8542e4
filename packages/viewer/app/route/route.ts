import { SEARCH_FIELDS, type SearchField } from '@episodic/report/view/search-hit'

export type Route =
  | { readonly screen: 'runs'; readonly query: string }
  | { readonly screen: 'run'; readonly run: string; readonly tab: RunTab }
  | {
      readonly screen: 'episodes'
      readonly run: string
      readonly query: string
      readonly sort: string
      /** The chosen columns in their order; left out, those that fit the run. */
      readonly columns?: readonly string[]
    }
  | { readonly screen: 'group'; readonly run: string; readonly task: string }
  | {
      readonly screen: 'episode'
      readonly run: string
      readonly task: string
      readonly attempt: number
      /** `null`: the try that counts. */
      readonly try: number | null
      /** From 0; `null`: the start. */
      readonly step: number | null
      readonly tab: EpisodeTab
      /** Another attempt that is shown beside it: after its run and a colon if it has another one, with its try. */
      readonly beside?: string
      /** Whose figures are shown, if the environment has several seats; left out, those of the one in focus. */
      readonly seat?: string
    }
  | { readonly screen: 'set'; readonly set: string }
  | {
      readonly screen: 'compare'
      readonly runs: readonly string[]
      readonly base: string
      /** Which tasks are shown; left out, all. */
      readonly show?: string
    }
  | {
      readonly screen: 'search'
      readonly query: string
      /** Empty: all runs. */
      readonly run: string
      /** Where to look; left out, everywhere. */
      readonly fields?: readonly SearchField[]
    }
  | {
      readonly screen: 'label'
      /** Several runs with commas between them are judged mixed. */
      readonly run: string
      /** The name of the question; empty to choose one. */
      readonly grader: string
      /** `boolean`, `score`, or the labels with commas between them. */
      readonly scale: string
      /** What to judge, and by what; left out if it was not written. */
      readonly rubric?: string
    }
  | { readonly screen: 'unknown'; readonly address: string }

export type EpisodeRoute = Route & { readonly screen: 'episode' }

export const RUN_TABS = ['overview', 'tasks', 'rewards', 'time', 'failures', 'grades', 'configuration'] as const
export type RunTab = (typeof RUN_TABS)[number]
export const EPISODE_TABS = ['transcript', 'state', 'rewards', 'sent', 'raw', 'grades', 'continue'] as const
export type EpisodeTab = (typeof EPISODE_TABS)[number]

const PLAY = /^(\d{1,9})(?:\.(\d{1,9}))?$/
const BESIDE = /^([\da-f]{10}:)?\d{1,9}(\.\d{1,9})?$/

/** Reads the part of an address behind its `#`. Never throws: an address that is none is `unknown`. */
export function parseRoute(hash: string): Route {
  const address = hash.replace(/^#/, '')
  const unknown: Route = { screen: 'unknown', address }
  const [path = '', query = ''] = splitOnce(address, '?')
  const parts = path.split('/').slice(1).map(decode)
  if (parts.includes(null) || !/^($|\/)/.test(path)) return unknown
  const [first = '', run = '', kind, task, play] = parts as string[]
  const search = new URLSearchParams(query)
  const text = (name: string) => search.get(name) ?? ''
  if (first === '' && parts.length <= 1) return { screen: 'runs', query: text('q') }
  if (first === 'compare' && parts.length === 1)
    return {
      screen: 'compare',
      runs: text('runs').split(',').filter(Boolean),
      base: text('base'),
      ...(text('show') !== '' && { show: text('show') }),
    }
  if (first === 'search' && parts.length === 1) {
    const given = text('in').split(',')
    const fields = SEARCH_FIELDS.filter((field) => given.includes(field))
    return { screen: 'search', query: text('q'), run: text('run'), ...(fields.length > 0 && { fields }) }
  }
  if (first === 'set' && run !== '' && parts.length === 2) return { screen: 'set', set: run }
  if (first !== 'r' || run === '') return unknown
  if (kind === undefined) return { screen: 'run', run, tab: oneOf(RUN_TABS, text('tab')) }
  if (kind === 'episodes' && parts.length === 3) {
    const columns = text('columns').split(',').filter(Boolean).map(decode)
    if (columns.includes(null)) return unknown
    const chosen = columns.length > 0 ? { columns: columns as string[] } : {}
    return { screen: 'episodes', run, query: text('q'), sort: text('sort'), ...chosen }
  }
  if (kind === 'label' && parts.length <= 4)
    return {
      screen: 'label',
      run,
      grader: task ?? '',
      scale: text('scale') || 'boolean',
      ...(text('rubric') !== '' && { rubric: text('rubric') }),
    }
  if (kind !== 't' || !task) return unknown
  if (play === undefined) return { screen: 'group', run, task }
  const numbers = PLAY.exec(play)
  if (!numbers || parts.length !== 5) return unknown
  return {
    screen: 'episode',
    run,
    task,
    attempt: Number(numbers[1]),
    try: numbers[2] === undefined ? null : Number(numbers[2]),
    // In an address steps are numbered as they are shown, from 1.
    step: /^[1-9]\d{0,9}$/.test(text('step')) ? Number(text('step')) - 1 : null,
    tab: oneOf(EPISODE_TABS, text('tab')),
    ...(BESIDE.test(text('beside')) && { beside: text('beside') }),
    ...(text('seat') !== '' && { seat: text('seat') }),
  }
}

/** The address of a route, from its `#` on. What is as by default is left out. */
export function formatRoute(route: Route): string {
  switch (route.screen) {
    case 'runs':
      return address([''], { q: route.query })
    case 'run':
      return address(['r', route.run], { tab: route.tab === 'overview' ? '' : route.tab })
    case 'episodes':
      return address(['r', route.run, 'episodes'], {
        q: route.query,
        sort: route.sort,
        // Names of reward terms may have commas in them.
        columns: (route.columns ?? []).map((name) => name.replace(/[%,]/g, encodeURIComponent)).join(','),
      })
    case 'group':
      return address(['r', route.run, 't', route.task], {})
    case 'episode': {
      const play = route.try === null ? String(route.attempt) : `${route.attempt}.${route.try}`
      const tab = route.tab === 'transcript' ? '' : route.tab
      return address(['r', route.run, 't', route.task, play], {
        step: route.step === null ? '' : String(route.step + 1),
        tab,
        beside: route.beside ?? '',
        seat: route.seat ?? '',
      })
    }
    case 'compare':
      return address(['compare'], { runs: route.runs.join(','), base: route.base, show: route.show ?? '' })
    case 'set':
      return address(['set', route.set], {})
    case 'search':
      return address(['search'], { q: route.query, run: route.run, in: (route.fields ?? []).join(',') })
    case 'label':
      return address(['r', route.run, 'label', ...(route.grader ? [route.grader] : [])], {
        scale: route.scale === 'boolean' ? '' : route.scale,
        rubric: route.rubric ?? '',
      })
    case 'unknown':
      return `#${route.address}`
  }
}

/** The address of the transcript of an episode: from the start of the try that counts, unless it says otherwise. */
export function episodeHref(
  run: string,
  task: string,
  attempt: number,
  more: Partial<Pick<EpisodeRoute, 'try' | 'step' | 'beside'>> = {},
): string {
  return formatRoute({ screen: 'episode', run, task, attempt, try: null, step: null, tab: 'transcript', ...more })
}

function address(parts: readonly string[], query: Readonly<Record<string, string>>): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  const end = given.size > 0 ? `?${given}` : ''
  return `#/${parts.map(encodeURIComponent).join('/')}${end}`
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function decode(part: string): string | null {
  try {
    const text = decodeURIComponent(part)
    // Half of a character cannot be written into an address again.
    return text.isWellFormed() ? text : null
  } catch {
    return null
  }
}

function oneOf<T extends string>(known: readonly [T, ...T[]] | readonly T[], given: string): T {
  return known.find((name) => name === given) ?? (known[0] as T)
}
