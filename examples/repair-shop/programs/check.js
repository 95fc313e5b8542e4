let failed = 0

/** Prints whether a call returns what it should. */
export function check(name, call, wanted) {
  let got
  try {
    got = JSON.stringify(call())
  } catch (error) {
    got = `error: ${error.message}`
  }
  const isRight = got === (typeof wanted === 'string' && wanted.startsWith('error: ') ? wanted : JSON.stringify(wanted))
  if (!isRight) failed += 1
  console.log(isRight ? `ok    ${name}` : `WRONG ${name}: ${got}, and not ${JSON.stringify(wanted)}`)
}

/** Ends the process with 1 if something was wrong. */
export function finish() {
  console.log(failed === 0 ? 'All is right.' : `${failed} wrong.`)
  if (failed > 0) process.exit(1)
}
