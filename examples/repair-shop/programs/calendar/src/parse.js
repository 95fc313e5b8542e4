/** Minutes since midnight of a time such as 09:30. */
export function minutesOf(time) {
  const [hours, minutes] = time.split(':').map(Number)
  const total = hours * 60 + minutes
  if (minutes >= 60 || total > 1440) throw new RangeError(`no such time: ${time}`)
  return total
}

/** The meeting that a text such as 09:30-11:00 means. */
export function meetingOf(text) {
  const [from, to] = text.split('-').map(minutesOf)
  if (from >= to) throw new RangeError(`not a meeting: ${text}`)
  return { from, to }
}

/** A number of minutes since midnight as a time. */
export function timeOf(total) {
  const minutes = total % 60
  const hours = (total - minutes) / 60
  return [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':')
}
