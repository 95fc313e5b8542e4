import type { ModelJournal } from './journal/model-journal.ts'
import { createModelLimit, type ModelLimit } from './limits/model-limit.ts'

/**
 * What the language models of a run share, whichever episode asks. It is passed to policies when they are found, and is
 * completed before they play.
 */
export class ModelAccess {
  limit: ModelLimit = createModelLimit()
  /** Default: nothing is kept, and an episode that is begun anew asks for everything again. */
  journal: ModelJournal | null = null
}
