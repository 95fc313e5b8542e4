import type { AskToPlay, Continuation } from '@episodic/report/view/continuations'
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

/**
 * What the last request came to: what it costs is to be agreed to, something is wrong with it, or files were
 * written.
 */
export interface RequestState {
  readonly isBusy: boolean
  readonly problem?: SourceError
  readonly cost?: string
  readonly files?: readonly string[]
}

/** Asks for one thing after the other. */
export function useAsking() {
  const [state, setState] = useState<RequestState>({ isBusy: false })
  const ask = async (request: Promise<object>) => {
    setState({ isBusy: true })
    setState(await request.then((answer) => ({ ...answer, isBusy: false }), toProblem))
  }
  return { state, ask }
}

function toProblem(error: unknown): RequestState {
  return { isBusy: false, problem: asSourceError(error) }
}
