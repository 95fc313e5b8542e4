import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { type ComponentType, createContext } from 'preact'
import type { EpisodeModel } from '../episode/episode-model.ts'

export interface ContinueTabProps {
  readonly run: string
  readonly row: number
  readonly model: EpisodeModel
  /** From 0; `null`: the start. */
  readonly step: number | null
  readonly states: EpisodeStates | null
}

/** What the pages of a server that plays have more than others. */
export interface Play {
  readonly Tab: ComponentType<ContinueTabProps>
  /** Stands under the transcript. */
  readonly Below: ComponentType<Pick<ContinueTabProps, 'run' | 'row' | 'model'>>
  /** Stands at each step, and at the start. */
  readonly Link: ComponentType<Pick<ContinueTabProps, 'step'>>
}

export const PlayContext = createContext<Play | null>(null)
