import { dataFolder } from '../../suite/data-folder.ts'
import { openTelecom } from './telecom.ts'

/** The telecom domain over the data that was got. */
export const telecom = openTelecom(
  dataFolder('tau2'),
  new URL('../../../../golden/tau2-telecom.jsonl', import.meta.url),
)
