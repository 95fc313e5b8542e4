import { formatPercent } from '@episodic/report/text/format'
import type { RunEntry } from '@episodic/report/view/run-entry'

const [BAR, GAP] = [7, 2]
const HEIGHT = 14
const MOST_RUNS = 10

/** The success rates of runs side by side, in their order: how the players of a set differ. */
export function RateBars({ runs }: { readonly runs: readonly RunEntry[] }) {
  const shown = runs.slice(0, MOST_RUNS)
  const rates = shown.flatMap(({ name, success }) => (success ? [`${name} ${formatPercent(success.rate)}`] : []))
  if (rates.length === 0) return null
  const width = shown.length * (BAR + GAP)
  return (
    <svg
      role="img"
      aria-label={`Success of ${rates.join(', ')}`}
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
    >
      {shown.map(({ id, name, success }, i) => {
        // A rate of 0 is seen too.
        const height = success?.rate == null ? 0 : 1 + success.rate * (HEIGHT - 1)
        return (
          <g key={id}>
            <title>{`${name}: ${success ? formatPercent(success.rate) : 'being counted'}`}</title>
            <rect class="track" x={i * (BAR + GAP)} y={0} width={BAR} height={HEIGHT} />
            <rect class="unshaped" x={i * (BAR + GAP)} y={HEIGHT - height} width={BAR} height={height} />
          </g>
        )
      })}
    </svg>
  )
}
