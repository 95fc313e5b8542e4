/** Labels of a series. Values come from closed sets, so that the number of series is bounded. */
export type Labels = Readonly<Record<string, string>>

function head(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function series(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${quoted(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
}

function quoted(text: string): string {
  return text.replace(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

export function renderMetric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  values: readonly (readonly [labels: Labels, value: number])[],
): string {
  return head(name, type, help) + values.map(([labels, value]) => series(name, labels, value)).join('')
}

export function createCounter(name: string, help: string) {
  const counts = new Map<string, { readonly labels: Labels; count: number }>()
  return {
    add(labels: Labels, by = 1): void {
      const key = Object.values(labels).join('\n')
      const counted = counts.get(key)
      if (counted) counted.count += by
      else counts.set(key, { labels, count: by })
    },
    render(common: Labels): string {
      const values = [...counts.values()].map(({ labels, count }) => [{ ...common, ...labels }, count] as const)
      return renderMetric(name, 'counter', help, values)
    },
  }
}

/** Upper bounds of the buckets, in seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createHistogram(name: string, help: string) {
  const observed = new Map<string, { readonly labels: Labels; readonly buckets: number[]; sum: number }>()
  return {
    observe(labels: Labels, seconds: number): void {
      const key = Object.values(labels).join('\n')
      let found = observed.get(key)
      if (!found) {
        found = { labels, buckets: new Array(BUCKETS.length + 1).fill(0), sum: 0 }
        observed.set(key, found)
      }
      const bucket = BUCKETS.findIndex((bound) => seconds <= bound)
      const index = bucket < 0 ? BUCKETS.length : bucket
      found.buckets[index] = (found.buckets[index] as number) + 1
      found.sum += seconds
    },
    render(common: Labels): string {
      let text = head(name, 'histogram', help)
      for (const { labels: own, buckets, sum } of observed.values()) {
        const labels = { ...common, ...own }
        let below = 0
        for (const [i, count] of buckets.entries()) {
          below += count
          text += series(`${name}_bucket`, { ...labels, le: i < BUCKETS.length ? String(BUCKETS[i]) : '+Inf' }, below)
        }
        text += series(`${name}_sum`, labels, sum) + series(`${name}_count`, labels, below)
      }
      return text
    },
  }
}
