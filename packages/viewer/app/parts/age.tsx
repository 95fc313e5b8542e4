import { useEffect, useState } from 'preact/hooks'
import { formatAge } from './amounts.ts'

export function Age({ since }: { readonly since: string }) {
  const then = Date.parse(since)
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000)
    return () => clearInterval(timer)
  }, [])
  if (Number.isNaN(then)) return <span>{since}</span>
  return (
    <time dateTime={since} title={new Date(then).toLocaleString()}>
      {formatAge(now - then)}
    </time>
  )
}
