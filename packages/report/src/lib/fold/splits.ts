import type { Split } from '@episodic/protocol'

/** Splits in the order of the report. */
export const SPLITS: readonly Split[] = ['train', 'validation', 'test']
