import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'
import { dataFolder } from '../../suite/data-folder.ts'
import { openTelecom } from './telecom.ts'

// From the package, since this file is bundled with others.
const home = pathToFileURL(findPackageJSON(import.meta.url) as string)

/** The telecom domain over the data that was got. */
export const telecom = openTelecom(dataFolder('tau2'), new URL('golden/tau2-telecom.jsonl', home))
