import { useLoaded, useSource, useVersion } from '../source/use-source.ts'

/** How many runs are being played now, if the source says when something changes. */
export function LiveMark() {
  const source = useSource()
  const version = useVersion(null)
  const { value, error } = useLoaded((from) => from.runs(), [], version)
  if (!source.can.watch) return null
  if (error?.code === 'unreachable')
    return (
      <span class="live lost" role="status">
        ! not connected
      </span>
    )
  const live = value?.filter(({ state }) => state === 'running').length ?? 0
  if (live === 0) return null
  return (
    <span class="live" role="status">
      <span class="dot" aria-hidden="true">
        ●
      </span>{' '}
      {live} live
    </span>
  )
}
