import { formatCount } from '@episodic/report/text/format'

interface ProgressBarProps {
  readonly finished: number
  readonly failed: number
  readonly scheduled: number
}

export function ProgressBar({ finished, failed, scheduled }: ProgressBarProps) {
  const width = (count: number) => (scheduled > 0 ? (count / scheduled) * 60 : 0)
  return (
    <svg width={60} height={8} viewBox="0 0 60 8" role="img">
      <title>
        {formatCount(finished)} finished, {formatCount(failed)} failed, {formatCount(scheduled - finished - failed)} not
        there
      </title>
      <rect class="track" x={0} y={0} width={60} height={8} />
      <rect class="unshaped" x={0} y={0} width={width(finished)} height={8} />
      <rect class="failed" x={width(finished)} y={0} width={width(failed)} height={8} />
    </svg>
  )
}
