import type { AskedContinuation, AskToPlay, Continuation } from '@episodic/report/view/continuations'
import { useEffect, useState } from 'preact/hooks'
import { asSourceError, type SourceError } from '../source/source.ts'
import { useLoaded, useSource, useVersion } from '../source/use-source.ts'

/** Milliseconds between two looks at what is being played. */
const LOOK_INTERVAL = 700

/** What was continued from a line of a run, the last first, and looked at again while it is played. */
export function useContinued(run: string, seal: string | null | undefined) {
  const play = useSource().play as AskToPlay
  const [looks, setLooks] = useState(0)
  const version = useVersion(null) + looks
  const { value } = useLoaded(() => play('list', run, {}), [run], version)
  const continued = value?.filter((one: Continuation) => one.seal === seal) ?? []
  const look = () => setLooks((before) => before + 1)
  const isPlaying = continued.some((one) => one.isPlaying)
  useEffect(() => {
    if (!isPlaying) return
    const looking = setInterval(look, LOOK_INTERVAL)
    return () => clearInterval(looking)
  }, [isPlaying])
  return { play, continued, version, look }
}

/** How far a start has come: what it costs is to be agreed to, or what is wrong with it. */
export interface Start {
  readonly isBusy: boolean
  readonly problem?: SourceError
  readonly cost?: string
}

/** Starts what is asked for, once its cost is agreed to. */
export function useStart(play: AskToPlay, run: string, onPlayed: () => void) {
  const [state, setState] = useState<Start>({ isBusy: false })
  const start = async (asked: AskedContinuation) => {
    setState({ isBusy: true })
    try {
      const answer = await play('start', run, asked)
      setState({ isBusy: false, ...answer })
      if ('name' in answer) onPlayed()
    } catch (error) {
      setState({ isBusy: false, problem: asSourceError(error) })
    }
  }
  return { state, start }
}
